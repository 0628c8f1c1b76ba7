"""A task's branch and tags on one side, here or at the remote, and the way to change them here."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bot.errors import WorldError
from bot.git.command import Answer, GitCommand, explain
from bot.git.identity import TaskName

_LOCK_WAIT_S = 3.0
_PAUSE_S = 0.1
_ROUNDS = 5


@dataclass(frozen=True)
class Tag:
    """A tag: its own object and the commit it names; the same if it is not an annotated one."""

    object: str
    commit: str


@dataclass(frozen=True)
class Refs:
    """What a task has on one side."""

    tip: str = ""
    tags: Mapping[str, Tag] = field(default_factory=dict)

    @property
    def candidates(self) -> frozenset[str]:
        """Every commit that we made: a tag of ours names exactly it.

        Trailers would not do: whoever amends or rebases our commit keeps its message.
        """
        return frozenset(tag.commit for tag in self.tags.values() if tag.object != tag.commit)


def collect(task: TaskName, found: Iterable[tuple[str, str, str]]) -> Refs:
    """Sort (object, peeled object or empty, ref name) into a task's branch and tags."""
    tip, tags = "", {}
    for oid, peeled, name in found:
        if name == f"refs/heads/{task.branch}":
            tip = oid
        tag = name.removeprefix("refs/tags/")
        if tag != name and task.attempt(tag):
            tags[tag] = Tag(oid, peeled or oid)
    return Refs(tip, tags)


def read_refs(git: GitCommand, task: TaskName) -> Refs:
    """Read what is here."""
    answer = git.ask(
        "for-each-ref",
        "--format=%(objectname)|%(*objectname)|%(refname)",
        f"refs/heads/{task.branch}",
        f"refs/tags/{task.tag_folder}",
    )
    rows = (line.split("|") for line in answer.text.splitlines())
    return collect(task, ((oid, peeled, name) for oid, peeled, name in rows))


def checked_out_at(git: GitCommand, branch: str) -> str:
    """The folder in which a branch is checked out; empty if it is nowhere."""
    folder = ""
    for line in git.ask("worktree", "list", "--porcelain").text.splitlines():
        folder = line.removeprefix("worktree ") if line.startswith("worktree ") else folder
        if line == f"branch refs/heads/{branch}":
            return folder
    return ""


def write_refs(git: GitCommand, common_dir: Path, changes: Iterable[tuple[str, str, str]]) -> None:
    """Set refs, all or none, each only if it still has the value we saw.

    A change is the ref's name, the new object, and the object seen before, empty for none.

    Raises:
        WorldError: if somebody else changed one meanwhile, or holds its lock.
    """
    rows = list(changes)
    zero = "0" * len(rows[0][1])
    text = "".join(f"update {name}\0{new}\0{old or zero}\0" for name, new, old in rows)
    command = ("update-ref", "-z", "--stdin", "-m", "stratwright")
    answer = _patiently(git, command, text.encode(), common_dir, {name for name, _, _ in rows})
    if answer.code == 0:
        return
    if "but expected" in answer.err or "already exists" in answer.err:
        message = f"somebody changed {rows[-1][0]} at the same moment"
        raise WorldError(message, "Run again: it looks at what is there now.")
    raise explain(answer)


def _patiently(
    git: GitCommand, command: tuple[str, ...], data: bytes, common_dir: Path, names: set[str]
) -> Answer:
    """Run again while a lock is in the way and goes away."""
    ours = {common_dir / f"{name}.lock" for name in names}
    for _ in range(_ROUNDS):
        answer = git.run(*command, data=data)
        lock = answer.lock_file
        if answer.code == 0 or lock is None or not clear_lock(lock, removable=lock in ours):
            return answer
    return answer


def clear_lock(lock: Path, *, removable: bool) -> bool:
    """Wait for another Git to let go of a lock; say whether trying again makes sense.

    A live Git holds the lock of a ref for milliseconds, and our own runs take turns: one that
    stays the same file for seconds was left by a Git that was killed, and is removed if it is the
    lock of a ref of ours.
    """
    deadline = time.monotonic() + _LOCK_WAIT_S
    try:
        first = lock.stat()
        while time.monotonic() < deadline:
            time.sleep(_PAUSE_S)
            now = lock.stat()
            if (now.st_ino, now.st_mtime_ns) != (first.st_ino, first.st_mtime_ns):
                return True
        if removable:
            lock.unlink()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return removable
