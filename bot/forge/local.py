"""Keeps pull requests on one machine, as files in Git's own folder."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from adapters.clock import Clock
from bot.bus.port import timestamp
from bot.clock import MACHINE_CLOCK
from bot.errors import InputError
from bot.forge.local_talk import LocalChecks, LocalPeople, LocalThreads, hold_forge
from bot.forge.port import Draft, PullRequest, PullState, continues
from bot.forge.records import read_record, write_record
from bot.git.base import Base
from bot.git.identity import task_of_branch
from bot.git.repository import Repository


class LocalForge:
    """Pull requests under `.git/stratwright/forge`, shared by all worktrees.

    `pulls/<number>.json` is replaced as a whole, `comments/` and `reviews/` only grow. Whether a
    pull request is merged is read from Git: its head, or the same files, are in the base.
    """

    kind = "local"
    deploys = None

    def __init__(self, repository: Repository, clock: Clock = MACHINE_CLOCK) -> None:
        self._git = repository
        self._folder = repository.folder / "forge"
        self._clock = clock
        self.repository = repository.repository_id
        self.form = ""
        self.threads = LocalThreads(repository, self, clock)
        self.checks = LocalChecks(repository)
        self.people = LocalPeople(repository, self, clock)

    def submit(self, draft: Draft, *, reopen: bool = False) -> PullRequest:
        """Open a pull request, or bring the branch's open one up to date."""
        with hold_forge(self._git):
            last = self.find(draft.branch)
            at = timestamp(self._clock.now())
            if last is None or not continues(last, draft, reopen):
                number = max(self._numbers(), default=0) + 1
                return self._write(
                    PullRequest(number, PullState.OPEN, draft, self._git.person, at, at)
                )
            if last.state is PullState.MERGED or (last.state is PullState.CLOSED and not reopen):
                return last
            pull = replace(last, state=PullState.OPEN, draft=draft, reason="")
            return last if pull == last else self._write(replace(pull, updated=at))

    def find(self, branch: str) -> PullRequest | None:
        """Return the newest pull request of a branch."""
        for number in reversed(self._numbers()):
            pull = read_record(self._path(number), PullRequest)
            if pull and pull.draft.branch == branch:
                return self._seen(pull)
        return None

    def get(self, number: int) -> PullRequest:
        """Return one by its number."""
        pull = read_record(self._path(number), PullRequest)
        if pull is None:
            numbers = ", ".join(map(str, self._numbers())) or "none yet"
            raise InputError(f"there is no pull request {number}", f"There are: {numbers}.")
        return self._seen(pull)

    def pulls(self, *, only_open: bool = False) -> tuple[PullRequest, ...]:
        """Return all, oldest first."""
        found = tuple(self.get(number) for number in self._numbers())
        return tuple(p for p in found if p.state is PullState.OPEN) if only_open else found

    def close(self, number: int, reason: str = "") -> PullRequest:
        """Close without merging; closing again changes nothing."""
        with hold_forge(self._git):
            pull = self.get(number)
            if pull.state is PullState.MERGED:
                raise InputError(f"pull request {number} is merged already")
            if pull.state is PullState.CLOSED:
                return pull
            return self._change(replace(pull, state=PullState.CLOSED, reason=reason))

    def reopen(self, number: int) -> bool:
        """Open a closed one again; False if its branch is gone, or it is merged."""
        with hold_forge(self._git):
            pull = self.get(number)
            if pull.state is PullState.CLOSED and self._git.commit_of(pull.draft.branch):
                pull = self._change(replace(pull, state=PullState.OPEN, reason=""))
            return pull.state is PullState.OPEN

    def label(self, number: int, wanted: Iterable[str]) -> None:
        """Add labels; those that are there stay."""
        with hold_forge(self._git):
            pull = self.get(number)
            labels = tuple(dict.fromkeys((*pull.labels, *wanted)))
            if labels != pull.labels:
                self._change(replace(pull, labels=labels))

    def has_file(self, branch: str, path: str, data: bytes) -> bool:
        """Say whether a branch has exactly these bytes at a path now."""
        commit = self._git.commit_of(branch)
        return bool(commit) and self._git.read(commit, path) == data

    def leave_room(self, calls: int) -> None:
        """Nothing is limited here."""

    def spent(self, contracts: int = 0) -> str:
        """Nothing is counted here."""
        return ""

    def _seen(self, pull: PullRequest) -> PullRequest:
        """Merged is what Git says, not what a record says."""
        draft = pull.draft
        if pull.state is not PullState.OPEN or not draft.base:
            return pull
        merged = self._git.merged(draft.head, Base(draft.base_commit, draft.base))
        return replace(pull, state=PullState.MERGED) if merged else pull

    def _change(self, pull: PullRequest) -> PullRequest:
        return self._write(replace(pull, updated=timestamp(self._clock.now())))

    def _write(self, pull: PullRequest) -> PullRequest:
        if task_of_branch(pull.draft.branch) is None:
            raise InputError(f"{pull.draft.branch!r} is not a branch of generated code")
        write_record(self._path(pull.number), pull)
        return pull

    def _numbers(self) -> list[int]:
        found = self._folder.glob("pulls/[0-9]*.json")
        return sorted(int(path.stem) for path in found if path.stem.isdecimal())

    def _path(self, number: int) -> Path:
        return self._folder / f"pulls/{number}.json"
