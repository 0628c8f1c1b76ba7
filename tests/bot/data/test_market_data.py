"""Every kind of candle file gives the same backtest by the documented command."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bot.cli import main
from bot.contract.model import Contract
from bot.data.market_data import read_market_data

SAMPLE = Path(__file__).parents[2] / "fixtures" / "sample_btc.csv"
CONTRACT: dict[str, Any] = {
    "version": "1.0",
    "workflow": "kinds",
    "task": "strategy",
    "kind": "strategy",
    "name": "AllKinds",
    "market": {"symbols": ["BTC/USDT"], "timeframe": "1h"},
    "indicators": {"rsi": {"function": "RSI", "timeperiod": 14}},
    "rules": {"enter_long": "rsi < 40", "exit_long": "rsi > 60"},
    "risk": {"stop_loss": 0.02},
}
CSV = {"source": "csv", "path": "candles.csv"}


def frame() -> pd.DataFrame:
    """The sample as Freqtrade holds it: a `date` column of UTC moments."""
    found = pd.read_csv(SAMPLE)
    found.columns = [name.lower() for name in found.columns]
    (time,) = [name for name in found.columns if name in ("timestamp", "date", "datetime", "time")]
    moments = pd.to_datetime(found[time], utc=True).dt.as_unit("ms")
    return found.drop(columns=time).assign(date=moments)[
        ["date", "open", "high", "low", "close", "volume"]
    ]


def write_json(path: Path) -> None:
    """Freqtrade's json: rows of milliseconds and numbers, without names."""
    rows = frame()
    rows["date"] = rows["date"].astype("int64")
    text = rows.to_json(orient="values").encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


WRITERS: dict[str, Callable[[Path], object]] = {
    ".csv": lambda path: frame().to_csv(path, index=False),
    ".feather": lambda path: frame().to_feather(path),
    ".parquet": lambda path: frame().to_parquet(path),
    ".json": write_json,
    ".json.gz": write_json,
}


def summary(root: Path, capsys: Any, data: dict[str, str], *more: str, **changed: Any) -> Any:
    """Backtest a contract in a repository; its summary, or what was said."""
    (root / ".git").mkdir(exist_ok=True)
    file = root / "kinds.json"
    file.write_text(json.dumps({**CONTRACT, **changed, "data": data}), "utf-8")
    code = main(["backtest", str(file), "--out", str(root / "out"), "--json", *more])
    told = capsys.readouterr()
    return json.loads(told.out)["summary"] if code == 0 else (code, told.out + told.err)


@pytest.fixture
def expected(tmp_path: Path, capsys: Any) -> Any:
    (tmp_path / "candles.csv").write_bytes(SAMPLE.read_bytes())
    found = summary(tmp_path, capsys, CSV)
    assert found["total_trades"] > 3
    return found


@pytest.mark.parametrize("kind", WRITERS)
def test_a_file_given_on_the_command_line(
    tmp_path: Path, capsys: Any, expected: Any, kind: str
) -> None:
    WRITERS[kind](tmp_path / f"given{kind}")
    assert summary(tmp_path, capsys, CSV, "--data", str(tmp_path / f"given{kind}")) == expected


def test_a_contract_that_names_a_feather_file(tmp_path: Path, capsys: Any, expected: Any) -> None:
    WRITERS[".feather"](tmp_path / "candles.feather")
    data = {"source": "feather", "path": "candles.feather"}
    assert summary(tmp_path, capsys, data) == expected


@pytest.mark.parametrize("kind", [".feather", ".parquet", ".json", ".json.gz"])
@pytest.mark.parametrize("path", [None, "user_data/data/binance"])
def test_freqtrades_own_folder(
    tmp_path: Path, capsys: Any, expected: Any, kind: str, path: str | None
) -> None:
    folder = tmp_path / "user_data" / "data" / "binance"
    folder.mkdir(parents=True)
    WRITERS[kind](folder / f"BTC_USDT-1h{kind}")
    data = {"source": "freqtrade", "exchange": "binance", **({"path": path} if path else {})}
    assert summary(tmp_path, capsys, data) == expected


def test_freqtrades_futures(tmp_path: Path, capsys: Any, expected: Any) -> None:
    folder = tmp_path / "user_data" / "data" / "binance" / "futures"
    folder.mkdir(parents=True)
    WRITERS[".feather"](folder / "BTC_USDT_USDT-1h-futures.feather")
    market = {"symbols": ["BTC/USDT:USDT"], "timeframe": "1h", "type": "futures"}
    data = {"source": "freqtrade", "exchange": "binance"}
    found = summary(tmp_path, capsys, data, market=market)
    assert found["total_trades"] == expected["total_trades"]
    assert found["total_pnl"] == expected["total_pnl"]


def test_a_missing_file_is_named_as_freqtrade_names_it(tmp_path: Path, capsys: Any) -> None:
    code, said = summary(tmp_path, capsys, {"source": "freqtrade", "exchange": "binance"})
    assert code == 2
    assert "user_data/data/binance/BTC_USDT-1h.feather" in said


@pytest.mark.parametrize("kind", WRITERS)
def test_a_file_is_read_once_and_its_digest_is_that_of_what_was_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Somebody who swaps the file while it is read gets one of both, and never half of each."""
    WRITERS[kind](tmp_path / f"btc{kind}")
    first = (tmp_path / f"btc{kind}").read_bytes()
    reads: list[Path] = []
    read_bytes = Path.read_bytes

    def swapped(path: Path) -> bytes:
        reads.append(path)
        data = read_bytes(path)
        path.write_bytes(b"swapped")
        return data

    monkeypatch.setattr(Path, "read_bytes", swapped)
    source = kind.removeprefix(".") if kind in (".csv", ".feather") else "freqtrade"
    data = {"source": source, "path": f"btc{kind}", "exchange": "binance"}
    if source != "freqtrade":
        del data["exchange"]
    contract = Contract.model_validate({**CONTRACT, "data": data})
    found = read_market_data(contract, tmp_path)
    assert [path.name for path in reads] == [f"btc{kind}"]
    assert found.contents == {f"btc{kind}": first}
    assert found.digest == read_market_data(contract, lambda name: first).digest
    assert len(found.candles["BTC/USDT"]) == len(frame())
