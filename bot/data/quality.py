"""Candles to what is odd about them: values, order, duplicates, gaps, spikes, volume, time zone."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from Backtest.candles import (
    Candles,
    columns_of,
    raw_frame,
    read_bytes,
    seconds_words,
    tidy_candles,
)
from Backtest.rows import TIME_NAMES, Row, fault_of
from Backtest.sim_errors import BacktestError
from Backtest.times import DAY_MS, UNIT_MS, in_words, iso, timeframe_ms
from bot.data.candle_files import timeframe_of

if TYPE_CHECKING:
    import pandas as pd

OK, NOTE, WRONG = "ok", "look", "WRONG"
SPIKE_RANGES = 12.0  # of the usual high minus low, away from the closes around it
SHOWN = 3
Moments = tuple[int, ...]


@dataclass(frozen=True)
class Finding:
    """What was looked for and found.

    Attributes:
        level: `ok`, `look` (a run takes it, you should know it) or `WRONG` (a run stops at it).
        moments: where, in UTC milliseconds; for gaps, the candle before each.
    """

    name: str
    level: str
    words: str
    moments: Moments = ()

    @property
    def count(self) -> int:
        """How many places there are."""
        return len(self.moments)


@dataclass(frozen=True)
class Quality:
    """Holds a file's candles as they are written, and what was found in them."""

    candles: Candles
    timeframe: str
    findings: tuple[Finding, ...]

    @property
    def is_usable(self) -> bool:
        """Says whether a run would take the file."""
        return all(finding.level != WRONG for finding in self.findings)


def check_file(path: Path, timeframe: str = "") -> Quality:
    """Check a candle file; what a run would stop at is found, not raised.

    Raises:
        BacktestError: the file is missing, or is no table of candles.
    """
    frame = raw_frame(read_bytes(path), path)
    zone = _written_zone(frame)
    return check_columns(columns_of(tidy_candles(frame)), zone, timeframe)


def check_columns(candles: Candles, zone: str, timeframe: str = "") -> Quality:
    """Check candles; `zone` says how their times are written."""
    times = np.unique(candles.times)
    ordered = Candles(times, *([times.astype(float)] * 5))
    timeframe = timeframe or timeframe_of(ordered)
    findings = (
        _values(candles),
        _order(candles.times),
        _duplicates(candles),
        _gaps(times, timeframe),
        _spikes(candles),
        _volume(candles),
        _zone(times, timeframe, zone),
    )
    return Quality(candles, timeframe, findings)


def _told(name: str, level: str, words: str, moments: Iterable[int]) -> Finding:
    """A finding with the first places in words; without places all is well."""
    found = tuple(int(moment) for moment in moments)
    if not found:
        return Finding(name, OK, "none")
    digits = 16 if any(moment % DAY_MS for moment in found) else 10
    first = ", ".join(iso(moment)[:digits].replace("T", " ") for moment in found[:SHOWN])
    more = ", ..." if len(found) > SHOWN else ""
    return Finding(name, level, f"{words}: {first}{more}", found)


def _values(candles: Candles) -> Finding:
    """Finds candles that are none: a missing number, a low above the close, a price of 0."""
    rows = np.flatnonzero(~_sound(candles))
    if not len(rows):
        return Finding("values", OK, "every candle is possible")
    fault = fault_of(Row(*candles.row(int(rows[0])))) or "malformed"
    words = f"{_many(rows, 'impossible candle')}; the first: {fault}"
    return _told("values", WRONG, words, candles.times[rows])


def _sound(candles: Candles) -> NDArray[np.bool_]:
    """Says of each candle whether it is possible; written so that NaN fails every comparison."""
    o, h, lo, c, v = candles.open, candles.high, candles.low, candles.close, candles.volume
    prices = (lo <= np.minimum(o, c)) & (np.maximum(o, c) <= h) & (lo > 0) & (h < np.inf)
    return np.asarray(prices & (v >= 0) & (v < np.inf), dtype=np.bool_)


def _many(found: NDArray[Any], what: str) -> str:
    return f"{len(found):,} {what}{'' if len(found) == 1 else 's'}"


def _order(times: NDArray[np.int64]) -> Finding:
    late = times[1:][times[1:] < times[:-1]]
    found = _told("order", WRONG, f"{_many(late, 'candle')} behind a later one", late)
    return found if len(late) else Finding("order", OK, "times rise")


def _duplicates(candles: Candles) -> Finding:
    times, counts = np.unique(candles.times, return_counts=True)
    doubled = times[counts > 1]
    part = np.isin(candles.times, doubled)
    rows = np.column_stack([candles.times[part], candles.open[part], candles.close[part]])
    same = len(np.unique(rows, axis=0)) == len(doubled)
    kind = "with the same prices" if same else "some with other prices"
    return _told("duplicates", WRONG, f"{_many(doubled, 'moment')} more than once, {kind}", doubled)


def _gaps(times: NDArray[np.int64], timeframe: str) -> Finding:
    """Finds missing candles; a market that never trades at weekends is not asked for them."""
    step = _step(timeframe)
    if step is None or len(times) < 2:
        return Finding("gaps", OK, f"not looked for in {timeframe} candles")
    apart = np.diff(times)
    missing = apart // step - 1
    closed = ""
    if step <= DAY_MS and not np.isin((times // DAY_MS + 3) % 7, (5, 6)).any():
        missing = missing - _weekend_days(times) * (DAY_MS // step)
        closed = ", weekends left out"
    before = times[:-1][missing > 0]
    lacking = missing[missing > 0]
    if not len(before):
        return Finding("gaps", OK, f"none{closed}")
    words = f"{int(lacking.sum()):,} missing in {_many(before, 'gap')}"
    words += f" (longest {in_words(int(lacking.max() * step))}{closed}), after"
    return _told("gaps", NOTE, words, before)


def _weekend_days(times: NDArray[np.int64]) -> NDArray[np.int64]:
    """Counts the whole Saturdays and Sundays between neighbouring times."""
    days = times // DAY_MS + 3  # 1970-01-01 was a Thursday; weeks from Monday
    before = days // 7 * 2 + np.maximum(days % 7 - 5, 0)  # weekend days before this day
    return np.diff(before)


def _spikes(candles: Candles) -> Finding:
    """Finds prices far from the closes around them, which are more often errors than trades."""
    sound = _sound(candles)
    close, high, low = (column[sound] for column in (candles.close, candles.high, candles.low))
    if len(close) < 5:
        return Finding("spikes", OK, "too few candles to tell")
    padded = np.pad(close, 2, mode="edge")
    around = np.median(np.lib.stride_tricks.sliding_window_view(padded, 5), axis=1)
    limit = SPIKE_RANGES * max(float(np.median(np.log(high / low))), 1e-4)
    away = np.maximum(np.log(high / around), np.log(around / low))
    found = candles.times[sound][away > limit]
    words = f"{_many(found, 'candle')} more than {np.expm1(limit):.1%} away from the closes around"
    return _told("spikes", NOTE, words, found)


def _volume(candles: Candles) -> Finding:
    rows = np.flatnonzero(candles.volume == 0)
    share = len(rows) / max(len(candles), 1)
    words = f"{_many(rows, 'candle')} ({share:.1%}) without volume"
    return _told("volume", NOTE, words, candles.times[rows])


def _zone(times: NDArray[np.int64], timeframe: str, written: str) -> Finding:
    """Finds times in seconds, and candles that do not begin where candles of UTC begin."""
    if len(times) and (words := seconds_words(times)):
        return Finding("time zone", WRONG, f"{words}; multiply them by 1000")
    step = _step(timeframe)
    if step is None or step > DAY_MS:
        return Finding("time zone", OK, written)
    offsets, counts = np.unique(times % step, return_counts=True)
    late = times[times % step != 0]
    if not len(late):
        return Finding("time zone", OK, written)
    usual = int(offsets[int(np.argmax(counts))])
    if usual >= step - 1000:
        words = "times look like the ends of candles; here a time is the candle's beginning"
    elif len(offsets) == 2 and offsets[1] - offsets[0] == UNIT_MS["h"]:
        words = "days begin at two hours, one apart: local time with summer time"
    elif usual:
        clock = iso(usual)[11:16]
        words = f"candles begin {clock} h after UTC's: another time zone, or market hours"
    else:
        words = f"{_many(late, 'candle')} off the {timeframe} raster"
    return _told("time zone", NOTE, f"{written}; {words}", late)


def _step(timeframe: str) -> int | None:
    """The length of a candle; None for months, which have no even one, and for no timeframe."""
    try:
        return None if timeframe.endswith("M") else timeframe_ms(timeframe)
    except BacktestError:
        return None


def _written_zone(frame: "pd.DataFrame") -> str:
    """Says how the times are written, from the first of them."""
    names = {str(name).lower(): name for name in frame.columns}
    column = next((names[name] for name in TIME_NAMES if name in names), None)
    values: Any = frame.index if column is None else frame[column]
    zone = getattr(getattr(values, "dt", values), "tz", None)
    if zone is not None:
        return f"written in {zone}"
    first = str(values[0] if column is None else values.iloc[0]) if len(values) else ""
    if first.lstrip("-").replace(".", "").isdigit():
        return "written as numbers, read as UTC"
    if first.endswith(("Z", "+00:00", "UTC")):
        return "written in UTC"
    offset = first[-6:]
    if len(first) > 16 and offset[:1] in "+-" and offset[3:4] == ":":
        return f"written with {offset}, turned into UTC"
    return "no zone is written, read as UTC"
