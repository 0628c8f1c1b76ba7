"""A report is valid when it has pytest-json-report's form and agrees with itself."""

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools.validate_test_report import main

HOUSE = Path(__file__).resolve().parents[2]
STAGE = {"duration": 0.1, "outcome": "passed"}
TEST = {
    "nodeid": "tests/test_x.py::test_a",
    "lineno": 3,
    "outcome": "passed",
    "keywords": ["test_a"],
    "setup": STAGE,
    "call": STAGE,
    "teardown": STAGE,
}
REPORT: dict[str, Any] = {
    "created": 1700000000.5,
    "duration": 0.5,
    "exitcode": 0,
    "root": "/job",
    "environment": {},
    "summary": {"passed": 1, "total": 1, "collected": 1},
    "tests": [TEST],
}


def check(tmp_path: Path, content: bytes) -> int:
    (tmp_path / "report.json").write_bytes(content)
    return main([str(tmp_path / "report.json")])


def test_a_valid_report_exits_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(tmp_path, json.dumps(REPORT).encode()) == 0
    assert "valid, 1 tests, 1 passed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("summary", "passed"), 2, "summary.passed is 2, but 1 tests are listed so"),
        (("summary", "total"), 7, "summary.total is 7"),
        (("tests", 0, "outcome"), "great", "tests.0.outcome: 'great' is not one of"),
        (("tests", 0, "nodeid"), "", "tests.0.nodeid"),
        (("tests", 0, "call", "duration"), "fast", "tests.0.call.duration"),
        (("exitcode",), 99, "exitcode: 99"),
        (("created",), True, "created"),
        (("extra",), 1, "'extra' was unexpected"),
        (("tests",), [TEST, TEST], "is listed twice"),
    ],
)
def test_each_fault_is_named_with_its_place(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    path: tuple[Any, ...],
    value: Any,
    words: str,
) -> None:
    report = copy.deepcopy(REPORT)
    target: Any = report
    for part in path[:-1]:
        target = target[part]
    target[path[-1]] = value
    assert check(tmp_path, json.dumps(report).encode()) == 1
    assert words in capsys.readouterr().err


def test_failed_tests_with_exit_code_0_contradict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = copy.deepcopy(REPORT)
    report["tests"][0]["outcome"] = "failed"
    report["summary"] = {"failed": 1, "total": 1, "collected": 1}
    assert check(tmp_path, json.dumps(report).encode()) == 1
    assert "exitcode is 0, but 1 tests did not pass" in capsys.readouterr().err


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"\xff", b'{"a": 1, "a": 2}', b'{"created": NaN}', b"[" * 100_000],
)
def test_what_is_not_json_exits_1(tmp_path: Path, content: bytes) -> None:
    assert check(tmp_path, content) == 1


@pytest.mark.parametrize(
    "start", [["tools/validate_test_report.py"], ["-m", "tools.validate_test_report"]]
)
def test_a_missing_file_exits_2(start: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, *start, str(tmp_path / "missing.json")],
        cwd=HOUSE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "cannot be read" in done.stderr
