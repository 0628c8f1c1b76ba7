"""The files of a run have the promised columns and can be read back."""

import csv
import json
from pathlib import Path

import pandas as pd
import pytest

from Backtest.metrics.report_files import summary_json, write_whole
from Backtest.simbroker import SimBroker

HOUR = 3_600_000


def played() -> SimBroker:
    broker = SimBroker(commission=0.001, symbols=["BTC/USDT"])
    bars = [(100, 101, 99, 100), (100, 101, 99, 100), (100, 106, 94, 101), (101, 103, 99, 102)]
    for number, (o, h, low, c) in enumerate(bars):
        if number != 1:
            broker.place_order({"action": "BUY", "volume": 1.0, "sl": 95.0, "tp": 105.0})
        broker.step_candle(number * HOUR, o, h, low, c, 1.0, "BTC/USDT")
    return broker


def test_the_three_files_have_their_columns(tmp_path: Path) -> None:
    files = played().save_report(str(tmp_path / "deep" / "out"))
    assert {name: Path(path).name for name, path in files.items()} == {
        "trades": "trades.csv",
        "equity_curve": "equity_curve.csv",
        "summary": "summary.json",
    }
    with open(files["trades"], encoding="utf-8", newline="") as file:
        trades = list(csv.reader(file))
    assert ",".join(trades[0]) == (
        "position_id,symbol,side,volume,entry_time,entry_price,exit_time,exit_price,pnl,fees,"
        "rule_in,rule_out,ambiguous,forced"
    )
    assert trades[1][:8] == [
        "pos_1",
        "BTC/USDT",
        "long",
        "1.0",
        "1970-01-01T01:00:00Z",
        "100.0",
        "1970-01-01T02:00:00Z",
        "95.0",
    ]
    assert trades[1][10:] == ["enter_long", "stop", "true", "false"]
    assert trades[2][10:] == ["enter_long", "end_of_data", "false", "true"]
    curve = pd.read_csv(files["equity_curve"])
    assert list(curve.columns) == ["timestamp", "equity", "cash", "drawdown"]
    assert pd.to_datetime(curve["timestamp"]).is_monotonic_increasing
    assert len(curve) == 4


def test_the_summary_is_the_report(tmp_path: Path) -> None:
    broker = played()
    files = broker.save_report(str(tmp_path))
    found = json.loads(Path(files["summary"]).read_text(encoding="utf-8"))
    assert found == json.loads(json.dumps(broker.generate_report()))
    wanted = {
        "total_trades", "total_pnl", "win_rate", "max_drawdown", "sharpe", "sortino", "calmar",
        "profit_factor", "expectancy", "exposure", "turnover", "cost_share",
        "break_even_cost_bps", "ambiguity_band", "by_year", "buy_and_hold", "final_equity",
        "return", "conventions", "settings", "execution", "periods_per_year",
    }  # fmt: skip
    assert wanted <= set(found)
    bars = found["bars"]  # hourly
    assert found["periods_per_year"] == pytest.approx(365.25 * 24 * bars / (bars - 1))
    assert found["buy_and_hold"]["return"] == pytest.approx(0.02)


def test_saving_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    broker = played()
    first = broker.save_report(str(tmp_path / "a"))
    second = broker.save_report(str(tmp_path / "b"))
    for name in first:
        assert Path(first[name]).read_bytes() == Path(second[name]).read_bytes()


def test_a_summary_never_holds_nan() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        summary_json({"sharpe": float("nan")})


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path: Path) -> None:
    path = tmp_path / "summary.json"
    write_whole(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "\ud800")
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]
