"""Turns environment variables into the bridge's settings; what is missing is named."""

import math
import os
from collections.abc import Mapping
from typing import Any

from bot.errors import InputError

RISK_DEFAULT = {"min_atr_multiple": 0.5, "max_atr_multiple": 5.0, "min_rr": 1.5}
FRAMES_S = {"1m": 60, "3m": 180, "5m": 300, "15m": 900, "30m": 1800, "1h": 3600, "4h": 14_400}
_HINT = "Copy .env.example to .env, fill it in, and load it: set -a; . ./.env; set +a"


def load_config(environment: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Reads the settings.

    Args:
        environment: where to read; the process's own if left out.

    Returns:
        symbol, timeframe, max_capital_pct, redis_url, model_name and risk.

    Raises:
        InputError: a variable is missing, or says something that cannot be.
    """
    given = os.environ if environment is None else environment
    needed = ("REDIS_URL", "DEFAULT_SYMBOL", "TIMEFRAME", "MAX_CAPITAL_PCT")
    missing = [name for name in needed if not given.get(name, "").strip()]
    if missing:
        raise InputError(f"not set: {', '.join(missing)}", _HINT)
    timeframe = given["TIMEFRAME"].strip()
    if timeframe not in FRAMES_S:
        raise InputError(f"TIMEFRAME is {timeframe!r}", f"Choose one of {', '.join(FRAMES_S)}.")
    symbol = given["DEFAULT_SYMBOL"].strip()
    base, slash, quote = symbol.partition("/")
    if not (base.isalnum() and slash and quote.isalnum() and symbol.isascii()):
        raise InputError(f"DEFAULT_SYMBOL is {symbol!r}", "Write it as BTC/USDT.")
    return {
        "symbol": symbol,
        "timeframe": timeframe,
        "max_capital_pct": _fraction(given["MAX_CAPITAL_PCT"]),
        "redis_url": given["REDIS_URL"].strip(),
        "model_name": given.get("MODEL_NAME", ""),
        "risk": dict(RISK_DEFAULT),
    }


def _fraction(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= 1:
        raise InputError(f"MAX_CAPITAL_PCT is {text!r}", "Write a fraction, as 0.05 for 5 %.")
    return value
