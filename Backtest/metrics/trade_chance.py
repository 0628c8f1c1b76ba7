"""Plays a run's trades again in other orders, and with some of them missed: bands of chance."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Band = tuple[float, float, float]  # one in twenty is below, the middle, one in twenty is above

RUNS = 1_000
MISSED_SHARE = 0.1
CHUNK_CELLS = 2_000_000  # runs times trades held at once: memory stays flat
POINTS = (5, 50, 95)


@dataclass(frozen=True)
class TradeChance:
    """Holds the bands; falls are positive fractions."""

    order_drawdown: Band  # the same trades in another order: where they end is the same
    missed_return: Band  # each trade missed with a probability of `MISSED_SHARE`
    missed_drawdown: Band


def trade_returns(pnl: Floats, capital: float) -> Floats:
    """Gives each trade's profit as a fraction of the equity before it, in closing order.

    Empty if they lost everything: no order of them has a meaning then.
    """
    before = capital + np.concatenate(([0.0], np.cumsum(pnl)[:-1])) if len(pnl) else np.empty(0)
    returns: Floats = pnl / before if (before > 0.0).all() else np.empty(0)
    return returns if (returns > -1.0).all() else np.empty(0)


def trade_chance(returns: Floats, seed: int, runs: int = RUNS) -> TradeChance | None:
    """Play trades in other orders, and without some; None if there are fewer than two."""
    if len(returns) < 2:
        return None
    chance, logs = np.random.default_rng(seed), np.log1p(returns)
    falls, missed_falls, gains = (np.empty(runs) for _ in range(3))
    step = max(1, CHUNK_CELLS // len(logs))
    for first in range(0, runs, step):
        part = slice(first, min(first + step, runs))
        orders = chance.permuted(np.tile(logs, (part.stop - first, 1)), axis=1)
        falls[part] = _falls(orders)
        kept = np.where(chance.random(orders.shape) < MISSED_SHARE, 0.0, logs)
        missed_falls[part] = _falls(kept)
        gains[part] = np.expm1(kept.sum(axis=1))
    return TradeChance(_band(falls), _band(gains), _band(missed_falls))


def _falls(logs: Floats) -> Floats:
    """The deepest fall of each row, from the start or a later peak."""
    paths = np.cumsum(logs, axis=1)
    peaks = np.maximum(np.maximum.accumulate(paths, axis=1), 0.0)
    falls: Floats = -np.expm1((paths - peaks).min(axis=1))
    return falls


def _band(values: Floats) -> Band:
    low, middle, high = np.percentile(values, POINTS).tolist()
    return low, middle, high
