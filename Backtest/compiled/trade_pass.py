"""Lays trades out in columns and adds them up, in machine code, for `Backtest.metrics.ledger`."""

import numpy as np

from Backtest.compiled import kernel_forms as forms
from Backtest.compiled.kernel_forms import Floats, Wholes
from Backtest.compiled.machine_code import NUMBERS, fills, loop, part, reads, types
from Backtest.metrics.measures import exact_total


@part
def lay_one(
    place: int,
    entry: Floats,
    left: Floats,
    rows: tuple[int, int],
    sign: int,
    commission: float,
    columns: tuple[Floats, Wholes],
) -> None:
    """Fill in one trade: `entry` and `left` are its exact rows, `rows` the bars of both."""
    numbers, places = columns
    volume, price_in = entry[forms.VOLUME], entry[forms.PRICE]
    price_out, best = left[forms.PRICE], left[forms.BEST]
    fee_in = volume * price_in * commission
    fees = fee_in + volume * price_out * commission
    pnl = sign * volume * (price_out - price_in) - fees
    lost = abs(price_in - entry[forms.RAW]) + abs(price_out - left[forms.RAW])
    best_pnl = sign * volume * (best - price_in) - (fee_in + volume * best * commission)
    numbers[0, place], numbers[1, place], numbers[2, place] = volume, price_in, price_out
    numbers[3, place], numbers[4, place] = pnl, fees
    numbers[5, place] = fees + lost * volume
    numbers[6, place] = best_pnl if best_pnl > pnl else pnl  # a missing best reading is none
    places[0, place], places[1, place] = rows
    places[2, place] = not np.isnan(best)


@loop(
    *(reads(types.int64, 2), reads(types.float64, 2), types.float64),
    *(types.int64, NUMBERS),
    *(fills(types.float64, 2), fills(types.int64, 2)),
)
def lay_out(
    whole: Wholes,
    exact: Floats,
    commission: float,
    last_bar: int,
    forced: Floats,  # the exact row of the exit at the last bar, empty if nothing is held
    numbers: Floats,  # filled: volume, entry price, exit price, pnl, fees, cost, best pnl
    places: Wholes,  # filled: entry row, exit row, and 1 where an exit is ambiguous
) -> int:
    """Fills in the trades of the compiled loop's rows, in closing order, and counts them."""
    done, entry, columns = 0, 0, (numbers, places)
    for row in range(whole.shape[0]):
        if whole[row, forms.KIND] == forms.OPENED:
            entry = row
        elif whole[row, forms.KIND] == forms.LEFT:
            rows = (whole[entry, forms.BAR], whole[row, forms.BAR])
            sign = whole[entry, forms.SIGN]
            lay_one(done, exact[entry], exact[row], rows, sign, commission, columns)
            done += 1
    if forced.size > 0:
        rows = (whole[entry, forms.BAR], last_bar)
        lay_one(done, exact[entry], forced, rows, whole[entry, forms.SIGN], commission, columns)
        done += 1
    return done


@loop(*([NUMBERS] * 7))
def tally(
    pnl: Floats,
    fees: Floats,
    cost: Floats,
    volume: Floats,
    entry: Floats,
    left: Floats,
    best: Floats,
) -> tuple[float, float, float, float, float, float, float]:
    """Gives the exact sums of some trades, in the order of `Backtest.metrics.ledger.Tally`.

    A sum is not finite where `math.fsum` would have to say why.
    """
    count = pnl.size
    gains, losses, traded = np.empty(count), np.empty(count), np.empty(count)
    won, lost, is_same = 0, 0, True
    for place in range(count):
        profit = pnl[place]
        if profit > 0.0:
            gains[won] = profit
            won += 1
        elif profit < 0.0:
            losses[lost] = -profit
            lost += 1
        traded[place] = volume[place] * (entry[place] + left[place])
        is_same &= best[place] == profit
    total = exact_total(pnl)
    return (
        total,
        exact_total(gains[:won]),
        exact_total(losses[:lost]),
        exact_total(fees),
        exact_total(cost),
        exact_total(traded),
        total if is_same else exact_total(best),
    )
