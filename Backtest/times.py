"""Turns every way of writing a moment into UTC milliseconds, and back into ISO 8601."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

from Backtest.sim_errors import BacktestError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
MINUTE_MS = 60_000
DAY_MS = 86_400_000
LAST_MS = 253_402_300_799_999  # the end of the year 9999, the last that ISO 8601 writes plainly
FIRST_MS = -62_135_596_800_000
UNIT_MS = {
    "s": 1_000,
    "m": MINUTE_MS,
    "h": 60 * MINUTE_MS,
    "d": DAY_MS,
    "w": 7 * DAY_MS,
    "M": 30 * DAY_MS,
    "y": 365 * DAY_MS,
}
LONGEST_MS = {"M": 31 * DAY_MS, "y": 366 * DAY_MS}
SHORTEST_MS = {"M": 28 * DAY_MS}


def to_ms(moment: object) -> int:
    """Read a moment as milliseconds since 1970, UTC.

    Naive moments are UTC, integers are milliseconds, text is ISO 8601.

    Raises:
        BacktestError: the value is no moment.
    """
    if isinstance(moment, int) and not isinstance(moment, bool):
        return _in_range(moment)
    if isinstance(moment, str):
        return _from_text(moment)
    if isinstance(moment, datetime):
        if moment != moment:  # pandas' NaT is a datetime that differs from itself
            raise BacktestError("the timestamp is missing")
        aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return (aware - EPOCH) // MILLISECOND
    if isinstance(moment, date):
        return to_ms(datetime(moment.year, moment.month, moment.day, tzinfo=UTC))
    return _from_number(moment)


def _in_range(moment: int) -> int:
    """Refuse numbers that are no milliseconds: microseconds would be the year 50,000."""
    if FIRST_MS <= moment <= LAST_MS:
        return moment
    raise BacktestError(
        f"{moment} is no timestamp in milliseconds",
        "Divide microseconds by 1000, nanoseconds by 1,000,000",
    )


def _from_text(text: str) -> int:
    """Read ISO 8601, or milliseconds written as digits."""
    stripped = text.strip()
    if re.fullmatch(r"-?[0-9]{9,}", stripped):
        return _in_range(int(stripped))
    try:
        return to_ms(datetime.fromisoformat(stripped))
    except ValueError:
        raise BacktestError(
            f"{text!r} is no timestamp",
            "Write ISO 8601 (2024-01-31T08:00:00Z) or milliseconds since 1970",
        ) from None


def _from_number(moment: Any) -> int:
    """Read numpy's moments and numbers without importing numpy."""
    kind = getattr(getattr(moment, "dtype", None), "kind", "")
    if kind == "M" and moment == moment:
        return int(moment.astype("datetime64[ms]").astype("int64"))
    if kind in "iu" and kind:
        return _in_range(int(moment))
    if isinstance(moment, float) and moment.is_integer():
        return _in_range(int(moment))
    raise BacktestError(
        f"{moment!r} is no timestamp",
        "Write ISO 8601 (2024-01-31T08:00:00Z) or milliseconds since 1970",
    )


def iso(timestamp_ms: int) -> str:
    """Write UTC milliseconds as ISO 8601 with a Z, the fraction only where there is one."""
    moment = EPOCH + timedelta(milliseconds=timestamp_ms)
    precision = "milliseconds" if timestamp_ms % 1000 else "seconds"
    return moment.replace(tzinfo=None).isoformat(timespec=precision) + "Z"


def timeframe_ms(timeframe: str) -> int:
    """Read a timeframe such as 5m, 1h, 1d as milliseconds; 1M counts 30 days.

    Raises:
        BacktestError: the text is no timeframe.
    """
    found = re.fullmatch(r"([1-9][0-9]{0,3})([smhdwMy])", timeframe, re.ASCII)
    if found is None:
        raise BacktestError(f"{timeframe!r} is no timeframe", "Write for example 5m, 1h, 4h, 1d")
    return int(found[1]) * UNIT_MS[found[2]]


def fits_timeframe(step_ms: int, timeframe: str) -> bool:
    """Says whether candles so far apart are of a timeframe; months and years differ in length."""
    unit, count = timeframe[-1], int(timeframe[:-1])
    usual = UNIT_MS[unit]
    shortest, longest = SHORTEST_MS.get(unit, usual), LONGEST_MS.get(unit, usual)
    return count * shortest <= step_ms <= count * longest


def in_words(span_ms: int) -> str:
    """Gives a span of time as a timeframe would be written, or in seconds."""
    for unit in ("w", "d", "h", "m"):
        if span_ms % UNIT_MS[unit] == 0:
            return f"{span_ms // UNIT_MS[unit]}{unit}"
    return f"{span_ms / 1000:g}s"
