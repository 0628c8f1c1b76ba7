"""`stratwright bridge verify` runs the four gates for real."""

import json
from pathlib import Path

import pytest

from bot.cli import main
from integration.bridge_gates import _logs
from tests.redis_server import PROGRAM, WHY


@pytest.mark.freqtrade
def test_the_four_gates_pass_and_fifty_cycles_are_quick(capsys: pytest.CaptureFixture[str]) -> None:
    if PROGRAM is None:
        pytest.skip(WHY)
    code = main(["bridge", "verify", "--cycles", "50", "--json"])
    gates = json.loads(capsys.readouterr().out)
    assert [gate["gate"] for gate in gates] == ["G1", "G2", "G3", "G4"]
    assert all(gate["passed"] for gate in gates), gates
    assert code == 0


@pytest.mark.parametrize(
    ("decisions", "results", "passed"),
    [
        ("a\nb\n", "a\n", True),
        ("a\n", "", False),
        ("", "", False),
        ("a\n", "a\nb\n", False),
        ("a\n", "a\na\n", False),
    ],
)
def test_logs_that_do_not_match_fail_the_third_gate(
    tmp_path: Path, decisions: str, results: str, passed: bool
) -> None:
    (tmp_path / "decision_log.csv").write_text(f"decision_id\n{decisions}")
    (tmp_path / "trade_results.csv").write_text(f"decision_id\n{results}")
    assert _logs(tmp_path).passed == passed


def test_no_cycles_are_refused() -> None:
    assert main(["bridge", "verify", "--cycles", "0"]) == 2
