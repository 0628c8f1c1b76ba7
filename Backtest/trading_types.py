"""Gives orders, events, positions and the account their types, as strategies and brokers use them.

They are plain mappings of floats; `adapters.orders` has their exact decimals for real brokers.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal, NotRequired, TypedDict

Action = Literal["BUY", "SELL"]
OrderType = Literal["MARKET", "LIMIT", "STOP"]
Figures = dict[str, float | None]  # None where a figure has no meaning
Report = dict[str, Any]  # figures, tables of figures and words by name, as JSON has them


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
