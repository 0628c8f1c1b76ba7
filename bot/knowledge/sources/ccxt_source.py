"""Turns the installed CCXT into facts: unified methods, errors, and what five exchanges can do."""

import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

from bot.knowledge.facts import Fact, Finding, call_of

EXCHANGES = ("binance", "bybit", "okx", "kraken", "coinbase")
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def read_ccxt() -> Finding:
    """Asks the base class what is unified, and each exchange what it has; no network is used."""
    ccxt: Any = importlib.import_module("ccxt")
    has = {name: getattr(ccxt, name)().has for name in EXCHANGES}
    facts = [*_methods(ccxt.Exchange, has), *_errors(ccxt), *_capabilities(has)]
    return Finding("CCXT", str(ccxt.__version__), tuple(facts))


def snake(name: str) -> str:
    """Writes CCXT's own name as its Python method: fetchOHLCV is fetch_ohlcv."""
    return _WORD.sub("_", name).lower()


def _methods(exchange: Any, has: dict[str, dict[str, Any]]) -> Iterator[Fact]:
    for name in sorted(exchange().has):
        method = getattr(exchange, snake(name), None)
        if method is None or not inspect.isfunction(method):
            continue
        able = ", ".join(who for who in EXCHANGES if has[who].get(name))
        emulated = [who for who in EXCHANGES if has[who].get(name) == "emulated"]
        says = f"{name} in CCXT's own list `has`; on {able or 'none of the five'}"
        says += f"; emulated on {', '.join(emulated)}" if emulated else ""
        yield Fact(snake(name), "unified method", call_of(snake(name), method), says)


def _errors(ccxt: Any) -> Iterator[Fact]:
    base = importlib.import_module("ccxt.base.errors").BaseError
    for name in sorted(dir(ccxt)):
        value = getattr(ccxt, name)
        if inspect.isclass(value) and issubclass(value, base):
            line = [above.__name__ for above in value.__mro__ if issubclass(above, base)]
            yield Fact(name, "error", "", f"is a {' < '.join(line[1:]) or 'root of all errors'}")


def _capabilities(has: dict[str, dict[str, Any]]) -> Iterator[Fact]:
    for who in EXCHANGES:
        kinds = [kind for kind in ("spot", "margin", "swap", "future", "option") if has[who][kind]]
        able = sorted(name for name, value in has[who].items() if value and name not in kinds)
        says = f"markets: {', '.join(kinds)}; has {len(able)} more of CCXT's list"
        yield Fact(f"ccxt.{who}", "exchange", f"ccxt.{who}(config={{}})", says)
