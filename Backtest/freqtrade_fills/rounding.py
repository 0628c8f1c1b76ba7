"""Rounds prices and amounts as Freqtrade does in a back-test: by their shortest decimal text."""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import ROUND_FLOOR, ROUND_HALF_UP, Decimal

from Backtest.trading_types import exact

SIGNIFICANT_DIGITS = 14


def nearest_tick(price: float, tick: float) -> float:
    """Gives the nearest multiple of a tick, half up."""
    step = exact(tick)
    return float((exact(price) / step).quantize(Decimal(1), ROUND_HALF_UP) * step)


def tick_above(price: float, tick: float) -> float:
    """Gives the price itself on a tick, else the next tick above."""
    return _moved(price, tick, 1)


def tick_below(price: float, tick: float) -> float:
    """Gives the price itself on a tick, else the next tick below."""
    return _moved(price, tick, 0)


def _moved(price: float, tick: float, ticks: int) -> float:
    """Gives a price on a tick as it is, else so many ticks above the one below (maybe negative)."""
    step = exact(tick)
    over = exact(price) % step  # with the sign of the price
    if over == 0:
        return price
    below = exact(price) - over - (step if over < 0 else 0)
    return round(float(below + ticks * step), SIGNIFICANT_DIGITS)


def whole_steps(amount: float, step: float) -> float:
    """Gives the largest multiple of a step that is not above an amount."""
    size = exact(step)
    return float((exact(amount) / size).quantize(Decimal(1), ROUND_FLOOR) * size)


class TickByMonth:
    """Holds the price tick that Freqtrade reads from the candles of each calendar month.

    `exchange_tick` is what holds before the first month with a broken price.
    """

    def __init__(
        self, times: Sequence[int], prices: Sequence[Sequence[float]], exchange_tick: float
    ) -> None:
        self._exchange_tick = exchange_tick
        self._by_month: dict[tuple[int, int], int] = {}
        for bar, time in enumerate(times):
            month = month_of(time)
            digits = max(decimals(column[bar]) for column in prices)
            self._by_month[month] = max(digits, self._by_month.get(month, 0))

    def at(self, time: int) -> float:
        """Gives the tick of a moment's month; a month of whole prices has the one before's."""
        month = month_of(time)
        known = [key for key, digits in self._by_month.items() if digits and key <= month]
        if not known:
            return self._exchange_tick
        return float(1 / 10.0 ** self._by_month[max(known)])


def month_of(time: int) -> tuple[int, int]:
    """Gives the calendar month of a moment."""
    moment = datetime.fromtimestamp(time / 1000, UTC)
    return moment.year, moment.month


def decimals(price: float) -> int:
    """Tells how many decimals a price has, of its first 14 significant digits."""
    exponent = Decimal(f"{price:.{SIGNIFICANT_DIGITS}g}").normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
