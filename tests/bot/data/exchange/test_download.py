"""Candles over a real ccxt from a loopback server that speaks Binance's API."""

import importlib.util
import json
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from Backtest.candles import read_columns
from bot.cli import main
from bot.data.exchange.candle_cache import fetched, place_of
from bot.data.exchange.ccxt_exchange import URL_VARIABLE
from bot.data.exchange.download import Patience, Stretch, gaps, whole
from bot.errors import InputError, WorldError


def _loopback() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "exchange_loopback", Path(__file__).with_name("loopback.py")
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


loopback = _loopback()
START, HOUR = loopback.START, loopback.HOUR
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with loopback.serving(loopback.Desk()) as running:
        monkeypatch.setenv(URL_VARIABLE, running.url)
        yield running


def stretch(hours: int = 2500, symbol: str = "BTC/USDT", timeframe: str = "1h") -> Stretch:
    return Stretch(symbol, timeframe, START, START + hours * HOUR)


def get(wanted: Stretch, exchange: str = "binance") -> tuple[list[int], list[str], list[float]]:
    """The times of the file, what was said, and the pauses that were taken."""
    said: list[str] = []
    pauses: list[float] = []
    patience = Patience(pauses.append)
    path = fetched(exchange, wanted, said.append, futures=False, patience=patience)
    return read_columns(path).times.tolist(), said, pauses


WHOLE = [START + hour * HOUR for hour in range(2500)]


def test_all_pages_are_put_together(desk: Any) -> None:
    times, _, pauses = get(stretch())
    assert times == WHOLE
    assert pauses == []
    assert len(desk.asked) == 3
    candles = read_columns(place_of("binance", stretch()))
    assert candles.open[:3].tolist() == [100.0, 101.0, 102.0]
    assert candles.volume[0] == 12.5


@pytest.mark.parametrize("fault", ["429", "500", "cut", "dropped"])
@pytest.mark.parametrize("at", [0, 1])
def test_trouble_that_passes_is_waited_for(desk: Any, fault: str, at: int) -> None:
    desk.faults = [""] * at + [fault, fault]
    times, said, pauses = get(stretch())
    assert times == WHOLE
    assert pauses == ([11.0, 11.0] if fault == "429" else [0.5, 1.0])
    assert sum("again in" in line for line in said) == 2


@pytest.mark.parametrize("fault", ["short", "doubled", "shuffled"])
def test_an_odd_page_changes_nothing(desk: Any, fault: str) -> None:
    get(stretch())
    plain = place_of("binance", stretch()).read_bytes()
    place_of("binance", stretch()).unlink()
    desk.faults = [fault, "", fault, fault]
    assert get(stretch())[0] == WHOLE
    assert place_of("binance", stretch()).read_bytes() == plain


def test_an_empty_page_is_passed_and_the_gap_is_counted(desk: Any) -> None:
    desk.faults = ["", "empty"]
    times, _, _ = get(stretch())
    assert gaps(times, "1h") == [(START + 999 * HOUR, 1000)]
    assert times[-1] == WHOLE[-1]


def test_a_hole_at_the_exchange_is_a_gap(desk: Any) -> None:
    desk.missing = frozenset((10, 11, 500))
    times, _, _ = get(stretch())
    assert gaps(times, "1h") == [(START + 9 * HOUR, 2), (START + 499 * HOUR, 1)]


def test_two_versions_of_a_candle_stop_the_download(desk: Any) -> None:
    desk.faults = ["contradiction"]
    with pytest.raises(WorldError, match="two candles for 2024-01-01T00:00:00Z"):
        get(stretch())
    assert list(place_of("binance", stretch()).parent.glob("*")) == []


def test_what_is_kept_needs_no_network(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first = get(stretch())[0]
    written = place_of("binance", stretch()).read_bytes()
    monkeypatch.setenv(URL_VARIABLE, f"http://127.0.0.1:{closed_port()}")
    asked = len(desk.asked)
    assert get(stretch())[0] == first
    assert len(desk.asked) == asked
    assert place_of("binance", stretch()).read_bytes() == written


def test_trouble_that_stays_ends_the_download_and_keeps_nothing(desk: Any) -> None:
    desk.faults = ["500"] * 9
    with pytest.raises(WorldError, match="binance cannot be reached") as caught:
        get(stretch())
    assert "5 attempts" in caught.value.hint
    assert not place_of("binance", stretch()).exists()


def test_nobody_there_is_told_after_five_attempts(
    desk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(URL_VARIABLE, f"http://127.0.0.1:{closed_port()}")
    with pytest.raises(WorldError, match="cannot be reached"):
        get(stretch())


def test_an_unknown_exchange_symbol_or_timeframe_is_named(desk: Any) -> None:
    with pytest.raises(InputError, match="no exchange 'binanc'") as caught:
        get(stretch(), "binanc")
    assert "binance" in caught.value.hint
    with pytest.raises(InputError, match="no market BTC/USDC") as caught:
        get(stretch(symbol="BTC/USDC"))
    assert "BTC/USDT" in caught.value.hint
    with pytest.raises(InputError, match="no 7h candles"):
        get(stretch(timeframe="7h"))


def test_a_stretch_without_candles_is_told(desk: Any) -> None:
    before = Stretch("BTC/USDT", "1h", START - 9000 * HOUR, START - 5000 * HOUR)
    with pytest.raises(InputError, match="no BTC/USDT candle between"):
        get(before)


def test_the_candle_that_is_not_finished_is_left_out() -> None:
    now = START + 10 * HOUR + 1234
    assert whole(stretch(), now).end == START + 10 * HOUR
    assert whole(stretch(5), now).end == START + 5 * HOUR
    with pytest.raises(InputError, match=r"no candle is finished between .* and now"):
        whole(stretch(), START + HOUR - 1)
    with pytest.raises(InputError, match="and 2024-01-01T00:00:00Z"):
        whole(stretch(0), now)


CONTRACT: dict[str, Any] = {
    "version": "1.0",
    "workflow": "far",
    "task": "strategy",
    "kind": "strategy",
    "name": "FarCandles",
    "market": {"symbols": ["BTC/USDT"], "timeframe": "1h"},
    "data": {"source": "ccxt", "exchange": "binance", "start": "2024-01-01", "end": "2024-02-01"},
    "rules": {"enter_long": "close > 110", "exit_long": "close < 105"},
    "risk": {"stop_loss": 0.5},
}


def backtest(folder: Path, capsys: Any, data: dict[str, str] | None = None, *more: str) -> Any:
    file = folder / "far.json"
    file.write_text(json.dumps({**CONTRACT, **({"data": data} if data else {})}), "utf-8")
    code = main(["backtest", str(file), "--out", str(folder / "out"), "--json", *more])
    told = capsys.readouterr()
    return code, json.loads(told.out) if code == 0 else None, told.err + told.out


def test_a_contract_downloads_its_candles_once(desk: Any, tmp_path: Path, capsys: Any) -> None:
    desk.missing = frozenset((20,))
    code, answer, said = backtest(tmp_path, capsys)
    assert code == 0
    assert "1 candles missing in 1 gaps: 1 after 2024-01-01T19:00:00Z" in said
    assert answer["summary"]["total_trades"] > 0
    rows = (tmp_path / "out" / "equity_curve.csv").read_text("utf-8").splitlines()
    assert len(rows) == 1 + 31 * 24 - 1
    asked = len(desk.asked)
    again = backtest(tmp_path, capsys)[1]
    assert again["summary"] == answer["summary"]
    assert len(desk.asked) == asked


def test_the_command_line_names_an_exchange(desk: Any, tmp_path: Path, capsys: Any) -> None:
    file = {"source": "csv", "path": "none.csv"}
    given = backtest(tmp_path, capsys, file, "--data", "ccxt:binance:2024-01-01:2024-02-01")
    assert given[0] == 0
    assert given[1]["summary"] == backtest(tmp_path, capsys)[1]["summary"]
    code, _, said = backtest(tmp_path, capsys, file, "--data", "ccxt:binance:soon")
    assert code == 2
    assert "ccxt:binance:2024-01-01:2024-07-01" in said


def test_exit_codes_tell_whose_fault_it_is(
    desk: Any, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, said = backtest(tmp_path, capsys, {**CONTRACT["data"], "exchange": "nosuch"})
    assert code == 2
    assert "nosuch" in said
    code, _, said = backtest(tmp_path, capsys, {"source": "ccxt", "exchange": "binance"})
    assert code == 2
    assert "needs a start" in said
    monkeypatch.setenv(URL_VARIABLE, f"http://127.0.0.1:{closed_port()}")
    monkeypatch.setattr("time.sleep", lambda _: None)
    code, _, said = backtest(tmp_path, capsys)
    assert code == 4
    assert "cannot be reached" in said


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
