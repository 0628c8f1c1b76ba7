import csv
import os
from pathlib import Path

import pytest

from bot.errors import WorldError
from integration.adapter.loopback import Loopback
from integration.logging_utils import append_decision, append_trade_result, logged
from integration.schema.signal import TradingSignal
from integration.scripts import run_cycle as script
from integration.scripts.run_cycle import main, run_cycle
from integration.tests.test_signal_roundtrip import plain
from tests.redis_server import RedisServer

DECISIONS = "decision_id,timestamp,symbol,side,entry_price,stop,tp1,tp2,confidence\n"
RESULTS = "decision_id,exit_price,pnl_r_multiple\n"


def signal(name: str = "d1") -> TradingSignal:
    return TradingSignal.model_validate(plain(decision_id=name))


def test_logging_append(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "decision_log.csv"
    append_decision(signal("d1"), path)
    append_decision(signal("d2"), path)
    first = "d1,2026-11-01T00:00:00+00:00,BTC/USDT,long,100.0,90.0,110.0,120.0,0.6\n"
    assert path.read_text() == DECISIONS + first + first.replace("d1", "d2")
    results = tmp_path / "trade_results.csv"
    append_trade_result("d1", 110.0, 1.0, results)
    assert results.read_text() == f"{RESULTS}d1,110.0,1.0\n"


def test_the_default_places_are_those_of_the_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    append_decision(signal())
    append_trade_result("d1", 110.0, 1.0)
    assert (tmp_path / "decision_logs/decision_log.csv").exists()
    assert (tmp_path / "decision_logs/trade_results.csv").exists()


def test_a_decision_is_written_once_and_a_torn_line_is_mended(tmp_path: Path) -> None:
    path = tmp_path / "decision_log.csv"
    append_decision(signal("d1"), path)
    with path.open("a") as file:
        file.write("d2,2026-11-01T00:0")
    append_decision(signal("d2"), path)
    append_decision(signal("d1"), path)
    assert logged(path) == {"decision_id", "d1", "d2"}
    assert len(path.read_text().splitlines()) == 3


def test_a_file_of_other_columns_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "decision_log.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(WorldError, match="other columns"):
        append_decision(signal(), path)
    assert path.read_text() == "a,b\n1,2\n"


def ids(path: Path) -> list[str]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [row["decision_id"] for row in csv.DictReader(file)]


def test_a_cycle_prints_the_signal_and_then_no_trade(
    bridge: Loopback, tmp_path: Path, capsys: pytest.CaptureFixture[str], redis_server: RedisServer
) -> None:
    assert main(["--logs", str(tmp_path / "logs")]) == 0
    printed = TradingSignal.model_validate_json(capsys.readouterr().out)
    assert printed.risk.max_capital_pct == 0.05
    (row,) = redis_server.client().lrange("signals", 0, -1)
    assert TradingSignal.model_validate_json(row) == printed
    assert ids(tmp_path / "logs" / "decision_log.csv") == [printed.decision_id]
    # The same candle again is the same decision: nothing is published twice.
    assert main(["--logs", str(tmp_path / "logs")]) == 0
    assert capsys.readouterr().out == "NO_TRADE\n"
    redis_server.kill()
    assert main(["--logs", str(tmp_path / "logs")]) == 4
    assert capsys.readouterr().out == "NO_TRADE\n"


def test_a_setting_that_is_missing_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TIMEFRAME", raising=False)
    assert main([]) == 2
    assert "TIMEFRAME" in capsys.readouterr().err


def killed_at(line: int, logs: Path) -> bool:
    """Runs a cycle in a child that is killed at the n-th line of ours; False if it ended."""
    child = os.fork()
    if child == 0:
        import signal as signals
        import sys

        left = [line]

        def trace(frame: object, event: str, arg: object) -> object:
            if event == "line":
                left[0] -= 1
                if left[0] < 0:
                    os.kill(os.getpid(), signals.SIGKILL)
            return trace

        def start(frame: object, event: str, arg: object) -> object:
            name = frame.f_code.co_filename  # type: ignore[attr-defined]
            wanted = ("run_cycle.py", "publish.py", "logging_utils.py")
            return trace(frame, event, arg) if name.endswith(wanted) else start

        try:
            decided = signal_of_now()
            sys.settrace(start)  # type: ignore[arg-type]
            outbox = script.Outbox(logs)
            outbox.finish()
            outbox.put(decided)
            outbox.finish()
            sys.settrace(None)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def signal_of_now() -> TradingSignal:
    return TradingSignal.model_validate(plain() | {"timestamp": "2100-01-01T00:00:00Z"})


def test_a_cycle_that_is_killed_at_any_line_leaves_log_and_redis_agreeing(
    redis_url: str, redis_server: RedisServer, tmp_path: Path
) -> None:
    client, line = redis_server.client(), 0
    while True:
        client.flushall()
        logs = tmp_path / f"logs-{line}"
        logs.mkdir()
        was_killed = killed_at(line, logs)
        script.Outbox(logs).finish()
        rows = client.lrange("signals", 0, -1)
        sent = [TradingSignal.model_validate_json(row).decision_id for row in rows]
        assert ids(logs / "decision_log.csv") == sent, f"killed at line {line}"
        assert not (logs / "outbox.json").exists()
        if not was_killed:
            break
        line += 1
    assert sent == ["d1"]
    assert line > 40


def test_an_old_decision_that_was_never_published_is_dropped(
    redis_url: str, redis_server: RedisServer, tmp_path: Path
) -> None:
    outbox = script.Outbox(tmp_path)
    outbox.put(signal())
    outbox.finish()
    assert redis_server.client().llen("signals") == 0
    assert ids(tmp_path / "decision_log.csv") == []


def test_a_cycle_finishes_what_another_left(bridge: Loopback, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    script.Outbox(logs).put(signal_of_now())
    found = run_cycle(logs)
    assert found is not None
    assert ids(logs / "decision_log.csv") == ["d1", found.decision_id]
