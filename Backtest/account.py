"""Keeps the account: cash, what was traded, what happened, and the equity after every bar."""

from array import array
from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from Backtest.orders import Order
from Backtest.positions import Trade
from Backtest.times import iso
from Backtest.trading_types import BrokerEvent, EventDetails


def entry_details(order: Order, price: float, rule: str) -> EventDetails:
    """Says what an entry that meets its bar is about."""
    return {
        "position_id": order.position_id,
        "order_id": order.order_id,
        "symbol": order.symbol,
        "action": "BUY" if order.sign > 0 else "SELL",
        "side": "long" if order.sign > 0 else "short",
        "volume": order.volume,
        "price": price,
        "rule": rule,
        "comment": order.comment,
    }


def refusal_details(request: Mapping[str, Any], reason: str) -> EventDetails:
    """Says what a request that is refused at once is about."""
    return {
        "position_id": None,
        "order_id": None,
        "symbol": request.get("symbol"),
        "action": request.get("action"),
        "volume": request.get("volume"),
        "price": None,
        "rule": "refused",
        "comment": str(request.get("comment") or ""),
        "reason": reason,
    }


class Account:
    """Shared cash of all symbols; buying takes the value and the fee, selling brings it back.

    A short ties up its entry value as collateral and brings back collateral and profit: there
    is no leverage, and long and short need the same cash.
    """

    def __init__(self, capital: float) -> None:
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
        """Says whether the cash covers an amount; a billionth of it is float noise."""
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
