"""Turns a strategy and its test file into a test report, with everything of theirs in the sandbox.

    python sandbox_runner/run_in_sandbox.py --strategy Backtest/codes/x.py \
        --tests tests/test_x.py --timeout 300

Exit codes: 0 all tests passed, 1 they did not, 2 bad input, 4 no sandbox. The report is what the
code under test let be written: good for a developer, no evidence for a reviewer.
"""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

if __package__ in (None, ""):
    # Run by its path: the house is one folder up, and this folder's names are not modules.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from sandbox_runner.jobs import TEST_REPORT, pytest_job
from sandbox_runner.port import Outcome, SandboxUnavailable, open_sandbox
from sandbox_runner.rules import USUAL_LIMITS
from sandbox_runner.test_report import NotAReport, find_problems, read_report

_PASSED, _FAILED, _BAD_INPUT, _NO_SANDBOX = 0, 1, 2, 4


class _BadInput(Exception):
    """A file cannot be read or an argument makes no sense."""


class _Verdict(TypedDict):
    passed: bool
    reason: str
    summary: dict[str, int]


def main(arguments: list[str] | None = None) -> int:
    """Read the command line, run the tests, write the report."""
    options = _parser().parse_args(arguments)
    try:
        strategy = _inside("Backtest/codes", options.strategy)
        tests = _inside("tests", options.tests)
        files = {strategy: _read(options.strategy), tests: _read(options.tests)}
        for path in options.data:
            files[_relative(path)] = _read(path)
        job = pytest_job(tests, files, limits=replace(USUAL_LIMITS, time_s=options.timeout))
        outcome = open_sandbox(options.sandbox).run(job)
        verdict = _judge(outcome, options.timeout)
        _write(options.out, outcome)
    except (_BadInput, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return _BAD_INPUT
    except SandboxUnavailable as error:
        print(f"error: {error.message}\nhint: {error.hint}", file=sys.stderr)
        return _NO_SANDBOX
    _tell(verdict, outcome, options)
    return _PASSED if verdict["passed"] else _FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Run a strategy's tests in the sandbox.")
    parser.add_argument("--strategy", type=Path, required=True, help="the strategy file")
    parser.add_argument("--tests", type=Path, required=True, help="its test file")
    parser.add_argument(
        "--timeout", type=float, default=USUAL_LIMITS.time_s, help="seconds (default: %(default)g)"
    )
    parser.add_argument("--out", type=Path, default=Path("artifacts"), help="folder of the report")
    parser.add_argument(
        *("--data",), type=Path, action="append", default=[], help="a file that the tests read"
    )
    parser.add_argument("--sandbox", default="auto", help="auto, docker, namespace, ...")
    parser.add_argument("--json", action="store_true", help="print the result for programs")
    return parser


def _inside(folder: str, path: Path) -> str:
    """Gives the place in the sandbox: the repository's layout, wherever the file comes from."""
    if path.suffix != ".py":
        raise _BadInput(f"{path} is not a Python file")
    return f"{folder}/{path.name}"


def _relative(path: Path) -> str:
    if path.is_absolute() or ".." in path.parts:
        raise _BadInput(f"--data {path}: give a path relative to the repository, without '..'")
    return path.as_posix()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _BadInput(f"{path} cannot be read: {error.strerror}") from error


def _judge(outcome: Outcome, timeout_s: float) -> _Verdict:
    """Passed only if a valid report says that there were tests and all of them passed."""
    reason, summary = _reason_without_report(outcome, timeout_s), {}
    if not reason:
        try:
            report = read_report(outcome.outputs[TEST_REPORT])
            problems = find_problems(report)
        except NotAReport as error:
            problems = [str(error)]
        if problems:
            reason = f"the report is not valid: {problems[0]}"
        else:
            summary = report["summary"]
            failed = summary["total"] - summary.get("passed", 0)
            if summary["total"] == 0:
                reason = "no test was run"
            elif failed or outcome.exit_code != 0:
                reason = f"{failed} tests did not pass"
    return {"passed": not reason, "reason": reason, "summary": summary}


def _reason_without_report(outcome: Outcome, timeout_s: float) -> str:
    if outcome.timed_out:
        return f"the tests did not end within {timeout_s:g} s"
    if outcome.out_of_memory:
        return "the tests used more memory than they may"
    if TEST_REPORT not in outcome.outputs:
        why = outcome.refused.get(TEST_REPORT, "")
        return f"there is no report: {why} (exit code {outcome.exit_code})"
    return ""


def _write(folder: Path, outcome: Outcome) -> None:
    content = outcome.outputs.get(TEST_REPORT)
    target = folder / TEST_REPORT
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # A report of an earlier run must not be taken for this one's.
        target.unlink(missing_ok=True)
        if content is not None:
            unfinished = target.with_suffix(".tmp")
            unfinished.write_bytes(content)
            unfinished.replace(target)
    except OSError as error:
        raise _BadInput(f"{target} cannot be written: {error.strerror}") from error


def _tell(verdict: _Verdict, outcome: Outcome, options: argparse.Namespace) -> None:
    report = options.out / TEST_REPORT if TEST_REPORT in outcome.outputs else None
    if options.json:
        path = None if report is None else str(report)
        print(json.dumps({**verdict, "report": path, "seconds": round(outcome.seconds, 3)}))
        return
    if not verdict["passed"]:
        # Printed by the code under test: shown without its control characters.
        words = (outcome.stdout + outcome.stderr).decode("utf-8", "replace")
        print("".join(c for c in words[-4000:] if c.isprintable() or c == "\n").rstrip())
    total, passed = verdict["summary"].get("total", 0), verdict["summary"].get("passed", 0)
    word = "passed" if verdict["passed"] else f"FAILED ({verdict['reason']})"
    print(f"{word}: {passed} of {total} tests passed")
    if report is not None:
        print(f"report: {report}")


if __name__ == "__main__":
    sys.exit(main())
