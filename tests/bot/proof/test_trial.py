"""Where histories are cut, and the other prices that a strategy is asked about."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from Backtest.candles import columns_of, read_candles
from bot.contract.language.evaluator import evaluate
from bot.contract.language.program import compile_contract
from bot.contract.load import load_contract
from bot.data.market_data import MarketData
from bot.gates.questions import CUTS, MOST_ASKED_AGAIN, cut_points, other_name, perturb, some_bars
from tests.chance import examples
from tests.e2e.lines import CANDLES, HOUSE


@pytest.fixture(scope="module")
def data() -> MarketData:
    candles = columns_of(read_candles(CANDLES).head(300))
    return MarketData({"BTC/USDT": candles, "ETH/USDT": candles}, "sha256:0", {})


def test_there_are_at_least_forty_cuts() -> None:
    assert CUTS >= 40
    assert len(cut_points(3000, CUTS, b"x")) == CUTS


@examples(100)
@given(st.integers(1, 2000), st.integers(1, 60), st.binary(max_size=20))
def test_cuts_are_inside_the_data_and_the_same_for_the_same_source(
    bars: int, count: int, source: bytes
) -> None:
    cuts = cut_points(bars, count, source)
    assert cuts == sorted(set(cuts)) == cut_points(bars, count, source)
    assert len(cuts) == min(bars, count)
    assert 1 <= cuts[0] <= cuts[-1] <= bars


def test_another_source_is_cut_elsewhere() -> None:
    assert cut_points(3000, CUTS, b"one") != cut_points(3000, CUTS, b"two")


def test_other_prices_are_sound_candles_at_the_same_times(data: MarketData) -> None:
    other = perturb(data, b"source")
    assert set(other) == {other_name("BTC/USDT"), other_name("ETH/USDT")}
    for frame in other.values():
        known = data.frames["BTC/USDT"]
        assert (frame["timestamp"] == known["timestamp"]).all()
        prices = frame[["open", "high", "low", "close"]]
        assert np.isfinite(prices.to_numpy()).all()
        assert (prices.min(axis=1) == frame["low"]).all()
        assert (prices.max(axis=1) == frame["high"]).all()
        assert (frame["volume"] > 0).all()
        moves = frame["close"].pct_change().iloc[1:]
        assert not np.allclose(moves, known["close"].pct_change().iloc[1:])


def test_other_prices_follow_from_the_source_alone(data: MarketData) -> None:
    name = other_name("BTC/USDT")
    assert perturb(data, b"a")[name].equals(perturb(data, b"a")[name])
    assert not perturb(data, b"a")[name].equals(perturb(data, b"b")[name])
    assert not perturb(data, b"a")[name].equals(perturb(data, b"a")[other_name("ETH/USDT")])


def test_of_a_long_history_some_bars_are_asked_about_again(data: MarketData) -> None:
    program = compile_contract(load_contract(HOUSE / "contracts/oversold_dip.yaml").strategy)
    short = data.frames["BTC/USDT"]
    assert some_bars(program, short, b"x") is None
    long = pd.concat([short] * 100, ignore_index=True)
    some = some_bars(program, long, b"x")
    assert some is not None
    assert list(some) == sorted(set(some))
    assert MOST_ASKED_AGAIN // 2 <= len(some) <= MOST_ASKED_AGAIN
    assert 0 <= some[0] <= some[-1] < len(long)
    values = evaluate(program, long)
    held = np.flatnonzero(values["enter_long"] | values["exit_long"])
    assert len(held) > 0
    assert set(held.tolist()) <= set(some) or len(held) > MOST_ASKED_AGAIN // 2
    assert some != some_bars(program, long, b"y")
