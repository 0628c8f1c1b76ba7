from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from integration.config.config import RISK_DEFAULT
from integration.data import compute_atr
from integration.risk import apply_risk
from integration.schema.signal import RiskPlan, TakeProfit, TradingSignal
from integration.signal_gen import generate_signal
from integration.tests.conftest import candles_of
from tests.chance import examples

CFG: dict[str, Any] = {"max_capital_pct": 0.05, "risk": RISK_DEFAULT}
# A true range of 2 on each candle.
CANDLES = candles_of([100.0] * 40)


def signal(
    stop: float, tp1: float, tp2: float, cap: float = 0.02, first: float = 0.5
) -> TradingSignal:
    targets = (TakeProfit(price=tp1, size_pct=first), TakeProfit(price=tp2, size_pct=1 - first))
    return TradingSignal(
        symbol="BTC/USDT",
        side="long",
        confidence=0.6,
        entry={"type": "market", "price": 100.0},
        risk=RiskPlan(initial_stop=stop, take_profits=targets, max_capital_pct=cap),
        rationale="a test",
    )


@pytest.mark.parametrize(
    ("distance", "passes"),
    [(0.999, False), (1.0, True), (5.0, True), (10.0, True), (10.001, False)],
)
def test_risk_filter_bounds(distance: float, passes: bool) -> None:
    given_signal = signal(100 - distance, 100 + distance, 100 + 2 * distance)
    assert (apply_risk(given_signal, CANDLES, CFG) is not None) == passes


@pytest.mark.parametrize(("tp2", "passes"), [(107.99, False), (108.0, True), (112.0, True)])
def test_the_reward_counts_both_targets_by_their_size(tp2: float, passes: bool) -> None:
    assert (apply_risk(signal(96, 104, tp2), CANDLES, CFG) is not None) == passes
    # All at the first target is 1 R, whatever the second says.
    assert apply_risk(signal(96, 104, tp2, first=1.0), CANDLES, CFG) is None


def test_capital_is_capped_and_never_raised() -> None:
    for cap, left in ((0.02, 0.02), (0.05, 0.05), (0.5, 0.05)):
        found = apply_risk(signal(96, 104, 108, cap), CANDLES, CFG)
        assert found is not None
        assert found.risk.max_capital_pct == left


moves = st.lists(st.floats(-0.02, 0.02), min_size=15, max_size=60)


@examples(200)
@given(moves, st.floats(0.001, 3), st.floats(0.0, 0.06), st.floats(0.001, 1.0))
def test_signal_and_risk_hold_to_an_oracle(
    steps: list[float], spread: float, jump: float, cap: float
) -> None:
    """The oracle is written from the seed's words alone, with plain loops."""
    closes = [100.0]
    for step in steps:
        closes.append(closes[-1] * (1 + step))
    closes.append(closes[-1] * (1 + jump))
    candles = candles_of(closes, spread)
    found = generate_signal(candles, "BTC/USDT")
    entry = closes[-1]
    highs = [close + spread for close in closes]
    before = highs[len(highs) - 20 : len(highs) - 1]
    breaks = len(closes) >= 20 and all(entry > high for high in before)
    assert (found is not None) == breaks
    if found is None:
        return
    stop = sorted(close - spread for close in closes[-10:])[0]
    assert found.risk.initial_stop == stop
    assert found.tp1 - entry == pytest.approx(entry - stop, rel=1e-9)
    assert found.tp2 - entry == pytest.approx(2 * (entry - stop), rel=1e-9)
    assert TradingSignal.model_validate_json(found.model_dump_json()) == found
    multiple = (entry - stop) / compute_atr(candles)
    passed = apply_risk(found, candles, {**CFG, "max_capital_pct": cap})
    if abs(multiple - 0.5) > 1e-9 and abs(multiple - 5) > 1e-9:
        assert (passed is not None) == (0.5 < multiple < 5)
    if passed is not None:
        assert passed.risk.max_capital_pct == cap
        assert passed == found.model_copy(update={"risk": passed.risk})
