"""Keeps comments, checks and reviews on one machine, as files beside the pull requests."""

import hashlib
from contextlib import AbstractContextManager
from pathlib import Path

from adapters.clock import Clock
from bot.bus.port import timestamp
from bot.errors import InputError, RefusedError
from bot.forge.port import (
    CHECK,
    Check,
    Comment,
    Decision,
    PullRequest,
    PullRequests,
    PullState,
    Review,
    Thread,
)
from bot.forge.records import append_record, read_record, read_records, write_record
from bot.forge.trigger import Actor
from bot.git.identity import task_of_branch
from bot.git.lock import hold
from bot.git.repository import Repository

_LOCK_TIMEOUT_S = 60.0


def hold_forge(repository: Repository) -> AbstractContextManager[None]:
    """Hold the lock of all that the local forge writes."""
    return hold(repository.folder / "locks" / "forge.lock", "the local forge", _LOCK_TIMEOUT_S)


class LocalThreads:
    """Comments, one file for each thread, which only grows."""

    def __init__(self, repository: Repository, pulls: PullRequests, clock: Clock) -> None:
        self._repository = repository
        self._pulls = pulls
        self._clock = clock

    def say(self, thread: Thread, body: str, marker: str = "", run: int = 0) -> Comment:
        """Say something; the same under the same marker is not said twice."""
        with hold_forge(self._repository):
            if thread.number:
                self._pulls.get(thread.number)
            said = tuple(read_records(self._path(thread), Comment))
            last = next((each for each in reversed(said) if marker and each.marker == marker), None)
            if last and (last.run > run or (last.body, last.run) == (body, run)):
                return last
            at, author = timestamp(self._clock.now()), self._repository.person
            comment = Comment(len(said) + 1, author, at, body, marker, run)
            append_record(self._path(thread), comment)
            return comment

    def all(self, thread: Thread) -> tuple[Comment, ...]:
        """Return what was said, oldest first; of a marker the newest only."""
        said = tuple(read_records(self._path(thread), Comment))
        newest = {each.marker: each.id for each in said if each.marker}
        return tuple(each for each in said if newest.get(each.marker, each.id) == each.id)

    def find(self, thread: Thread, marker: str) -> Comment | None:
        """Return the newest comment under a marker."""
        return next((each for each in self.all(thread) if each.marker == marker), None)

    def address(self, thread: Thread) -> str:
        """Return the thread's file."""
        return self._path(thread).as_uri()

    def anchor(self, comment: int) -> str:
        """Return the comment's number."""
        return f"#{comment}"

    def _path(self, thread: Thread) -> Path:
        name = str(thread.number) if thread.number else thread.commit
        return self._repository.folder / f"forge/comments/{name}.jsonl"


class LocalChecks:
    """Checks of commits, one file for each name."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def report(self, check: Check) -> str:
        """Write a check in the place of the last one of its name."""
        with hold_forge(self._repository):
            write_record(self._path(check.head, check.name), check)
        return "check"

    def stands(self, check: Check) -> bool:
        """Say whether a check is there as it should be."""
        return self.find(check.head, check.name) == check

    def find(self, head: str, name: str = CHECK) -> Check | None:
        """Return the check of a commit under a name."""
        return read_record(self._path(head, name), Check)

    def _path(self, head: str, name: str) -> Path:
        key = hashlib.sha256(name.encode()).hexdigest()[:12]
        return self._repository.folder / f"forge/checks/{head}-{key}.json"


class LocalPeople:
    """The person at this machine, and the reviews given on it."""

    def __init__(self, repository: Repository, pulls: PullRequests, clock: Clock) -> None:
        self._repository = repository
        self._pulls = pulls
        self._clock = clock

    def may_command(self, actor: Actor) -> bool:
        """Say whether somebody is the person whose machine this is."""
        return not actor.is_bot and actor.login == self._repository.person

    def review(self, number: int, decision: Decision, head: str, body: str = "") -> Review:
        """Decide about a commit.

        Raises:
            InputError: if the pull request is not open.
            RefusedError: if the commit is not its head, or the branch has moved since.
        """
        with hold_forge(self._repository):
            pull = self._pulls.get(number)
            if pull.state is not PullState.OPEN:
                raise InputError(
                    f"pull request {number} is {pull.state}, there is nothing to review"
                )
            self._refuse_moved(pull, head)
            given, author = self.reviews(number), self._repository.person
            for last in (each for each in given[-1:] if each.author == author):
                if (last.decision, last.head, last.body) == (decision, head, body):
                    return last
            at = timestamp(self._clock.now())
            review = Review(len(given) + 1, author, at, decision, head, body)
            append_record(self._path(number), review)
            return review

    def reviews(self, number: int) -> tuple[Review, ...]:
        """Return decisions, oldest first."""
        return tuple(read_records(self._path(number), Review))

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

    def _path(self, number: int) -> Path:
        return self._repository.folder / f"forge/reviews/{number}.jsonl"
