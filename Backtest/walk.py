"""Walks a broker along one symbol's checked candles; bars at which nothing can happen are bulk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from adapters.orders import BrokerEvent
    from Backtest.candles import Candles
    from Backtest.positions import Position
    from Backtest.simbroker import SimBroker


class Walk:
    """The broker after some bars; it lags behind while bars are quiet and catches up when asked.

    A bar is quiet if nothing waits and it touches no level of what is held.
    """

    __slots__ = ("_book", "_broker", "_candles", "_plain", "_stepped", "_symbol")

    def __init__(self, broker: SimBroker, symbol: str, candles: Candles) -> None:
        """Stand before the first bar."""
        self._broker = broker
        self._symbol = symbol
        self._candles = candles
        self._plain = candles.plain
        self._book = broker.open_book(symbol)
        self._stepped = 0

    @property
    def held(self) -> Position | None:
        """The position, if there is one."""
        return self._book.positions[0] if self._book.positions else None

    @property
    def is_waiting(self) -> bool:
        """Whether an order waits."""
        return bool(self._book.orders)

    def is_quiet(self, idx: int) -> bool:
        """Whether a bar changes nothing but the equity; trailing stops have followed it then."""
        book = self._book
        if book.orders:
            return False
        if not book.positions:
            return True
        plain = self._plain
        (position,) = book.positions
        if position.roi:
            limit = position.resting_limit(plain.times[idx], idx)[0]
        else:
            limit = position.target
        return position.outlasts(limit, plain.high[idx], plain.low[idx])

    def equity_before(self, idx: int) -> float:
        """What the account is worth before a bar, whether or not the broker has caught up."""
        cash = self._book.account.cash
        if not self._book.positions or idx == 0:
            return cash
        return cash + self._book.positions[0].value(self._plain.close[idx - 1])

    def catch_up(self, bars: int) -> None:
        """Write down the quiet bars up to a number of bars."""
        first = self._stepped
        if first == bars:
            return
        self._stepped = bars
        candles = self._candles
        broker, book = self._broker, self._book
        account = book.account
        cash = account.cash
        flat = np.full(bars - first, cash)
        equity = flat
        if book.positions:
            (position,) = book.positions
            prices: Any = candles.close[first:bars]  # all at once, by the same arithmetic
            equity = flat + position.worth(prices)
        account.fill(candles.times[first:bars], equity, flat)
        if book.first_open == 0.0:
            book.first_open = self._plain.open[first]
        broker.skip(book, self._plain.times[bars - 1], self._plain.close[bars - 1], bars - first)

    def step(self, idx: int) -> list[BrokerEvent]:
        """Step a bar in full, after the quiet ones before it."""
        self.catch_up(idx)
        self._stepped = idx + 1
        return self._broker.step_candle(*self._candles.row(idx), self._symbol)
