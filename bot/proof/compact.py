"""A long backtest to the rows of it that go into Git; a short one to all of its rows."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from Backtest.metrics.curves import Floats, drawdowns
from Backtest.positions import Trade
from Backtest.times import DAY_MS

MOST_ROWS = 20_000
MOST_TRADES = 8_000
MOST_EVENTS = 5_000
# Of a curve of more days than this, a period is several days long.
MOST_PERIODS = 5_000


@dataclass(frozen=True)
class Kept:
    """The rows of a file that are kept, and how many it has."""

    rows: Sequence[int]
    of: int

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return len(self.rows) == self.of

    @property
    def counts(self) -> dict[str, int]:
        """How summary.json tells it."""
        return {"rows": len(self.rows), "of": self.of}


def keep_all(count: int) -> Kept:
    """Every row."""
    return Kept(range(count), count)


def keep_ends(count: int, most: int) -> Kept:
    """Every row, or the first and the last ones."""
    if count <= most:
        return keep_all(count)
    first = most // 2
    return Kept((*range(first), *range(count - most + first, count)), count)


def keep_moments(
    curve: Sequence[tuple[int, float, float]], capital: float, trades: Sequence[Trade]
) -> Kept:
    """Every row, or those that tell the most.

    These are the first row; the last, the highest and the lowest of every UTC day; the deepest fall
    and the peak before it, so that the largest drawdown comes out of them too; and the rows of the
    trades, the earliest first, while they fit.
    """
    if len(curve) <= MOST_ROWS:
        return keep_all(len(curve))
    times = np.array([time for time, _, _ in curve], dtype=np.int64)
    equity = np.array([value for _, value, _ in curve], dtype=np.float64)
    kept = {0, *_of_periods(times, equity), *_of_deepest_fall(equity, capital)}
    moments = np.array([(t.entry_time, t.exit_time) for t in trades], dtype=np.int64).ravel()
    places = np.minimum(np.searchsorted(times, moments), len(times) - 1)
    for place in places[times[places] == moments].tolist():
        if len(kept) == MOST_ROWS:
            break
        kept.add(place)
    return Kept(sorted(kept), len(curve))


def _of_periods(times: np.ndarray[tuple[int], np.dtype[np.int64]], equity: Floats) -> set[int]:
    """The last, the highest and the lowest row of every period."""
    days = times // DAY_MS
    periods = days // max(1, -(-int(days[-1] - days[0] + 1) // MOST_PERIODS))
    starts = [0, *(np.flatnonzero(np.diff(periods)) + 1).tolist(), len(times)]
    kept = set()
    for start, end in itertools.pairwise(starts):
        rows = equity[start:end]
        kept |= {end - 1, start + int(rows.argmax()), start + int(rows.argmin())}
    return kept


def _of_deepest_fall(equity: Floats, capital: float) -> set[int]:
    deepest = int(drawdowns(equity, capital).argmax())
    return {deepest, int(equity[: deepest + 1].argmax())}
