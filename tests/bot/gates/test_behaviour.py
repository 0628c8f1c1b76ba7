"""A test report is believed in nothing that the trusted side can check."""

import json
from typing import Any

import pytest

from bot.gates.behaviour import judge_tests, test_functions
from sandbox_runner.jobs import TEST_REPORT
from sandbox_runner.port import Outcome

TESTS = "tests/test_x.py"
SOURCE = b"def test_a():\n    pass\n\nclass TestIt:\n    def test_b(self):\n        pass\n"
STAGE = {"duration": 0.1, "outcome": "passed"}


def test_of(name: str, **changes: Any) -> dict[str, Any]:
    stages = {"setup": STAGE, "call": STAGE, "teardown": STAGE}
    return {"nodeid": f"{TESTS}::{name}", "lineno": 1, "outcome": "passed", **stages, **changes}


test_of.__test__ = False  # type: ignore[attr-defined]


def judged(
    tests: list[dict[str, Any]] | None = None,
    *,
    content: bytes | None = None,
    exit_code: int | None = 0,
    source: bytes = SOURCE,
    disagreement: str = "",
    **changes: Any,
) -> tuple[bool, str, str]:
    found = [test_of("test_a"), test_of("TestIt::test_b[1]")] if tests is None else tests
    counts: dict[str, int] = {}
    for test in found:
        counts[test["outcome"]] = counts.get(test["outcome"], 0) + 1
    report = {
        "created": 1.0,
        "duration": 1.0,
        "exitcode": 0,
        "root": "/job",
        "environment": {},
        "summary": {"total": len(found), "collected": len(found), **counts},
        "tests": found,
        **changes,
    }
    data = json.dumps(report).encode() if content is None else content
    outputs = {TEST_REPORT: data} if data else {}
    outcome = Outcome(exit_code, False, False, b"", b"", False, outputs, {}, 1.0)
    verdict, _ = judge_tests(outcome, TESTS, source, disagreement)
    return verdict.passed, verdict.reason, verdict.where


def test_a_whole_report_passes() -> None:
    assert judged() == (True, "", "")


def test_decisions_that_differ_beat_every_report() -> None:
    passed, reason, _ = judged(disagreement="bar 3: the contract wants an entry")
    assert not passed
    assert "bar 3" in reason


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ({"tests": [test_of("test_a")]}, "TestIt::test_b is in the file, but it did not run"),
        ({"tests": []}, "did not run"),
        ({"tests": [], "source": b"x = 1\n"}, "no test"),
        ({"source": b"def (:\n"}, "no test"),
        ({"tests": [test_of("test_a", outcome="skipped")]}, "skipped"),
        ({"tests": [test_of("test_a", outcome="xfailed")]}, "xfailed"),
        ({"tests": [test_of("test_a", outcome="failed", lineno=None)], "exitcode": 1}, "failed"),
        ({"tests": [test_of("a\x1b[2J\n" * 99, outcome="error")], "exitcode": 1}, "error"),
        ({"tests": [test_of("test_a", call={**STAGE, "outcome": "failed"})]}, "every stage"),
        ({"tests": [{"nodeid": f"{TESTS}::test_a", "lineno": 1, "outcome": "passed"}]}, "stage"),
        ({"tests": [{**test_of("test_a"), "nodeid": "tests/other.py::test_a"}]}, "another file"),
        ({"exitcode": 1}, "exited with 1"),
        ({"exit_code": 1}, "exited with 1"),
        ({"exit_code": None}, "stopped"),
        ({"content": b""}, "left no report"),
        ({"content": b"{}"}, "not valid"),
        ({"content": b"[]"}, "not a JSON object"),
        ({"content": b"[" * 100_000}, "nested|not JSON"),
        ({"content": b" " * 9_000_000}, "bytes"),
        ({"more": 1}, "not valid"),
        ({"tests": [test_of("test_a"), test_of("test_a")]}, "twice"),
    ],
    ids=range(21),
)
def test_any_doubt_is_a_refusal(case: dict[str, Any], words: str) -> None:
    passed, reason, _ = judged(**case)
    assert not passed
    assert any(word in reason for word in words.split("|"))
    assert reason.isprintable()
    assert len(reason) < 400


def test_a_failed_test_is_told_with_its_line() -> None:
    stage = {**STAGE, "outcome": "failed"}
    crash = {"path": "x", "lineno": 7, "message": "assert 1 == 2"}
    bad = test_of("test_a", outcome="failed", lineno=4, call={**stage, "crash": crash})
    passed, reason, where = judged([bad], exitcode=1, exit_code=1)
    assert not passed
    assert reason == "test_a failed: assert 1 == 2"
    assert where == f"{TESTS}:5"


def test_tests_are_counted_without_running_them() -> None:
    source = b"import os\nos._exit(1)\nasync def test_c():\n    pass\ndef helper():\n    pass\n"
    assert test_functions(SOURCE + source) == {"test_a": 1, "TestIt::test_b": 5, "test_c": 9}
