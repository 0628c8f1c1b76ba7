"""CI passes if every test passed, and names those that passed only alone."""

import subprocess
import sys
from pathlib import Path

import pytest

from tools.ci_report import judge, read


def test_the_report_of_a_real_run_is_read(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pytest\n"
        "def test_good(): pass\n"
        "def test_bad(): assert False\n"
        "@pytest.mark.skip\ndef test_left_out(): pass\n"
        "@pytest.fixture\ndef broken(): raise OSError\n"
        "def test_with_it(broken): pass\n"
        "@pytest.mark.parametrize('n', [1, 2])\ndef test_each(n): assert n == 1\n"
    )
    report = tmp_path / "junit.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", f"--junitxml={report}"]
    subprocess.run([*command, str(tmp_path)], cwd=tmp_path, check=False, capture_output=True)
    results = {name.partition("::")[2]: result for name, result in read(report).items()}
    assert results == {
        "test_good": "passed",
        "test_bad": "failure",
        "test_left_out": "skipped",
        "test_with_it": "error",
        "test_each[1]": "passed",
        "test_each[2]": "failure",
    }


FAILED = {"a": "passed", "b": "failure", "c": "error"}


@pytest.mark.parametrize(
    ("first", "again", "passes"),
    [
        ({"a": "passed"}, {}, True),
        ({}, {}, False),
        ({"a": "skipped"}, {}, False),
        (FAILED, {}, False),
        (FAILED, {"b": "passed"}, False),
        (FAILED, {"b": "passed", "c": "failure"}, False),
        (FAILED, {"b": "passed", "c": "passed"}, True),
        ({**FAILED, "d": "skipped"}, {"b": "passed", "c": "passed"}, False),
        (dict.fromkeys("abcd", "failure"), dict.fromkeys("abcd", "passed"), False),
    ],
)
def test_ci_passes_only_if_all_passed(
    first: dict[str, str], again: dict[str, str], passes: bool
) -> None:
    assert judge(first, again)[1] is passes


def test_what_passed_only_alone_is_named() -> None:
    lines, _ = judge(FAILED, {"b": "passed", "c": "passed"})
    assert lines[0] == "ci: 3 tests, 1 passed, 1 failed, 1 errors, 0 skipped"
    assert [line[-1] for line in lines if "UNSTEADY" in line] == ["b", "c"]
