"""Computes the figures of risk and of trades that traders compare runs by: pure functions.

Returns are those between consecutive rows of an equity curve, without a risk-free rate. A figure is
None where it has no meaning. What has a usual definition follows empyrical; where quantstats has
another, the docstring says so.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from Backtest.metrics.run_figures import finite

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

RISK_SHARE = 0.05  # of the returns: the worst that value at risk leaves out
LEAST_SPREAD = 1e-15  # of returns; below it a ratio would divide by the last digits


def returns_of(equity: Floats) -> Floats:
    """Give the returns between consecutive rows; none once equity is not positive."""
    if len(equity) < 2 or not float(equity.min()) > 0.0:
        return np.empty(0)
    return equity[1:] / equity[:-1] - 1.0


def volatility(returns: Floats, periods_per_year: float) -> float | None:
    """Deviation of the returns (n - 1), annualised."""
    if len(returns) < 2:
        return None
    return finite(float(returns.std(ddof=1)) * math.sqrt(periods_per_year))


def omega(returns: Floats) -> float | None:
    """Sum of the gains over the sum of the losses."""
    losses = -float(np.minimum(returns, 0.0).sum())
    return finite(float(np.maximum(returns, 0.0).sum()) / losses) if losses > 0.0 else None


def value_at_risk(returns: Floats) -> float | None:
    """The return that one in twenty is below, as a signed fraction.

    It is counted from the returns themselves; quantstats fits a normal distribution instead.
    """
    return finite(float(np.percentile(returns, 100.0 * RISK_SHARE))) if len(returns) else None


def shortfall(returns: Floats) -> float | None:
    """Mean of the worst twentieth of the returns (CVaR), as a signed fraction."""
    if len(returns) == 0:
        return None
    count = int((len(returns) - 1) * RISK_SHARE) + 1
    return finite(float(np.partition(returns, count - 1)[:count].mean()))


@dataclass(frozen=True)
class Comparison:
    """How a run went beside holding; alpha is a year's, compounded."""

    alpha: float | None
    beta: float | None
    correlation: float | None


def compare(returns: Floats, held: Floats, periods_per_year: float) -> Comparison:
    """Compare the returns of a run with those of holding, row by row."""
    if len(returns) != len(held) or len(returns) < 2:
        return Comparison(None, None, None)
    apart, held_apart = returns - returns.mean(), held - held.mean()
    shared = float((apart * held_apart).mean())
    spread = float((held_apart * held_apart).mean())
    if spread < LEAST_SPREAD**2:
        return Comparison(None, None, None)
    beta = shared / spread
    own = math.sqrt(float((apart * apart).mean()))
    correlation = shared / (own * math.sqrt(spread)) if own >= LEAST_SPREAD else None
    mean = float((returns - beta * held).mean())
    try:
        alpha = finite((1.0 + mean) ** periods_per_year - 1.0)
    except OverflowError:
        alpha = None
    return Comparison(alpha, finite(beta), None if correlation is None else finite(correlation))


@dataclass(frozen=True)
class Fall:
    """A time under water: from a peak down and, if it came to that, up to it again.

    Attributes:
        peak: row of the peak; -1 is the capital before the first row.
        trough: row of the lowest equity.
        end: first row at the peak's height again; None if it is still below at the end.
        depth: a positive fraction.
    """

    peak: int
    trough: int
    end: int | None
    depth: float


def falls_of(equity: Floats, capital: float, most: int) -> list[Fall]:
    """Find the deepest falls from a peak, the deepest first."""
    if len(equity) == 0:
        return []
    peaks = np.maximum.accumulate(np.maximum(equity, capital))
    under = equity < peaks
    edges = np.flatnonzero(np.diff(np.concatenate(([False], under, [False])).view(np.int8)))
    firsts, lasts = edges[::2], edges[1::2]
    if len(firsts) == 0:
        return []
    depths = 1.0 - np.minimum.reduceat(equity / peaks, firsts)
    found = []
    for place in np.lexsort((firsts, -depths))[:most].tolist():
        first, last = int(firsts[place]), int(lasts[place])
        trough = first + int(np.argmin(equity[first:last]))
        end = last if last < len(equity) else None
        found.append(Fall(first - 1, trough, end, float(depths[place])))
    return found


def time_under_water(equity: Floats, capital: float) -> float:
    """Give the share of rows below an earlier peak."""
    if len(equity) == 0:
        return 0.0
    return float(np.mean(equity < np.maximum.accumulate(np.maximum(equity, capital))))


def ulcer(equity: Floats, capital: float) -> float | None:
    """Root mean square of the falls from the peak so far; quantstats divides by n - 1."""
    if len(equity) == 0:
        return None
    falls = 1.0 - equity / np.maximum.accumulate(np.maximum(equity, capital))
    return finite(math.sqrt(float(np.square(falls).mean())))


def recovery(total_return: float, deepest: float) -> float | None:
    """Return over the deepest fall; quantstats adds returns up instead of compounding them."""
    return finite(total_return / deepest) if deepest > 0.0 else None


def payoff(pnl: Floats, outcomes: NDArray[np.int8]) -> float | None:
    """Mean win over mean loss."""
    won, lost = pnl[outcomes > 0], pnl[outcomes < 0]
    return finite(float(won.mean()) / -float(lost.mean())) if len(won) and len(lost) else None


def kelly(pnl: Floats, outcomes: NDArray[np.int8]) -> float | None:
    """The share of capital that Kelly's rule would bet: win rate less loss rate over payoff."""
    ratio = payoff(pnl, outcomes)
    if not ratio:
        return None
    share = float(np.mean(outcomes > 0))
    return finite(share - (1.0 - share) / ratio)


def system_quality(pnl: Floats) -> float | None:
    """Mean profit over its deviation (n - 1), times the root of the number of trades (SQN)."""
    if len(pnl) < 2:
        return None
    spread = float(pnl.std(ddof=1))
    return finite(math.sqrt(len(pnl)) * float(pnl.mean()) / spread) if spread > 0.0 else None


def in_risks(
    pnl: Floats, volume: Floats, entry_price: Floats, stop: Sequence[float | None]
) -> Floats:
    """Give each trade's profit in units of what it risked at first (R): entry to first stop.

    Costs are in the profit and not in the risk. A trade without a stop has no R and is left out.
    """
    risks = volume * np.abs(entry_price - np.array([np.nan if s is None else s for s in stop]))
    known = risks > 0.0
    multiples: Floats = pnl[known] / risks[known]
    return multiples


def histogram(values: Floats, most: int) -> dict[str, list[float]] | None:
    """Count values between round edges, at most so many bars; an edge is a multiple of the step."""
    if len(values) == 0:
        return None
    low, high = float(values.min()), float(values.max())
    step = _round_step(max(high - low, 1e-6) / (most - 1))
    first, last = math.floor(low / step), math.floor(high / step) + 1
    places = np.clip(np.floor(values / step).astype(np.int64) - first, 0, last - first - 1)
    counts = np.bincount(places, minlength=last - first)
    return {
        "edges": [round(place * step, 12) for place in range(first, last + 1)],
        "counts": counts.tolist(),
    }


def _round_step(least: float) -> float:
    """Give 1, 2 or 5 times a power of ten, not below a number."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= least)


def longest_streak(outcomes: NDArray[np.int8], wanted: int) -> int:
    """Count the most trades in a row with one outcome."""
    hits = np.concatenate(([False], outcomes == wanted, [False])).view(np.int8)
    edges = np.flatnonzero(np.diff(hits))
    return int((edges[1::2] - edges[::2]).max(initial=0))


def by_month(times: Whole, equity: Floats, capital: float) -> list[tuple[str, float | None]]:
    """Give the return of every calendar month with a row, UTC, as 2024-03 and a fraction."""
    if len(times) == 0:
        return []
    months = times.astype("datetime64[ms]").astype("datetime64[M]")
    last = np.append(np.flatnonzero(months[1:] != months[:-1]), len(months) - 1)
    ends = equity[last]
    before = np.concatenate(([capital], ends[:-1]))
    return [
        (str(month), finite(end / start - 1.0) if start > 0.0 else None)
        for month, end, start in zip(months[last], ends.tolist(), before.tolist(), strict=True)
    ]


def spread_of(values: Sequence[float] | Floats) -> dict[str, float] | None:
    """Give least, quarters and greatest of some values."""
    if len(values) == 0:
        return None
    points = np.percentile(np.asarray(values, dtype=np.float64), (0, 25, 50, 75, 100)).tolist()
    return dict(zip(("least", "lower", "middle", "upper", "most"), points, strict=True))
