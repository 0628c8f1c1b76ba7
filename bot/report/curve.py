"""A long series to the few points that draw the same line, and to round numbers for its axes."""

import itertools
import math
from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from Backtest.times import DAY_MS, EPOCH, LAST_MS, MINUTE_MS

Point = tuple[int, float]
Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Curve = tuple[Whole, Floats]
NO_CURVE: Curve = (np.empty(0, np.int64), np.empty(0))
HOUR_MS = 60 * MINUTE_MS
_CLOCK_STEPS = [
    *(n * 1000 for n in (1, 5, 15, 30)),
    *(n * MINUTE_MS for n in (1, 5, 15, 30)),
    *(n * HOUR_MS for n in (1, 3, 6, 12)),
    *(n * DAY_MS for n in (1, 2, 5, 7, 14)),
]
_MONTH_STEPS = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 6000, 12000]
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def drawdown(equity: Floats, start: float | None = None) -> Floats:
    """The fall below the highest equity so far, as negative fractions; `start` is a peak too."""
    peaks = np.maximum.accumulate(equity)
    if start is not None:
        peaks = np.maximum(peaks, start)
    return np.where(peaks > 0.0, equity / np.where(peaks > 0.0, peaks, 1.0) - 1.0, 0.0)


def thin(times: Whole, values: Floats, columns: int) -> list[Point]:
    """Keep the first and last point and the lowest and highest of every column of time.

    So no peak and no fall vanishes, however short it was, and any number of points becomes at
    most two for each column and the two ends.
    """
    count = len(times)
    kept = set(range(count))
    if count > 2 * columns + 2:
        span = max(1, int(times[-1] - times[0]))
        column = np.minimum((times - times[0]) * columns // span, columns - 1)
        kept = {0, count - 1}
        starts = [0, *(np.flatnonzero(np.diff(column)) + 1).tolist(), count]
        for start, end in itertools.pairwise(starts):
            part = values[start:end]
            kept |= {start + int(part.argmin()), start + int(part.argmax())}
    return [(int(times[index]), float(values[index])) for index in sorted(kept)]


def round_steps(low: float, high: float, most: int) -> list[float]:
    """Round numbers (1, 2, 5 times a power of ten) within a range, at most so many."""
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return []
    power = 10.0 ** math.floor(math.log10(span / most))
    for factor in (1, 2, 5, 10, 20):
        step = factor * power
        first, last = math.ceil(low / step), math.floor(high / step)
        if last - first + 1 <= most:
            return [index * step for index in range(first, last + 1)]
    return []


def time_marks(start: int, end: int, most: int) -> list[tuple[int, str]]:
    """Round moments within a span of UTC milliseconds, with their labels, about so many at most."""
    for step in _CLOCK_STEPS:
        if (end - start) // step < most:
            moments = range(-(-start // step) * step, end + 1, step)
            return [(moment, _clock_label(moment, step)) for moment in moments]
    for months in _MONTH_STEPS:
        room = most if months < 12 else most + most // 2  # a year's label is short
        marks = list(_month_starts(start, end, months, room))
        if len(marks) <= room:
            return [(moment, _month_label(moment, months)) for moment in marks]
    return []


def _month_starts(start: int, end: int, months: int, most: int) -> Iterator[int]:
    """Beginnings of every so many months; one more than `most` is enough to see."""
    first = _utc(start)
    index = -(-(first.year * 12 + first.month - 1) // months) * months
    found = 0
    while index // 12 <= 9999 and found <= most:
        moment = datetime(max(1, index // 12), index % 12 + 1, 1, tzinfo=UTC)
        stamp = int((moment - EPOCH).total_seconds()) * 1000
        if stamp > end:
            return
        if stamp >= start:
            found += 1
            yield stamp
        index += months


def _utc(stamp: int) -> datetime:
    return datetime.fromtimestamp(min(stamp, LAST_MS) / 1000, tz=UTC)


def _clock_label(stamp: int, step: int) -> str:
    moment = _utc(stamp)
    date = f"{moment.day} {_MONTHS[moment.month - 1]}"
    if step >= DAY_MS:
        return f"{date} {moment.year}"
    clock = f"{moment:%H:%M}" if step >= MINUTE_MS else f"{moment:%H:%M:%S}"
    return f"{date} {clock}"


def _month_label(stamp: int, months: int) -> str:
    moment = _utc(stamp)
    return f"{moment.year}" if months >= 12 else f"{_MONTHS[moment.month - 1]} {moment.year}"
