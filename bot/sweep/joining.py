"""Joins what one set gave on several parts of a history into one row."""

import math
from collections.abc import Sequence

import numpy as np

from Backtest.metrics.sharpe_odds import moments_of
from bot.sweep.luck import Tried

ADDED = ("total_trades", "total_pnl", "costs")
OF_TRADES = ("win_rate", "expectancy")


def joined(parts: Sequence[Tried], periods_per_year: float | None, paths: int = 1) -> Tried:
    """Join parts: Sharpe ratio of all returns, trades added, the deepest fall, returns compounded.

    What is said of trades is a mean by their number, other figures are means by the number of
    returns. Where the parts go through the history several times (`paths`), what adds up is divided
    by that.
    """
    if len(parts) == 1:
        return parts[0]
    sums = np.sum([part.sums for part in parts], axis=0)
    returns = [float(part.sums[..., 0].sum()) for part in parts]
    trades = [part.figures["total_trades"] or 0.0 for part in parts]
    figures: dict[str, float | None] = {}
    for name in parts[0].figures:
        weights = trades if name in OF_TRADES else returns
        known = [
            (value, weight)
            for part, weight in zip(parts, weights, strict=True)
            if (value := part.figures[name]) is not None
        ]
        total = sum(weight for _, weight in known)
        figures[name] = sum(v * weight for v, weight in known) / total if total else None
    for name in ADDED:
        figures[name] = math.fsum(part.figures[name] or 0.0 for part in parts) / paths
    figures["max_drawdown"] = max(part.figures["max_drawdown"] or 0.0 for part in parts)
    grown = math.prod(1.0 + (part.figures["return"] or 0.0) for part in parts)
    figures["return"] = max(grown, 0.0) ** (1.0 / paths) - 1.0
    found = moments_of(sums.sum(axis=0))
    yearly = math.sqrt(periods_per_year) if periods_per_year else None
    figures["sharpe"] = found.sharpe * yearly if found and yearly else None
    rejections: dict[str, int] = {}
    for part in parts:
        for cause, count in part.rejections.items():
            rejections[cause] = rejections.get(cause, 0) + count
    return Tried(parts[0].values, figures, rejections, sums)
