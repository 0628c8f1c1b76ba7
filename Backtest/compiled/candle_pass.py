"""Looks candles through once, in machine code; `Backtest.candles` names what is wrong."""

import numpy as np

from Backtest.compiled.kernel_forms import Floats, Wholes
from Backtest.compiled.machine_code import NUMBERS, WHOLE, fills, loop, types

EXACT_US = 2**53  # up to here a double holds every whole number


@loop(WHOLE, NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def are_sound(
    times: Wholes, opens: Floats, highs: Floats, lows: Floats, closes: Floats, volumes: Floats
) -> bool:
    """Says whether every row can be a candle and comes after its predecessor."""
    faults = 0
    for row in range(opens.size):
        o, h, low, c, v = opens[row], highs[row], lows[row], closes[row], volumes[row]
        # Written so that NaN fails every comparison, and without a branch: eight rows at a time.
        inside = (low <= o) & (o <= h) & (low <= c) & (c <= h)
        sound = inside & (low > 0.0) & (h < np.inf) & (v >= 0.0) & (v < np.inf)
        faults += not sound
    for row in range(1, times.size):
        faults += times[row] <= times[row - 1]
    return faults == 0


@loop(WHOLE, fills(types.int64))
def us_to_ms(stamps: Wholes, times: Wholes) -> bool:
    """Says whether microseconds since 1970 could be turned into milliseconds, rounded down.

    A product of doubles is off by less than one millisecond, which the rest shows; whole division
    would take twice as long.
    """
    faults = 0
    for row in range(stamps.size):
        stamp = stamps[row]
        faults += (stamp < 0) | (stamp >= EXACT_US)
        near = np.int64(stamp * 0.001)
        rest = stamp - near * 1000
        times[row] = near + (rest >= 1000) - (rest < 0)
    return faults == 0
