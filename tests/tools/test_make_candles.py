"""The synthetic market is the same everywhere and looks like a market."""

import statistics
from pathlib import Path

import pandas as pd
import pytest

from tools.make_candles import COINS, market_returns, write_candles

FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.mark.parametrize("file_name", [coin.file_name for coin in COINS])
def test_the_committed_candles_are_what_the_generator_writes(tmp_path, file_name):
    write_candles(tmp_path)
    assert (tmp_path / file_name).read_bytes() == (FIXTURES / file_name).read_bytes()


def test_another_seed_is_another_market(tmp_path):
    first, _ = write_candles(tmp_path / "a", bars=50, seed=1)
    second, _ = write_candles(tmp_path / "b", bars=50, seed=2)
    assert first.read_bytes() != second.read_bytes()


def test_a_shorter_series_is_the_beginning_of_a_longer_one():
    assert market_returns(300, seed=38) == market_returns(900, seed=38)[:300]


@pytest.mark.parametrize("file_name", [coin.file_name for coin in COINS])
def test_storms_cluster_and_tails_are_fatter_than_a_bell(file_name):
    moves = pd.read_csv(FIXTURES / file_name)["close"].pct_change().dropna()
    assert moves.abs().autocorr() > 0.1
    assert moves.kurt() > 1.0


def test_there_is_a_crash_and_a_climb():
    close = pd.read_csv(FIXTURES / "sample_btc.csv")["close"]
    day = close / close.shift(24) - 1
    assert day.min() < -0.10
    assert day.max() > 0.05


def test_the_two_symbols_move_together():
    moves = [pd.read_csv(FIXTURES / c.file_name)["close"].pct_change().dropna() for c in COINS]
    assert 0.7 < statistics.correlation(*moves) < 0.99
