"""What linters print is judged strictly: anything odd is a refusal, never a pass."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.gates.tools import judge_tool
from sandbox_runner.port import Outcome
from tests.chance import examples

FILES = {"Backtest/codes/x.py": b"", "tests/test_x.py": b""}
CLEAN = {"flake8": b"", "mypy": b"", "bandit": b'{"errors": [], "results": []}'}
BANDIT = {
    "filename": "./Backtest/codes/x.py",
    "line_number": 3,
    "test_id": "B101",
    "issue_text": "no",
}
FOUND = {
    "flake8": b"./Backtest/codes/x.py:3:1: E501 line too long\n",
    "mypy": json.dumps(
        {"file": "Backtest/codes/x.py", "line": 3, "severity": "error", "message": "no"}
    ).encode(),
    "bandit": json.dumps({"errors": [], "results": [BANDIT]}).encode(),
}
TOOLS = sorted(CLEAN)


def outcome(stdout: bytes, exit_code: int | None = 0, **changes: Any) -> Outcome:
    values = {"timed_out": False, "out_of_memory": False, "truncated": False, **changes}
    return Outcome(
        exit_code=exit_code,
        stdout=stdout,
        stderr=b"No module named x\x1b[31m",
        outputs={},
        refused={},
        seconds=1.0,
        **values,
    )


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_without_findings_passes(tool: str) -> None:
    assert judge_tool(tool, outcome(CLEAN[tool]), FILES).passed


@pytest.mark.parametrize("tool", TOOLS)
def test_a_finding_is_told_with_its_line(tool: str) -> None:
    found = judge_tool(tool, outcome(FOUND[tool], 0 if tool == "bandit" else 1), FILES)
    assert not found.passed
    assert found.where == "Backtest/codes/x.py:3"
    assert found.next_step


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    "changes",
    [
        {"exit_code": None},
        {"exit_code": 2},
        {"exit_code": 137},
        {"timed_out": True},
        {"out_of_memory": True},
        {"truncated": True},
    ],
    ids=str,
)
def test_a_tool_that_did_not_end_properly_has_refused(tool: str, changes: dict[str, Any]) -> None:
    found = judge_tool(tool, outcome(CLEAN[tool], **changes), FILES)
    assert not found.passed
    assert "could not be run" in found.reason
    assert found.reason.isprintable()


@pytest.mark.parametrize("tool", ["flake8", "mypy"])
def test_exit_code_and_findings_must_agree(tool: str) -> None:
    """A tool that is not installed exits with 1 and prints nothing."""
    assert not judge_tool(tool, outcome(b"", 1), FILES).passed
    assert not judge_tool(tool, outcome(FOUND[tool], 0), FILES).passed


@pytest.mark.parametrize(
    ("tool", "stdout"),
    [
        ("flake8", b"all is well\n"),
        ("flake8", b"\xff\xfe\n"),
        ("mypy", b"[]\n"),
        ("mypy", b"7\n"),
        ("mypy", b"{}\n"),
        ("mypy", b"[" * 100_000),
        ("bandit", b""),
        ("bandit", b"[]"),
        ("bandit", b"{}"),
        ("bandit", b'{"errors": [], "results": 7}'),
        ("bandit", b'{"errors": [], "results": [{}]}'),
        ("bandit", b'{"errors": [], "results": [{"filename": 7, "line_number": 1}]}'),
        ("bandit", b'{"errors": [{"filename": "x.py"}], "results": []}'),
        ("bandit", b'{"errors": 7, "results": []}'),
    ],
)
def test_output_of_another_form_is_a_refusal(tool: str, stdout: bytes) -> None:
    assert not judge_tool(tool, outcome(stdout), FILES).passed


@examples(200)
@given(st.sampled_from(TOOLS), st.binary(min_size=1, max_size=80), st.sampled_from([0, 1]))
def test_no_output_breaks_a_gate(tool: str, stdout: bytes, code: int) -> None:
    found = judge_tool(tool, outcome(stdout, code), FILES)
    assert not found.passed or not stdout.strip() or tool == "mypy"
