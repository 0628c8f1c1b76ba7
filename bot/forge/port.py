"""Says what a forge is: where a candidate is shown to people, talked about and decided on.

A forge has four parts: pull requests, threads of comments, checks of commits, and people. A runner
is the forge's own machine that an event started. Everything above is written against these; what
is a provider's alone lies in the provider's folder.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Protocol

from bot.errors import InputError, WorldError
from bot.forge.deploys import Deploys
from bot.forge.trigger import Actor, Trigger

if TYPE_CHECKING:
    from bot.forge.reasons import Ignored
    from bot.git.repository import Repository
    from bot.settings import Settings

KINDS = ("local", "github")
CHECK = "stratwright"
_CLOSED_SET = {"extra": "forbid", "strict": True}


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
    """What a pull request should say."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = _CLOSED_SET

    branch: str  # where the candidate is
    base: str  # the branch to merge into; empty if the base is a commit without one
    base_commit: str  # what the candidate stands on
    head: str  # the candidate's commit; evidence and reviews are about exactly it
    tag: str
    correlation_id: str
    title: str
    body: str  # Markdown; on GitHub it ends with the trailers as a hidden JSON block


@dataclass(frozen=True)
class PullRequest:
    """A draft that became public."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = _CLOSED_SET

    number: int
    state: PullState
    draft: Draft
    author: str
    created: str
    updated: str
    reason: str = ""  # why it was closed
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Thread:
    """Where comments stand: under an issue or pull request, or on a commit."""

    number: int = 0
    commit: str = ""

    def __str__(self) -> str:
        return f"#{self.number}" if self.number else f"commit {self.commit[:12]}"


@dataclass(frozen=True)
class Comment:
    """Something said in a thread. A marker tells the bot's own kinds apart."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = _CLOSED_SET

    id: int
    author: str
    created: str
    body: str
    marker: str = ""
    run: int = 0  # counts up from run to run; what a later run said stays


@dataclass(frozen=True)
class Review:
    """Somebody's decision about one commit."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = _CLOSED_SET

    id: int
    author: str
    created: str
    decision: Decision
    head: str
    body: str = ""


@dataclass(frozen=True)
class Annotation:
    """A remark at a line of a file."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = _CLOSED_SET

    path: str
    line: int
    message: str
    title: str = ""


@dataclass(frozen=True)
class Check:
    """What a check says about a commit."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = _CLOSED_SET

    name: str  # the check's own; one for each task, so that tasks do not overwrite each other
    head: str  # the commit
    key: str  # names the run that it is about; the same key and outcome is written once
    passed: bool
    title: str  # a short line
    summary: str  # Markdown
    annotations: tuple[Annotation, ...] = ()
    link: str = ""  # where more is to be read


@dataclass(frozen=True)
class RequestsLeft:
    """How many requests to a forge are left, and when there are more."""

    left: int
    until: str


class PullRequestForbidden(WorldError):
    """The branch is there, and the forge lets only people open the pull request: by this link."""

    def __init__(self, message: str, hint: str, draft: Draft, link: str) -> None:
        super().__init__(message, hint)
        self.draft = draft
        self.link = link


class PullRequests(Protocol):
    """Pull requests of one repository. There is no way to merge: people do that."""

    def submit(self, draft: Draft, *, reopen: bool = False) -> PullRequest:
        """Open a pull request, or bring the branch's open one up to date; never a second one.

        One that was closed unmerged stays closed for its correlation id, unless reopen is asked.

        Raises:
            PullRequestForbidden: the branch is there, the pull request is not.
        """

    def find(self, branch: str) -> PullRequest | None:
        """Return the newest pull request of a branch."""

    def get(self, number: int) -> PullRequest:
        """Return one by its number; InputError if there is none."""

    def pulls(self, *, only_open: bool = False) -> tuple[PullRequest, ...]:
        """Return all of generated branches, oldest first."""

    def close(self, number: int, reason: str = "") -> PullRequest:
        """Close without merging."""

    def reopen(self, number: int) -> bool:
        """Open a closed one again; False where the forge does not, as its branch is gone."""

    def label(self, number: int, wanted: Iterable[str]) -> None:
        """Add labels; those that are there stay."""

    def has_file(self, branch: str, path: str, data: bytes) -> bool:
        """Say whether a branch has exactly these bytes at a path now."""


class Threads(Protocol):
    """Comments, which are found again by marker and author."""

    def say(self, thread: Thread, body: str, marker: str = "", run: int = 0) -> Comment:
        """Say something once; under a marker the earlier comment is replaced.

        What a later run said stays.
        """

    def all(self, thread: Thread) -> tuple[Comment, ...]:
        """Return what was said, oldest first; of a marker of ours the newest only."""

    def find(self, thread: Thread, marker: str) -> Comment | None:
        """Return our own comment under a marker."""

    def address(self, thread: Thread) -> str:
        """Return where people read the thread."""

    def anchor(self, comment: int) -> str:
        """Return what leads from a thread's address to one comment."""


class Checks(Protocol):
    """Outcomes beside commits."""

    def report(self, check: Check) -> str:
        """Write a check; says which form it took."""

    def stands(self, check: Check) -> bool:
        """Say whether a check is there as it should be."""

    def find(self, head: str, name: str = CHECK) -> Check | None:
        """Return the newest check of a commit under a name."""


class People(Protocol):
    """Who may ask the bot for something, and what people decided."""

    def may_command(self, actor: Actor) -> bool:
        """Say whether somebody could push to the repository now."""

    def review(self, number: int, decision: Decision, head: str, body: str = "") -> Review:
        """Decide about a commit; refused if the pull request has another head by now."""

    def reviews(self, number: int) -> tuple[Review, ...]:
        """Return decisions, oldest first."""


class Forge(PullRequests, Protocol):
    """A place for pull requests, with its threads, checks and people."""

    @property
    def kind(self) -> str:
        """Return its name in settings."""

    @property
    def repository(self) -> str:
        """Return the name of the repository there."""

    @property
    def form(self) -> str:
        """Return where people fill in the strategy form."""

    @property
    def threads(self) -> Threads:
        """Return its comments."""

    @property
    def checks(self) -> Checks:
        """Return its checks."""

    @property
    def people(self) -> People:
        """Return its people."""

    @property
    def deploys(self) -> Deploys | None:
        """Return its approvals and deployments; None where people sign with their own keys."""

    def leave_room(self, calls: int) -> RequestsLeft | None:
        """Stop before work begins that the forge's requests would not last for.

        Raises:
            RateLimited: fewer are left, with the time at which there are more.
        """

    def spent(self, contracts: int = 0) -> str:
        """Say in a sentence how many requests were made; empty where none are counted."""


class Runner(Protocol):
    """A job of the forge's own machinery, started by an event; a later run's word stands."""

    @property
    def event(self) -> str:
        """Return the name of the event."""

    @property
    def run(self) -> int:
        """Return the number of the run."""

    @property
    def run_url(self) -> str:
        """Return the address of the run's page; empty without one."""

    def trigger(self, label: str) -> "Trigger | Ignored":
        """Read the event, or say why it is none of ours; `label` is the issue form's."""

    def credentials(self) -> Mapping[str, str]:
        """Return variables that let Git push to the forge's server and nowhere else."""

    def open_forge(self, repository: "Repository", settings: "Settings") -> Forge:
        """Open the forge that the job belongs to."""

    def output(self, name: str, value: str) -> None:
        """Hand a value to later jobs."""

    def summary(self, markdown: str) -> None:
        """Add to the page of the run."""


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
        from bot.forge.github.opening import open_github

        return open_github(repository)
    raise InputError(f"there is no forge {kind!r}", f"Forges are: {', '.join(KINDS)}.")


def open_runner(environment: Mapping[str, str] | None = None) -> Runner:
    """Open the job that this process is, by its environment.

    Raises:
        InputError: this is no job that an event started.
    """
    from bot.forge.github.actions import open_actions

    return open_actions(environment)
