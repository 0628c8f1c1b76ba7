"""The forge on one machine: pull requests, comments and reviews as files in Git's own folder."""

from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from adapters.clock import Clock
from bot.bus.port import timestamp
from bot.clock import MACHINE_CLOCK
from bot.errors import InputError, RefusedError
from bot.forge.port import (
    Check,
    Comment,
    Decision,
    Draft,
    PullRequest,
    PullState,
    Review,
    continues,
)
from bot.forge.records import append_record, read_record, read_records, write_record
from bot.git.base import Base
from bot.git.identity import task_of_branch
from bot.git.lock import hold
from bot.git.repository import Repository

_LOCK_TIMEOUT_S = 60.0


class LocalForge:
    """Pull requests under `.git/stratwright/forge`, shared by all worktrees.

    `pulls/<number>.json` is replaced as a whole, `comments/` and `reviews/` only grow. Whether a
    pull request is merged is read from Git: its head, or the same files, are in the base.
    """

    kind = "local"

    def __init__(self, repository: Repository, clock: Clock = MACHINE_CLOCK) -> None:
        self._repository = repository
        self._folder = repository.folder / "forge"
        self._clock = clock

    def submit(self, draft: Draft, *, reopen: bool = False) -> PullRequest:
        """Open a pull request, or bring the branch's open one up to date."""
        with self._lock():
            last = self.find(draft.branch)
            at = timestamp(self._clock.now())
            if last is None or not continues(last, draft, reopen):
                number = max(self._numbers(), default=0) + 1
                author = self._repository.person
                pull = PullRequest(number, PullState.OPEN, draft, author, at, at)
                return self._write(pull)
            if last.state is PullState.MERGED or (last.state is PullState.CLOSED and not reopen):
                return last
            pull = replace(last, state=PullState.OPEN, draft=draft, reason="")
            return last if pull == last else self._write(replace(pull, updated=at))

    def find(self, branch: str) -> PullRequest | None:
        """The newest pull request of a branch."""
        for number in reversed(self._numbers()):
            pull = read_record(self._pull(number), PullRequest)
            if pull and pull.draft.branch == branch:
                return self._seen(pull)
        return None

    def get(self, number: int) -> PullRequest:
        """One by its number."""
        pull = read_record(self._pull(number), PullRequest)
        if pull is None:
            numbers = ", ".join(map(str, self._numbers())) or "none yet"
            raise InputError(f"there is no pull request {number}", f"There are: {numbers}.")
        return self._seen(pull)

    def pulls(self) -> tuple[PullRequest, ...]:
        """All, oldest first."""
        return tuple(self.get(number) for number in self._numbers())

    def close(self, number: int, reason: str = "") -> PullRequest:
        """Close without merging; closing again changes nothing."""
        with self._lock():
            pull = self.get(number)
            if pull.state is PullState.MERGED:
                raise InputError(f"pull request {number} is merged already")
            if pull.state is PullState.CLOSED:
                return pull
            at = timestamp(self._clock.now())
            return self._write(replace(pull, state=PullState.CLOSED, updated=at, reason=reason))

    def comment(self, number: int, body: str, marker: str = "") -> Comment:
        """Say something; the same under the same marker is not said twice."""
        with self._lock():
            self.get(number)
            said = tuple(read_records(self._comments(number), Comment))
            same = [each for each in said if marker and each.marker == marker]
            if same and same[-1].body == body:
                return same[-1]
            at, author = timestamp(self._clock.now()), self._repository.person
            comment = Comment(len(said) + 1, author, at, body, marker)
            append_record(self._comments(number), comment)
            return comment

    def comments(self, number: int) -> tuple[Comment, ...]:
        """What was said, oldest first; of a marker the newest only."""
        said = tuple(read_records(self._comments(number), Comment))
        newest = {each.marker: each.id for each in said if each.marker}
        return tuple(each for each in said if newest.get(each.marker, each.id) == each.id)

    def review(self, number: int, decision: Decision, head: str, body: str = "") -> Review:
        """Decide about a commit.

        Raises:
            InputError: if the pull request is not open.
            RefusedError: if the commit is not its head, or the branch has moved since.
        """
        with self._lock():
            pull = self.get(number)
            if pull.state is not PullState.OPEN:
                raise InputError(
                    f"pull request {number} is {pull.state}, there is nothing to review"
                )
            self._refuse_moved(pull, head)
            given = tuple(read_records(self._reviews(number), Review))
            author = self._repository.person
            for last in (each for each in given[-1:] if each.author == author):
                if (last.decision, last.head, last.body) == (decision, head, body):
                    return last
            at = timestamp(self._clock.now())
            review = Review(len(given) + 1, author, at, decision, head, body)
            append_record(self._reviews(number), review)
            return review

    def reviews(self, number: int) -> tuple[Review, ...]:
        """Decisions, oldest first."""
        return tuple(read_records(self._reviews(number), Review))

    def set_check(self, check: Check) -> None:
        """Note the gates' outcome for a commit."""
        with self._lock():
            write_record(self._folder / f"checks/{check.head}.json", check)

    def get_check(self, head: str) -> Check | None:
        """The gates' outcome for a commit."""
        return read_record(self._folder / f"checks/{head}.json", Check)

    def _refuse_moved(self, pull: PullRequest, head: str) -> None:
        number, now = pull.number, pull.draft.head
        if head != now:
            message = f"pull request {number} is at {now[:12]} by now, not at {head[:12]}"
            raise RefusedError(message, f"Look at it again: stratwright pr diff {number}")
        task = task_of_branch(pull.draft.branch)
        for tip in self._repository.tips(task) - {now} if task else ():
            message = (
                f"{pull.draft.branch} has moved to {tip[:12]}; "
                f"the evidence of pull request {number} is about {now[:12]}"
            )
            raise RefusedError(message, "Take the new commits off the branch, or run it again.")

    def _seen(self, pull: PullRequest) -> PullRequest:
        """Merged is what Git says, not what a record says."""
        draft = pull.draft
        if pull.state is not PullState.OPEN or not draft.base:
            return pull
        merged = self._repository.merged(draft.head, Base(draft.base_commit, draft.base))
        return replace(pull, state=PullState.MERGED) if merged else pull

    def _write(self, pull: PullRequest) -> PullRequest:
        if task_of_branch(pull.draft.branch) is None:
            raise InputError(f"{pull.draft.branch!r} is not a branch of generated code")
        write_record(self._pull(pull.number), pull)
        return pull

    def _numbers(self) -> list[int]:
        found = self._folder.glob("pulls/[0-9]*.json")
        return sorted(int(path.stem) for path in found if path.stem.isdecimal())

    def _lock(self) -> AbstractContextManager[None]:
        path = self._repository.folder / "locks" / "forge.lock"
        return hold(path, "the local forge", _LOCK_TIMEOUT_S)

    def _pull(self, number: int) -> Path:
        return self._folder / f"pulls/{number}.json"

    def _comments(self, number: int) -> Path:
        return self._folder / f"comments/{number}.jsonl"

    def _reviews(self, number: int) -> Path:
        return self._folder / f"reviews/{number}.jsonl"
