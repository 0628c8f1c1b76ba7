"""One thing to do, and the things to do dealt out to the jobs of a workflow."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from bot.contract.document.problems import Problem
from bot.proof.assignment import Answers
from bot.workflow.contracts import Read

MOST_JOBS = 256
LEGS = tuple(f"leg_{number}" for number in range(1, 21))
"""Jobs that build. The workflow names an output of each; GitHub Free runs 20 jobs at once."""
_MOST_PROPOSALS = 200


class Action(StrEnum):
    """What there is to do."""

    PROPOSE = "propose"
    REFUSE = "refuse"
    CLOSE = "close"
    ANSWER = "answer"
    DRAFT = "draft"


@dataclass(frozen=True)
class Item:
    """One thing to do about one contract, or one answer to give."""

    action: Action
    key: str  # names it in job names and files; the same contract has the same key in every run
    read: Read | None = None  # the contract, where there is one
    at: int = 0  # the issue or pull request that asked; 0 for a push
    comment: int = 0  # the comment that asked; 0 if none did
    regenerate: bool = False
    branch: str = ""  # whose pull request to close
    words: str = ""  # an answer, or why the contract was refused as a whole
    commit: str = ""  # what the contract was read from, or what a form's stands on; a push's own
    number: int = 0  # the pull request to close
    answers: Answers | None = None  # what a model said of it, where the bot signed that before
    text: str = ""  # the issue's, where a contract is to be drafted of it
    prefilled: str = ""  # what the form's address is filled in with, where text was no form

    @property
    def asks(self) -> bool:
        """Whether a model has to be asked before anything can be written."""
        is_open = self.read is not None and self.read.is_open
        return self.action is Action.DRAFT or (self.action is Action.PROPOSE and is_open)

    @property
    def builds(self) -> bool:
        """Whether something is written before there is anything to tell."""
        return self.action in (Action.PROPOSE, Action.DRAFT)

    @property
    def path(self) -> str:
        """The contract's, if there is one."""
        return self.read.path if self.read else ""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the contract."""
        return self.read.problems if self.read else ()


def key_of(name: str) -> str:
    """Twelve hex digits: safe in file names, job names and outputs, whatever the name says."""
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:12]


@dataclass(frozen=True)
class Job:
    """A job of a matrix: what it works on."""

    keys: tuple[str, ...]
    leg: str = ""  # whose files and digests belong to it; empty for a job without files


@dataclass(frozen=True)
class Matrix:
    """The jobs to start: those that build, those that write, those that say it has begun."""

    build: tuple[Job, ...]
    write: tuple[Job, ...]
    announce: tuple[Job, ...]


def make_matrix(items: Iterable[Item], has_model: bool = True) -> Matrix:
    """Spread the items over jobs: to write one each, and more only where GitHub has no more.

    What has to ask a model is built only where there is one.
    """
    work = list(items)
    built = [item for item in work if item.builds and (has_model or not item.asks)]
    asked = [item.key for item in built]
    others = [item.key for item in work if item not in built]
    told = [item.key for item in built if item.at and item.action is Action.PROPOSE]
    build = tuple(Job(keys, leg) for leg, keys in zip(LEGS, spread(asked, len(LEGS)), strict=False))
    write = [
        Job(keys, job.leg)
        for job in build
        for keys in spread(list(job.keys), _MOST_PROPOSALS // len(LEGS))
    ]
    write += [Job(keys) for keys in spread(others, MOST_JOBS - _MOST_PROPOSALS)]
    return Matrix(build, tuple(write), tuple(Job(keys) for keys in spread(told, MOST_JOBS)))


def spread(keys: list[str], most: int) -> tuple[tuple[str, ...], ...]:
    """Deal keys out into at most so many heaps."""
    return tuple(tuple(keys[start::most]) for start in range(min(most, len(keys))))
