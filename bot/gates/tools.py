"""Judges what a tool printed about a candidate: the gates `flake8`, `mypy` and `bandit`."""

import json
import re
from collections.abc import Mapping

from bot.gates.answer_reader import NoAnswer, plain_text, raise_for
from bot.gates.port import Verdict
from sandbox_runner.port import Outcome

_FLAKE8_LINE = re.compile(r"(?:\./)?(?P<path>[^:]+):(?P<line>\d+):\d+: (?P<text>.*)")
_NEXT = {
    "flake8": "mend the style at that line (flake8, 100 columns)",
    "mypy": "make the types hold under mypy --strict",
    "bandit": "write it without the construct that bandit names",
}


_Complaint = tuple[str, str]  # where, and what


def judge_tool(tool: str, outcome: Outcome, files: Mapping[str, bytes]) -> Verdict:
    """Judge a tool's outcome; a tool that did not finish properly has refused."""
    try:
        raise_for(outcome)
        complaints = _READERS[tool](outcome)
        if outcome.truncated:
            raise NoAnswer("it printed more than is read")
    except (NoAnswer, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        reason = f"{tool} could not be run: {plain_text(str(error))}"
        return Verdict(tool, False, "not run", reason, "", f"see that {tool} is installed")
    if not complaints:
        return Verdict(tool, True, f"{len(files)} files, no findings")
    where, text = complaints[0]
    more = f" (and {len(complaints) - 1} more)" if len(complaints) > 1 else ""
    return Verdict(tool, False, f"{len(complaints)} findings", text + more, where, _NEXT[tool])


def _read_flake8(outcome: Outcome) -> list[_Complaint]:
    complaints = []
    for line in _lines(outcome, ""):
        match = _FLAKE8_LINE.fullmatch(line)
        if not match:
            raise ValueError(f"it printed {line[:80]!r}")
        complaints.append((f"{match['path']}:{match['line']}", plain_text(match["text"])))
    return _agreed(complaints, outcome)


def _read_mypy(outcome: Outcome) -> list[_Complaint]:
    lines = [json.loads(line) for line in _lines(outcome, f": {_tail(outcome)}")]
    errors = [found for found in lines if found["severity"] == "error"]
    return _agreed(
        [(f"{e['file']}:{e['line']}", plain_text(str(e["message"]))) for e in errors], outcome
    )


def _lines(outcome: Outcome, words: str) -> list[str]:
    """Gives what a tool printed that exits with 1 where it has something to say."""
    if outcome.exit_code not in (0, 1):
        raise ValueError(f"it exited with {outcome.exit_code}{words}")
    return outcome.stdout.decode("utf-8", "replace").splitlines()


def _agreed(complaints: list[_Complaint], outcome: Outcome) -> list[_Complaint]:
    if bool(complaints) != (outcome.exit_code == 1):
        raise ValueError("its exit code and its findings disagree")
    return complaints


def _read_bandit(outcome: Outcome) -> list[_Complaint]:
    if outcome.exit_code != 0:
        raise ValueError(f"it exited with {outcome.exit_code}: {_tail(outcome)}")
    report = json.loads(outcome.stdout)
    if report["errors"]:
        raise ValueError(f"it could not read {report['errors'][0]['filename']}")
    return [
        (
            f"{item['filename'].removeprefix('./')}:{item['line_number']}",
            plain_text(f"{item['test_id']} {item['issue_text']}"),
        )
        for item in report["results"]
    ]


def _tail(outcome: Outcome) -> str:
    return plain_text(outcome.stderr.decode("utf-8", "replace").strip()[-200:])


_READERS = {"flake8": _read_flake8, "mypy": _read_mypy, "bandit": _read_bandit}
