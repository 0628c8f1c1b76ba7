"""Gives orders, fills, positions and the account their types, on both sides of an adapter.

A strategy and the simulated broker exchange plain mappings of floats, whose shapes `Backtest` has.
What leaves the machine for a broker is a frozen value of exact decimals, made from such a mapping.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from Backtest.trading_types import (
    AccountView,
    Action,
    BrokerEvent,
    OrderAnswer,
    OrderRequest,
    OrderType,
    PositionView,
    exact,
)

__all__ = [
    "AccountView",
    "Action",
    "BrokerAccount",
    "BrokerEvent",
    "BrokerFill",
    "BrokerOrder",
    "BrokerPosition",
    "OrderAnswer",
    "OrderRequest",
    "OrderType",
    "PositionView",
    "StrategyDict",
    "exact",
]
# What a strategy writes and reads, and the settings it is given: checked where they arrive.
StrategyDict = dict[str, Any]


def _maybe(number: float | None) -> Decimal | None:
    return None if number is None else exact(number)


@dataclass(frozen=True, slots=True)
class BrokerOrder:
    """Holds an order as it goes to a broker."""

    symbol: str
    action: Action
    type: OrderType
    volume: Decimal
    price: Decimal | None = None
    sl: Decimal | None = None
    tp: Decimal | None = None
    comment: str = ""

    @classmethod
    def of(cls, request: OrderRequest) -> "BrokerOrder":
        """Turns a sized request into an order.

        Raises:
            KeyError: it has no symbol, no action or no volume.
            ValueError: the volume or a price is not a finite number above 0.
        """
        order = cls(
            symbol=request["symbol"],
            action=request["action"],
            type=request.get("type", "MARKET"),
            volume=exact(request["volume"]),
            price=_maybe(request.get("price")),
            sl=_maybe(request.get("sl")),
            tp=_maybe(request.get("tp")),
            comment=request.get("comment", ""),
        )
        for name in ("volume", "price", "sl", "tp"):
            number: Decimal | None = getattr(order, name)
            if number is not None and not (number.is_finite() and number > 0):
                raise ValueError(f"{name} is {number}: a broker takes finite numbers above 0")
        return order


@dataclass(frozen=True, slots=True)
class BrokerFill:
    """Holds what a broker has executed of an order."""

    order_id: str
    position_id: str
    symbol: str
    action: Action
    volume: Decimal
    price: Decimal
    fee: Decimal


@dataclass(frozen=True, slots=True)
class BrokerPosition:
    """Holds a position as a broker holds it."""

    position_id: str
    symbol: str
    action: Action
    volume: Decimal
    entry_price: Decimal
    sl: Decimal | None = None
    tp: Decimal | None = None

    def view(self) -> dict[str, object]:
        """Shows the position in the form in which a strategy sees every position."""
        numbers = ("volume", "entry_price", "sl", "tp")
        shown = {name: getattr(self, name) for name in numbers}
        plain = {key: None if value is None else float(value) for key, value in shown.items()}
        side = "long" if self.action == "BUY" else "short"
        known = {"position_id": self.position_id, "symbol": self.symbol, "action": self.action}
        return {**known, "side": side, **plain}


@dataclass(frozen=True, slots=True)
class BrokerAccount:
    """Holds an account as a broker states it."""

    cash: Decimal
    equity: Decimal
