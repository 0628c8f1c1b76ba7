"""Computes what a Sharpe ratio is worth: pure functions, None where one has no meaning.

By Bailey and Lopez de Prado: "The Sharpe Ratio Efficient Frontier" (2012) for the probabilistic
ratio and the least track record, "The Deflated Sharpe Ratio" (2014) for the best of many tries.
Ratios here are those of one row, not annualised.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

EULER = 0.5772156649015329
CONFIDENCE = 0.95
LEAST_SPREAD = 1e-15  # of returns; below it a ratio would divide by the last digits
NORMAL = NormalDist()


@dataclass(frozen=True)
class Moments:
    """Holds what the ratios need of some returns; a normal distribution has skew 0, kurtosis 3."""

    count: int
    sharpe: float  # mean over sample deviation, of one row
    skew: float = 0.0
    kurtosis: float = 3.0

    @property
    def noise(self) -> float:
        """Gives the variance of the estimated ratio, times the number of returns less one."""
        return 1.0 - self.skew * self.sharpe + (self.kurtosis - 1.0) / 4.0 * self.sharpe**2


def moments_of(sums: Floats) -> Moments | None:
    """Gives the moments of returns from their count and the sums of their first four powers."""
    count = int(sums[0])
    if count < 2:
        return None
    mean, square, cube, fourth = (float(total) / count for total in sums[1:])
    variance = square - mean**2
    if not variance > LEAST_SPREAD**2:
        return None
    third = cube - 3.0 * mean * square + 2.0 * mean**3
    peaked = fourth - 4.0 * mean * cube + 6.0 * mean**2 * square - 3.0 * mean**4
    deviation = math.sqrt(variance * count / (count - 1))
    return Moments(count, mean / deviation, third / variance**1.5, peaked / variance**2)


def probable_sharpe(found: Moments, least: float = 0.0) -> float | None:
    """Gives the probability that the true ratio is above `least`."""
    if found.count < 2 or not found.noise > 0.0:
        return None
    return NORMAL.cdf((found.sharpe - least) * math.sqrt((found.count - 1) / found.noise))


def least_track_record(
    found: Moments, least: float = 0.0, confidence: float = CONFIDENCE
) -> float | None:
    """Gives the returns that are needed to be so sure that the true ratio is above `least`.

    None if the ratio found is not above it: no track record is long enough then.
    """
    if not found.sharpe > least or not found.noise > 0.0:
        return None
    return 1.0 + found.noise * (NORMAL.inv_cdf(confidence) / (found.sharpe - least)) ** 2


def best_by_chance(trials: float, spread: float) -> float:
    """Gives the ratio that the best of so many unrelated tries has without skill.

    `spread` is the deviation of the tries' ratios. One try has nothing to choose from: 0.
    """
    if trials <= 1:
        return 0.0
    high = NORMAL.inv_cdf(1.0 - 1.0 / trials)
    higher = NORMAL.inv_cdf(1.0 - 1.0 / (trials * math.e))
    return spread * ((1.0 - EULER) * high + EULER * higher)


def deflated_sharpe(found: Moments, trials: float, spread: float) -> float | None:
    """Gives the probability that the best of many tries has a true ratio above chance's best."""
    return probable_sharpe(found, best_by_chance(trials, spread))


def spread_of_ratios(ratios: list[float]) -> float | None:
    """Gives the sample deviation of the tries' ratios."""
    if len(ratios) < 2:
        return None
    mean = math.fsum(ratios) / len(ratios)
    return math.sqrt(math.fsum((ratio - mean) ** 2 for ratio in ratios) / (len(ratios) - 1))
