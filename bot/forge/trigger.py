"""Holds what can set the line going on a forge, as values; nothing in them is trusted yet."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Actor:
    """Who caused an event; logins can be renamed and taken over, the number stays."""

    id: int
    login: str
    kind: str

    @property
    def is_bot(self) -> bool:
        """Apps and other machines."""
        return self.kind != "User" or self.login.endswith("[bot]")


@dataclass(frozen=True)
class Push:
    """Commits arrived on the default branch."""

    repository: str
    actor: Actor
    branch: str
    before: str
    after: str


@dataclass(frozen=True)
class FormFiled:
    """An issue carries the form's label, with the text that it had at that moment."""

    repository: str
    actor: Actor
    author: Actor
    number: int
    body: str
    updated_at: str
    labelled: bool  # whether the label was put on; an issue opened with it has both events


@dataclass(frozen=True)
class CommandGiven:
    """Somebody wrote a command under an issue or a pull request."""

    repository: str
    actor: Actor
    number: int  # the issue's or pull request's
    on_pull_request: bool
    comment_id: int
    verb: str  # the command's name, known or not
    argument: str  # the one word after it
    issue_body: str  # the issue's text at that moment; empty for a pull request
    issue_author: Actor
    below: str = field(default="", compare=False)  # what stands under the command's own line


@dataclass(frozen=True)
class Dispatched:
    """Somebody started the workflow by hand."""

    repository: str
    actor: Actor
    contracts: tuple[str, ...]  # paths as typed; none means all
    regenerate: bool


@dataclass(frozen=True)
class DeployAsked:
    """Somebody started the deploy workflow by hand."""

    repository: str
    actor: Actor
    tag: str
    commit: str  # all of its digits: who approves the run approves these bytes
    environment: str
    older: bool
    replaces: str  # a token; empty for none


Trigger = Push | FormFiled | CommandGiven | Dispatched | DeployAsked
