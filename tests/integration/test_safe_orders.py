"""An order that ccxt sends on the exchange is never doubled and never forgotten."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ccxt
import pytest

from integration.adapter.intents import Intents
from integration.adapter.safe_orders import SafeOrders, UnknownFate
from tests.doubles.exchange.client import Running

PAIR = "BTC/USDT"
POST = "POST /api/v3/order"


@pytest.fixture
def exchange() -> Iterator[Running]:
    found = Running("--breakout")
    try:
        yield found
    finally:
        found.close()


class Desk:
    """ccxt with safe orders, and a database that knows what it was told."""

    def __init__(self, exchange: Running, folder: Path) -> None:
        self.api = ccxt.binance(exchange.settings(timeout=1_000))
        # Long enough for a busy machine, short enough to wait for.
        self.api.options["recvWindow"] = 5_000
        self.known: set[str] = set()
        self.folder = folder
        self.open()

    def open(self) -> None:
        """Starts anew, as after a restart."""
        intents = Intents(self.folder / "intents.sqlite")
        self.safe = SafeOrders(intents, lambda order: order in self.known)

    def buy(self, amount: float = 0.01, side: str = "buy", kind: str = "market") -> Any:
        place = ccxt.binance.create_order
        return self.safe.create(self.api, place, PAIR, kind, side, amount)

    def states(self) -> list[str]:
        names = ("intended", "placed", "known", "over", "absent", "refused")
        return [name for name in names for _ in self.safe.intents.of_state(name)]


@pytest.fixture
def desk(exchange: Running, tmp_path: Path) -> Desk:
    found = Desk(exchange, tmp_path)
    found.api.load_markets()
    return found


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "lost"},
        {"kind": "slow", "seconds": 2},
        {"kind": "late", "seconds": 1.5},
        {"kind": "error-after", "status": 503},
        {"kind": "error-after", "status": 500, "code": -1006},
    ],
)
def test_an_order_that_arrived_is_found_and_not_sent_again(
    exchange: Running, desk: Desk, fault: dict[str, Any]
) -> None:
    exchange.control(fault={"call": POST, **fault})
    order = desk.buy()
    assert order["status"] == "closed"
    (only,) = exchange.control()["orders"]
    assert str(only["orderId"]) == order["id"]
    assert only["clientOrderId"].startswith("sw")
    assert desk.states() == ["placed"]


@pytest.mark.parametrize(
    "fault",
    [{"kind": "drop"}, {"kind": "error", "status": 502}, {"kind": "late", "seconds": 6.5}],
)
def test_an_order_that_never_arrived_may_be_sent_again(
    exchange: Running, desk: Desk, fault: dict[str, Any]
) -> None:
    exchange.control(fault={"call": POST, **fault})
    with pytest.raises(ccxt.OperationFailed):
        desk.buy()
    assert desk.states() == ["absent"]
    desk.known.add(desk.buy()["id"])
    # What came too late was refused by its age: there is one order.
    assert len(exchange.control()["orders"]) == 1


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"kind": "error", "status": 429, "code": -1003}, ccxt.DDoSProtection),
        ({"kind": "reject"}, ccxt.ExchangeError),
    ],
)
def test_a_refusal_is_passed_on_at_once(
    exchange: Running, desk: Desk, fault: dict[str, Any], error: type[Exception]
) -> None:
    exchange.control(fault={"call": POST, **fault})
    with pytest.raises(error):
        desk.buy()
    assert desk.states() == ["refused"]
    assert exchange.control()["orders"] == []
    with pytest.raises(ccxt.InsufficientFunds):
        desk.buy(9)


def test_an_order_that_the_database_does_not_know_is_given_to_who_asks_for_it_again(
    exchange: Running, desk: Desk
) -> None:
    first = desk.buy()
    desk.open()
    assert [order["id"] for _, order in desk.safe.orphans(desk.api)] == [first["id"]]
    assert desk.buy()["id"] == first["id"]
    desk.known.add(first["id"])
    second = desk.buy()
    assert second["id"] != first["id"]
    assert [o["side"] for o in exchange.control()["orders"]] == ["BUY", "BUY"]
    # Another side is another order.
    assert desk.buy(0.005, "sell")["id"] not in (first["id"], second["id"])


def test_an_intent_without_an_answer_is_settled_before_anything_is_sent(
    exchange: Running, desk: Desk
) -> None:
    intent = desk.safe.intents.write(PAIR, "buy", "market", "tag", entry=True)
    placed = desk.api.create_order(
        PAIR, "market", "buy", 0.01, None, {"clientOrderId": intent.client}
    )
    desk.open()
    assert desk.buy()["id"] == placed["id"]
    assert len(exchange.control()["orders"]) == 1
    (kept,) = desk.safe.intents.of_state("placed")
    assert (kept.tag, kept.entry, kept.order_id) == ("tag", True, placed["id"])


def test_an_exchange_that_does_not_say_stops_everything(
    exchange: Running, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("integration.adapter.safe_orders._PATIENCE", 3)
    exchange.control(fault={"kind": "lost", "call": POST})
    exchange.control(fault={"kind": "drop", "call": "GET /api/v3/order", "times": 99})
    with pytest.raises(UnknownFate, match="is not known"):
        desk.buy()
    assert desk.states() == ["intended"]
    with pytest.raises(UnknownFate):
        desk.buy()
    exchange.control(faults=None)
    assert desk.buy()["status"] == "closed"
    assert len(exchange.control()["orders"]) == 1
