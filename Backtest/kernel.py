"""The fill rules as one loop over arrays: one symbol, market entries, one position at a time.

The same rules, in the same order and with the same arithmetic, as `Backtest.book` and the loop of
`adapters.strategy_loop`; the tests hold the two equal to the last bit.

Importing this module imports numba, which takes half a second; machine code is kept on disk. Who
has few bars never imports it: see `Backtest.compiled`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numba
import numpy as np

types: Any = numba.types
F = TypeVar("F", bound=Callable[..., Any])

# What happened, in the order in which it happened: the rows that `play` returns.
OPENED, LEFT, REFUSED, TOO_SMALL, TOO_DEAR = 0, 1, 2, 3, 4
KIND, BAR, NUMBER, SIGN, RULE = 0, 1, 2, 3, 4  # columns of the integer rows
VOLUME, RAW, PRICE, BEST, CASH = 0, 1, 2, 3, 4  # BEST: reading of an exit, or NaN; CASH: after it

EXIT_RULE, STOP, STOP_GAP, TRAILING, TRAILING_GAP = 0, 1, 2, 3, 4
TARGET, TARGET_GAP, ROI, ROI_GAP = 5, 6, 7, 8

NO_LEVEL, FRACTION, DISTANCE = 0, 1, 2
UNITS, EQUITY, RISK = 0, 1, 2

# Why the loop gave up: the event path says it in words, or more room is made.
SOUND, BAD_ORDER, NO_ROOM = 0, 1, 2

STEP_NOISE = 1e-7  # as in Backtest.fills
BAR_ROWS = 4  # no bar needs more


class Orders(NamedTuple):
    """What every entry asks for; level sizes are arrays of one number, or of one a bar."""

    stop_form: int
    target_form: int
    trail_form: int
    trail_size: float
    activate_at: float  # NaN: at once
    only_after_activation: bool
    size_form: int
    size_amount: float


class Charges(NamedTuple):
    """What the broker and the loop are set to; a tick or lot of 0 means none."""

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
    """What is still open after the last bar."""

    fault: int
    fault_bar: int
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


def _compiled(function: Callable[..., Any], *signatures: Any) -> Any:
    """Machine code of a function, kept on disk where a folder for it can be written."""
    njit: Any = numba.njit
    try:
        return njit(*signatures, cache=True, error_model="numpy")(function)
    except RuntimeError:  # numba's word for: no folder for the cache
        return njit(*signatures, error_model="numpy")(function)


def _part(function: F) -> F:
    """Compile a part of the loop."""
    return cast(F, _compiled(function))


def _tuple_type(form: Any) -> Any:
    """Numba's type of a NamedTuple of numbers and flags."""
    kinds = {int: types.int64, float: types.float64, bool: types.boolean}
    return types.NamedTuple([kinds[kind] for kind in form.__annotations__.values()], form)


def _whole(function: F) -> F:
    """Compile the loop itself, for arrays that it may only read and some that it fills."""

    def read_only(kind: Any) -> Any:
        return types.Array(kind, 1, "C", readonly=True)

    numbers, flags = read_only(types.float64), read_only(types.boolean)
    moments = read_only(types.int64)
    filled = (
        types.Array(types.float64, 1, "C"),
        types.Array(types.int64, 2, "C"),
        types.Array(types.float64, 2, "C"),
    )
    candles = (moments, numbers, numbers, numbers, numbers)
    signals = (read_only(types.int8), flags, flags)
    wishes = (numbers, numbers, moments, numbers)
    forms = (_tuple_type(Orders), _tuple_type(Charges))
    return cast(F, _compiled(function, (*candles, *signals, *wishes, *forms, *filled)))


@_part
def step_up(value: float, step: float, units: float, scale: float) -> float:
    """Raise a value to the next multiple of a step, written as units / scale."""
    steps = float(np.ceil(value / step - STEP_NOISE))
    return steps * units / scale


@_part
def step_down(value: float, step: float, units: float, scale: float) -> float:
    """Lower a value to the next multiple of a step, written as units / scale."""
    steps = float(np.floor(value / step + STEP_NOISE))
    return steps * units / scale


@_part
def paid(raw: float, buying: bool, market: bool, charges: Charges) -> float:
    """Add slippage and half the spread on market and stop fills, then round to the tick."""
    price = raw
    if market:
        price = raw * (1.0 + charges.market_cost) if buying else raw * (1.0 - charges.market_cost)
    if charges.tick == 0.0:
        return price
    if buying:
        return step_up(price, charges.tick, charges.tick_units, charges.tick_scale)
    return step_down(price, charges.tick, charges.tick_units, charges.tick_scale)


@_part
def distance_of(form: int, size: float, price: float) -> float:
    """How far a level is from the price it is anchored at."""
    return size * price if form == FRACTION else size


@_part
def volume_for(
    orders: Orders, charges: Charges, equity: float, close: float, stop_size: float
) -> float:
    """Size an entry as `adapters.sizing` does; 0 where nothing can be bought."""
    if orders.size_form == UNITS:
        volume = orders.size_amount
    elif orders.size_form == EQUITY:
        volume = orders.size_amount * equity / close
    else:
        volume = orders.size_amount * equity / distance_of(orders.stop_form, stop_size, close)
    if not volume > 0.0:
        return 0.0
    if charges.lot == 0.0:
        return volume
    return step_down(volume, charges.lot, charges.lot_units, charges.lot_scale)


@_part
def is_sound(orders: Orders, sign: int, close: float, stop_size: float, target_size: float) -> bool:
    """Whether the broker would take an order: its levels are prices above 0."""
    if orders.stop_form != NO_LEVEL:
        if not stop_size > 0.0 or not np.isfinite(stop_size):
            return False
        if sign > 0 and not close - distance_of(orders.stop_form, stop_size, close) > 0.0:
            return False
    if orders.target_form != NO_LEVEL:
        if not target_size > 0.0 or not np.isfinite(target_size):
            return False
        if sign < 0 and not close - distance_of(orders.target_form, target_size, close) > 0.0:
            return False
    return True


@_part
def roi_level(
    roi_ms: Any, roi_profit: Any, held_ms: int, entry: float, sign: int, commission: float
) -> float:
    """The mirrored price of the largest ROI key reached, infinite before the first."""
    reached = -1
    for place in range(roi_ms.size):
        if roi_ms[place] > held_ms:
            break
        reached = place
    if reached < 0:
        return np.inf
    profit: float = roi_profit[reached]
    if sign > 0:
        return entry * (1.0 + commission) * (1.0 + profit) / (1.0 - commission)
    return -(entry * (1.0 - commission) * (1.0 - profit) / (1.0 + commission))


@_part
def write_row(
    whole: Any,
    exact: Any,
    row: int,
    kind: int,
    bar: int,
    number: int,
    sign: int,
    rule: int,
    volume: float,
    raw: float,
    price: float,
    best: float,
    cash: float,
) -> None:
    """Write down one thing that happened."""
    whole[row, KIND] = kind
    whole[row, BAR] = bar
    whole[row, NUMBER] = number
    whole[row, SIGN] = sign
    whole[row, RULE] = rule
    exact[row, VOLUME] = volume
    exact[row, RAW] = raw
    exact[row, PRICE] = price
    exact[row, BEST] = best
    exact[row, CASH] = cash


@_part
def after_leaving(
    cash: float, sign: int, volume: float, entry: float, price: float, commission: float
) -> float:
    """The cash after a position is closed; a short brings back its collateral and profit."""
    fee = volume * price * commission
    if sign > 0:
        return cash + (volume * price - fee)
    return cash + (volume * (2.0 * entry - price) - fee)


@_part
def entry_kind(volume: float, price: float, cash: float, charges: Charges) -> tuple[int, float]:
    """Whether an entry opens or is rejected, and what it takes from the cash."""
    notional = volume * price
    cost = notional + notional * charges.commission
    if notional < charges.min_notional:
        return TOO_SMALL, cost
    if not cost <= cash * (1.0 + 1e-9):
        return TOO_DEAR, cost
    return OPENED, cost


@_part
def levels(
    orders: Orders, sign: int, entry: float, stop_size: float, target_size: float
) -> tuple[float, float]:
    """Anchor stop and target at the fill, as mirrored prices."""
    stop, target = -np.inf, np.inf
    if orders.stop_form != NO_LEVEL:
        stop = sign * (entry - sign * distance_of(orders.stop_form, stop_size, entry))
    if orders.target_form != NO_LEVEL:
        target = sign * (entry + sign * distance_of(orders.target_form, target_size, entry))
    return stop, target


@_whole
def play(
    times: Any,
    opens: Any,
    highs: Any,
    lows: Any,
    closes: Any,
    enter: Any,
    leave_long: Any,
    leave_short: Any,
    stop_sizes: Any,
    target_sizes: Any,
    roi_ms: Any,
    roi_profit: Any,
    orders: Orders,
    charges: Charges,
    equity_rows: Any,
    whole: Any,
    exact: Any,
) -> End:
    """Play every bar.

    Args:
        times: UTC milliseconds of the opens.
        opens: prices, as highs, lows and closes.
        enter: 1 and -1 where an entry is wanted, the collisions of both enter rules taken out.
        leave_long: where the exit rule of longs holds, as leave_short of shorts.
        stop_sizes: one size for all entries, or one a bar; so target_sizes.
        roi_ms: from which time in the trade on each of roi_profit is taken.
        equity_rows: filled with the equity after each bar.
        whole: filled with the rows of what happened, as exact with their prices and volumes.

    Returns:
        What is open at the end, and how many rows were filled.
    """
    bars = closes.size
    rows = 0
    one_stop, one_target = stop_sizes.size == 1, target_sizes.size == 1
    has_roi = roi_ms.size > 0
    next_open = not charges.this_close
    commission = charges.commission
    cash = charges.capital
    equity = cash
    numbered = 0
    sign, position, volume, entry, entry_time = 0, 0, 0.0, 0.0, 0
    stop, target, extreme, stop_size = -np.inf, np.inf, -np.inf, 0.0
    trailing, closing, roi_held_bar = False, 0, -1
    order, order_sign, order_volume = 0, 0, 0.0
    order_stop, order_target = 0.0, 0.0
    fault, fault_bar = SOUND, 0

    bar = 0
    while bar < bars:
        if sign == 0 and order == 0:
            while bar < bars and enter[bar] == 0:  # nothing held, nothing waiting, nothing wanted
                equity_rows[bar] = equity
                bar += 1
            if bar == bars:
                break
        if rows + BAR_ROWS > whole.shape[0]:
            fault, fault_bar = NO_ROOM, bar
            break
        o, h, low, c = opens[bar], highs[bar], lows[bar], closes[bar]

        # An entry is placed before the bar is stepped, with the account of the bar before.
        wanted = enter[bar]
        placed, placed_sign, placed_volume = 0, 0, 0.0
        placed_stop, placed_target = 0.0, 0.0
        if wanted != 0:
            left = leave_long[bar] if wanted > 0 else leave_short[bar]
            if not left and (next_open or sign == 0):
                placed_sign = 1 if wanted > 0 else -1
                placed_stop = stop_sizes[0] if one_stop else stop_sizes[bar]
                placed_target = target_sizes[0] if one_target else target_sizes[bar]
                if not is_sound(orders, placed_sign, c, placed_stop, placed_target):
                    fault, fault_bar = BAD_ORDER, bar
                    break
                placed_volume = volume_for(orders, charges, equity, c, placed_stop)
                if placed_volume > 0.0:
                    numbered += 1
                    placed = numbered
                else:
                    write_row(
                        whole,
                        exact,
                        rows,
                        REFUSED,
                        bar,
                        0,
                        placed_sign,
                        0,
                        0.0,
                        0.0,
                        0.0,
                        np.nan,
                        cash,
                    )
                    rows += 1

        # A close that was asked for fills at the open, then an entry that waited.
        if sign != 0 and closing != 0:
            price = paid(o, sign < 0, True, charges)
            cash = after_leaving(cash, sign, volume, entry, price, commission)
            write_row(
                whole,
                exact,
                rows,
                LEFT,
                bar,
                position,
                sign,
                EXIT_RULE,
                volume,
                o,
                price,
                np.nan,
                cash,
            )
            rows += 1
            sign, closing = 0, 0
        if order != 0 and next_open:
            price = paid(o, order_sign > 0, True, charges)
            kind, cost = entry_kind(order_volume, price, cash, charges)
            if kind == OPENED:
                cash -= cost
                sign, position, volume, entry = order_sign, order, order_volume, price
                entry_time, stop_size = times[bar], order_stop
                stop, target = levels(orders, sign, entry, order_stop, order_target)
                extreme, trailing, closing = -np.inf, False, 0
                roi_held_bar = bar if charges.hold_roi and has_roi else -1
            write_row(
                whole,
                exact,
                rows,
                kind,
                bar,
                order,
                order_sign,
                0,
                order_volume,
                o,
                price,
                np.nan,
                cash,
            )
            rows += 1
            order = 0

        # The position meets the bar, seen in a mirror if it is short.
        if sign != 0:
            if sign > 0:
                seen_open, seen_high, seen_low = o, h, low
            else:
                seen_open, seen_high, seen_low = -o, -low, -h
            limit, by_roi = target, False
            if has_roi and roi_held_bar != bar:
                level = roi_level(
                    roi_ms, roi_profit, times[bar] - entry_time, entry, sign, commission
                )
                if level < limit:
                    limit, by_roi = level, True
            if seen_low <= stop or seen_high >= limit:
                best = np.nan
                stopped = True
                if seen_open <= stop:
                    level, rule = seen_open, STOP_GAP
                elif seen_open >= limit:
                    level, rule, stopped = seen_open, TARGET_GAP, False
                elif seen_low <= stop:
                    level, rule = stop, STOP
                    if seen_high >= limit:
                        best = paid(sign * limit, sign < 0, False, charges)
                else:
                    level, rule, stopped = limit, TARGET, False
                if stopped and trailing:
                    rule += TRAILING - STOP
                elif not stopped and by_roi:
                    rule += ROI - TARGET
                raw = sign * level
                price = paid(raw, sign < 0, stopped, charges)
                cash = after_leaving(cash, sign, volume, entry, price, commission)
                write_row(
                    whole,
                    exact,
                    rows,
                    LEFT,
                    bar,
                    position,
                    sign,
                    rule,
                    volume,
                    raw,
                    price,
                    best,
                    cash,
                )
                rows += 1
                sign = 0

        # Trailing stops follow the finished bar.
        if sign != 0 and orders.trail_form != NO_LEVEL:
            high = h if sign > 0 else -low
            if high > extreme:
                extreme = high
                form, size = orders.trail_form, orders.trail_size
                if not np.isnan(orders.activate_at):
                    needed = entry + sign * (orders.activate_at * entry)
                    if extreme < sign * needed:
                        form, size = orders.stop_form, stop_size
                        if orders.only_after_activation:
                            form = NO_LEVEL
                if form != NO_LEVEL:
                    best_price = sign * high
                    level = sign * (best_price - sign * distance_of(form, size, best_price))
                    if level > stop:
                        stop, trailing = level, True

        # Under `this_close` an entry fills at the close of its own bar.
        if placed != 0 and not next_open:
            price = paid(c, placed_sign > 0, True, charges)
            kind, cost = entry_kind(placed_volume, price, cash, charges)
            if kind == OPENED:
                cash -= cost
                sign, position, volume, entry = placed_sign, placed, placed_volume, price
                entry_time, stop_size = times[bar], placed_stop
                stop, target = levels(orders, sign, entry, placed_stop, placed_target)
                extreme, trailing, closing = -np.inf, False, 0
                roi_held_bar = bar if charges.hold_roi and has_roi else -1
            asked = placed_volume
            write_row(
                whole, exact, rows, kind, bar, placed, placed_sign, 0, asked, c, price, np.nan, cash
            )
            rows += 1

        # An entry stays only if nothing is held; then the exit rule is asked.
        if placed != 0 and next_open and sign == 0:
            order, order_sign, order_volume = placed, placed_sign, placed_volume
            order_stop, order_target = placed_stop, placed_target
        if sign != 0:
            leaves = leave_long[bar] if sign > 0 else leave_short[bar]
            if leaves and charges.exit_profit_only:
                fee = charges.profit_commission
                if sign > 0:
                    leaves = c * (1.0 - fee) > entry * (1.0 + fee)
                else:
                    leaves = c * (1.0 + fee) < entry * (1.0 - fee)
            if leaves:
                numbered += 1
                if next_open:
                    closing = numbered
                else:
                    price = paid(c, sign < 0, True, charges)
                    cash = after_leaving(cash, sign, volume, entry, price, commission)
                    write_row(
                        whole,
                        exact,
                        rows,
                        LEFT,
                        bar,
                        position,
                        sign,
                        EXIT_RULE,
                        volume,
                        c,
                        price,
                        np.nan,
                        cash,
                    )
                    rows += 1
                    sign = 0
            elif charges.hold_roi and wanted == sign:
                roi_held_bar = bar + 1

        equity = cash
        if sign > 0:
            equity = cash + volume * c
        elif sign < 0:
            equity = cash + volume * (2.0 * entry - c)
        equity_rows[bar] = equity
        bar += 1

    return End(
        fault,
        fault_bar,
        numbered,
        rows,
        cash,
        sign != 0,
        closing,
        stop,
        extreme,
        trailing,
        roi_held_bar,
        order,
        order_sign,
        order_volume,
        charges.hold_roi,
    )
