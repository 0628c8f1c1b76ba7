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
def note(log: Any, rows: int, facts: Any, amounts: Any) -> int:
    """Write down one thing that happened; the number of rows after it."""
    whole, exact = log
    for place in range(5):
        whole[rows, place] = facts[place]
        exact[rows, place] = amounts[place]
    return rows + 1


@_part
def leave(
    log: Any, rows: int, bar: int, held: Any, how: Any, cash: float, charges: Charges
) -> tuple[float, int]:
    """Close a position: the cash and the rows after it.

    A short brings back its collateral and profit. `held` is number, sign, volume and entry price;
    `how` is the rule, the price before costs, whether costs apply, and the best reading.
    """
    number, sign, volume, entry = held
    rule, raw, market, best = how
    price = paid(raw, sign < 0, market, charges)
    fee = volume * price * charges.commission
    if sign > 0:
        cash = cash + (volume * price - fee)
    else:
        cash = cash + (volume * (2.0 * entry - price) - fee)
    amounts = (volume, raw, price, best, cash)
    return cash, note(log, rows, (LEFT, bar, number, sign, rule), amounts)


@_part
def enter_at(
    log: Any, rows: int, bar: int, order: Any, raw: float, cash: float, charges: Charges
) -> tuple[int, float, float, int]:
    """Fill an entry or reject it: what became of it, its price, the cash and the rows after it."""
    number, sign, volume = order
    price = paid(raw, sign > 0, True, charges)
    notional = volume * price
    cost = notional + notional * charges.commission
    kind = OPENED
    if notional < charges.min_notional:
        kind = TOO_SMALL
    elif not cost <= cash * (1.0 + 1e-9):
        kind = TOO_DEAR
    else:
        cash -= cost
    amounts = (volume, raw, price, np.nan, cash)
    return kind, price, cash, note(log, rows, (kind, bar, number, sign, 0), amounts)


@_part
def rest(bar: int, enter: Any, words: Any, equity: float, equity_rows: Any) -> int:
    """Pass the bars at which nothing is held, waits or is wanted; the bar that ends them.

    `words` shows `enter` eight bars at a time.
    """
    first = bar
    while bar < enter.size and enter[bar] == 0:
        bar += 1
        if bar % 8 == 0:
            word = bar // 8
            while word < words.size and words[word] == 0:
                word += 1
            bar = word * 8
    equity_rows[first:bar] = equity
    return bar


@_part
def hold(
    bar: int, candles: Any, signals: Any, bounds: Any, held: Any, cash: float, equity_rows: Any
) -> int:
    """Pass the bars at which a position only changes its value; the bar that ends them."""
    highs, lows, closes = candles[0][bar:], candles[1][bar:], candles[2][bar:]
    enter, leaves = signals[0][bar:], signals[1][bar:]
    (floor, ceiling), (_, sign, volume, entry), rows = bounds, held, equity_rows[bar:]
    for quiet in range(closes.size):
        touched = lows[quiet] <= floor or highs[quiet] >= ceiling
        if touched or enter[quiet] != 0 or leaves[quiet]:
            return bar + quiet
        close = closes[quiet]
        rows[quiet] = cash + volume * (close if sign > 0 else 2.0 * entry - close)
    return bar + int(closes.size)


@_part
def quiet_bounds(sign: int, stop: float, target: float, extreme: float) -> tuple[float, float]:
    """The low and the high at which a bar does more to a position than change its value.

    A trailing stop moves above `extreme`, which is infinite where there is none.
    """
    reach = min(target, float(np.nextafter(extreme, np.inf)))
    return (stop, reach) if sign > 0 else (-reach, -stop)


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
    log, rows = (whole, exact), 0
    words = enter[: bars // 8 * 8].view(np.int64)
    one_stop, one_target = stop_sizes.size == 1, target_sizes.size == 1
    has_roi, has_trail = roi_ms.size > 0, orders.trail_form != NO_LEVEL
    next_open = not charges.this_close
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
        # Bars at which nothing happens are passed without further questions.
        first = bar
        if order == 0 and sign == 0:
            bar = rest(bar, enter, words, equity, equity_rows)
        elif order == 0 and closing == 0 and not has_roi:
            asked = (enter, leave_long if sign > 0 else leave_short)
            bounds = quiet_bounds(sign, stop, target, extreme if has_trail else np.inf)
            prices, held = (highs, lows, closes), (position, sign, volume, entry)
            bar = hold(bar, prices, asked, bounds, held, cash, equity_rows)
        if bar > first:
            equity = equity_rows[bar - 1]
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
                    facts = (REFUSED, bar, 0, placed_sign, 0)
                    rows = note(log, rows, facts, (0.0, 0.0, 0.0, np.nan, cash))

        # A close that was asked for fills at the open, then an entry that waited.
        if sign != 0 and closing != 0:
            held, how = (position, sign, volume, entry), (EXIT_RULE, o, True, np.nan)
            cash, rows = leave(log, rows, bar, held, how, cash, charges)
            sign, closing = 0, 0
        if order != 0 and next_open:
            wish = (order, order_sign, order_volume)
            kind, price, cash, rows = enter_at(log, rows, bar, wish, o, cash, charges)
            if kind == OPENED:
                sign, position, volume, entry = order_sign, order, order_volume, price
                entry_time, stop_size = times[bar], order_stop
                stop, target = levels(orders, sign, entry, order_stop, order_target)
                extreme, trailing, closing = -np.inf, False, 0
                roi_held_bar = bar if charges.hold_roi and has_roi else -1
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
                    roi_ms, roi_profit, times[bar] - entry_time, entry, sign, charges.commission
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
                held, how = (position, sign, volume, entry), (rule, sign * level, stopped, best)
                cash, rows = leave(log, rows, bar, held, how, cash, charges)
                sign = 0

        # Trailing stops follow the finished bar.
        if sign != 0 and has_trail:
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
            wish = (placed, placed_sign, placed_volume)
            kind, price, cash, rows = enter_at(log, rows, bar, wish, c, cash, charges)
            if kind == OPENED:
                sign, position, volume, entry = placed_sign, placed, placed_volume, price
                entry_time, stop_size = times[bar], placed_stop
                stop, target = levels(orders, sign, entry, placed_stop, placed_target)
                extreme, trailing, closing = -np.inf, False, 0
                roi_held_bar = bar if charges.hold_roi and has_roi else -1

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
                closing = numbered
                if not next_open:
                    held, how = (position, sign, volume, entry), (EXIT_RULE, c, True, np.nan)
                    cash, rows = leave(log, rows, bar, held, how, cash, charges)
                    sign, closing = 0, 0
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
