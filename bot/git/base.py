"""The commit that a proposal stands on.

The rule: the branch you are on, as `origin` has it. What you have not pushed stays yours; a pull
request shows the candidate and nothing else. Where origin does not know your branch, or the head is
detached, or you are on a branch of generated code: origin's default branch. Without an origin, or
with one that has never been fetched from or pushed to: the commit you are on.
Uncommitted changes never matter. Nothing is fetched: the base is what the last fetch or push saw.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from bot.errors import InputError
from bot.git.command import GitCommand
from bot.git.identity import task_of_branch
from bot.git.object_reader import ObjectReader


@dataclass(frozen=True)
class Base:
    """A commit and the branch it is the tip of; the branch is empty for a detached head."""

    commit: str
    branch: str


class Head:
    """Knows which branch is checked out; Git is asked again only where its file has changed."""

    def __init__(self, git: GitCommand, file: Path) -> None:
        self.git = git
        self._file = file
        self._seen = b""
        self._branch = ""

    def branch(self) -> str:
        """Name the branch; empty for a detached head."""
        try:
            seen = self._file.read_bytes()
        except OSError:
            seen = b""
        # A repository that keeps its refs in tables has a file that says nothing.
        if not seen or seen != self._seen or b".invalid" in seen:
            self._branch = self.git.run("symbolic-ref", "--quiet", "--short", "HEAD").text
            self._seen = seen
        return self._branch


def find_base(head: Head, objects: ObjectReader, remote: str, name: str | None = None) -> Base:
    """Find the base, or the one called by name.

    Raises:
        InputError: if there is no commit, or no branch of that name.
    """
    if name is not None:
        found = _commit(objects, f"refs/remotes/{remote}/{name}")
        commit = found or _commit(objects, f"refs/heads/{name}")
        if not commit:
            raise InputError(f"there is no branch {name!r}", "List them with: git branch --all")
        return Base(commit, name)
    on = head.branch()
    own = on if on and task_of_branch(on) is None else ""
    for branch in filter(None, chain((own,), default_branches(head.git, objects, remote))):
        commit = _commit(objects, f"refs/remotes/{remote}/{branch}")
        if commit:
            return Base(commit, branch)
    commit = _commit(objects, "HEAD")
    if not commit:
        raise _no_commit(head.git, on)
    return Base(commit, own)


def default_branches(git: GitCommand, objects: ObjectReader, remote: str) -> Iterator[str]:
    """Name origin's default branch; `git remote add` and CI checkouts do not note it, so guess."""
    if objects.find(f"refs/remotes/{remote}/HEAD"):
        noted = git.run("symbolic-ref", "--quiet", f"refs/remotes/{remote}/HEAD").text
        yield noted.removeprefix(f"refs/remotes/{remote}/")
    yield from ("main", "master")


def _commit(objects: ObjectReader, name: str) -> str:
    found = objects.find(f"{name}^{{commit}}")
    return found.id if found else ""


def _no_commit(git: GitCommand, head: str) -> InputError:
    if git.run("rev-list", "--all", "--max-count=1").text:
        message = f"the branch {head!r} has no commit yet"
        return InputError(message, "Commit to it, or switch to a branch that has: git switch main")
    message = "the repository has no commit yet, so there is nothing to propose a change to"
    return InputError(message, 'Make one: git add --all && git commit -m "first contract"')
