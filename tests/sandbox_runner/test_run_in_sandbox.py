"""The command of the architecture document, as it is written there."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HOUSE = Path(__file__).resolve().parents[2]
BY_PATH = [str(HOUSE / "sandbox_runner/run_in_sandbox.py")]
AS_MODULE = ["-m", "sandbox_runner.run_in_sandbox"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "Backtest/codes").mkdir(parents=True)
    (tmp_path / "tests").mkdir()
    (tmp_path / "Backtest/codes/dip.py").write_text("LIMIT = 30\n")
    tests = "from Backtest.codes.dip import LIMIT\n\n\ndef test_limit():\n    assert LIMIT == 30\n"
    (tmp_path / "tests/test_dip.py").write_text(tests)
    return tmp_path


def command(
    project: Path, *more: str, start: list[str] = BY_PATH, path: str | None = None
) -> subprocess.CompletedProcess[str]:
    options = ["--strategy", "Backtest/codes/dip.py", "--tests", "tests/test_dip.py"]
    environment = {**os.environ, "PYTHONPATH": str(HOUSE) if start == AS_MODULE else ""}
    return subprocess.run(
        [sys.executable, *start, *options, *more],
        cwd=project,
        env=environment if path is None else {**environment, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("start", [BY_PATH, AS_MODULE])
def test_passing_tests_give_a_report_and_exit_code_0(project: Path, start: list[str]) -> None:
    done = command(project, "--timeout", "300", start=start)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "passed: 1 of 1 tests passed\nreport: artifacts/test_report.json\n"
    validated = subprocess.run(
        [
            sys.executable,
            str(HOUSE / "tools/validate_test_report.py"),
            "artifacts/test_report.json",
        ],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert validated.returncode == 0, validated.stderr


def test_failing_tests_give_exit_code_1_and_their_words(project: Path) -> None:
    (project / "Backtest/codes/dip.py").write_text("LIMIT = 31\n")
    done = command(project)
    assert done.returncode == 1
    assert "assert 31 == 30" in done.stdout
    assert done.stdout.splitlines()[-2].startswith("FAILED (1 tests did not pass): 0 of 1")


def test_an_early_exit_does_not_pass(project: Path) -> None:
    (project / "Backtest/codes/dip.py").write_text("import os\nos._exit(0)\n")
    (project / "artifacts").mkdir()
    (project / "artifacts/test_report.json").write_text("an earlier run's")
    done = command(project, "--json")
    assert done.returncode == 1
    told = json.loads(done.stdout)
    assert (told["passed"], told["report"]) == (False, None)
    assert "no report" in told["reason"]
    assert not (project / "artifacts/test_report.json").exists()


def test_a_forged_report_does_not_pass(project: Path) -> None:
    forge = (
        "import os\nopen('/out/test_report.json', 'w').write('{\"summary\": {}}')\nos._exit(0)\n"
    )
    (project / "Backtest/codes/dip.py").write_text(forge)
    done = command(project, "--json")
    assert done.returncode == 1
    assert "not valid" in json.loads(done.stdout)["reason"]


def test_a_time_out_is_named(project: Path) -> None:
    (project / "Backtest/codes/dip.py").write_text("while True:\n    pass\n")
    done = command(project, "--json", "--timeout", "2", "--out", "elsewhere")
    assert done.returncode == 1
    assert json.loads(done.stdout)["reason"] == "the tests did not end within 2 s"


@pytest.mark.parametrize(
    "more",
    [
        ("--strategy", "missing.py"),
        ("--tests", "missing.txt"),
        ("--timeout", "-1"),
        ("--nonsense",),
        ("--data", "../secret"),
        ("--sandbox", "chroot"),
    ],
)
def test_bad_input_gives_exit_code_2(project: Path, more: tuple[str, ...]) -> None:
    done = command(project, *more)
    assert done.returncode == 2
    assert "error:" in done.stderr


def test_without_a_sandbox_the_exit_code_is_4(project: Path, tmp_path: Path) -> None:
    done = command(project, path=str(tmp_path))
    assert done.returncode == 4
    assert "No sandbox works here" in done.stderr
    assert "hint:" in done.stderr
    assert not (project / "artifacts").exists()
