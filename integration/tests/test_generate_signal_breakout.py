from datetime import UTC, datetime

import pytest

from integration.signal_gen import generate_signal
from integration.tests.conftest import START, candles_of

NOW = datetime(2026, 11, 1, 3, tzinfo=UTC)


def test_generate_signal_breakout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEFAULT_SYMBOL", "ETH/USDT")
    signal = generate_signal(candles_of([100.0] * 30 + [104.0]), now=NOW)
    assert signal is not None
    assert (signal.version, signal.side, signal.confidence) == ("1.0", "long", 0.6)
    assert signal.symbol == "ETH/USDT"
    assert signal.entry == {"type": "market", "price": 104.0}
    assert signal.risk.initial_stop == 99.0
    assert (signal.tp1, signal.tp2) == (109.0, 114.0)
    assert [target.size_pct for target in signal.risk.take_profits] == [0.5, 0.5]
    assert signal.timestamp == NOW


def test_the_stop_looks_ten_candles_back() -> None:
    for place, stop in ((9, 95.0), (10, 99.0)):
        candles = candles_of([100.0] * 30 + [104.0])
        candles[-1 - place]["low"] = 95.0
        signal = generate_signal(candles, "BTC/USDT")
        assert signal is not None
        assert signal.risk.initial_stop == stop


def test_the_same_candle_is_the_same_decision() -> None:
    candles = candles_of([100.0] * 30 + [104.0])
    ids = {generate_signal(candles, s).decision_id for s in ("BTC/USDT", "BTC/USDT", "ETH/USDT")}  # type: ignore[union-attr]
    assert len(ids) == 2
    candles[-1]["timestamp"] = START
    assert generate_signal(candles, "BTC/USDT").decision_id not in ids  # type: ignore[union-attr]
