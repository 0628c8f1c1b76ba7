"""Checks symbols, timeframes and times as traders write them."""

import re
from datetime import UTC, datetime

from Backtest.sim_errors import BacktestError
from Backtest.times import timeframe_ms
from bot.contract.document.problems import nearest, odd_characters
from bot.contract.fields import Checked, wrong

TIMEFRAMES = ("1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h",
              "1d", "3d", "1w", "1M")  # fmt: skip
_MEANT = {"60": "1h", "1": "1m", "5": "5m", "15": "15m", "30": "30m", "240": "4h", "day": "1d",
          "daily": "1d", "1day": "1d", "hour": "1h", "hourly": "1h", "1hour": "1h", "week": "1w",
          "weekly": "1w", "minute": "1m", "1min": "1m", "5min": "5m", "15min": "15m",
          "month": "1M", "monthly": "1M", "1mo": "1M"}  # fmt: skip
_PART = r"[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*"
_SYMBOL = rf"(?=.{{1,40}}$){_PART}(?:/{_PART}(?::{_PART})?)?"
_SYMBOL_WORDS = "BTC/USDT, BTC/USDT:USDT or AAPL"
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:Z|\+00:00)?)?", re.ASCII)


def file_symbol(symbol: str) -> str:
    """Write a symbol as part of a file's name: BTC/USDT becomes BTC_USDT."""
    return re.sub(r"[/:]", "_", symbol)


def check_symbol(value: object) -> str:
    """Take a symbol as exchanges write it."""
    if not isinstance(value, str):
        raise wrong("expected a symbol", value, allowed=_SYMBOL_WORDS)
    if not re.fullmatch(_SYMBOL, value, re.ASCII):
        message = f"not a symbol{odd_characters(value)}"
        raise wrong(message, value, allowed=_SYMBOL_WORDS)
    if value.islower():
        raise wrong("symbols are in capital letters", value, near=value.upper())
    return value


def check_timeframe(value: object) -> str:
    """Take the length of a candle."""
    if isinstance(value, str) and value in TIMEFRAMES:
        return value
    text = str(value)[:20]
    near = _MEANT.get(text.casefold(), "") or _as_long(text) or nearest(value, TIMEFRAMES[:-1])
    raise wrong("unknown timeframe", value, allowed=" ".join(TIMEFRAMES), near=near)


def _as_long(text: str) -> str:
    """Finds the timeframe of the nearest length, as 1h for 60m and 2h for 90m."""
    try:
        length = timeframe_ms(text if text.endswith("M") else text.lower())
    except BacktestError:
        return ""
    known = {name: timeframe_ms(name) for name in TIMEFRAMES}
    return min(known, key=lambda name: max(length, known[name]) / min(length, known[name]))


def check_time(value: object) -> str:
    """Take a day or a moment in UTC, and keep it as it is written."""
    what = "2024-01-31 or 2024-01-31T12:00:00Z, in UTC"
    if not isinstance(value, str) or not _TIME.fullmatch(value):
        raise wrong("not a time", value, allowed=what)
    try:
        moment(value)
    except ValueError:
        raise wrong("no such day or time", value, allowed=what) from None
    return value


def moment(value: str) -> datetime:
    """Turn a checked time into a moment in UTC."""
    return datetime.fromisoformat(value).replace(tzinfo=UTC)


SYMBOL = Checked(check_symbol, {"type": "string", "pattern": f"^{_SYMBOL}$"})
TIMEFRAME = Checked(check_timeframe, {"type": "string", "enum": list(TIMEFRAMES)})
TIME = Checked(check_time, {"type": "string", "pattern": f"^{_TIME.pattern}$"})
