"""What a forge is: where a candidate is shown to people, talked about and decided on."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from bot.errors import InputError

if TYPE_CHECKING:
    from bot.git.repository import Repository
KINDS = ("local", "github")


class PullState(StrEnum):
    """Where a pull request stands."""

    OPEN = "open"
    CLOSED = "closed"
    MERGED = "merged"


class Decision(StrEnum):
    """What a review says."""

    APPROVED = "approved"
    CHANGES_REQUESTED = "changes_requested"
    COMMENTED = "commented"


@dataclass(frozen=True)
class Draft:
    """What a pull request should say.

    Attributes:
        branch: where the candidate is.
        base: the branch to merge into; empty if the base is a commit without one.
        base_commit: what the candidate stands on.
        head: the candidate's commit; evidence and reviews are about exactly it.
        body: Markdown; on GitHub it ends with the trailers as a hidden JSON block.
    """

    branch: str
    base: str
    base_commit: str
    head: str
    tag: str
    correlation_id: str
    title: str
    body: str


@dataclass(frozen=True)
class PullRequest:
    """A draft that became public."""

    number: int
    state: PullState
    draft: Draft
    author: str
    created: str
    updated: str
    reason: str = ""
    """Why it was closed."""


@dataclass(frozen=True)
class Comment:
    """Something said about a pull request. A marker tells the bot's own kinds apart."""

    id: int
    author: str
    created: str
    body: str
    marker: str = ""


@dataclass(frozen=True)
class Review:
    """Somebody's decision about one commit."""

    id: int
    author: str
    created: str
    decision: Decision
    head: str
    body: str = ""


@dataclass(frozen=True)
class Check:
    """The gates' outcome for one commit, beside its pull request."""

    head: str
    passed: bool
    summary: str
    details: str = ""


class Forge(Protocol):
    """A place for pull requests. It has no way to merge: people do that."""

    @property
    def kind(self) -> str:
        """Its name in settings."""
        ...

    def submit(self, draft: Draft, *, reopen: bool = False) -> PullRequest:
        """Open a pull request, or bring the branch's open one up to date; never a second one.

        One that was closed unmerged stays closed for its correlation id, unless reopen is asked.
        """
        ...

    def find(self, branch: str) -> PullRequest | None:
        """The newest pull request of a branch."""
        ...

    def get(self, number: int) -> PullRequest:
        """One by its number; InputError if there is none."""
        ...

    def pulls(self) -> tuple[PullRequest, ...]:
        """All, oldest first."""
        ...

    def close(self, number: int, reason: str = "") -> PullRequest:
        """Close without merging."""
        ...

    def comment(self, number: int, body: str, marker: str = "") -> Comment:
        """Say something; with a marker, what was last said under it is replaced or kept."""
        ...

    def comments(self, number: int) -> tuple[Comment, ...]:
        """What was said, oldest first; of a marker the newest only."""
        ...

    def review(self, number: int, decision: Decision, head: str, body: str = "") -> Review:
        """Decide about a commit; refused if the pull request has another head by now."""
        ...

    def reviews(self, number: int) -> tuple[Review, ...]:
        """Decisions, oldest first."""
        ...

    def set_check(self, check: Check) -> None:
        """Note the gates' outcome for a commit."""
        ...

    def get_check(self, head: str) -> Check | None:
        """The gates' outcome for a commit."""
        ...


def continues(last: PullRequest, draft: Draft, reopen: bool) -> bool:
    """Whether a draft belongs to an earlier pull request.

    An open one is brought up to date. A closed one was a no to its candidate: the same one does
    not come back by itself, a changed contract may ask anew. A merged one is done if it was merged
    with this very commit into this very branch, whatever it says about itself.
    """
    if last.state is PullState.OPEN:
        return True
    if last.state is PullState.MERGED:
        same = (last.draft.head, last.draft.base) == (draft.head, draft.base)
        return same and not reopen
    return last.draft.correlation_id == draft.correlation_id or reopen


def open_forge(kind: str, repository: "Repository") -> Forge:
    """Open a forge by its name in settings.

    Raises:
        InputError: if there is no such forge.
    """
    if kind == "local":
        from bot.forge.local import LocalForge

        return LocalForge(repository)
    if kind == "github":
        from bot.forge.github_open import open_github

        return open_github(repository)
    raise InputError(f"there is no forge {kind!r}", f"Forges are: {', '.join(KINDS)}.")


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
