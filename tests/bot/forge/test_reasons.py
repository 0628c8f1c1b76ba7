import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.errors import (
    InputError,
    RateLimited,
    RefusedError,
    SafetyStop,
    StratwrightError,
    WorldError,
)
from bot.forge.github.api import Forbidden, Limited, Missing, Passing, Unprocessable
from bot.forge.port import PullRequestForbidden
from bot.forge.reasons import STATES, Ignored, NotAnyMore, Reason, reason_of
from bot.git.proposal import BranchTaken, TagTaken
from bot.git.remote import StaleView

HOUSE = Path(__file__).parents[3]
# What becomes of an item where it went as it was asked for.
WELL = {"proposed", "unchanged", "closed", "answered", "drafted"}


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (InputError, Reason.BAD_INPUT),
        (RefusedError, Reason.GATES_SAID_NO),
        (SafetyStop, Reason.SAFETY_STOP),
        (WorldError, Reason.WORLD_FAILED),
        (RateLimited, Reason.RATE_LIMIT),
        (Limited, Reason.RATE_LIMIT),
        (StratwrightError, Reason.BUG),
        *((kind, Reason.WORLD_FAILED) for kind in (Forbidden, Missing, Unprocessable, Passing)),
    ],
)
def test_every_error_has_the_code_of_its_kind(kind: type[StratwrightError], reason: Reason) -> None:
    assert reason_of(kind("what happened", "what to do")) is reason


def every_error(kind: type[StratwrightError] = StratwrightError) -> set[type[StratwrightError]]:
    return {kind}.union(*(every_error(child) for child in kind.__subclasses__()))


def test_no_error_of_ours_is_told_as_a_bug() -> None:
    """Each has a parent that says whose fault it is; only what nobody foresaw is a bug."""
    known = (InputError, RefusedError, SafetyStop, WorldError)
    shown = {BranchTaken, TagTaken, StaleView, PullRequestForbidden}
    assert shown <= every_error()
    ours = {k for k in every_error() if k.__module__.split(".")[0] in ("bot", "sandbox_runner")}
    assert [k for k in ours - {StratwrightError} if not issubclass(k, known)] == []


def test_what_was_allowed_and_is_not_any_more_keeps_its_code() -> None:
    error = NotAnyMore(Ignored(Reason.NO_PERMISSION))
    assert reason_of(error) is Reason.NO_PERMISSION
    assert "[no-permission]" in error.message


def test_every_end_without_a_pull_request_has_a_code() -> None:
    """The states are read from the code: a new one needs a code, or a place among the good ends."""
    states = set()
    for node in calls_of("Written"):
        first = node.args[0]
        states |= {part.value for part in ast.walk(first) if isinstance(part, ast.Constant)}
    assert states >= {"refused", "blocked", "superseded", "closed", "answered"}
    assert set(STATES) == states - WELL
    assert set(STATES.values()) <= set(Reason)


def test_the_documented_list_is_the_list() -> None:
    page = (HOUSE / "docs/github.md").read_text("utf-8")
    section = page.partition("## Why nothing happened")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    listed = {code for row in rows for code in re.findall(r"`([^`]+)`", row.split("|")[1])}
    assert listed == {reason.value for reason in Reason}


def test_every_code_has_a_sentence_and_is_used() -> None:
    named = {
        node.attr
        for tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "Reason"
    }
    assert named == {reason.name for reason in Reason}
    sentences = {str(Ignored(reason)).partition(": ")[2] for reason in Reason}
    assert len(sentences) == len(Reason)


def test_whatever_is_ignored_names_its_reason() -> None:
    given = [ast.unparse(node.args[0]) for node in calls_of("Ignored")]
    assert len(given) > 20
    assert [each for each in given if not each.startswith("Reason.")] == []


def test_a_command_that_is_not_carried_out_is_answered_with_a_code() -> None:
    """Only the evidence that was asked for is given without."""
    bare = [node for node in calls_of("_answer", "bot/workflow") if len(node.args) < 3]
    assert [ast.unparse(node.args[1]) for node in bare] == ["'explain'"]


def test_every_way_out_of_a_stage_shows_a_code() -> None:
    """What `stratwright event` catches, it tells with the code in brackets, then lets go."""
    tree = ast.parse((HOUSE / "bot/commands/event.py").read_text("utf-8"))
    caught = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
    assert len(caught) >= 4
    for handler in caught:
        text = ast.unparse(handler)
        assert "reason_of(error)" in text or "Reason.BUG" in text, text


def modules(below: str = "bot") -> Iterator[ast.Module]:
    for path in sorted((HOUSE / below).rglob("*.py")):
        yield ast.parse(path.read_text("utf-8"))


def calls_of(name: str, below: str = "bot") -> list[ast.Call]:
    return [
        node
        for tree in modules(below)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
    ]
