"""Measures an equity curve: what the ratios need, and how deep it fell, as a whole and by year."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from Backtest.compiled.signal_run import is_loaded

Floats = NDArray[np.float64]
Rows = Sequence[float] | Floats
Spans = Sequence[tuple[int, int]]
Moving = tuple[NDArray[np.int64], NDArray[np.int64]]

BLOCK_ROWS = 8192  # a block of rows and what is made of it stays in the processor's cache
LANES = 16  # sums that are added up side by side
TRUE_SHARE = 1e-6  # of the squares; below, the mean is taken off every single return


@dataclass(frozen=True)
class Curve:
    """Holds what ratios need of an equity curve; no returns once equity is not positive."""

    returns: int  # how many between consecutive rows
    mean: float  # of the returns
    deviation: float  # of the returns, that of a sample
    downside: float  # root mean square of the losses, all returns counted
    growth: float  # logarithm of the last row over the first
    mean_equity: float
    deepest: float  # fall from a peak, a positive fraction


def curve_of(equity: Rows, start: float | None = None) -> Curve:
    """Measure an equity curve; `start` counts as a peak."""
    rows = np.asarray(equity, dtype=np.float64)
    return _curve_of(rows, start, moves_of(rows))


def survey(
    rows: Floats, start: float, spans: Spans, moving: Moving | None = None
) -> tuple[Curve, list[float]]:
    """Measures an equity curve, and its deepest fall within each span of rows.

    `spans` are first row and row after the last and together all rows; `moving`, if it is known, is
    from which rows on and up to which others equity may move, in pieces that do not overlap.
    """
    if is_loaded(len(rows)):
        from Backtest.metrics.measures import survey as compiled_survey

        found = compiled_survey(rows, start, spans, moving)
        if found is not None:
            return found
    moved = moves_of(rows)
    bends = np.concatenate(([0], moved)) if len(rows) else moved
    falls = []
    for first, last in spans:
        inside = rows[bends[slice(*np.searchsorted(bends, (first, last)))]]
        falls.append(max_drawdown(inside, float(rows[first - 1]) if first else start))
    return _curve_of(rows, start, moved), falls


def _curve_of(rows: Floats, start: float | None, moved: NDArray[np.int64]) -> Curve:
    """Measure a curve whose moves are known."""
    deepest = max_drawdown(np.concatenate((rows[:1], rows[moved])), start)
    if len(rows) < 2 or not float(rows.min()) > 0.0:
        return finished(rows, None, deepest)
    returns = rows[1:] / rows[:-1]
    returns -= 1.0
    losses = np.minimum(returns, 0.0)
    lanes = (_lanes(returns), _lanes(returns * returns), _lanes(losses * losses))
    return finished(rows, sums_of(len(rows), lanes) or _exact_sums(returns, losses), deepest)


def _lanes(values: Floats) -> Floats:
    """Adds up every sixteenth value from each of the first sixteen on, in their order."""
    even = len(values) // LANES * LANES
    lanes = np.zeros(LANES)
    if even:
        lanes += np.add.reduce(values[:even].reshape(-1, LANES), axis=0)
    lanes[: len(values) - even] += values[even:]
    return lanes


class Sums(NamedTuple):
    """Holds what is added up of the returns between consecutive rows."""

    mean: float
    apart: float  # sum of squared distances from the mean
    losses: float  # sum of the squares of those below 0


def sums_of(rows: int, lanes: Sequence[Floats] | Floats) -> Sums | None:
    """Adds up a curve's returns, from lanes of them, of their squares and of the losses'.

    None where the mean is so much of the squares that taking it off would leave few true digits, or
    where a sum is not finite.
    """
    total, squares, losses = _in_pairs(np.asarray(lanes)).tolist()
    mean = total / (rows - 1)
    apart = squares - mean * total
    if squares != 0.0 and not squares * TRUE_SHARE < apart < math.inf:
        return None
    return Sums(mean, apart, losses)


def _in_pairs(lanes: Floats) -> Floats:
    """Gives the sum of each row of a number of lanes that is a power of two, in pairs of pairs."""
    while lanes.shape[1] > 1:
        lanes = lanes[:, ::2] + lanes[:, 1::2]
    return lanes[:, 0]


def _exact_sums(returns: Floats, losses: Floats) -> Sums:
    """Gives the sums of returns that hardly differ, the mean taken off each of them."""
    mean = float(returns.mean())
    return Sums(mean, float(np.square(returns - mean).sum()), float(np.square(losses).sum()))


def finished(rows: Floats, sums: Sums | None, deepest: float) -> Curve:
    """Put the figures together; no sums if equity was not positive throughout."""
    count = 0 if sums is None else len(rows) - 1
    mean, squares, losses = sums or (0.0, 0.0, 0.0)
    return Curve(
        returns=count,
        mean=mean,
        deviation=math.sqrt(squares / (count - 1)) if count > 1 else 0.0,
        downside=math.sqrt(losses / count) if count else 0.0,
        growth=math.log(float(rows[-1]) / float(rows[0])) if count else 0.0,
        mean_equity=float(rows.mean()) if len(rows) else 0.0,
        deepest=deepest,
    )


def moves_of(rows: Floats) -> NDArray[np.int64]:
    """Gives the rows that differ from the row before them."""
    return np.flatnonzero(rows[1:] != rows[:-1]) + 1


def drawdowns(equity: Rows, start: float | None = None) -> Floats:
    """Fall from the highest equity so far, as positive fractions; `start` counts as a peak."""
    rows = np.asarray(equity, dtype=np.float64)
    if len(rows) == 0:
        return np.empty(0)
    peaks = np.maximum.accumulate(rows)
    if start is not None:
        peaks = np.maximum(peaks, start)
    with np.errstate(divide="ignore", invalid="ignore"):  # no fall has a meaning from 0 on
        return 1.0 - rows / peaks


def max_drawdown(equity: Rows, start: float | None = None) -> float:
    """Gives the deepest fall from a peak, a positive fraction."""
    rows = np.asarray(equity, dtype=np.float64)
    peak = -math.inf if start is None else start
    deepest = 0.0
    for first in range(0, len(rows), BLOCK_ROWS):
        block = rows[first : first + BLOCK_ROWS]
        top = max(peak, float(block.max()))
        # No fall inside the block is deeper than from its top to its bottom.
        if top <= 0.0 or 1.0 - float(block.min()) / top > deepest:
            deepest = max(deepest, float(drawdowns(block, peak).max()))
        peak = top
    return deepest
