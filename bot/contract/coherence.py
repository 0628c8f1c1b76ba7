"""Checks what the parts of a contract allow together, on the plain document."""

import math
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TypeGuard

from adapters.sizing import MAX_RISK, affordable
from bot.contract.code_paths import suffix
from bot.contract.document.problems import Fault, Where, field_name, quoted
from bot.contract.field_types import places_of
from bot.contract.fields import Checked
from bot.contract.market import Data
from bot.contract.risk import Costs, Risk
from bot.contract.symbols import moment
from bot.errors import MANUAL

NOT_ANSWERED = (
    "a rule in prose needs an expression beside it; `stratwright run` asks a model for it where "
    f"one is set up ({MANUAL}/models.md)"
)
_COSTS = {name: field.default for name, field in Costs.model_fields.items()}

_OTHER_FILES = {"csv": (".feather", ".parquet", ".json"), "feather": (".csv", ".json", ".parquet")}
# The bounds of the risk numbers that a parameter may stand for.
_NAMED = {
    ("risk", *where): check.bounds
    for where, check in places_of(Risk)
    if isinstance(check, Checked) and check.bounds is not None
}


def check_coherence(raw: Mapping[str, object], *, models: bool = False) -> list[Fault]:
    """Find what each part allows and the whole does not; misshapen parts are passed over.

    `models`: who asks lets models write code.
    """
    if raw.get("kind") == "module":
        return [*_after(raw), *_reserved(raw), *_unwritten(raw)]
    checks = [_entries, _after, _symbols_in_path, _named, _reserved, _one_size, _affordable]
    checks += [_reachable, _activation, _data_keys, _defaults, _searched]
    if not models:
        checks.append(_unwritten)
    targets = raw.get("targets")
    if isinstance(targets, list | tuple) and "freqtrade" in targets:
        checks += [_fills, _trailing, _pairs, _held_target, _early_trailing]
    return [fault for check in checks for fault in check(raw)]


def _get(raw: object, *where: str) -> object:
    for key in where:
        raw = raw.get(key) if isinstance(raw, Mapping) else None
    return raw


def _entries(raw: Mapping[str, object]) -> Iterator[Fault]:
    rules = raw.get("rules")
    if isinstance(rules, Mapping) and not any(
        rules.get(name) is not None for name in ("enter_long", "enter_short")
    ):
        yield Fault(("rules",), "no rule to enter a trade", allowed="enter_long or enter_short")


def _after(raw: Mapping[str, object]) -> Iterator[Fault]:
    after, seen = raw.get("after"), set()
    for index, task in enumerate(after if isinstance(after, list | tuple) else ()):
        if not isinstance(task, str):
            continue
        if task == raw.get("task"):
            yield Fault(("after", index), "a task cannot come after itself", f'"{task}"')
        if task in seen:
            yield Fault(("after", index), "given twice", quoted(task))
        seen.add(task)


def _symbols_in_path(raw: Mapping[str, object]) -> Iterator[Fault]:
    symbols, path = _get(raw, "market", "symbols"), _get(raw, "data", "path")
    several = isinstance(symbols, list | tuple) and len(symbols) > 1
    is_file = _get(raw, "data", "source") in ("csv", "feather")
    if several and is_file and isinstance(path, str) and "{symbol}" not in path:
        yield Fault(
            ("data", "path"),
            "several symbols need {symbol} in the path",
            quoted(path),
            "a path such as data/{symbol}.csv, which becomes data/BTC_USDT.csv",
        )


def _fills(raw: Mapping[str, object]) -> Iterator[Fault]:
    if raw.get("execution") == "this_close":
        yield Fault(
            ("execution",),
            "this_close cannot be had with the freqtrade target, which fills at the next open",
            allowed="next_open, or targets: [adapter]",
        )


def _trailing(raw: Mapping[str, object]) -> Iterator[Fault]:
    distance = _get(raw, "risk", "trailing_stop", "distance")
    start = _get(raw, "risk", "trailing_stop", "activate_at")
    numbers = [x for x in (distance, start) if isinstance(x, int | float) and x > 0]
    if len(numbers) == 2 and numbers[1] <= numbers[0]:
        yield Fault(
            ("risk", "trailing_stop", "activate_at"),
            "Freqtrade wants activate_at above distance",
            quoted(start),
            f"a number above {distance}, or targets: [adapter]",
        )


def _pairs(raw: Mapping[str, object]) -> Iterator[Fault]:
    """Freqtrade trades pairs, and counts in one currency."""
    symbols = _get(raw, "market", "symbols")
    quotes: dict[str, str] = {}
    for index, symbol in enumerate(symbols if isinstance(symbols, list | tuple) else ()):
        if not isinstance(symbol, str):
            continue
        base, slash, rest = symbol.partition("/")
        quote = rest.partition(":")[0]
        where = ("market", "symbols", index)
        if not (base and slash and quote):
            allowed = "a pair such as BTC/USDT, or targets: [adapter]"
            yield Fault(where, "Freqtrade trades pairs only", quoted(symbol), allowed)
            continue
        quotes.setdefault(quote, symbol)
        if len(quotes) > 1 and quotes[quote] is symbol:
            allowed = f"pairs against {next(iter(quotes))}, or targets: [adapter]"
            message = "Freqtrade counts in one currency for all pairs"
            yield Fault(where, message, quoted(symbol), allowed)


def _held_target(raw: Mapping[str, object]) -> Iterator[Fault]:
    held = _get(raw, "risk", "ignore_roi_if_entry_signal") is True
    if held and _get(raw, "risk", "take_profit") is not None:
        yield Fault(
            ("risk", "ignore_roi_if_entry_signal"),
            "Freqtrade would ignore take_profit too while the entry rule is true",
            allowed="false, or roi instead of take_profit, or targets: [adapter]",
        )


def _early_trailing(raw: Mapping[str, object]) -> Iterator[Fault]:
    stop, trailing = _get(raw, "risk", "stop_loss"), _get(raw, "risk", "trailing_stop")
    if not isinstance(stop, Mapping) or not isinstance(trailing, Mapping):
        return
    activated = trailing.get("activate_at") is not None
    if activated and trailing.get("only_after_activation") is not True:
        yield Fault(
            ("risk", "trailing_stop"),
            "before activate_at Freqtrade cannot trail by a stop that is measured in ATRs",
            allowed="only_after_activation: true, or targets: [adapter]",
        )


def _named(raw: Mapping[str, object]) -> Iterator[Fault]:
    """Hold a parameter that stands for a risk number to that number's bounds."""
    for where, bounds in _NAMED.items():
        name = _get(raw, *where)
        if where[-1] == "distance" and isinstance(_get(raw, *where[:-1]), str):
            where = where[:-1]  # the short form of a trailing stop
            name = _get(raw, *where)
        parameter = _get(raw, "parameters", name) if isinstance(name, str) else None
        for key in ("default", "range"):
            given = _get(parameter, key)
            values = given if isinstance(given, list | tuple) else [given]
            outside = [x for x in values if _is_number(x) and not bounds.holds(x)]
            if outside:
                bounded = f"out of bounds for {field_name(where)}, which names it"
                parameter_at = ("parameters", str(name), key)
                words, advice = bounds.words(), bounds.advice(outside[0])
                yield Fault(parameter_at, bounded, quoted(outside[0]), words, advice)
                break


def _searched(raw: Mapping[str, object]) -> Iterator[Fault]:
    """Refuse a search that has nothing to search, or that nobody asked for."""
    asked, found = raw.get("optimize"), raw.get("optimized")
    parameters = raw.get("parameters")
    ranged = {
        name
        for name, parameter in (parameters if isinstance(parameters, Mapping) else {}).items()
        if isinstance(spans := _get(parameter, "range"), list | tuple) and len({*spans}) > 1
    }
    if isinstance(asked, Mapping) and not ranged:
        allowed = "a parameter with a range, as oversold: {default: 30, range: [15, 40]}"
        yield Fault(("optimize",), "no parameter has a range to search", allowed=allowed)
    folds = _get(asked, "walk_forward", "folds")
    split = _get(asked, "walk_forward", "split")
    if split == "combinatorial" and isinstance(folds, int) and not 3 <= folds <= 10:
        where = ("optimize", "walk_forward", "folds")
        yield Fault(where, "combinatorial splits need other groups", quoted(folds), "3 to 10")
    if isinstance(found, Mapping) and not isinstance(asked, Mapping):
        allowed = "`optimize` beside it, as it was when the search was made"
        yield Fault(("optimized",), "nobody asked for a search", allowed=allowed)
    was = _get(found, "was")
    if isinstance(was, Mapping) and {*was} != ranged:
        allowed = f"every parameter with a range: {', '.join(sorted(map(str, ranged)))}"
        yield Fault(("optimized", "was"), "these are not the searched parameters", allowed=allowed)


def _reserved(raw: Mapping[str, object]) -> Iterator[Fault]:
    """Refuse what the language keeps for later, so that nothing is accepted and then ignored."""
    rules = raw.get("rules")
    for name, rule in rules.items() if isinstance(rules, Mapping) else ():
        if isinstance(rule, Mapping) and "prose" in rule and rule.get("expression") is None:
            allowed = f"an expression, as {name}: rsi < 30 and close > trend"
            yield Fault(("rules", name), NOT_ANSWERED, allowed=allowed)


def _unwritten(raw: Mapping[str, object]) -> Iterator[Fault]:
    """Refuse code by a model where nobody is asked to write it."""
    coder = raw.get("coder")
    if coder in ("agent", "cli"):
        message = "code by a model: only `stratwright run` on your machine carries it out yet"
        yield Fault(("coder",), message, quoted(coder), "template, auto")


def _one_size(raw: Mapping[str, object]) -> Iterator[Fault]:
    size = _get(raw, "risk", "size")
    if not isinstance(size, Mapping):
        return
    given = [name for name in ("equity", "units", "risk") if size.get(name) is not None]
    if len(given) != 1:
        found = f"{' and '.join(given)} are given" if given else "no size is given"
        message = f"{found}; exactly one is needed"
        yield Fault(("risk", "size"), message, allowed="equity, units or risk")
    elif size.get("cap") is not None and given != ["risk"]:
        message = "cap is for a size by risk"
        yield Fault(("risk", "size", "cap"), message, allowed="risk: 0.01 beside it")


def _affordable(raw: Mapping[str, object]) -> Iterator[Fault]:
    """Refuse a size whose every order would be rejected, and say the largest that fits."""
    rules = _get(raw, "rules")
    sides = [
        buying
        for name, buying in (("enter_long", True), ("enter_short", False))
        if isinstance(rules, Mapping) and rules.get(name) is not None
    ]
    costs = {name: _share(_get(raw, "costs", name), cost) for name, cost in _COSTS.items()}
    fits = min((affordable(1.0, **costs, buying=buying) for buying in sides), default=1.0)
    bought = f"{sum(costs.values()):.4g} of costs"
    stop = _numbers(raw, _get(raw, "risk", "stop_loss"))[:1]
    capped = _get(raw, "risk", "size", "cap") is not None
    by_risk = fits * stop[0] if stop and not capped else MAX_RISK
    for form, most, bound in (("equity", fits, 1.0), ("risk", by_risk, MAX_RISK)):
        for value in _numbers(raw, _get(raw, "risk", "size", form)):
            if most * (1 + 1e-9) < value <= bound:
                below = math.floor(most * 1e6) / 1e6
                message = f"too large to be paid for with {bought}: every order would be rejected"
                instead = f"largest that fits: {below:g}"
                instead += "" if form == "equity" else ", or cap: 1.0 beside it"
                yield Fault(("risk", "size", form), message, quoted(value), instead)
                break


def _reachable(raw: Mapping[str, object]) -> Iterator[Fault]:
    """Refuse a target that no short reaches: its price would have to be 0 or below."""
    if _get(raw, "rules", "enter_short") is None:
        return
    far = [x for x in _numbers(raw, _get(raw, "risk", "take_profit")) if x >= 1]
    if far:
        message = "a short can never gain so much: its price would have to fall to 0 or below"
        instead = "a fraction below 1 such as 0.04, or a contract of its own for the longs"
        yield Fault(("risk", "take_profit"), message, quoted(far[0]), instead)


def _numbers(raw: Mapping[str, object], value: object) -> list[float]:
    """Gives a number, or the default and the range of the parameter that it names."""
    found: list[object] = [value]
    if isinstance(value, str):
        ends = _get(raw, "parameters", value, "range")
        found = [_get(raw, "parameters", value, "default")]
        found += ends if isinstance(ends, list | tuple) else ()
    return [x for x in found if _is_number(x)]


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _share(value: object, otherwise: float) -> float:
    return float(value) if _is_number(value) and 0 <= value <= 1 else otherwise


def _activation(raw: Mapping[str, object]) -> Iterator[Fault]:
    trailing = _get(raw, "risk", "trailing_stop")
    if not isinstance(trailing, Mapping):
        return
    if trailing.get("only_after_activation") is True and trailing.get("activate_at") is None:
        yield Fault(
            ("risk", "trailing_stop", "only_after_activation"),
            "only_after_activation needs activate_at",
            allowed="activate_at: 0.05",
        )


def _data_keys(raw: Mapping[str, object]) -> Iterator[Fault]:
    data = raw.get("data")
    if not isinstance(data, Mapping):
        return
    source, path, exchange = (data.get(key) for key in ("source", "path", "exchange"))
    is_file = source in tuple(_OTHER_FILES)
    # A key that is written wrongly is told as unknown, and not as missing too.
    known = data.keys() <= Data.model_fields.keys()
    if known and is_file and path is None:
        yield Fault(("data",), f"source {source} needs a path", allowed="path: data/candles.csv")
    if known and source in ("freqtrade", "ccxt") and exchange is None:
        message = f"source {source} needs an exchange"
        yield Fault(("data",), message, allowed="exchange: binance")
    if is_file and exchange is not None:
        yield Fault(("data", "exchange"), f"exchange has no use with source {source}")
    if source == "ccxt" and path is not None:
        yield Fault(("data", "path"), "path has no use with source ccxt")
    if isinstance(path, str) and suffix(path) in _OTHER_FILES.get(str(source), ()):
        yield Fault(("data", "path"), f"this is no {source} file", quoted(path))
    start, end = (_moment(data.get(key)) for key in ("start", "end"))
    if start is not None and end is not None and start >= end:
        yield Fault(("data", "end"), "end is not after start", quoted(data.get("end")))


def _moment(text: object) -> datetime | None:
    try:
        return moment(text) if isinstance(text, str) else None
    except ValueError:
        return None


def _defaults(raw: Mapping[str, object]) -> Iterator[Fault]:
    parameters = raw.get("parameters")
    for name, body in parameters.items() if isinstance(parameters, Mapping) else ():
        default, ends = _get(body, "default"), _get(body, "range")
        if not isinstance(ends, list | tuple) or len(ends) != 2:
            continue
        low, high = ends
        if not (_is_number(default) and _is_number(low) and _is_number(high)):
            continue
        if low < high and not low <= default <= high:
            where: Where = ("parameters", name, "default")
            message = "the default is outside its range"
            yield Fault(where, message, quoted(default), f"{low} to {high}")
