"""Measures an equity curve in one pass of machine code, to the last bit as `curves` does.

Also sums that are rounded once, as Python's `math.fsum` gives them.
"""

import numpy as np
from numpy.typing import NDArray

from Backtest.compiled.machine_code import NUMBERS, WHOLE, fills, loop, part, types
from Backtest.metrics.curves import LANES, Curve, Floats, Moving, Spans, finished, sums_of

BLOCK_ROWS = 64  # looked at together for a new peak or trough
CHUNK_ROWS = 4096  # gone over twice; they stay in the processor's cache
PARTIALS = 64  # more than doubles of any sizes need
SUMS = fills(types.float64)
Fall = tuple[float, float, float]  # the peak, the lowest row since, the deepest fall


def survey(
    rows: Floats, start: float, spans: Spans, moving: Moving | None = None
) -> tuple[Curve, list[float]] | None:
    """As `Backtest.metrics.curves.survey`; None where that has to look closer."""
    if len(rows) < 2:
        return None
    lanes, falls = np.zeros((3, LANES)), np.empty(len(spans))
    bounds = np.array([0, *(last for _, last in spans)], dtype=np.int64)
    firsts, lasts = moving or (np.array([0]), np.array([len(rows)]))
    totals, squares, losses = lanes
    deepest = follow(rows, start, bounds, firsts, lasts, totals, squares, losses, falls)
    sums = sums_of(len(rows), lanes) if deepest < 1.0 else None
    return None if sums is None else (finished(rows, sums, deepest), falls.tolist())


@part
def follow_fall(row: float, fall: Fall) -> Fall:
    """Gives the peak, the lowest row since, and the deepest fall, after one more row.

    A fall is worked out when its peak is passed: rounding keeps the order, so the lowest row since
    a peak has the deepest fall from it.
    """
    peak, trough, deepest = fall
    if row > peak:
        return row, row, max(deepest, 1.0 - trough / peak)
    return peak, min(row, trough), deepest


@part
def fall_so_far(fall: Fall) -> float:
    """Gives the deepest fall, that from the last peak too."""
    peak, trough, deepest = fall
    return float(max(deepest, 1.0 - trough / peak))


@part
def follow_falls(rows: Floats, whole: Fall, within: Fall) -> tuple[Fall, Fall]:
    """Gives both falls after some more rows: that of the curve, and that of a span."""
    for first in range(0, rows.size, BLOCK_ROWS):
        block = rows[first : first + BLOCK_ROWS]
        peak, trough = min(whole[0], within[0]), max(whole[1], within[1])
        peaks, troughs = 0, 0
        for place in range(block.size):
            peaks += block[place] > peak
            troughs += block[place] < trough
        if peaks > 0:
            for place in range(block.size):
                whole = follow_fall(block[place], whole)
                within = follow_fall(block[place], within)
        elif troughs > 0:  # no new peak: the lowest row is all that counts
            lowest = block[0]
            for place in range(1, block.size):
                lowest = min(lowest, block[place])
            whole, within = follow_fall(lowest, whole), follow_fall(lowest, within)
    return whole, within


@part
def add_returns(rows: Floats, totals: Floats, squares: Floats, losses: Floats) -> None:
    """Add the returns after the first of some rows to lanes."""
    now, before = rows[1:], rows[:-1]
    even = now.size // LANES * LANES
    for first in range(0, even, LANES):
        some, others = now[first : first + LANES], before[first : first + LANES]
        for lane in range(LANES):
            change = some[lane] / others[lane] - 1.0
            totals[lane] += change
            squares[lane] += change * change
            loss = min(change, 0.0)
            losses[lane] += loss * loss
    for place in range(even, now.size):
        lane = place - even
        change = now[place] / before[place] - 1.0
        totals[lane] += change
        squares[lane] += change * change
        loss = min(change, 0.0)
        losses[lane] += loss * loss


@loop(NUMBERS, types.float64, WHOLE, WHOLE, WHOLE, SUMS, SUMS, SUMS, SUMS)
def follow(
    rows: Floats,
    start: float,  # the equity before the first row
    bounds: NDArray[np.int64],  # the first row of each span, then the number of rows
    firsts: NDArray[np.int64],  # the rows from which on equity may move, rising
    lasts: NDArray[np.int64],  # the rows up to which it may
    totals: Floats,  # zeros; filled with the returns, added as `Backtest.metrics.curves` does
    squares: Floats,  # zeros; filled with their squares
    losses: Floats,  # zeros; filled with the squares of those below 0
    falls: Floats,  # filled with the deepest fall in each span
) -> float:
    """Walk along a curve: its returns, its deepest fall, and that of each span of rows.

    Where equity stays as it is, returns are 0 and change no sum. The result is the deepest fall, at
    least 1 if equity was not positive throughout.
    """
    added, span, end = 1, 0, rows.size
    whole = follow_fall(rows[0], (start, start, 0.0))
    within = whole
    for piece in range(firsts.size):
        last = min(lasts[piece] + 1, end)
        row = max(firsts[piece], 1)
        while row < last:
            until = min(row + CHUNK_ROWS, last)
            # Lanes count from the first return on, so sums begin and end at whole groups of them.
            first = max(added, 1 + (row - 1) // LANES * LANES)
            added = max(added, min(end, 1 + (until + LANES - 2) // LANES * LANES))
            if first < added:
                add_returns(rows[first - 1 : added], totals, squares, losses)
            while row < until:
                while bounds[span + 1] <= row:
                    falls[span] = fall_so_far(within)
                    span += 1
                    before = rows[bounds[span] - 1]
                    within = (before, before, 0.0)
                cut = min(until, bounds[span + 1])
                whole, within = follow_falls(rows[row:cut], whole, within)
                row = cut
    while span < falls.size:
        falls[span] = fall_so_far(within)
        span += 1
        before = rows[bounds[span] - 1]
        within = (before, before, 0.0)
    return fall_so_far(whole)


@part
def rounded_once(partials: Floats, used: int) -> float:
    """Add up partial sums, the largest first; a tie goes where the next partial pulls it."""
    if used == 0:
        return 0.0
    place = used - 1
    total, rest = partials[place], 0.0
    while place > 0 and rest == 0.0:
        place -= 1
        larger, smaller = total, partials[place]
        total = larger + smaller
        rest = smaller - (total - larger)
    if place > 0 and np.sign(rest) * np.sign(partials[place - 1]) > 0.0:
        doubled = rest * 2.0
        other = total + doubled
        if doubled == other - total:
            total = other
    return float(total)


@loop(NUMBERS)
def exact_total(values: Floats) -> float:
    """Gives the sum, rounded once; not finite where the values or sums of them are not.

    Shewchuk's way: partial sums that do not overlap, the smallest first, hold it without error.
    """
    partials, used = np.empty(PARTIALS), 0
    for place in range(values.size):
        x, kept = values[place], 0
        for partial in range(used):
            y = partials[partial]
            if abs(x) < abs(y):
                x, y = y, x
            total = x + y
            rest = y - (total - x)
            if rest != 0.0:
                partials[kept] = rest
                kept += 1
            x = total
        if not np.isfinite(x):
            return np.nan
        partials[kept] = x
        used = kept + 1
    return rounded_once(partials, used)
