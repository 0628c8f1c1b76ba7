"""Keeps one trade as Freqtrade's back-test does: its values, its stop, its pending exit order."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from Backtest.freqtrade_fills.rounding import nearest_tick, tick_above, tick_below
from Backtest.trading_types import exact

LIQUIDATION_BUFFER = 0.05  # Freqtrade leaves so much of the way to the exchange's liquidation


class Tier(NamedTuple):
    """States the margin an exchange wants from a position's value on: a rate, less an amount."""

    min_notional: float = 0.0
    maintenance_rate: float = 0.0
    maintenance_amount: float = 0.0


@dataclass
class FreqtradeTrade:
    """Holds an open trade, long or short, without leverage."""

    pair: str
    is_short: bool
    opened: int
    entry_price: float  # the open that it was filled at; `open_rate` is the same on the tick
    amount: float
    fee: float
    tick: float
    target: float | None = None  # distance from the entry in price, where it was given in ATRs
    open_rate: float = field(init=False)
    stop: float = field(init=False, default=0.0)
    stop_fraction: float = field(init=False, default=0.0)  # that the stop was last set with
    trailed: bool = field(init=False, default=False)  # whether the stop has moved by itself
    liquidation: float = field(init=False, default=0.0)  # price; 0 where it cannot be
    pending: float | None = field(init=False, default=None)  # an exit order not reached yet
    exit_reason: str = field(init=False, default="")

    def __post_init__(self) -> None:
        self.open_rate = nearest_tick(self.entry_price, self.tick)

    @property
    def stake(self) -> float:
        """Tells what is bound in the trade."""
        return float(exact(self.amount) * exact(self.entry_price))

    def set_stop(self, price: float, fraction: float) -> None:
        """Put the stop at a distance from a price, wherever it was."""
        self.stop = self._stop_at(price, fraction)
        self.stop_fraction = abs(fraction)

    def trail_stop(self, price: float, fraction: float) -> None:
        """Move the stop to a distance from a price, if that is tighter."""
        stop = self._stop_at(price, fraction)
        tighter = stop < self.stop if self.is_short else stop > self.stop
        if tighter:
            self.stop, self.stop_fraction, self.trailed = stop, abs(fraction), True

    def set_liquidation(self, tiers: Sequence[Tier]) -> None:
        """Put the liquidation of an isolated position without leverage where Binance has it.

        Its margin is its stake; the tier is that of the stake, the price 5 % of the way nearer.
        """
        tier = next(tier for tier in reversed(tiers) if self.stake >= tier.min_notional)
        side = -1 if self.is_short else 1
        margin = self.stake + tier.maintenance_amount - side * self.amount * self.open_rate
        price = margin / (self.amount * tier.maintenance_rate - side * self.amount)
        buffer = abs(self.open_rate - price) * LIQUIDATION_BUFFER
        self.liquidation = nearest_tick(max(price + side * buffer, 0.0), self.tick)

    def _stop_at(self, price: float, fraction: float) -> float:
        if self.is_short:
            return tick_below(float(price * (1 + abs(fraction))), self.tick)
        return tick_above(float(price * (1 - abs(fraction))), self.tick)

    def open_value(self, price: float) -> float:
        """Tells what the trade cost at a price, with the fee."""
        return self._value(price, buying=not self.is_short)

    def close_value(self, price: float) -> float:
        """Tells what the trade gives at a price, after the fee."""
        return self._value(price, buying=self.is_short)

    def _value(self, price: float, *, buying: bool) -> float:
        value = exact(self.amount) * exact(price)
        fee = value * exact(self.fee)
        return float(value + fee if buying else value - fee)

    def profit_ratio(self, price: float) -> float:
        """Gives the profit at a price after both fees, as a fraction of what was put in."""
        ratio = self.close_value(price) / self.open_value(self.open_rate)
        return round(1 - ratio if self.is_short else ratio - 1, 8)

    def profit(self, price: float) -> float:
        """Gives the profit at a price after both fees."""
        opened, closed = self.open_value(self.entry_price), self.close_value(price)
        return round(opened - closed if self.is_short else closed - opened, 8)

    def price_of(self, profit_ratio: float) -> float:
        """Gives the price at which the profit reaches a ratio."""
        factor = 1.0 + (profit_ratio / -1.0 if self.is_short else profit_ratio)
        return factor * self.open_value(self.open_rate) / self.close_value(1.0)
