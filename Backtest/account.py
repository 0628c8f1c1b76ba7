"""Keeps the account: cash, what was traded, what happened, and the equity after every bar."""

from array import array
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from adapters.orders import BrokerEvent, EventDetails
from Backtest.positions import Trade
from Backtest.times import iso


class Account:
    """Shared cash of all symbols; buying takes the value and the fee, selling brings it back.

    A short ties up its entry value as collateral and brings back collateral and profit: there
    is no leverage, and long and short need the same cash.
    """

    __slots__ = (
        "capital",
        "cash",
        "cash_rows",
        "equity_rows",
        "events",
        "fresh",
        "paid_fees",
        "realized_pnl",
        "times",
        "trades",
    )

    def __init__(self, capital: float) -> None:
        """Start with cash alone."""
        self.capital = capital
        self.cash = capital
        self.trades: list[Trade] = []
        self.realized_pnl = 0.0
        self.paid_fees = 0.0
        self.events: list[BrokerEvent] = []
        self.fresh: list[BrokerEvent] = []
        # Typed arrays: quick to append to, to fill in bulk and to read as numpy's.
        self.times = array("q")
        self.equity_rows = array("d")
        self.cash_rows = array("d")

    def can_pay(self, amount: float) -> bool:
        """Whether the cash covers an amount; a billionth of it is float noise."""
        return amount <= self.cash * (1.0 + 1e-9)

    def book(self, trade: Trade) -> None:
        """Write a finished trade down."""
        self.trades.append(trade)
        self.realized_pnl += trade.pnl
        self.paid_fees += trade.fees

    def tell(self, event: str, *, timestamp: int | None, **details: Unpack[EventDetails]) -> None:
        """Record an event; the next `step_bar` returns it."""
        moment = None if timestamp is None else iso(timestamp)
        told: BrokerEvent = {"event": event, **details, "timestamp": moment}
        self.events.append(told)
        self.fresh.append(told)

    def take_fresh(self) -> list[BrokerEvent]:
        """Hand over the events since the last call."""
        if not self.fresh:
            return []
        told, self.fresh = self.fresh, []
        return told

    def fill(
        self, times: NDArray[np.int64], equity: NDArray[np.float64], cash: NDArray[np.float64]
    ) -> None:
        """Write the rows of many moments, given as numpy arrays."""
        self.times.frombytes(times.tobytes())
        self.equity_rows.frombytes(equity.tobytes())
        self.cash_rows.frombytes(cash.tobytes())

    def mark(self, time: int, equity: float) -> None:
        """Write the row of a moment; a second symbol's bar of the same moment rewrites it."""
        if self.times and self.times[-1] == time:
            self.equity_rows[-1] = equity
            self.cash_rows[-1] = self.cash
            return
        self.times.append(time)
        self.equity_rows.append(equity)
        self.cash_rows.append(self.cash)
