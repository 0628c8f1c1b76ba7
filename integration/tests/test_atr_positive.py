import numpy as np
import pytest
import talib
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import InputError
from integration.data import compute_atr
from integration.tests.conftest import candles_of

prices = st.lists(st.floats(10, 1000), min_size=16, max_size=80)


@given(prices, st.floats(0.01, 5))
def test_atr_positive(closes: list[float], spread: float) -> None:
    candles = candles_of(closes, spread)
    atr = compute_atr(candles)
    assert atr > 0
    high, low, close = (np.array([c[name] for c in candles]) for name in ("high", "low", "close"))
    assert atr == pytest.approx(talib.ATR(high, low, close, timeperiod=14)[-1], rel=1e-9)


def test_too_few_candles_give_no_atr() -> None:
    for count in (0, 1, 14):
        with pytest.raises(InputError):
            compute_atr(candles_of([100.0] * count))
    assert compute_atr(candles_of([100.0] * 15)) == pytest.approx(2.0)
