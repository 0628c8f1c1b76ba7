"""Adds up without rounding on the way: the last digit does not depend on the values' order."""

import math

import numpy as np
from numpy.typing import NDArray

from Backtest.compiled.signal_run import is_loaded

CALL_VALUES = 100  # fewer are added sooner than machine code is called


def exact_sum(values: NDArray[np.float64]) -> float:
    """Gives the sum, rounded once."""
    if len(values) >= CALL_VALUES and is_loaded():
        from Backtest.metrics.measures import exact_total

        total = float(exact_total(np.ascontiguousarray(values)))
        if math.isfinite(total):
            return total
    return math.fsum(values.tolist())
