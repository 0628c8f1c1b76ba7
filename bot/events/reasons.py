"""Why an event leads to nothing: one list of codes, each with its sentence."""

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """The codes; docs/github.md lists them for users."""

    NOT_OUR_EVENT = "not-our-event"
    NOT_OUR_ACTION = "not-our-action"
    NOT_OUR_BRANCH = "not-our-branch"
    NOT_OUR_LABEL = "not-our-label"
    NO_CONTRACT = "no-contract-changed"
    COMMIT_GONE = "commit-gone"
    NO_COMMAND = "no-command"
    BOT = "bot"
    NO_PERMISSION = "no-permission"
    ISSUE_CLOSED = "issue-closed"
    ISSUE_EDITED = "edited-after-the-trigger"
    MALFORMED = "malformed-event"


_SENTENCES = {
    Reason.NOT_OUR_EVENT: "stratwright does nothing on this kind of event",
    Reason.NOT_OUR_ACTION: "stratwright does nothing on this action of the event",
    Reason.NOT_OUR_BRANCH: "only pushes to the default branch count",
    Reason.NOT_OUR_LABEL: "the issue does not carry stratwright's label",
    Reason.NO_CONTRACT: "the push changed no contract",
    Reason.COMMIT_GONE: "the pushed commit is not on the default branch any more",
    Reason.NO_COMMAND: "the comment does not begin with a /stratwright command",
    Reason.BOT: "bots do not give orders",
    Reason.NO_PERMISSION: "orders are taken from people with write permission only",
    Reason.ISSUE_CLOSED: "the issue is closed",
    Reason.ISSUE_EDITED: "the text was edited after the trigger; only what stood there then counts",
    Reason.MALFORMED: "the event is not of the form that GitHub documents",
}


@dataclass(frozen=True)
class Ignored:
    """An event that leads to nothing, with the reason."""

    reason: Reason
    detail: str = ""

    def __str__(self) -> str:
        detail = f" ({self.detail})" if self.detail else ""
        return f"nothing to do [{self.reason}]: {_SENTENCES[self.reason]}{detail}"
