"""An order request is read strictly, and a refusal says why."""

from typing import Any

import pytest

from Backtest.simbroker import SimBroker

SOUND: dict[str, Any] = {"action": "BUY", "symbol": "X", "volume": 1.0, "type": "MARKET"}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"action": "HOLD"}, "action is 'HOLD'"),
        ({"type": "ICEBERG"}, "type is 'ICEBERG'"),
        ({"volume": 0}, "volume is 0"),
        ({"volume": -1.0}, "volume is -1.0"),
        ({"volume": float("nan")}, "volume is nan"),
        ({"volume": "1"}, "volume is '1'"),
        ({"volume": True}, "volume is True"),
        ({"symbol": ""}, "symbol is ''"),
        ({"type": "LIMIT"}, "needs a price"),
        ({"type": "STOP", "price": -1.0}, "price is -1.0"),
        ({"sl": float("inf")}, "sl is inf"),
        ({"stoploss": 95.0}, "no key 'stoploss'"),
        ({"targt": {"fraction": 0.1}}, "Did you mean 'target'?"),
        ({"stop": {"fraction": 2.0}}, "Did you mean 0.02?"),
        ({"stop": {"fraction": 0.1, "distance": 1.0}}, "stop is"),
        ({"stop": 0.02}, "{'fraction': number}"),
        ({"trail": {"activate_at": 0.1}}, "either 'fraction' or 'distance'"),
        ({"trail": {"fraction": 0.1, "only_after_activation": True}}, "needs activate_at"),
        ({"trail": {"fraction": 0.1, "speed": 1}}, "Allowed keys"),
        ({"roi": {"soon": 0.1}}, "roi has the key 'soon'"),
        ({"roi": {-5: 0.1}}, "roi has the key -5"),
        ({"roi": {0: float("nan")}}, "roi[0] is nan"),
        ({"roi": [0.1]}, "{minutes: profit}"),
    ],
)
def test_a_wrong_request_is_refused_with_its_reason(change: dict[str, Any], fault: str) -> None:
    broker = SimBroker()
    answer = broker.place_order({**SOUND, **change})
    assert answer["success"] is False
    assert answer["order_id"] is answer["position_id"] is answer["fill_price"] is None
    assert fault in answer["error"]
    (event,) = broker.get_events()
    assert (event["event"], event["rule"]) == ("order_rejected", "refused")
    assert broker.get_account()["pending_orders"] == 0


def test_a_sound_request_reserves_its_names() -> None:
    broker = SimBroker()
    first, second = broker.place_order(SOUND), broker.place_order(SOUND)
    assert first == {
        "success": True,
        "order_id": "ord_1",
        "position_id": "pos_1",
        "fill_price": None,
    }
    assert second["position_id"] != first["position_id"]


def test_with_one_symbol_it_may_be_left_out() -> None:
    broker = SimBroker(symbols=["X"])
    assert broker.place_order({"action": "BUY", "volume": 1.0})["success"]


def test_a_target_may_pass_one_hundred_percent() -> None:
    assert SimBroker().place_order({**SOUND, "target": {"fraction": 1.5}})["success"]


def test_the_request_is_not_changed() -> None:
    request = {**SOUND, "stop": {"fraction": 0.1}, "roi": {"0": 0.1}}
    before = {**request, "stop": {"fraction": 0.1}, "roi": {"0": 0.1}}
    SimBroker().place_order(request)
    assert request == before
