"""A repository's name to a checkout of its default branch as GitHub has it now.

What lies here can be made again: a clone that Git cannot use any more, as after a power cut, is
thrown away and made anew. After `prepare` it is what a runner's checkout is: branches and tags of
the remote, nothing of earlier work.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path

from bot.errors import InputError, WorldError
from bot.git.command import GitCommand
from bot.git.remote import Remote
from bot.server.deliveries import is_full_name


class Clones:
    """The clones below one folder."""

    def __init__(self, folder: Path, server_url: str) -> None:
        self._folder = folder
        self._server_url = server_url.rstrip("/")

    def prepare(
        self, repository: str, branch: str, credentials: Mapping[str, str], fresh: bool = False
    ) -> Path:
        """Bring a clone up to date, or make it `fresh`, and check its default branch out.

        Raises:
            InputError: the repository has no such branch.
            WorldError: the remote did not answer, or the disk is full.
        """
        if not is_full_name(repository):
            raise InputError(f"{repository!r} is not a repository's name")
        place = self._folder / repository.casefold()
        if fresh:
            shutil.rmtree(place, ignore_errors=True)
        if (place / ".git" / "HEAD").exists():
            try:
                return self._refresh(place, repository, branch, credentials)
            except _Unusable:
                shutil.rmtree(place, ignore_errors=True)
        try:
            return self._refresh(place, repository, branch, credentials)
        except _Unusable as error:
            raise WorldError(error.message, error.hint) from None

    def _refresh(
        self, place: Path, repository: str, branch: str, credentials: Mapping[str, str]
    ) -> Path:
        place.mkdir(parents=True, exist_ok=True)
        git = GitCommand(place, place / ".git")
        _must(git, "init", "--quiet", ".")
        _must(git, "config", "remote.origin.url", f"{self._server_url}/{repository}.git")
        remote = Remote(git.knowing(credentials), "origin")
        remote.fetch_all()
        tip = f"refs/remotes/origin/{branch}"
        if git.run("rev-parse", "--verify", "--quiet", f"{tip}^{{commit}}").code:
            raise InputError(f"{repository} has no branch {branch!r}")
        _must(git, "symbolic-ref", "refs/remotes/origin/HEAD", tip)
        (place / ".git" / "index.lock").unlink(missing_ok=True)
        _must(git, "checkout", "--quiet", "--force", "--detach", tip)
        _must(git, "clean", "-ffdxq")
        _drop_branches(git)
        return place


class _Unusable(WorldError):
    """Git could not work in the clone."""


def _must(git: GitCommand, *arguments: str, data: bytes | None = None) -> str:
    answer = git.run(*arguments, data=data)
    if answer.code:
        lines = answer.err.strip().splitlines() or [f"exit code {answer.code}"]
        message = f"git {answer.command} failed in the clone: {lines[0]}"
        raise _Unusable(message, "Check the disk of --state.")
    return answer.text


def _drop_branches(git: GitCommand) -> None:
    """Earlier deliveries left their branches here; only what the remote has counts."""
    names = _must(git, "for-each-ref", "--format=%(refname)", "refs/heads").splitlines()
    if names:
        text = "".join(f"delete {name}\n" for name in names)
        _must(git, "update-ref", "--stdin", data=text.encode())
