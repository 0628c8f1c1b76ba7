import json
from typing import Any

import pytest
from pydantic import ValidationError

from integration.schema.signal import RiskPlan, TakeProfit, TradingSignal


def plain(**changes: Any) -> dict[str, Any]:
    risk = {
        "initial_stop": 90.0,
        "take_profits": [{"price": 110.0, "size_pct": 0.5}, {"price": 120.0, "size_pct": 0.5}],
        "max_capital_pct": 0.05,
    }
    return {
        "version": "1.0",
        "decision_id": "d1",
        "timestamp": "2026-11-01T00:00:00Z",
        "symbol": "BTC/USDT",
        "side": "long",
        "confidence": 0.6,
        "entry": {"type": "market", "price": 100.0},
        "risk": risk | changes.pop("risk", {}),
        "rationale": "a test",
    } | changes


def test_signal_roundtrip() -> None:
    signal = TradingSignal.model_validate(plain())
    assert TradingSignal.model_validate_json(signal.model_dump_json()) == signal
    assert list(json.loads(signal.model_dump_json())) == list(plain())
    assert list(json.loads(signal.model_dump_json())["risk"]) == list(plain()["risk"])


def test_a_signal_cannot_be_changed() -> None:
    signal = TradingSignal.model_validate(plain())
    with pytest.raises(ValidationError):
        signal.symbol = "ETH/USDT"  # type: ignore[misc]
    with pytest.raises(ValidationError):
        signal.risk.initial_stop = 1.0  # type: ignore[misc]


def test_id_and_time_are_given_where_they_are_left_out() -> None:
    targets = (TakeProfit(price=110, size_pct=0.5), TakeProfit(price=120, size_pct=0.5))
    plan = RiskPlan(initial_stop=90, take_profits=targets, max_capital_pct=0.05)
    made = [
        TradingSignal(
            symbol="BTC/USDT",
            side="long",
            confidence=0.6,
            entry={"type": "market"},
            risk=plan,
            rationale="",
        )
        for _ in range(2)
    ]
    assert made[0].decision_id != made[1].decision_id
    assert made[0].timestamp.utcoffset() is not None


TARGETS = [{"price": 110.0, "size_pct": 0.5}, {"price": 120.0, "size_pct": 0.5}]


@pytest.mark.parametrize(
    "changes",
    [
        {"version": "1.1"},
        {"version": 1.0},
        {"more": 1},
        {"side": "up"},
        {"confidence": 0},
        {"confidence": 1.01},
        {"confidence": float("nan")},
        {"rationale": "x" * 61},
        {"symbol": "BTCUSDT"},
        {"timestamp": "2026-11-01T00:00:00"},
        {"decision_id": "a b"},
        {"decision_id": ""},
        {"entry": {"type": "limit", "price": 100.0}},
        {"entry": {"type": "market", "price": float("nan")}},
        {"entry": {"type": "market", "price": "100"}},
        {"entry": {"type": "market", "price": 100.0, "more": 1}},
        {"entry": {"type": "market", "price": 110.0}},
        {"entry": {"type": "market", "price": 90.0}},
        {"side": "short"},
        {"risk": {"initial_stop": float("inf")}},
        {"risk": {"initial_stop": -1.0}},
        {"risk": {"initial_stop": 100.0}},
        {"risk": {"max_capital_pct": 0}},
        {"risk": {"max_capital_pct": 1.5}},
        {"risk": {"take_profits": TARGETS[:1]}},
        {"risk": {"take_profits": [*TARGETS, {"price": 130.0, "size_pct": 0.0}]}},
        {"risk": {"take_profits": TARGETS[::-1]}},
        {"risk": {"take_profits": [TARGETS[0], TARGETS[0]]}},
        {"risk": {"take_profits": [TARGETS[0], {"price": 120.0, "size_pct": 0.500002}]}},
        {"risk": {"take_profits": [TARGETS[0], {"price": float("nan"), "size_pct": 0.5}]}},
        {"risk": {"take_profits": [{"price": 110, "size_pct": -1}, {"price": 120, "size_pct": 2}]}},
    ],
)
def test_what_is_no_signal_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TradingSignal.model_validate(plain(**changes))


def test_a_short_has_its_levels_the_other_way_round() -> None:
    targets = [{"price": 90.0, "size_pct": 0.4}, {"price": 80.0, "size_pct": 0.6}]
    risk = {"initial_stop": 110.0, "take_profits": targets}
    assert TradingSignal.model_validate(plain(side="short", risk=risk)).tp2 == 80.0
