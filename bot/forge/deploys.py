"""Says what a forge knows of deployments: who said yes, what protects a place, what is deployed.

Nothing here judges: a yes that does not count is told too, with what speaks against it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from bot.forge.trigger import Actor


class Way(StrEnum):
    """How somebody said yes."""

    RUN = "run"
    REVIEW = "review"
    COMMENT = "comment"


@dataclass(frozen=True)
class Assent:
    """Somebody's word on a commit, as the forge shows it now.

    Attributes:
        id: of the review, the comment or the run.
        commit: what it is about.
        at: when it was given; of a run, when that began, as the forge tells no more.
        state: approved, dismissed, rejected, or another word of the forge's.
        edited: whether its text was changed since.
    """

    actor: Actor
    way: Way
    id: int
    commit: str
    at: str
    state: str
    edited: bool = False


@dataclass(frozen=True)
class Gate:
    """What protects an environment.

    Attributes:
        reviewers: numbers of the people who may let a run through; teams: how many teams may.
        no_self_review: whether who started a run cannot let it through.
        admins_bypass: whether administrators may go around all of it; so too if nobody says.
        branches: what may deploy, as patterns; None: every branch, so every writer's workflow.
    """

    name: str
    reviewers: frozenset[int] = frozenset()
    teams: int = 0
    no_self_review: bool = False
    admins_bypass: bool = True
    branches: tuple[str, ...] | None = None

    def is_open(self, default: str) -> bool:
        """Say whether others than the default branch's own workflow may reach the key."""
        return self.branches != (default,)

    @property
    def waits(self) -> bool:
        """Whether a run waits there until somebody lets it through."""
        return bool(self.reviewers or self.teams)


@dataclass(frozen=True)
class Run:
    """A run of the forge's own machinery."""

    id: int
    path: str
    event: str
    branch: str
    head: str
    repository: str
    created: str
    actors: tuple[Actor, ...] = ()


@dataclass(frozen=True)
class Pull:
    """A pull request as it is judged: whose, from where, at which commit."""

    number: int
    author: Actor
    branch: str
    head: str
    from_fork: bool
    is_open: bool
    is_merged: bool


@dataclass(frozen=True)
class Deployment:
    """A record that was published, as the forge shows it beside the commit.

    Attributes:
        key: names the record; the same key is shown once.
        task: whose; of a task one deployment of an environment is active.
    """

    key: str
    task: str
    commit: str
    environment: str
    description: str
    link: str = ""
    payload: Mapping[str, str | int] = field(default_factory=dict)


class Deploys(Protocol):
    """What is asked of a forge about approvals, and told to it about deployments."""

    def gate(self, environment: str) -> Gate | None:
        """Return what protects an environment; None if there is none of the name."""

    def run(self, number: int) -> Run | None:
        """Return a run; None if there is none."""

    def pull(self, number: int) -> Pull | None:
        """Return a pull request; None if there is none."""

    def run_assents(self, run: Run, commit: str, environment: str) -> tuple[Assent, ...]:
        """Return what was said about letting a run into an environment."""

    def assents(self, number: int) -> tuple[Assent, ...]:
        """Return reviews and approving comments of a pull request, oldest first."""

    def authors(self, commit: str) -> tuple[Actor, ...]:
        """Return the accounts of those who wrote a commit; none if its author has none."""

    def goes_around(self, actor: Actor) -> bool:
        """Say whether somebody could go around an environment's reviewers."""

    def asker(self, number: int) -> Actor | None:
        """Return who opened an issue."""

    def show(self, deployment: Deployment) -> str:
        """Show a deployment as done, and others of its task as over; gives its address."""

    def end(self, task: str) -> int:
        """Show every deployment of a task as over; gives how many were not."""

    def open_issue(self, title: str, body: str, key: str) -> str:
        """Open an issue once for a key; gives its address."""
