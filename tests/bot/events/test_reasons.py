import pytest

from bot.errors import (
    InputError,
    RateLimited,
    RefusedError,
    SafetyStop,
    StratwrightError,
    WorldError,
)
from bot.events.reasons import STATES, Ignored, NotAnyMore, Reason, reason_of
from bot.forge.github import PullRequestForbidden
from bot.forge.github_api import Forbidden, Limited, Missing, Passing, Unprocessable
from bot.git.proposal import BranchTaken, TagTaken
from bot.git.remote import StaleView


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
    assert set(STATES) == {"refused", "blocked", "superseded"}
    assert set(STATES.values()) <= set(Reason)
