"""One thing to do, and the things to do dealt out to the jobs of a workflow."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from bot.contract.problems import Problem
from bot.events.contracts import Read

MOST_JOBS = 256
_MOST_PROPOSALS = 200


class Deed(StrEnum):
    """What there is to do."""

    PROPOSE = "propose"
    REFUSE = "refuse"
    CLOSE = "close"
    ANSWER = "answer"


@dataclass(frozen=True)
class Item:
    """One thing to do about one contract, or one answer to give.

    Attributes:
        key: names it in job names and files; the same contract has the same key in every run.
        read: the contract, where there is one.
        commit: what the contract was read from, or what a form's stands on; a push's own.
        at: the issue or pull request that asked; 0 for a push.
        order: the comment that asked; 0 if none did.
        branch: whose pull request to close.
        number: the pull request to close.
        words: an answer, or why the contract was refused as a whole.
    """

    deed: Deed
    key: str
    read: Read | None = None
    at: int = 0
    order: int = 0
    regenerate: bool = False
    branch: str = ""
    words: str = ""
    commit: str = ""
    number: int = 0

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
class Matrix:
    """The jobs to start: those that build, those that write, those that say it has begun."""

    build: tuple[tuple[str, ...], ...]
    write: tuple[tuple[str, ...], ...]
    announce: tuple[tuple[str, ...], ...]


def make_matrix(items: Iterable[Item]) -> Matrix:
    """Spread the items over jobs: one each, and more only where GitHub has no more jobs to give."""
    work = list(items)
    build = spread([item.key for item in work if item.deed is Deed.PROPOSE], _MOST_PROPOSALS)
    others = [item.key for item in work if item.deed is not Deed.PROPOSE]
    asked = [item.key for item in work if item.deed is Deed.PROPOSE and item.at]
    write = (*build, *spread(others, MOST_JOBS - _MOST_PROPOSALS))
    return Matrix(build, write, spread(asked, MOST_JOBS))


def spread(keys: list[str], most: int) -> tuple[tuple[str, ...], ...]:
    """Deal keys out into at most so many heaps."""
    return tuple(tuple(keys[start::most]) for start in range(min(most, len(keys))))
