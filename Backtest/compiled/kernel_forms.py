"""Names what goes into the compiled loop and what comes out of it; it needs no numba."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]
Flags = NDArray[np.bool_]
Signs = NDArray[np.int8]

# What happened, in the order in which it happened: the rows that `play` returns.
OPENED, LEFT, REFUSED, TOO_SMALL, TOO_DEAR = 0, 1, 2, 3, 4
KIND, BAR, NUMBER, SIGN, RULE = 0, 1, 2, 3, 4  # columns of the integer rows
VOLUME, RAW, PRICE, BEST, CASH = 0, 1, 2, 3, 4  # BEST: reading of an exit, or NaN; CASH: after it

EXIT_RULE, STOP, STOP_GAP, TRAILING, TRAILING_GAP = 0, 1, 2, 3, 4
TARGET, TARGET_GAP, ROI, ROI_GAP = 5, 6, 7, 8
LIQUIDATED = 9

NO_LEVEL, FRACTION, DISTANCE = 0, 1, 2
UNITS, EQUITY, RISK = 0, 1, 2

# Why the loop gave up: the event path says it in words.
SOUND, BAD_ORDER = 0, 1

STEP_NOISE, STEP_ERROR = 1e-7, 4e-16  # as in Backtest.fills


class Orders(NamedTuple):
    """Holds what every entry asks for; level sizes are arrays of one number, or of one a bar."""

    stop_form: int
    target_form: int
    trail_form: int
    trail_size: float
    activate_at: float  # NaN: at once
    only_after_activation: bool
    size_form: int
    size_amount: float
    size_cap: float  # of a size by risk; infinite: none


class Charges(NamedTuple):
    """States what the broker and the loop are set to; a tick or lot of 0 means none."""

    capital: float
    commission: float
    market_cost: float
    this_close: bool
    tick: float
    tick_units: float
    tick_scale: float
    lot: float
    lot_units: float
    lot_scale: float
    min_notional: float
    exit_profit_only: bool
    profit_commission: float
    hold_roi: bool


class End(NamedTuple):
    """Holds what is still open after the last bar."""

    fault: int
    orders: int
    rows: int
    cash: float
    held: bool
    closing: int
    stop: float
    extreme: float
    trailing: bool
    roi_held_bar: int
    waiting: int
    waiting_sign: int
    waiting_volume: float
    holds_roi: bool
