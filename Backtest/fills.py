"""Decides at which price, and by which rule, levels meet a bar: pure functions of plain floats.

Everything is written for a long position. A short is the same thing in a mirror: negate every
price, swap high and low, and the functions hold unchanged (`mirrored`).

What happened inside a bar is not known, so the reading is the worst one that the bar allows:
the stop comes before the target, and a bar that allows a better reading is marked ambiguous.
"""

import math
from typing import NamedTuple

from Backtest.sim_settings import step_parts

NO_STOP = -math.inf
NO_TARGET = math.inf

# How the position came into this bar, which decides what the bar's extremes can prove.
FROM_OPEN = 0  # held since the open: the whole bar counts
BY_LIMIT = 1  # bought on the way down inside the bar: the high may be older than the fill
BY_STOP = 2  # bought on the way up inside the bar: the low may be older than the fill

STOP = "stop"
STOP_GAP = "stop_gap"
TARGET = "target"
TARGET_GAP = "target_gap"

# Ticks and lots are compared in units of themselves; this is the float noise that is forgiven,
# and what each unit adds to it: 18.64818291 / 1e-8 is 4e-7 short of a whole number.
STEP_NOISE, STEP_ERROR = 1e-7, 4e-16


class Bar(NamedTuple):
    """Holds one candle's prices, perhaps mirrored."""

    open: float
    high: float
    low: float
    close: float


class Exit(NamedTuple):
    """Tells where a bar ends a position, and what the best reading of it would have given."""

    rule: str
    price: float
    ambiguous: bool = False
    best_price: float | None = None


class Step(NamedTuple):
    """Says how far a level stays from its anchor: by a fraction of it, or by a distance."""

    size: float
    is_fraction: bool


def mirrored(bar: Bar) -> Bar:
    """Show a short's bar as a long's."""
    return Bar(-bar.open, -bar.low, -bar.high, -bar.close)


def exit_of_bar(
    bar: Bar, stop: float, target: float, entered: int = FROM_OPEN, fill: float = 0.0
) -> Exit | None:
    """Find where a long position leaves in this bar, if it does.

    `stop` and `target` are NO_STOP and NO_TARGET where there is none. `entered` is FROM_OPEN, or
    how the position was opened inside this very bar; `fill` is the market's price there.
    """
    if entered == FROM_OPEN:
        return _exit_since_open(bar, stop, target)
    if fill <= stop:
        return Exit(STOP_GAP, fill)
    if entered == BY_LIMIT:
        return _exit_after_limit(bar, stop, target)
    return _exit_after_stop_entry(bar, stop, target)


def _exit_since_open(bar: Bar, stop: float, target: float) -> Exit | None:
    """Looks at the gap at the open, then the stop, then the target."""
    if bar.open <= stop:
        return Exit(STOP_GAP, bar.open)
    if bar.open >= target:
        return Exit(TARGET_GAP, bar.open)
    if bar.low <= stop:
        both = bar.high >= target
        return Exit(STOP, stop, both, target if both else None)
    if bar.high >= target:
        return Exit(TARGET, target)
    return None


def _exit_after_limit(bar: Bar, stop: float, target: float) -> Exit | None:
    """Price fell through the fill, so a low beyond the stop came later; a high may be older."""
    if bar.low <= stop:
        both = bar.high >= target
        return Exit(STOP, stop, both, target if both else None)
    if bar.close >= target:
        return Exit(TARGET, target)
    return None


def _exit_after_stop_entry(bar: Bar, stop: float, target: float) -> Exit | None:
    """Price rose through the fill, so a high beyond the target came later; a low may be older."""
    reached = bar.high >= target
    if bar.low <= stop:
        certain = bar.close <= stop and not reached
        best = None if certain else target if reached else bar.close
        return Exit(STOP, stop, not certain, best)
    if reached:
        return Exit(TARGET, target)
    return None


def limit_entry(bar: Bar, price: float) -> tuple[str, float, int] | None:
    """Fill a buy limit: the better open if there is one, else its price; None if not reached."""
    if bar.open <= price:
        better = bar.open < price
        return ("limit_better_open" if better else "limit", bar.open, FROM_OPEN)
    if bar.low <= price:
        return ("limit", price, BY_LIMIT)
    return None


def stop_entry(bar: Bar, price: float) -> tuple[str, float, int] | None:
    """Fill a buy stop: the open if the bar opens beyond it, else its price; None if not reached."""
    if bar.open >= price:
        beyond = bar.open > price
        return ("stop_gap" if beyond else "stop", bar.open, FROM_OPEN)
    if bar.high >= price:
        return ("stop", price, BY_STOP)
    return None


def level_away(price: float, sign: int, step: Step, gain: bool) -> float:
    """Place a level a step away from a price: with the trade (`gain`) or against it.

    A fraction is taken of the price: a long's stop of 2 % from 100 is 98, a short's is 102.
    """
    distance = step.size * price if step.is_fraction else step.size
    return price + sign * distance if gain else price - sign * distance


def roi_price(entry: float, profit: float, commission: float, sign: int) -> float:
    """Find the price that earns `profit` of the entry value, net of both commissions."""
    if sign > 0:
        return entry * (1.0 + commission) * (1.0 + profit) / (1.0 - commission)
    return entry * (1.0 - commission) * (1.0 - profit) / (1.0 + commission)


def bankruptcy_price(entry: float, commission: float) -> float:
    """Gives the price at which buying a short back, with commission, takes all its collateral."""
    return 2.0 * entry / (1.0 + commission)


def fill_price(raw: float, buying: bool, *, market: bool, cost: float, tick: float | None) -> float:
    """Add slippage and half the spread on market and stop fills, then round to the tick."""
    price = raw
    if market:
        price = raw * (1.0 + cost) if buying else raw * (1.0 - cost)
    if tick is None:
        return price
    return (round_up if buying else round_down)(price, tick)


def round_up(value: float, step: float) -> float:
    """Raise a value to the next multiple of a step, forgiving float noise."""
    steps = value / step
    return multiple(math.ceil(steps - step_noise(steps)), step)


def round_down(value: float, step: float) -> float:
    """Lower a value to the next multiple of a step, forgiving float noise."""
    steps = value / step
    return multiple(math.floor(steps + step_noise(steps)), step)


def step_noise(steps: float) -> float:
    """Tells what is forgiven of a number of steps; never more than half of one."""
    return min(0.5, STEP_NOISE + steps * STEP_ERROR)


def multiple(steps: int, step: float) -> float:
    """So many steps, by the arithmetic of `Backtest.compiled.kernel_parts`: 3 of 0.1 are 0.3."""
    units, scale = step_parts(step)
    return float(steps) * float(units) / float(scale)
