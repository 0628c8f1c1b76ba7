"""A strategy file runs on its own, as a program."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from adapters.strategy_cli import short_report

ROOT = Path(__file__).resolve().parents[2]
STRATEGY = Path(__file__).with_name("dip_strategy.py")
HOUR = 3_600_000


def strategy(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(STRATEGY), *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def write_candles(path: Path, seed: int = 1, rows: int = 400) -> Path:
    rng = random.Random(seed)
    price, lines = 100.0, ["timestamp,open,high,low,close,volume"]
    for number in range(rows):
        close = round(price * (1 + rng.gauss(0, 0.01)), 2)
        high, low = max(price, close) + 0.2, min(price, close) - 0.2
        lines.append(f"{1_704_067_200_000 + number * HOUR},{price},{high:.2f},{low:.2f},{close},1")
        price = close
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_backtest_writes_the_files_and_says_where(tmp_path: Path) -> None:
    data = write_candles(tmp_path / "data.csv")
    done = strategy("--mode", "backtest", "--data", str(data), "--out", "results/", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    for name in ("trades.csv", "equity_curve.csv", "summary.json"):
        assert (tmp_path / "results" / name).is_file()
        assert name in done.stdout
    summary = json.loads((tmp_path / "results" / "summary.json").read_text(encoding="utf-8"))
    trades = pd.read_csv(tmp_path / "results" / "trades.csv")
    assert summary["total_trades"] == int((~trades["forced"]).sum()) > 5
    assert summary["total_pnl"] == pytest.approx(trades.loc[~trades["forced"], "pnl"].sum())
    assert summary["settings"]["commission"] == 0.001
    bars = summary["bars"]  # hourly
    assert summary["periods_per_year"] == pytest.approx(365.25 * 24 * bars / (bars - 1))


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    data = write_candles(tmp_path / "data.csv")
    for out in ("a", "b"):
        assert strategy("--data", str(data), "--out", out, cwd=tmp_path).returncode == 0
    for name in ("trades.csv", "equity_curve.csv", "summary.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_json_settings_and_config_change_the_run(tmp_path: Path) -> None:
    data = write_candles(tmp_path / "data.csv")
    config = tmp_path / "my.yaml"
    config.write_text("commission: 0.0\ncapital: 5000\n", encoding="utf-8")
    done = strategy(
        "--data", str(data), "--json", "--set", "dip=0.02", "--config", str(config), cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)["summary"]
    assert (summary["capital"], summary["fees"]) == (5000.0, 0.0)
    assert summary["settings"]["slippage"] == 0.0005


def test_several_symbols_come_from_several_files(tmp_path: Path) -> None:
    write_candles(tmp_path / "BTC_USDT.csv", seed=1)
    write_candles(tmp_path / "ETH_USDT.csv", seed=2)
    done = strategy(
        "--data",
        str(tmp_path / "{symbol}.csv"),
        "--set",
        'symbols=["BTC/USDT", "ETH/USDT"]',
        "--set",
        "max_positions=2",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    trades = pd.read_csv(tmp_path / "results" / "trades.csv")
    assert set(trades["symbol"]) == {"BTC/USDT", "ETH/USDT"}


@pytest.mark.parametrize(
    ("token", "said"),
    [
        (None, "no --approval-token"),
        ("yes", "not human_verified_"),
        ("human_verified_1", "not human_verified_"),
        ("human_verified_1700000000", "only a label"),
    ],
)
def test_live_is_a_safety_stop_that_says_what_is_missing(
    token: str | None, said: str, tmp_path: Path
) -> None:
    given = [] if token is None else ["--approval-token", token]
    done = strategy("--mode", "live", *given, cwd=tmp_path)
    assert done.returncode == 5
    assert said in done.stderr
    assert "signed approval record" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--mode", "backtest"], "needs --data"),
        (["--data", "gone.csv"], "gone.csv is not there"),
        (["--data", "data.csv", "--set", "dop=1"], "Did you mean 'dip'?"),
        (["--data", "data.csv", "--set", "dip"], "has no value"),
        (["--data", "data.csv", "--set", "commission=NaN"], "NaN is no value"),
        (["--data", "data.csv", "--set", "commission=2"], "commission is 2"),
        (["--data", "bad.csv"], "line 4: row 2 (counting from 0): close"),
        (["--data", "data.csv", "--out", "data.csv"], "data.csv"),
        (["--data", "data.csv", "--config", "gone.yaml"], "gone.yaml"),
        (["--mode", "dream"], "invalid choice: 'dream'"),
        (["--unknown"], "unrecognized arguments"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(arguments: list[str], said: str, tmp_path: Path) -> None:
    good = write_candles(tmp_path / "data.csv", rows=20).read_text(encoding="utf-8")
    lines = good.splitlines()
    lines[3] = lines[3].rsplit(",", 2)[0] + ",,1"
    (tmp_path / "bad.csv").write_text("\n".join(lines), encoding="utf-8")
    done = strategy(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_position_open_at_the_end_is_in_the_return_and_not_in_the_profit() -> None:
    report = {
        "bars": 9,
        "start": "a",
        "end": "b",
        "total_trades": 1,
        "win_rate": 1.0,
        "total_pnl": 103.56,
        "return": 0.0061,
        "buy_and_hold": {"return": 0.1},
        "max_drawdown": 0.0,
        "sharpe": None,
        "ambiguity_band": {"ambiguous_trades": 0, "worst_pnl": 1.0, "best_pnl": 1.0},
        "forced_exits": 1,
        "orders_rejected": 0,
    }
    said = short_report(report, {"trades": "out/trades.csv"})
    assert "open          1 at the end: in the return, not in the profit\n" in said
    assert said.endswith("wrote         out/trades.csv\n")
    # What did not happen is not told.
    assert "ambiguous" not in said
    assert "rejected" not in said
    assert "at the end" not in short_report({**report, "forced_exits": 0}, {})
    doubt = {"ambiguous_trades": 3, "worst_pnl": -2.0, "best_pnl": 1.0}
    said = short_report({**report, "ambiguity_band": doubt, "orders_rejected": 4}, {})
    assert "in one candle: 3 trades, so the profit is -2.00 to 1.00\n" in said
    assert "rejected      4 orders\n" in said
