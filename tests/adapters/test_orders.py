"""Orders on their way to a broker: exact decimals, nothing that is no number."""

import math
from decimal import Decimal
from typing import get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.orders import (
    AccountView,
    BrokerOrder,
    BrokerPosition,
    OrderRequest,
    PositionView,
    exact,
)
from Backtest.orders import REQUEST_KEYS
from Backtest.simbroker import SimBroker

ENTRY: OrderRequest = {"action": "BUY", "symbol": "BTC/USDT", "volume": 0.1, "sl": 95.3}


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_decimal_is_the_very_float(number: float) -> None:
    assert float(exact(number)) == number


def test_a_request_becomes_an_order_of_decimals() -> None:
    order = BrokerOrder.of(ENTRY)
    assert order == BrokerOrder(
        "BTC/USDT", "BUY", "MARKET", volume=Decimal("0.1"), sl=Decimal("95.3")
    )


@pytest.mark.parametrize("number", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("name", ["volume", "price", "sl", "tp"])
def test_no_order_leaves_with_a_number_that_is_none(name: str, number: float) -> None:
    request: OrderRequest = {**ENTRY, name: number}  # type: ignore[misc]
    with pytest.raises(ValueError, match=name):
        BrokerOrder.of(request)


def test_the_shapes_are_those_of_the_simulated_broker() -> None:
    broker = SimBroker(capital=1000.0)
    broker.place_order({**ENTRY, "volume": 1.0})
    for minute, price in enumerate((100.0, 101.0)):
        broker.step_candle(minute * 60_000, price, price, price, price, 1.0, "BTC/USDT")
    (position,) = broker.get_positions()
    assert set(position) == set(get_type_hints(PositionView))
    assert set(broker.get_account()) == set(get_type_hints(AccountView))
    assert set(REQUEST_KEYS) == set(get_type_hints(OrderRequest))


def test_a_brokers_position_is_shown_as_every_position() -> None:
    held = BrokerPosition("7", "BTC/USDT", "SELL", Decimal("0.3"), Decimal("99.5"), sl=Decimal(101))
    shown = held.view()
    assert shown["side"] == "short"
    assert (shown["volume"], shown["entry_price"], shown["sl"]) == (0.3, 99.5, 101.0)
    assert set(shown) <= set(get_type_hints(PositionView))
