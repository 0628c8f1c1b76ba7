"""What is proposed to a repository, and what became of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from bot.errors import SafetyStop
from bot.git.base import Base
from bot.git.identity import TaskName, Trailers


class State(StrEnum):
    """What a proposal changed."""

    PROPOSED = "proposed"  # branch or tag are new or moved
    UNCHANGED = "unchanged"  # all of it was there
    MERGED = "merged"  # the base has it already


@dataclass(frozen=True)
class Proposal:
    """A candidate to commit."""

    task: TaskName  # whose branch it goes to
    tag: str  # its own name; see Repository.next_tag
    base: Base  # what it stands on
    files: Mapping[str, bytes]  # bytes by path, added to the base
    message: str  # subject, or subject and body; the trailers are added
    trailers: Trailers  # where it came from
    # Folders that hold the candidate's files only; older ones there are dropped.
    replaced: tuple[str, ...] = ()


@dataclass(frozen=True)
class Proposed:
    """A candidate that stands in Git."""

    state: State
    task: TaskName
    tag: str
    commit: str
    remote: str  # where it was pushed to; empty without a remote
    note: str = ""  # what the user should know, empty if nothing


class BranchTaken(SafetyStop):
    """Somebody else's commits are on the branch; they are never overwritten."""

    def __init__(self, task: TaskName, tip: str, where: str) -> None:
        message = (
            f"the branch {task.branch} {where} has commits that stratwright did not make "
            f"(at {tip[:12]}); it was left alone"
        )
        hint = (
            "Merge it or rename it (git branch -m), and run again; "
            "or give the contract another task name."
        )
        super().__init__(message, hint)
        self.tip = tip


class TagTaken(SafetyStop):
    """A tag of this name is on another commit; what it holds was not proven here."""

    def __init__(self, tag: str, commit: str, why: str = "") -> None:
        message = f"the tag {tag} is on {commit[:12]}, which is not what this contract gives"
        hint = (
            "Somebody else made it, or changed what it names. Look at it (stratwright verify), "
            f"delete it (git push --delete origin {tag}) and run again."
        )
        super().__init__(f"{message}: {why}" if why else message, hint)
