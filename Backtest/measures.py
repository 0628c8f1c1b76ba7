"""An equity curve measured in one pass of machine code, to the last bit as `Backtest.curves` does.

Also sums that are rounded once, as Python's `math.fsum` gives them.
"""

from typing import Any

import numpy as np

from Backtest.curves import Curve, Floats, Moving, Spans, Sums, finished
from Backtest.machine_code import NUMBERS, WHOLE, fills, loop, part, types

STILL_ROWS = 64  # looked at together: mostly nothing is held and nothing moves
LEAF_VALUES = 128  # numpy adds so many in one go
PARTIALS = 64  # more than doubles of any sizes need


def survey(
    rows: Floats, start: float, spans: Spans, moving: Moving | None = None
) -> tuple[Curve, list[float]] | None:
    """As `Backtest.curves.survey`; None where equity is not positive throughout."""
    returns, falls = np.empty(len(rows)), np.empty(len(spans))
    bounds = np.array([0, *(last for _, last in spans)], dtype=np.int64)
    firsts, lasts = moving or (np.array([0]), np.array([len(rows)]))
    count, deepest = follow(rows, start, bounds, firsts, lasts, returns, falls)
    if count < 0 or len(rows) < 2:
        return None
    returns = returns[:count]
    mean = float(returns.sum()) / (len(rows) - 1)
    sums = Sums(count, mean, *squares(returns, mean))
    return finished(rows, sums, float(deepest)), falls.tolist()


@part
def moves_in(rows: Any, first: int, last: int) -> int:
    """How many rows differ from the one before them."""
    now, before = rows[first:last], rows[first - 1 : last - 1]
    moved = 0
    for place in range(now.size):
        moved += now[place] != before[place]
    return moved


@part
def follow_fall(row: float, fall: Any) -> tuple[float, float, float]:
    """The peak, the lowest row since, and the deepest fall, after one more row.

    A fall is worked out when its peak is passed: rounding keeps the order, so the lowest row since
    a peak has the deepest fall from it.
    """
    peak, trough, deepest = fall
    if row > peak:
        return row, row, max(deepest, 1.0 - trough / peak)
    return peak, min(row, trough), deepest


@part
def follow_all(rows: Any, returns: Any, whole: Any, within: Any) -> tuple[bool, Any, Any]:
    """Whether rows after the first, all of which moved, are positive, and both falls after them."""
    now, before = rows[1:], rows[:-1]
    faults, peaks, troughs = 0, 0, 0
    for place in range(now.size):
        row = now[place]
        returns[place] = row / before[place] - 1.0
        faults += not ((row > 0.0) & (row < np.inf))
        peaks += (row > whole[0]) | (row > within[0])
        troughs += (row < whole[1]) | (row < within[1])
    if peaks == 0 and troughs > 0:  # no new peak: the lowest row is all that counts
        lowest = now[0]
        for place in range(1, now.size):
            lowest = min(lowest, now[place])
        whole, within = follow_fall(lowest, whole), follow_fall(lowest, within)
    elif peaks > 0:  # mostly a curve is somewhere between
        for place in range(now.size):
            whole, within = follow_fall(now[place], whole), follow_fall(now[place], within)
    return faults == 0, whole, within


@loop(NUMBERS, types.float64, WHOLE, WHOLE, WHOLE, fills(types.float64), fills(types.float64))
def follow(
    rows: Any, start: float, bounds: Any, firsts: Any, lasts: Any, returns: Any, falls: Any
) -> tuple[int, float]:
    """Walk along a curve: its returns, its deepest fall, and that of each span of rows.

    Args:
        rows: the curve.
        start: the equity before it.
        bounds: the first row of each span, then the number of rows.
        firsts: the rows from which on equity may move, rising.
        lasts: the rows up to which it may.
        returns: filled with the returns at rows that moved.
        falls: filled with the deepest fall in each span.

    Returns:
        How many returns there are, -1 if equity was not positive throughout; the deepest fall.
    """
    count, before, piece = 0, start, 0
    whole = (start, start, 0.0)
    for span in range(falls.size):
        within = (before, before, 0.0)
        first, end = bounds[span], bounds[span + 1]
        if first == 0:
            before = rows[0]
            if not (0.0 < before < np.inf):
                return -1, 0.0
            whole, within = follow_fall(before, whole), follow_fall(before, within)
            first = 1
        while first < end:
            while piece < firsts.size and lasts[piece] < first:
                piece += 1
            if piece == firsts.size or firsts[piece] >= end:
                break
            first = max(first, firsts[piece])
            last = min(first + STILL_ROWS, end, lasts[piece] + 1)
            moved = moves_in(rows, first, last)
            if moved == last - first:
                added = returns[count : count + moved]
                sound, whole, within = follow_all(rows[first - 1 : last], added, whole, within)
                if not sound:
                    return -1, 0.0
                count, before = count + moved, rows[last - 1]
            elif moved > 0:
                for place in range(first, last):
                    row = rows[place]
                    if row == before:
                        continue
                    if not (0.0 < row < np.inf):
                        return -1, 0.0
                    returns[count] = row / before - 1.0
                    count, before = count + 1, row
                    whole, within = follow_fall(row, whole), follow_fall(row, within)
            first = last
        falls[span] = max(within[2], 1.0 - within[1] / within[0])
    return count, max(whole[2], 1.0 - whole[1] / whole[0])


@part
def both_squares(value: float, mean: float) -> tuple[float, float]:
    """The square of a return's distance from the mean, and that of a return below 0."""
    apart, loss = value - mean, min(value, 0.0)
    return apart * apart, loss * loss


@part
def add_leaf(values: Any, mean: float) -> tuple[float, float]:
    """Both sums of up to 128 returns: eight lanes, which are added in pairs, then the rest."""
    apart, losses, even = -0.0, -0.0, values.size // 8 * 8
    if even > 0:
        one, other = add_lanes(values[:even], mean, 0), add_lanes(values[:even], mean, 4)
        apart, losses = one[0] + other[0], one[1] + other[1]
    for place in range(even, values.size):
        squares_here = both_squares(values[place], mean)
        apart += squares_here[0]
        losses += squares_here[1]
    return apart, losses


@part
def add_lanes(values: Any, mean: float, first: int) -> tuple[float, float]:
    """Both sums of four lanes, every eighth value from the first four on."""
    apart_0, losses_0 = both_squares(values[first], mean)
    apart_1, losses_1 = both_squares(values[first + 1], mean)
    apart_2, losses_2 = both_squares(values[first + 2], mean)
    apart_3, losses_3 = both_squares(values[first + 3], mean)
    for place in range(first + 8, values.size, 8):
        apart, losses = both_squares(values[place], mean)
        apart_0, losses_0 = apart_0 + apart, losses_0 + losses
        apart, losses = both_squares(values[place + 1], mean)
        apart_1, losses_1 = apart_1 + apart, losses_1 + losses
        apart, losses = both_squares(values[place + 2], mean)
        apart_2, losses_2 = apart_2 + apart, losses_2 + losses
        apart, losses = both_squares(values[place + 3], mean)
        apart_3, losses_3 = apart_3 + apart, losses_3 + losses
    apart = (apart_0 + apart_1) + (apart_2 + apart_3)
    return apart, (losses_0 + losses_1) + (losses_2 + losses_3)


@part
def add_pairwise(values: Any, mean: float) -> tuple[float, float]:
    """Both sums in halves of halves, as numpy's `sum` adds."""
    if values.size <= LEAF_VALUES:
        return add_leaf(values, mean)
    half = values.size // 2 // 8 * 8
    apart, losses = add_pairwise(values[:half], mean)
    more_apart, more_losses = add_pairwise(values[half:], mean)
    return apart + more_apart, losses + more_losses


@loop(NUMBERS, types.float64)
def squares(returns: Any, mean: float) -> tuple[float, float]:
    """The sums of `both_squares`, to the last bit as numpy adds arrays of them."""
    apart, losses = add_pairwise(returns, mean)
    return 0.0 + apart, 0.0 + losses


@part
def rounded_once(partials: Any, used: int) -> float:
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
def exact_total(values: Any) -> float:
    """The sum, rounded once; not finite where the values or sums of them are not.

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
