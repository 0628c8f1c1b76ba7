"""The fixtures that ship with the package do what their names promise."""

import importlib.metadata
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from adapters.mock_exchange import MockExchange

HOUSE = Path(__file__).parents[2]


def test_the_sample_is_two_hundred_whole_candles(sample_dataframe: pd.DataFrame) -> None:
    assert len(sample_dataframe) == 200
    assert not sample_dataframe.isna().any().any()
    assert (sample_dataframe["high"] >= sample_dataframe[["open", "close"]].max(axis=1)).all()
    assert (sample_dataframe["low"] <= sample_dataframe[["open", "close"]].min(axis=1)).all()
    assert (sample_dataframe["date"] == sample_dataframe["timestamp"]).all()
    assert set(sample_dataframe["date"].diff().dropna()) == {pd.Timedelta(hours=1)}


def test_each_test_has_its_own(sample_dataframe: pd.DataFrame, request: Any) -> None:
    sample_dataframe["close"] = 0.0
    again = request.getfixturevalue("sample_dataframe_with_indicators")
    assert again is sample_dataframe


def test_indicators_have_values_after_their_start(
    sample_dataframe_with_indicators: pd.DataFrame,
) -> None:
    frame = sample_dataframe_with_indicators
    added = set(frame.columns) - {"timestamp", "date", "open", "high", "low", "close", "volume"}
    assert {"rsi", "sma_20", "macd", "bb_upperband", "atr", "adx", "donchian_upper"} <= added
    for name in added:
        assert not frame[name].iloc[50:].isna().any(), name
    assert frame["sma_20"].iloc[60] == pytest.approx(frame["close"].iloc[41:61].mean())
    assert frame["donchian_upper"].iloc[60] == frame["high"].iloc[40:60].max()


def test_candles_come_in_pages(mock_exchange: MockExchange, sample_dataframe: pd.DataFrame) -> None:
    rows: list[list[float]] = []
    since = 0
    while page := mock_exchange.fetch_ohlcv("BTC/USDT", "1h", since=since):
        rows += page
        since = int(page[-1][0]) + 1
    assert [row[4] for row in rows] == sample_dataframe["close"].tolist()
    assert rows[1][0] - rows[0][0] == 3_600_000
    assert pd.Timestamp(rows[0][0], unit="ms", tz="UTC") == sample_dataframe["date"].iloc[0]
    assert mock_exchange.fetch_ohlcv("BTC/USDT", limit=3) == rows[-3:]


def test_a_purchase_moves_the_balance(mock_exchange: MockExchange) -> None:
    price = mock_exchange.fetch_ticker("BTC/USDT")["last"]
    order = mock_exchange.create_order("BTC/USDT", "market", "buy", 2.0)
    assert (order["status"], order["average"]) == ("closed", price)
    assert mock_exchange.fetch_balance()["BTC"]["total"] == 2.0
    assert mock_exchange.balance["USDT"] == pytest.approx(10_000 - 2 * price * 1.001)
    with pytest.raises(ValueError, match="insufficient"):
        mock_exchange.create_order("BTC/USDT", "market", "sell", 3.0)


def test_a_limit_order_waits_and_can_be_taken_back(mock_exchange: MockExchange) -> None:
    order = mock_exchange.create_order("BTC/USDT", "limit", "buy", 1.0, 50.0)
    assert mock_exchange.fetch_open_orders() == [order]
    assert mock_exchange.cancel_order(order["id"])["status"] == "canceled"
    assert mock_exchange.fetch_open_orders("BTC/USDT") == []


def test_the_configuration_is_a_dry_run_without_keys(minimal_config: dict[str, Any]) -> None:
    assert minimal_config["dry_run"] is True
    assert minimal_config["exchange"]["key"] == minimal_config["exchange"]["secret"] == ""


def test_an_installed_package_brings_them_and_nothing_heavy() -> None:
    (found,) = [
        each
        for each in importlib.metadata.entry_points(group="pytest11")
        if each.name == "stratwright"
    ]
    assert found.value == "adapters.fixtures"
    code = "import adapters.fixtures, sys; print('pandas' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=HOUSE)
    assert done.stdout.split() == ["False", "False"], done.stderr
