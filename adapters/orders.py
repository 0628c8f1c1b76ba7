"""Gives orders, fills, positions and the account their types, on both sides of an adapter.

A strategy and the simulated broker exchange plain mappings of floats; these are their shapes. What
leaves the machine for a broker is a frozen value of exact decimals, made here from such a mapping.
This module imports nothing of ours: the broker of `Backtest` and everything above use it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, NotRequired, TypedDict

Action = Literal["BUY", "SELL"]
OrderType = Literal["MARKET", "LIMIT", "STOP"]
# What a strategy writes and reads, and the settings it is given: checked where they arrive.
StrategyDict = dict[str, Any]


class OrderRequest(TypedDict, total=False):
    """Asks for an entry, as strategies write it; `stop` to `size` are anchored at the fill."""

    action: Action
    symbol: str
    volume: float
    type: OrderType
    price: float | None
    sl: float | None
    tp: float | None
    comment: str
    stop: Mapping[str, float] | None
    target: Mapping[str, float] | None
    trail: Mapping[str, float | bool] | None
    roi: Mapping[int | str, float] | None
    size: Mapping[str, float] | None
    hold_roi: bool


class OrderAnswer(TypedDict):
    """Says whether an order or a close was taken; `error` says why not."""

    success: bool
    order_id: str | None
    position_id: str | None
    fill_price: float | None
    error: NotRequired[str]


class EventDetails(TypedDict, total=False):
    """Says what an event is about; each kind of event has some of these."""

    position_id: str | None
    order_id: str | None
    symbol: str | None
    action: str | None
    side: str
    volume: float | None
    remaining: float
    price: float | None
    rule: str
    comment: str
    reason: str
    pnl: float
    fee: float
    ambiguous: bool


class BrokerEvent(EventDetails):
    """Tells what happened: position_opened, position_closed, sl_hit, tp_hit, liquidated, ..."""

    event: str
    timestamp: str | None


class PositionView(TypedDict):
    """Shows an open position; `sl` and `tp` are the levels in force."""

    position_id: str
    order_id: str
    symbol: str
    action: str
    side: str
    volume: float
    entry_price: float
    entry_time: str
    price: float
    sl: float | None
    tp: float | None
    unrealized_pnl: float
    fees: float
    rule_in: str
    comment: str
    closing: bool


class AccountView(TypedDict):
    """Shows the account."""

    capital: float
    cash: float
    equity: float
    positions_value: float
    realized_pnl: float
    fees: float
    open_positions: int
    pending_orders: int


def exact(number: float) -> Decimal:
    """Turns a float into the shortest decimal that it stands for: 0.1 is 0.1."""
    return Decimal(repr(float(number)))


def _maybe(number: float | None) -> Decimal | None:
    return None if number is None else exact(number)


@dataclass(frozen=True, slots=True)
class BrokerOrder:
    """An order as it goes to a broker."""

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
    """What a broker has executed of an order."""

    order_id: str
    position_id: str
    symbol: str
    action: Action
    volume: Decimal
    price: Decimal
    fee: Decimal


@dataclass(frozen=True, slots=True)
class BrokerPosition:
    """A position as a broker holds it."""

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
    """An account as a broker states it."""

    cash: Decimal
    equity: Decimal
