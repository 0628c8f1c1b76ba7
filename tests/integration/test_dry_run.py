"""A real Freqtrade follows real signals, while Redis and Freqtrade itself are killed."""

import csv
import re
from pathlib import Path
from typing import Any

import pytest

from integration.adapter.loopback import Loopback, variables
from integration.schema.signal import TradingSignal
from integration.scripts.run_cycle import run_cycle

pytestmark = pytest.mark.freqtrade


def cycle(world: Loopback) -> TradingSignal:
    with variables(world.environment):
        found = run_cycle(world.logs)
    assert found is not None
    return found


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def trades(world: Loopback) -> list[tuple[Any, ...]]:
    return world.ask("SELECT is_open, enter_tag, round(stop_loss, 2), exit_reason FROM trades")


def running(said: Path) -> int:
    return len(re.findall(r"Changing state.* to: RUNNING", said.read_text()))


def test_one_signal_is_one_trade_though_redis_and_freqtrade_are_killed(world: Loopback) -> None:
    world.start_freqtrade()
    said = world.folder / "freqtrade.txt"
    world.wait(lambda: running(said) == 1, "freqtrade", "it runs")
    world.end("redis", kill=True)
    world.wait(lambda: "no signal" in said.read_text(), "freqtrade", "it says that Redis is gone")
    assert trades(world) == []
    world.start_redis()
    signal = cycle(world)
    opened = [(1, signal.decision_id, signal.risk.initial_stop, None)]
    world.wait(lambda: trades(world) == opened, "freqtrade", "the trade is open, with its stop")

    world.end("redis", kill=True)
    world.end("freqtrade", kill=True)
    mark = len(said.read_text())
    world.start_redis()
    world.start_freqtrade()
    world.wait(lambda: running(said) == 2, "freqtrade", "it runs again")
    before = "was acted on before"
    world.wait(lambda: before in said.read_text()[mark:], "freqtrade", "it knows the signal")
    assert trades(world) == opened

    world.control(advance_s=600)
    closed = [(0, signal.decision_id, signal.risk.initial_stop, "tp1")]
    world.wait(lambda: trades(world) == closed, "freqtrade", "the first target ends it")
    results = world.logs / "trade_results.csv"
    world.wait(results.exists, "freqtrade", "the result is logged")
    (decision,) = rows(world.logs / "decision_log.csv")
    (result,) = rows(results)
    assert decision["decision_id"] == result["decision_id"] == signal.decision_id
    assert float(result["pnl_r_multiple"]) > 0.8
