"""`stratwright bridge`: a contract as the source of signals, and the approved bytes alone."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from bot.approval.reasons import ApprovalRefused
from bot.cli import main
from bot.commands.bridge import approved_file
from bot.commands.bridge_contract import ContractSource
from bot.errors import InputError, SafetyStop
from integration.tests.conftest import bridge, candles_of, exchange, settings
from tests.bot.approval.worlds import make_floor, propose
from tests.redis_server import RedisServer, redis_server, redis_url

__all__ = ["bridge", "exchange", "redis_server", "redis_url", "settings"]
HOUSE = Path(__file__).parents[3]
CONTRACT = """
version: "1.0"
workflow: bridge
task: breakout
kind: strategy
name: BridgeBreakout
market: {{symbols: [BTC/USDT], timeframe: 5m{market}}}
data: {{source: csv, path: tests/fixtures/sample_btc.csv}}
indicators:
  band: {{function: SMA, timeperiod: 20}}
rules:
  enter_long: close > highest(high, 19)[1] and close > band
{rules}
risk:
  stop_loss: 0.02
  take_profit: 0.04
  size: {{equity: 0.03}}
{risk}
"""


def contract(folder: Path, rules: str = "", risk: str = "", market: str = "") -> Path:
    path = folder / "contract.yaml"
    path.write_text(CONTRACT.format(rules=rules, risk=risk, market=market))
    return path


def test_the_entry_of_a_contract_becomes_a_signal_with_its_stop_and_target(tmp_path: Path) -> None:
    source = ContractSource(contract(tmp_path), "BTC/USDT", "5m")
    signal = source(candles_of([100.0] * 40 + [104.0]), "BTC/USDT")
    assert signal is not None
    assert signal.entry == {"type": "market", "price": 104.0}
    assert signal.risk.initial_stop == pytest.approx(104 * 0.98)
    assert signal.tp1 == pytest.approx(104 * 1.04)
    assert [target.size_pct for target in signal.risk.take_profits] == [1.0, 0.0]
    assert signal.risk.max_capital_pct == 0.03
    assert source(candles_of([100.0] * 41), "BTC/USDT") is None
    # What was true a candle ago is no entry now.
    assert source(candles_of([100.0] * 40 + [104.0, 103.0]), "BTC/USDT") is None


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"rules": "  exit_long: close < band"}, "an exit rule"),
        ({"risk": "  trailing_stop: 0.01"}, "trailing_stop cannot be carried"),
        ({"risk": "  roi: {0: 0.04}"}, "roi cannot be carried"),
        ({"risk": "execution: this_close"}, "this_close cannot be kept"),
        ({"market": ", type: futures", "rules": "  enter_short: close < band"}, "shorts"),
    ],
)
def test_what_a_signal_cannot_carry_is_refused_with_that_reason(
    tmp_path: Path, parts: dict[str, str], reason: str
) -> None:
    with pytest.raises(InputError, match=reason) as stop:
        ContractSource(contract(tmp_path, **parts), "BTC/USDT", "5m")
    assert "Schema 1.0" in stop.value.hint


def test_no_target_another_size_symbol_or_timeframe_is_refused(tmp_path: Path) -> None:
    path = contract(tmp_path)
    text = path.read_text()
    for old, new, reason in (
        ("  take_profit: 0.04\n", "", "take_profit is needed"),
        ("{equity: 0.03}", "{units: 1.0}", "has to be {equity"),
        ("BTC/USDT", "ETH/USDT", "DEFAULT_SYMBOL is BTC/USDT"),
        ("timeframe: 5m", "timeframe: 1h", "TIMEFRAME is 5m"),
        ("timeperiod: 20", "timeperiod: 2000", "candles before it can decide"),
    ):
        path.write_text(text.replace(old, new))
        with pytest.raises(InputError, match=reason):
            ContractSource(path, "BTC/USDT", "5m")


def test_the_command_publishes_the_signal_of_a_contract(
    bridge: Any, redis_server: RedisServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The exchange's breakout has a range of about 40: a stop within five of them.
    path = contract(tmp_path)
    text = path.read_text().replace("stop_loss: 0.02", "stop_loss: 0.004")
    path.write_text(text.replace("take_profit: 0.04", "take_profit: 0.008"))
    logs = ["--logs", str(tmp_path / "logs")]
    # 301 candles are there; the contract is decided on all that can be had.
    assert main(["bridge", "signal", str(path), *logs]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["rationale"] == "BridgeBreakout: enter_long"
    assert json.loads(redis_server.client().lindex("signals", 0)) == printed
    assert main(["bridge", "signal", str(path), *logs]) == 0
    assert capsys.readouterr().out == "NO_TRADE\n"


FILE = {"Backtest/freqtrade/OversoldDip.py": b"class OversoldDip(IStrategy): pass\n"}


def test_the_file_that_trades_is_the_approved_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CI", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    floor = make_floor(tmp_path, remote=False)
    floor.host_file(environment="live")
    tag = propose(floor, more=FILE)
    (tmp_path / "private").mkdir()
    with pytest.raises(ApprovalRefused, match="not-in-chain"):
        approved_file(floor.desk(), tag, tmp_path / "private")
    floor.approve(tag, mode="live", brokers=("binance",))
    record, file = approved_file(floor.desk(), tag, tmp_path / "private")
    assert {file.name: file.read_bytes()} == {"OversoldDip.py": next(iter(FILE.values()))}
    assert record.limits.capital == "1000"
    monkeypatch.setenv("CI", "true")
    with pytest.raises(SafetyStop, match="in-ci"):
        approved_file(floor.desk(), tag, tmp_path / "private")


def test_a_tag_without_a_freqtrade_file_or_for_paper_does_not_trade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CI", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    floor = make_floor(tmp_path, remote=False)
    paper = propose(floor, more=FILE)
    floor.approve(paper)
    with pytest.raises(ApprovalRefused, match="wrong-mode"):
        approved_file(floor.desk(), paper, tmp_path)
    floor = make_floor(tmp_path / "other", remote=False)
    floor.host_file(environment="live")
    tag = propose(floor)
    floor.approve(tag, mode="live", brokers=("binance",))
    with pytest.raises(SafetyStop, match="no Freqtrade file"):
        approved_file(floor.desk(), tag, tmp_path)


@pytest.mark.freqtrade
def test_the_command_refuses_to_trade_beyond_this_machine(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from integration.adapter.freqtrade_config import make_config

    # A variable that somebody sets by hand is no approval: the command removes it.
    monkeypatch.setenv("STRATWRIGHT_APPROVED", "{}")
    config = tmp_path / "config.json"
    config.write_text(json.dumps(make_config("BTC/USDT", "5m", key="k", dry_run=False)))
    (tmp_path / "user_data").mkdir()
    given = ["bridge", "trade", "--config", str(config), "--userdir", str(tmp_path / "user_data")]
    assert main(given) == 5
    assert "no approval names these bytes" in capfd.readouterr().err
    assert "STRATWRIGHT_APPROVED" in os.environ
