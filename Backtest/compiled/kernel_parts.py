"""Takes the steps of the compiled loop: prices, sizes, levels, fills, bars without events."""

import numpy as np

from Backtest.compiled import kernel_forms as forms
from Backtest.compiled.kernel_forms import Charges, Flags, Floats, Orders, Signs, Wholes
from Backtest.compiled.machine_code import part

Log = tuple[Wholes, Floats]
Held = tuple[int, int, float, float]  # number, sign, volume, entry price


@part
def step_noise(steps: float) -> float:
    """Tells what is forgiven of a number of steps, as `Backtest.fills.step_noise` has it."""
    return min(0.5, forms.STEP_NOISE + steps * forms.STEP_ERROR)


@part
def step_up(value: float, step: float, units: float, scale: float) -> float:
    """Raise a value to the next multiple of a step, written as units / scale."""
    steps = value / step
    return float(np.ceil(steps - step_noise(steps))) * units / scale


@part
def step_down(value: float, step: float, units: float, scale: float) -> float:
    """Lower a value to the next multiple of a step, written as units / scale."""
    steps = value / step
    return float(np.floor(steps + step_noise(steps))) * units / scale


@part
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


@part
def bankruptcy(entry: float, charges: Charges) -> float:
    """Gives the highest price that a short can pay, as `Backtest.fills.bankruptcy_price` has it."""
    return 2.0 * entry / (1.0 + charges.commission)


@part
def liquidation(sign: int, entry: float, charges: Charges) -> float:
    """Gives the mirrored market price at which a position has lost its collateral."""
    if sign > 0:
        return -np.inf
    return -(bankruptcy(entry, charges) / (1.0 + charges.market_cost))


@part
def distance_of(form: int, size: float, price: float) -> float:
    """Tells how far a level is from the price it is anchored at."""
    return size * price if form == forms.FRACTION else size


@part
def volume_for(
    orders: Orders, charges: Charges, equity: float, close: float, stop_size: float
) -> float:
    """Size an entry as `adapters.sizing` does; 0 where nothing can be bought."""
    if orders.size_form == forms.UNITS:
        volume = orders.size_amount
    elif orders.size_form == forms.EQUITY:
        volume = orders.size_amount * equity / close
    else:
        volume = orders.size_amount * equity / distance_of(orders.stop_form, stop_size, close)
        volume = min(volume, orders.size_cap * equity / close)
    if not volume > 0.0:
        return 0.0
    if charges.lot == 0.0:
        return volume
    return step_down(volume, charges.lot, charges.lot_units, charges.lot_scale)


@part
def is_sound(orders: Orders, sign: int, close: float, stop_size: float, target_size: float) -> bool:
    """Says whether the broker would take an order: its levels are prices above 0."""
    if orders.stop_form != forms.NO_LEVEL:
        if not stop_size > 0.0 or not np.isfinite(stop_size):
            return False
        if sign > 0 and not close - distance_of(orders.stop_form, stop_size, close) > 0.0:
            return False
    if orders.target_form != forms.NO_LEVEL:
        if not target_size > 0.0 or not np.isfinite(target_size):
            return False
        if sign < 0 and not close - distance_of(orders.target_form, target_size, close) > 0.0:
            return False
    return True


@part
def roi_level(
    roi_ms: Wholes, roi_profit: Floats, held_ms: int, entry: float, sign: int, commission: float
) -> float:
    """Gives the mirrored price of the largest ROI key reached, infinite before the first."""
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


@part
def note(log: Log, rows: int, facts: tuple[int, ...], amounts: tuple[float, ...]) -> int:
    """Write down one thing that happened; the number of rows after it."""
    whole, exact = log
    for place in range(5):
        whole[rows, place] = facts[place]
        exact[rows, place] = amounts[place]
    return rows + 1


@part
def leave(
    log: Log,
    rows: int,
    bar: int,
    held: Held,
    how: tuple[int, float, bool, float],
    cash: float,
    charges: Charges,
) -> tuple[float, int]:
    """Close a position: the cash and the rows after it.

    A short brings back its collateral and profit. `held` is number, sign, volume and entry price;
    `how` is the rule, the price before costs, whether costs apply, and the best reading.
    """
    number, sign, volume, entry = held
    rule, raw, market, best = how
    price = paid(raw, sign < 0, market, charges)
    if sign < 0:
        price = min(price, bankruptcy(entry, charges))
        if rule == forms.LIQUIDATED:
            raw, price = bankruptcy(entry, charges), bankruptcy(entry, charges)
    fee = volume * price * charges.commission
    if sign > 0:
        cash = cash + (volume * price - fee)
    else:
        cash = cash + max(0.0, volume * (2.0 * entry - price) - fee)
    amounts = (volume, raw, price, best, cash)
    return cash, note(log, rows, (forms.LEFT, bar, number, sign, rule), amounts)


@part
def enter_at(
    log: Log,
    rows: int,
    bar: int,
    order: tuple[int, int, float],
    raw: float,
    cash: float,
    charges: Charges,
) -> tuple[int, float, float, int]:
    """Fill an entry or reject it: what became of it, its price, the cash and the rows after it."""
    number, sign, volume = order
    price = paid(raw, sign > 0, True, charges)
    notional = volume * price
    cost = notional + notional * charges.commission
    kind = forms.OPENED
    if notional < charges.min_notional:
        kind = forms.TOO_SMALL
    elif not cost <= cash * (1.0 + 1e-9):
        kind = forms.TOO_DEAR
    else:
        cash = max(0.0, cash - cost)
    amounts = (volume, raw, price, np.nan, cash)
    return kind, price, cash, note(log, rows, (kind, bar, number, sign, 0), amounts)


@part
def rest(bar: int, enter: Signs, words: Wholes, equity: float, equity_rows: Floats) -> int:
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


@part
def hold(
    bar: int,
    candles: tuple[Floats, Floats, Floats],
    signals: tuple[Signs, Flags],
    bounds: tuple[float, float],
    held: Held,
    cash: float,
    equity_rows: Floats,
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


@part
def quiet_bounds(sign: int, stop: float, target: float, extreme: float) -> tuple[float, float]:
    """Gives the low and the high at which a bar does more than change a position's value.

    A trailing stop moves above `extreme`, which is infinite where there is none.
    """
    reach = min(target, float(np.nextafter(extreme, np.inf)))
    return (stop, reach) if sign > 0 else (-reach, -stop)


@part
def levels(
    orders: Orders, charges: Charges, sign: int, entry: float, sizes: tuple[float, float]
) -> tuple[float, float]:
    """Anchor stop and target at the fill, as mirrored prices; no stop lies beyond liquidation."""
    stop, target = liquidation(sign, entry, charges), np.inf
    stop_size, target_size = sizes
    if orders.stop_form != forms.NO_LEVEL:
        wanted = sign * (entry - sign * distance_of(orders.stop_form, stop_size, entry))
        stop = max(wanted, stop)
    if orders.target_form != forms.NO_LEVEL:
        target = sign * (entry + sign * distance_of(orders.target_form, target_size, entry))
    return stop, target
