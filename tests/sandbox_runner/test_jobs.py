"""Tests and tools run inside by our settings, whatever the candidate brings along."""

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from sandbox_runner import inner_layout, mypy_cache
from sandbox_runner.jobs import TEST_REPORT, pytest_job, tool_job
from sandbox_runner.port import Limits, Outcome, Sandbox, open_sandbox
from sandbox_runner.test_report import find_problems, read_report

STRATEGY = "Backtest/codes/dip.py"
TESTS = "tests/test_dip.py"


@pytest.fixture(scope="module")
def inside() -> Sandbox:
    return open_sandbox("auto")


def run_tests(
    inside: Sandbox, tests: str, more: Mapping[str, bytes] = MappingProxyType({})
) -> tuple[Outcome, dict[str, Any]]:
    files = {STRATEGY: b"LIMIT = 30\n", TESTS: tests.encode(), **more}
    outcome = inside.run(pytest_job(TESTS, files, limits=Limits(30)))
    report = read_report(outcome.outputs[TEST_REPORT])
    assert find_problems(report) == []
    return outcome, report


def test_passing_and_failing_tests_are_reported(inside: Sandbox) -> None:
    outcome, report = run_tests(
        inside,
        "import pytest\nfrom Backtest.codes import dip\n\n"
        "def test_good():\n    assert dip.LIMIT == 30\n\n"
        "def test_bad():\n    assert dip.LIMIT == 31\n\n"
        "@pytest.mark.skip\ndef test_skipped():\n    pass\n\n"
        "@pytest.fixture\ndef broken():\n    1 / 0\n\n"
        "def test_error(broken):\n    pass\n",
    )
    assert outcome.exit_code == 1
    told = {test["nodeid"].split("::")[1]: test["outcome"] for test in report["tests"]}
    assert told == {
        "test_good": "passed",
        "test_bad": "failed",
        "test_skipped": "skipped",
        "test_error": "error",
    }


def test_no_configuration_or_plugin_of_the_candidate_is_read(inside: Sandbox) -> None:
    hostile = b"import os\nos._exit(3)\n"
    settings = b"[pytest]\naddopts = --collect-only\npython_functions = nothing\n"
    more = {
        "conftest.py": hostile,
        "tests/conftest.py": hostile,
        "tests/__init__.py": b"",
        "pytest.ini": settings,
        "tests/pytest.ini": settings,
        "setup.cfg": settings.replace(b"[pytest]", b"[tool:pytest]"),
        "pytest_jsonreport/plugin.py": hostile,
        "tests/json.py": hostile,
    }
    tests = "import json\n\n\ndef test_good():\n    assert json.dumps(1) == '1'\n"
    outcome, report = run_tests(inside, tests, more)
    assert outcome.exit_code == 0, outcome.stdout.decode()
    assert report["summary"]["passed"] == 1


def test_a_test_file_can_read_its_data(inside: Sandbox) -> None:
    tests = "def test_data():\n    assert open('tests/fixtures/x.csv').read() == 'a,b'\n"
    outcome, _ = run_tests(inside, tests, {"tests/fixtures/x.csv": b"a,b"})
    assert outcome.exit_code == 0, outcome.stdout.decode()


def test_a_forged_report_is_only_data(inside: Sandbox) -> None:
    forge = "import os\nopen('/out/test_report.json', 'w').write('{}')\nos._exit(0)\n"
    files = {STRATEGY: b"", TESTS: forge.encode()}
    outcome = inside.run(pytest_job(TESTS, files, limits=Limits(30)))
    assert outcome.exit_code == 0
    assert find_problems(read_report(outcome.outputs[TEST_REPORT])) != []


def test_flake8_ignores_the_candidate_s_wishes(inside: Sandbox) -> None:
    files = {STRATEGY: b"import os  # noqa\n", ".flake8": b"[flake8]\nignore = F401\n"}
    outcome = inside.run(tool_job("flake8", files, [STRATEGY]))
    assert outcome.exit_code == 1
    assert outcome.stdout.decode().startswith(f"{STRATEGY}:1:1: F401")


def test_bandit_ignores_the_candidate_s_wishes(inside: Sandbox) -> None:
    files = {STRATEGY: b"eval('1')  # nosec\n", ".bandit": b"[bandit]\nskips: B307\n"}
    outcome = inside.run(tool_job("bandit", files, [STRATEGY]))
    [finding] = json.loads(outcome.stdout)["results"]
    assert (finding["test_id"], finding["line_number"]) == ("B307", 1)


def test_mypy_reads_our_settings_and_our_packages(inside: Sandbox) -> None:
    source = b"from adapters import sizing\n\nprice: int = 'high'\nreveal_type(sizing)\n"
    files = {STRATEGY: source, "mypy.ini": b"[mypy]\nignore_errors = True\nplugins = evil.py\n"}
    outcome = inside.run(tool_job("mypy", files, [STRATEGY]))
    findings = [json.loads(line) for line in outcome.stdout.splitlines()]
    assert outcome.exit_code == 1, outcome.stderr.decode()
    assert (findings[0]["line"], findings[0]["code"]) == (3, "assignment")
    assert not [finding for finding in findings if "import" in finding["code"]]


def test_mypy_uses_a_warm_cache_without_changing_it(inside: Sandbox, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "kept").write_text("x")
    outcome = inside.run(
        tool_job("mypy", {STRATEGY: b"x: int = 1\n"}, [STRATEGY], mypy_cache=tmp_path)
    )
    assert outcome.exit_code == 0, outcome.stdout.decode() + outcome.stderr.decode()
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


@pytest.mark.parametrize(("tool", "words"), [("black", "no tool is called"), ("mypy", "at least")])
def test_a_senseless_tool_job_is_refused(tool: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        tool_job(tool, {}, [])


def test_a_cache_of_other_versions_goes_after_a_week_unused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mypy_cache, "_fill", lambda cache: cache.mkdir())
    for name, days in (("mypy-old", 8), ("mypy-recent", 6)):
        (tmp_path / name).mkdir()
        moment = time.time() - days * 86_400
        os.utime(tmp_path / name, (moment, moment))
    made = mypy_cache.warm_cache(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {made.name, "mypy-recent"}
    assert mypy_cache.warm_cache(tmp_path) == made


def test_our_own_code_is_part_of_the_cache_s_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = mypy_cache._key()
    (tmp_path / "adapters").mkdir()
    (tmp_path / "adapters/new.py").write_text("x = 1\n")
    monkeypatch.setattr(inner_layout, "HOUSE", tmp_path)
    assert mypy_cache._key() != here
