"""Plays bars as one loop over arrays: one symbol, market entries, one position at a time.

The same rules, in the same order and with the same arithmetic, as `Backtest.book` and the loop of
`adapters.strategy_loop`; the tests hold the two equal to the last bit.
"""

import numpy as np

from Backtest.compiled import kernel_forms as forms
from Backtest.compiled import kernel_parts as parts
from Backtest.compiled.kernel_forms import Charges, End, Flags, Floats, Orders, Signs, Wholes
from Backtest.compiled.machine_code import FLAGS, NUMBERS, WHOLE, fills, loop, named, reads, types


@loop(
    *(WHOLE, NUMBERS, NUMBERS, NUMBERS, NUMBERS),
    *(reads(types.int8), FLAGS, FLAGS),
    *(NUMBERS, NUMBERS, WHOLE, NUMBERS),
    *(named(Orders), named(Charges)),
    *(fills(types.float64), fills(types.int64, 2), fills(types.float64, 2)),
)
def play(
    times: Wholes,  # UTC milliseconds of the opens
    opens: Floats,
    highs: Floats,
    lows: Floats,
    closes: Floats,
    enter: Signs,  # 1 and -1 where an entry is wanted, both at once taken out
    leave_long: Flags,  # where the exit rule holds
    leave_short: Flags,
    stop_sizes: Floats,  # one for all entries, or one a bar
    target_sizes: Floats,
    roi_ms: Wholes,  # from which time in the trade on each of roi_profit is taken
    roi_profit: Floats,
    orders: Orders,
    charges: Charges,
    equity_rows: Floats,  # filled with the equity after each bar
    whole: Wholes,  # filled with what happened: two rows for each entry that is wanted are enough
    exact: Floats,  # filled with their prices and volumes
) -> End:
    """Plays every bar and tells what is open at the end, and how many rows were filled."""
    bars = closes.size
    log, rows = (whole, exact), 0
    words = enter[: bars // 8 * 8].view(np.int64)
    one_stop, one_target = stop_sizes.size == 1, target_sizes.size == 1
    has_roi, has_trail = roi_ms.size > 0, orders.trail_form != forms.NO_LEVEL
    next_open = not charges.this_close
    cash = charges.capital
    equity = cash
    numbered = 0
    sign, position, volume, entry, entry_time = 0, 0, 0.0, 0.0, 0
    stop, target, extreme, stop_size = -np.inf, np.inf, -np.inf, 0.0
    trailing, closing, roi_held_bar = False, 0, -1
    order, order_sign, order_volume = 0, 0, 0.0
    order_stop, order_target = 0.0, 0.0
    fault = forms.SOUND

    bar = 0
    while bar < bars:
        # Bars at which nothing happens are passed without further questions.
        first = bar
        if order == 0 and sign == 0:
            bar = parts.rest(bar, enter, words, equity, equity_rows)
        elif order == 0 and closing == 0 and not has_roi:
            asked = (enter, leave_long if sign > 0 else leave_short)
            bounds = parts.quiet_bounds(sign, stop, target, extreme if has_trail else np.inf)
            prices, held = (highs, lows, closes), (position, sign, volume, entry)
            bar = parts.hold(bar, prices, asked, bounds, held, cash, equity_rows)
        if bar > first:
            equity = equity_rows[bar - 1]
            if bar == bars:
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
                if not parts.is_sound(orders, placed_sign, c, placed_stop, placed_target):
                    fault = forms.BAD_ORDER
                    break
                placed_volume = parts.volume_for(orders, charges, equity, c, placed_stop)
                if placed_volume > 0.0:
                    numbered += 1
                    placed = numbered
                else:
                    facts = (forms.REFUSED, bar, 0, placed_sign, 0)
                    rows = parts.note(log, rows, facts, (0.0, 0.0, 0.0, np.nan, cash))

        # A close that was asked for fills at the open, then an entry that waited.
        if sign != 0 and closing != 0 and sign * o > parts.liquidation(sign, entry, charges):
            held, how = (position, sign, volume, entry), (forms.EXIT_RULE, o, True, np.nan)
            cash, rows = parts.leave(log, rows, bar, held, how, cash, charges)
            sign, closing = 0, 0
        if order != 0 and next_open:
            wish = (order, order_sign, order_volume)
            kind, price, cash, rows = parts.enter_at(log, rows, bar, wish, o, cash, charges)
            if kind == forms.OPENED:
                sign, position, volume, entry = order_sign, order, order_volume, price
                entry_time, stop_size = times[bar], order_stop
                sizes = (order_stop, order_target)
                stop, target = parts.levels(orders, charges, sign, entry, sizes)
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
                level = parts.roi_level(
                    roi_ms, roi_profit, times[bar] - entry_time, entry, sign, charges.commission
                )
                if level < limit:
                    limit, by_roi = level, True
            if seen_low <= stop or seen_high >= limit:
                best = np.nan
                stopped = True
                if seen_open <= stop:
                    level, rule = seen_open, forms.STOP_GAP
                elif seen_open >= limit:
                    level, rule, stopped = seen_open, forms.TARGET_GAP, False
                elif seen_low <= stop:
                    level, rule = stop, forms.STOP
                    if seen_high >= limit:
                        best = parts.paid(sign * limit, sign < 0, False, charges)
                else:
                    level, rule, stopped = limit, forms.TARGET, False
                if stopped and level <= parts.liquidation(sign, entry, charges):
                    rule = forms.LIQUIDATED
                elif stopped and trailing:
                    rule += forms.TRAILING - forms.STOP
                elif not stopped and by_roi:
                    rule += forms.ROI - forms.TARGET
                held, how = (position, sign, volume, entry), (rule, sign * level, stopped, best)
                cash, rows = parts.leave(log, rows, bar, held, how, cash, charges)
                sign, closing = 0, 0

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
                            form = forms.NO_LEVEL
                if form != forms.NO_LEVEL:
                    best_price = sign * high
                    level = sign * (best_price - sign * parts.distance_of(form, size, best_price))
                    if level > stop:
                        stop, trailing = level, True

        # Under `this_close` an entry fills at the close of its own bar.
        if placed != 0 and not next_open:
            wish = (placed, placed_sign, placed_volume)
            kind, price, cash, rows = parts.enter_at(log, rows, bar, wish, c, cash, charges)
            if kind == forms.OPENED:
                sign, position, volume, entry = placed_sign, placed, placed_volume, price
                entry_time, stop_size = times[bar], placed_stop
                sizes = (placed_stop, placed_target)
                stop, target = parts.levels(orders, charges, sign, entry, sizes)
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
                    held, how = (position, sign, volume, entry), (forms.EXIT_RULE, c, True, np.nan)
                    cash, rows = parts.leave(log, rows, bar, held, how, cash, charges)
                    sign, closing = 0, 0
            elif charges.hold_roi and wanted == sign:
                roi_held_bar = bar + 1

        equity = cash
        if sign > 0:
            equity = cash + volume * c
        elif sign < 0:
            equity = cash + max(0.0, volume * (2.0 * entry - c))
        equity_rows[bar] = equity
        bar += 1

    return End(
        fault,
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
