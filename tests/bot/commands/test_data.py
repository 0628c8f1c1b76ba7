"""`stratwright data` on files, and on an exchange that answers on loopback."""

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from Backtest.candles import read_columns
from bot.cli import main
from bot.data.exchange.ccxt_exchange import URL_VARIABLE

ROOT = Path(__file__).parents[3]
SAMPLE = ROOT / "tests/fixtures/sample_btc.csv"
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
DAYS = ["--since", "2024-01-01", "--until", "2024-03-01"]


def _loopback() -> ModuleType:
    place = ROOT / "tests/bot/data/exchange/loopback.py"
    spec = importlib.util.spec_from_file_location("exchange_loopback", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    loopback = _loopback()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    with loopback.serving(loopback.Desk()) as running:
        monkeypatch.setenv(URL_VARIABLE, running.url)
        yield running


def test_a_download_is_written_once_as_every_kind(
    desk: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["data", "download", "BTC/USDT", *DAYS]) == 0
    said = capsys.readouterr().out
    assert "data/BTC_USDT-1h.csv: 1,440 candles, 2024-01-01 00:00 to 2024-02-29 23:00" in said
    assert 'data: {source: csv, path: "data/BTC_USDT-1h.csv"}' in said
    pages = len(desk.asked)
    assert main(["data", "download", "BTC/USDT", *DAYS, "--out", "freqtrade", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["path"] == "user_data/data/binance/BTC_USDT-1h.feather"
    assert (told["rows"], told["symbol"], told["first"]) == (
        *(1440, "BTC/USDT"),
        "2024-01-01T00:00:00Z",
    )
    assert main(["data", "download", "BTC/USDT", *DAYS, "--out", "x/{symbol}.parquet"]) == 0
    assert len(desk.asked) == pages
    closes = [
        read_columns(tmp_path / path).close.tolist()
        for path in ("data/BTC_USDT-1h.csv", told["path"], "x/BTC_USDT.parquet")
    ]
    assert closes[0] == closes[1] == closes[2]


def test_what_cannot_be_downloaded_is_refused_before_the_exchange_is_asked(
    desk: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/BTC_USDT-1h.csv").write_text("mine")
    for words, message in (
        (["BTC/USDT", *DAYS], "data/BTC_USDT-1h.csv is there already"),
        (["BTC/USDT", "ETH/USDT", *DAYS, "--out", "x.csv"], "need {symbol} in --out"),
        (["BTC/USDT", *DAYS, "--out", "x.xlsx"], "x.xlsx can't be written"),
        (["BTC/USDT", "--since", "yesterday", "--out", "y.csv"], "'yesterday' is no timestamp"),
        (["BTC/USDT", *DAYS, "--timeframe", "1x", "--out", "y.csv"], "'1x' is no timeframe"),
    ):
        assert main(["data", "download", *words]) == 2
        assert message in capsys.readouterr().err
    assert desk.asked == []
    assert (tmp_path / "data/BTC_USDT-1h.csv").read_text() == "mine"


def test_an_unknown_market_is_told_with_the_nearest(
    desk: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["data", "download", "BTC/USDR", *DAYS]) == 2
    assert "Did you mean BTC/USDT?" in capsys.readouterr().err


def test_list_shows_what_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "list", str(tmp_path)]) == 0
    assert "no candle file below" in capsys.readouterr().out
    (tmp_path / "BTC_USDT-1h.csv").write_bytes(SAMPLE.read_bytes())
    assert main(["data", "list", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "BTC/USDT  1h    3,000  2024-01-01 00:00 to 2024-05-04 23:00" in said
    assert main(["data", "list", str(tmp_path), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["rows"], found["last"]) == (3000, "2024-05-04T23:00:00Z")
    assert main(["data", "list", str(tmp_path / "none")]) == 2


def test_check_says_whether_a_run_takes_the_candles(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["data", "check", str(SAMPLE)]) == 0
    said = capsys.readouterr().out
    assert "A run takes these candles.\n" in said
    assert max(map(len, said.splitlines()[1:])) <= 80
    lines = SAMPLE.read_text().splitlines()
    bad, picture = tmp_path / "bad.csv", tmp_path / "bad.svg"
    bad.write_text("\n".join([*lines[:50], lines[20], *lines[60:]]) + "\n")
    assert main(["data", "check", str(bad), "--picture", str(picture)]) == 1
    said = capsys.readouterr().out
    assert "A run stops at these candles: order, duplicates.\n" in said
    assert f"open {picture}" in said
    assert picture.read_text().startswith("<svg ")
    assert main(["data", "check", str(bad), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert not told["usable"]
    assert [f["name"] for f in told["findings"] if f["level"] != "ok"] == [
        *("order", "duplicates", "gaps")
    ]
    assert main(["data", "check", str(tmp_path / "none.csv")]) == 2
