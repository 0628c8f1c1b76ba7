"""Candle files are found by what they hold, and named by what their names say."""

import gzip
import json
from pathlib import Path

import pandas as pd
import pytest

from bot.data.candle_files import (
    contract_line,
    find_candle_files,
    read_candle_file,
    symbol_of,
    write_candle_file,
)
from bot.errors import InputError

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.mark.parametrize(
    ("name", "symbol"),
    [
        ("BTC_USDT-1h.feather", "BTC/USDT"),
        ("BTC_USDT_USDT-5m-futures.feather", "BTC/USDT:USDT"),
        ("ETH_EUR-1d-20240101T000000Z-20240201T000000Z.csv", "ETH/EUR"),
        ("example_SP500-1d.csv", "SP500"),
        ("prices.csv", ""),
    ],
)
def test_a_name_tells_its_symbol(name: str, symbol: str) -> None:
    assert symbol_of(Path(name)) == symbol


def test_candle_files_of_every_kind_are_found_and_others_are_not(tmp_path: Path) -> None:
    hours = pd.read_csv(FIXTURES / "sample_btc.csv").head(30)
    dated = hours.assign(date=pd.to_datetime(hours.timestamp)).drop(columns="timestamp")
    for folder in ("data", "user_data/data/binance", ".hidden", "node_modules"):
        (tmp_path / folder).mkdir(parents=True)
        hours.to_csv(tmp_path / folder / "BTC_USDT-1h.csv", index=False)
    freqtrade = tmp_path / "user_data/data/binance"
    dated.to_feather(freqtrade / "BTC_USDT-1h.feather")
    dated.to_parquet(freqtrade / "ETH_USDT-1h.parquet")
    rows = [[1704067200000 + i * 300_000, 1.0, 2.0, 0.5, 1.5, 9.0] for i in range(20)]
    (freqtrade / "XRP_USDT-5m.json.gz").write_bytes(gzip.compress(json.dumps(rows).encode()))
    (tmp_path / "package.json").write_text("{}")
    (tmp_path / "trades.csv").write_text("position_id,symbol\n1,BTC\n")
    (tmp_path / "data/broken.csv").write_text("timestamp,open,high,low,close,volume\nx,1,1,1,1,1\n")
    found = {str(each.path.relative_to(tmp_path)): each for each in find_candle_files(tmp_path)}
    assert sorted(found) == [
        "data/BTC_USDT-1h.csv",
        "data/broken.csv",
        "user_data/data/binance/BTC_USDT-1h.csv",
        "user_data/data/binance/BTC_USDT-1h.feather",
        "user_data/data/binance/ETH_USDT-1h.parquet",
        "user_data/data/binance/XRP_USDT-5m.json.gz",
    ]
    last = found["user_data/data/binance/XRP_USDT-5m.json.gz"]
    assert (last.symbol, last.timeframe, last.rows) == ("XRP/USDT", "5m", 20)
    assert "'x' is no timestamp" in found["data/broken.csv"].fault


@pytest.mark.parametrize("kind", ["csv", "feather", "parquet"])
def test_what_is_written_is_read_back(kind: str, tmp_path: Path) -> None:
    write_candle_file(tmp_path, f"BTC_USDT-1h.{kind}", FIXTURES / "sample_btc.csv")
    found = read_candle_file(tmp_path / f"BTC_USDT-1h.{kind}")
    same = read_candle_file(FIXTURES / "sample_btc.csv")
    assert (found.rows, found.first, found.last) == (same.rows, same.first, same.last)
    assert found.symbol == "BTC/USDT"


def test_other_kinds_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no kind that can be written"):
        write_candle_file(tmp_path, "x.xlsx", FIXTURES / "sample_btc.csv")


def test_a_contract_names_freqtrade_s_files_with_their_exchange(tmp_path: Path) -> None:
    path = Path("user_data/data/kraken/BTC_USDT-1h.parquet")
    found = read_candle_file(FIXTURES / "sample_btc.csv")
    from dataclasses import replace

    assert contract_line(replace(found, path=path)) == (
        'data: {source: freqtrade, exchange: kraken, path: "' + str(path) + '"}'
    )
