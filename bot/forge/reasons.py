"""Lists why an event leads to nothing, or not to a pull request: codes with their sentences.

The Action and the server share it.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from bot.errors import (
    InputError,
    RateLimited,
    RefusedError,
    SafetyStop,
    StratwrightError,
    WorldError,
)


class Reason(StrEnum):
    """The codes, each with its sentence; docs/github.md lists them for users."""

    sentence: str

    def __new__(cls, code: str, sentence: str) -> Self:
        """Make a member that is its code, and knows its sentence."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.sentence = sentence
        return member

    NOT_OUR_EVENT = "not-our-event", "stratwright does nothing on this kind of event"
    NOT_OUR_ACTION = "not-our-action", "stratwright does nothing on this action of the event"
    NOT_OUR_BRANCH = "not-our-branch", "only pushes to the default branch count"
    NOT_OUR_LABEL = "not-our-label", "the issue does not carry stratwright's label"
    NO_CONTRACT = "no-contract-changed", "the push changed no contract"
    NO_COMMAND = "no-command", "the comment does not begin with a /stratwright command"
    BOT = "bot", "bots do not give commands"
    NO_PERMISSION = "no-permission", "commands are taken from people with write permission only"
    ISSUE_CLOSED = "issue-closed", "the issue is closed"
    ISSUE_EDITED = (
        "edited-after-the-trigger",
        "the text was edited after the trigger; only what stood there then counts",
    )
    MALFORMED = "malformed-event", "the event is not of the form that GitHub documents"
    PUSH_REPLACED = (
        "push-replaced",
        "a later push replaced these commits and has an event of its own",
    )
    CONTRACT_REFUSED = (
        "contract-refused",
        "the contract has mistakes; nothing was written or pushed",
    )
    GATES_SAID_NO = "gates-said-no", "a gate refused the candidate; nothing was pushed"
    SUPERSEDED = "superseded", "a newer version is there, and its own run tells about it"
    NEEDS_A_CLICK = (
        "needs-a-click",
        "the branch is pushed, and a person opens the pull request by a link",
    )
    NO_SUCH_COMMAND = "no-such-command", "there is no such command, or not here"
    NO_SUCH_DRAFT = "no-such-draft", "there is no draft of this issue with that digest"
    NOT_AVAILABLE = "not-available", "this version does not have that"
    NO_DEPLOYMENT = "no-deployment", "it asks for nothing that is deployed, halted or rolled back"
    DEPLOYS = "deploy-workflow", "the workflow stratwright-deploy answers it"
    NOT_OUR_PULL = (
        "not-our-pull-request",
        "the pull request is not one of the bot's, or has another contract's name",
    )
    CONTRACT_GONE = "contract-gone", "the contract or the branch is not there any more"
    NO_EVIDENCE = "no-evidence", "there is no evidence of the bot at the pull request's head"
    RATE_LIMIT = "rate-limit", "GitHub's requests of this hour are nearly used up; run again later"
    UNSIGNED = (
        "signature-missing",
        "there is no X-Hub-Signature-256 of the form sha256=<64 hex digits>",
    )
    WRONG_SIGNATURE = (
        "signature-wrong",
        "the signature is not that of the webhook secret over this body",
    )
    NO_HEADERS = (
        "not-a-delivery",
        "X-GitHub-Event and X-GitHub-Delivery are missing or not of GitHub's form",
    )
    NOT_JSON = (
        "content-type",
        "the body is not application/json: choose that content type in the webhook",
    )
    TOO_LARGE = "too-large", "the body is larger than the 25 MB that GitHub sends at most"
    TOO_SLOW = "too-slow", "the body did not arrive in time"
    BUSY = "busy", "too many bodies are arriving at once; deliver it again later"
    NO_QUEUE = "queue-unavailable", "the queue cannot be written now; deliver it again later"
    NOWHERE = "no-such-address", "deliveries are taken by POST at /webhook and nowhere else"
    DUPLICATE = "duplicate-delivery", "this delivery was accepted before"
    NOT_INSTALLED = (
        "not-installed",
        "the App is not installed in the repository, or lacks a permission",
    )
    BAD_INPUT = "bad-input", "the repository or the event asks for something that cannot be done"
    SAFETY_STOP = "safety-stop", "stopped on purpose: going on could do harm"
    WORLD_FAILED = "world-failed", "GitHub, the network, the disk or the sandbox failed too often"
    BUG = "bug", "stratwright itself failed too often; the log has the traceback"
    WORKER_DIED = "worker-died", "the process that worked on it died too often"


@dataclass(frozen=True)
class Ignored:
    """An event that leads to nothing, with the reason."""

    reason: Reason
    detail: str = ""

    def __str__(self) -> str:
        detail = f" ({self.detail})" if self.detail else ""
        return f"nothing to do [{self.reason}]: {self.reason.sentence}{detail}"


class NotAnyMore(InputError):
    """An event that led to work when it was planned, and does not by now."""

    def __init__(self, ignored: Ignored) -> None:
        hint = "The permission or the branch changed since the plan was made; run it again if not."
        super().__init__(str(ignored), hint)
        self.reason = ignored.reason


def reason_of(error: StratwrightError) -> Reason:
    """The code of an error."""
    if isinstance(error, NotAnyMore):
        return error.reason
    for kind, reason in (
        (RateLimited, Reason.RATE_LIMIT),
        (WorldError, Reason.WORLD_FAILED),
        (SafetyStop, Reason.SAFETY_STOP),
        (InputError, Reason.BAD_INPUT),
        (RefusedError, Reason.GATES_SAID_NO),
    ):
        if isinstance(error, kind):
            return reason
    return Reason.BUG


STATES = {
    "refused": Reason.CONTRACT_REFUSED,
    "blocked": Reason.GATES_SAID_NO,
    "superseded": Reason.SUPERSEDED,
}
"""The codes of what became of an item, where it did not become a pull request."""
