"""Turns the bytes of a pytest report into what is wrong with them, by schema and by arithmetic.

A report that passes is well-formed and agrees with itself; whether it is true is for the judge, who
knows which tests there are.
"""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

_SCHEMA = Path(__file__).with_name("test_report_schema.json")
_MOST_PROBLEMS = 20
Report = dict[str, Any]  # as pytest-json-report writes it; the schema says what is in it


class NotAReport(ValueError):
    """The bytes are not JSON, or JSON that no two readers would read the same way."""


def read_report(content: bytes) -> Report:
    """Reads the report, strictly parsed: UTF-8, an object, no NaN, no key twice.

    Raises:
        NotAReport: with the reason.
    """
    try:
        report = json.loads(
            content.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant
        )
    except RecursionError:
        raise NotAReport("it is nested too deeply") from None
    except ValueError as error:
        raise NotAReport(f"it is not JSON: {error}") from None
    if not isinstance(report, dict):
        raise NotAReport("it is not a JSON object")
    return report


def find_problems(report: Report) -> list[str]:
    """Everything that is wrong with a report, each with its place; empty when it is valid."""
    validator = Draft202012Validator(json.loads(_SCHEMA.read_text("utf-8")))
    errors = sorted(validator.iter_errors(report), key=lambda error: [str(p) for p in error.path])
    if errors:
        return [f"{_place(error.path)}: {error.message[:300]}" for error in errors[:_MOST_PROBLEMS]]
    return _contradictions(report)


def _contradictions(report: Report) -> list[str]:
    """Figures of the summary that its own list of tests does not bear out."""
    tests, summary = report["tests"], report["summary"]
    counted = Counter(test["outcome"] for test in tests)
    problems = []
    if summary["total"] != len(tests):
        problems.append(f"summary.total is {summary['total']}, but {len(tests)} tests are listed")
    for outcome in ("passed", "failed", "error", "skipped", "xfailed", "xpassed"):
        if summary.get(outcome, 0) != counted[outcome]:
            problems.append(
                f"summary.{outcome} is {summary.get(outcome, 0)}, "
                f"but {counted[outcome]} tests are listed so"
            )
    repeated = [name for name, n in Counter(test["nodeid"] for test in tests).items() if n > 1]
    problems += [f"the test {name} is listed twice" for name in repeated[:_MOST_PROBLEMS]]
    bad = counted["failed"] + counted["error"]
    if bad and report["exitcode"] == 0:
        problems.append(f"exitcode is 0, but {bad} tests did not pass")
    return problems


def _place(path: Iterable[object]) -> str:
    return ".".join(str(part) for part in path) or "the report"


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    keys = Counter(key for key, _ in pairs)
    for key, times in keys.items():
        if times > 1:
            raise ValueError(f"the key {key[:100]!r} is there {times} times")
    return dict(pairs)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")
