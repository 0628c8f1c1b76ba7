"""Why an event leads to nothing, or not to a pull request: one list of codes, with sentences.

The Action and the server share it.
"""

from dataclasses import dataclass
from enum import StrEnum

from bot.errors import (
    InputError,
    RateLimited,
    RefusedError,
    SafetyStop,
    StratwrightError,
    WorldError,
)


class Reason(StrEnum):
    """The codes; docs/github.md lists them for users."""

    NOT_OUR_EVENT = "not-our-event"
    NOT_OUR_ACTION = "not-our-action"
    NOT_OUR_BRANCH = "not-our-branch"
    NOT_OUR_LABEL = "not-our-label"
    NO_CONTRACT = "no-contract-changed"
    NO_COMMAND = "no-command"
    BOT = "bot"
    NO_PERMISSION = "no-permission"
    ISSUE_CLOSED = "issue-closed"
    ISSUE_EDITED = "edited-after-the-trigger"
    MALFORMED = "malformed-event"
    PUSH_REPLACED = "push-replaced"
    CONTRACT_REFUSED = "contract-refused"
    GATES_SAID_NO = "gates-said-no"
    SUPERSEDED = "superseded"
    NEEDS_A_CLICK = "needs-a-click"
    NO_SUCH_COMMAND = "no-such-command"
    NOT_AVAILABLE = "not-available"
    NOT_OUR_PULL = "not-our-pull-request"
    CONTRACT_GONE = "contract-gone"
    NO_EVIDENCE = "no-evidence"
    RATE_LIMIT = "rate-limit"
    UNSIGNED = "signature-missing"
    WRONG_SIGNATURE = "signature-wrong"
    NO_HEADERS = "not-a-delivery"
    NOT_JSON = "content-type"
    TOO_LARGE = "too-large"
    TOO_SLOW = "too-slow"
    BUSY = "busy"
    NO_QUEUE = "queue-unavailable"
    NOWHERE = "no-such-address"
    DUPLICATE = "duplicate-delivery"
    NOT_INSTALLED = "not-installed"
    BAD_INPUT = "bad-input"
    SAFETY_STOP = "safety-stop"
    WORLD_FAILED = "world-failed"
    BUG = "bug"
    WORKER_DIED = "worker-died"


_SENTENCES = {
    Reason.NOT_OUR_EVENT: "stratwright does nothing on this kind of event",
    Reason.NOT_OUR_ACTION: "stratwright does nothing on this action of the event",
    Reason.NOT_OUR_BRANCH: "only pushes to the default branch count",
    Reason.NOT_OUR_LABEL: "the issue does not carry stratwright's label",
    Reason.NO_CONTRACT: "the push changed no contract",
    Reason.NO_COMMAND: "the comment does not begin with a /stratwright command",
    Reason.BOT: "bots do not give orders",
    Reason.NO_PERMISSION: "orders are taken from people with write permission only",
    Reason.ISSUE_CLOSED: "the issue is closed",
    Reason.ISSUE_EDITED: "the text was edited after the trigger; only what stood there then counts",
    Reason.MALFORMED: "the event is not of the form that GitHub documents",
    Reason.PUSH_REPLACED: "a later push replaced these commits and has an event of its own",
    Reason.CONTRACT_REFUSED: "the contract has mistakes; nothing was written or pushed",
    Reason.GATES_SAID_NO: "a gate refused the candidate; nothing was pushed",
    Reason.SUPERSEDED: "a newer version is there, and its own run tells about it",
    Reason.NEEDS_A_CLICK: "the branch is pushed, and a person opens the pull request by a link",
    Reason.NO_SUCH_COMMAND: "there is no such command, or not here",
    Reason.NOT_AVAILABLE: "this version does not have that",
    Reason.NOT_OUR_PULL: "the pull request is not one of the bot's, or has another contract's name",
    Reason.CONTRACT_GONE: "the contract or the branch is not there any more",
    Reason.NO_EVIDENCE: "there is no evidence of the bot at the pull request's head",
    Reason.RATE_LIMIT: "GitHub's requests of this hour are nearly used up; run again later",
    Reason.UNSIGNED: "there is no X-Hub-Signature-256 of the form sha256=<64 hex digits>",
    Reason.WRONG_SIGNATURE: "the signature is not that of the webhook secret over this body",
    Reason.NO_HEADERS: "X-GitHub-Event and X-GitHub-Delivery are missing or not of GitHub's form",
    Reason.NOT_JSON: "the body is not application/json: choose that content type in the webhook",
    Reason.TOO_LARGE: "the body is larger than the 25 MB that GitHub sends at most",
    Reason.TOO_SLOW: "the body did not arrive in time",
    Reason.BUSY: "too many bodies are arriving at once; deliver it again later",
    Reason.NO_QUEUE: "the queue cannot be written now; deliver it again later",
    Reason.NOWHERE: "deliveries are taken by POST at /webhook and nowhere else",
    Reason.DUPLICATE: "this delivery was accepted before",
    Reason.NOT_INSTALLED: "the App is not installed in the repository, or lacks a permission",
    Reason.BAD_INPUT: "the repository or the event asks for something that cannot be done",
    Reason.SAFETY_STOP: "stopped on purpose: going on could do harm",
    Reason.WORLD_FAILED: "GitHub, the network, the disk or the sandbox failed too often",
    Reason.BUG: "stratwright itself failed too often; the log has the traceback",
    Reason.WORKER_DIED: "the process that worked on it died too often",
}


@dataclass(frozen=True)
class Ignored:
    """An event that leads to nothing, with the reason."""

    reason: Reason
    detail: str = ""

    def __str__(self) -> str:
        detail = f" ({self.detail})" if self.detail else ""
        return f"nothing to do [{self.reason}]: {_SENTENCES[self.reason]}{detail}"


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
