"""Computes how often the best of many tries on one half of the history fails on the other.

The probability of backtest overfitting by combinatorially symmetric cross-validation, of Bailey,
Borwein, Lopez de Prado and Zhu (2015). A try is given as the count, the sum and the sum of the
squares of its returns in each block of the history, which is all that a Sharpe ratio needs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BLOCKS = 16  # 12,870 ways to halve them
KEPT_SHARE = 0.5


@dataclass(frozen=True)
class Overfitting:
    """Tells what choosing the best by one half of the history gives on the other half."""

    probability: float  # that the chosen one is in the worse half of all there
    ways: int  # how many halves were looked at
    loss: float  # the share of them in which the chosen one loses money on the other half


def overfitting(tries: Floats) -> Overfitting | None:
    """Choose by every half of the blocks, and look at the chosen one on the other half.

    Args:
        tries: by try, block, and count, sum, sum of squares of the returns (more is ignored).

    Returns:
        None if there is nothing to choose from, or blocks have too few returns.
    """
    count, blocks = tries.shape[:2]
    if count < 2 or blocks % 2 or not 2 <= blocks <= BLOCKS or not tries[..., 0].min() >= 2:
        return None
    from Backtest.metrics.block_pass import judge_halves

    sums, squares = (np.ascontiguousarray(tries[..., place].T) for place in (1, 2))
    failed, lost = judge_halves(sums, squares)
    ways = comb(blocks, blocks // 2)
    return Overfitting(failed / ways, ways, lost / ways)


def neighbours_of(values: Mapping[str, float], tried: Sequence[Mapping[str, float]]) -> list[int]:
    """Gives the places of the sets that differ in one parameter, by one step of those tried."""
    near = set()
    for name, value in values.items():
        listed = sorted({one[name] for one in tried})
        place = listed.index(value)
        near |= {(name, other) for other in listed[max(place - 1, 0) : place + 2]}
    found = []
    for place, one in enumerate(tried):
        apart = [(name, one[name]) for name, value in values.items() if one[name] != value]
        if len(apart) == 1 and apart[0] in near:
            found.append(place)
    return found


def stability(best: float | None, around: Sequence[float | None]) -> float | None:
    """Gives the share of neighbours that keep half of the best result; one without it keeps none.

    None if the best result is not above 0, or nobody is around.
    """
    if best is None or not best > 0.0 or not around:
        return None
    return sum(one is not None and one >= KEPT_SHARE * best for one in around) / len(around)
