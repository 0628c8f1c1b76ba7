"""Turns candles into the value of buying everything at the start and holding it, over time."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Prices = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]


def held_value(
    candles: Mapping[str, Prices], capital: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The capital in equal parts, bought at each symbol's first open, valued at every close.

    A symbol counts as cash until its first candle, and at its last close between candles.

    Args:
        candles: UTC milliseconds, opens and closes, oldest first, by symbol.
        capital: cash at the start.

    Returns:
        UTC milliseconds and the values, one row for every moment of any symbol.
    """
    rows = [prices for prices in candles.values() if len(prices[0])]
    if not rows:
        return np.empty(0, np.int64), np.empty(0)
    share = capital / len(candles)
    moments = rows[0][0]
    if len(rows) > 1:
        moments = np.unique(np.concatenate([times for times, _, _ in rows]))
    total = np.full(len(moments), share * (len(candles) - len(rows)))
    for times, opens, closes in rows:
        last = np.searchsorted(times, moments, side="right") - 1
        total += np.where(last < 0, share, share / opens[0] * closes[np.maximum(last, 0)])
    return moments, total
