"""Books what models cost on a branch beside the line, and says what a run may still spend today.

Jobs of one run share what is left of the day. Runs at once do not see each other before their
spend is booked, so each of them may spend its own part once more; docs/models.md states the worst.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.clock import MACHINE_CLOCK
from bot.coder.model.prices import dollars
from bot.errors import WorldError
from bot.git.remote import StaleView
from bot.git.repository import Repository
from bot.settings import CoderSettings

BRANCH = "stratwright/costs"
_TRIES = 30
_MOST_BYTES = 10_000
_SUM = 10**12


class Entry(BaseModel):
    """Says what one job of one run paid; sums are millionths of a US dollar."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    version: int = Field(1, ge=1, le=1)
    day: str = Field(pattern=r"^[0-9]{4}-[01][0-9]-[0-3][0-9]$")
    run: int = Field(ge=0)
    key: str = Field(pattern="^[0-9a-f]{12}$")
    case: str = Field(pattern="^[0-9a-f]{64}$")  # the digest of what the job handed on
    model: str = Field(max_length=100)
    cost: int = Field(ge=0, le=_SUM)

    @property
    def name(self) -> str:
        """Name its file: what is booked once is booked."""
        return f"{self.day}-{self.case[:32]}.json"


def book(repository: Repository, entry: Entry) -> None:
    """Append an entry to the branch, once.

    Raises:
        WorldError: the branch cannot be read or written; then nothing may be proposed either.
    """
    data = (entry.model_dump_json(indent=1) + "\n").encode()
    message = f"costs: {entry.key} {dollars(entry.cost)} US dollars"
    append(repository, entry.name, data, message, booked=f"-{entry.case[:32]}.json")


def append(repository: Repository, name: str, data: bytes, message: str, booked: str = "") -> None:
    """Add a file to the branch unless it is there, under this name or one that ends with `booked`.

    Raises:
        WorldError: the branch cannot be read or written.
    """
    branch = repository.side_branch(BRANCH)
    for _ in range(_TRIES):
        seen = branch.tip()
        if any(path.endswith(booked or name) for path in _names(repository, seen)):
            return
        try:
            branch.append(name, data, message, seen)
        except StaleView:
            continue
        return
    raise WorldError(f"the branch {BRANCH} grew faster than it could be written", "Run again.")


def names(repository: Repository) -> list[str]:
    """List the files of the branch."""
    return _names(repository, repository.side_branch(BRANCH).tip())


def file_ending(repository: Repository, ending: str) -> tuple[str, bytes] | None:
    """Read the one file of the branch whose name ends so; None if none does."""
    tip = repository.side_branch(BRANCH).tip()
    for name in _names(repository, tip):
        if name.endswith(ending):
            return name, repository.read(tip, name) or b""
    return None


def spent_on(repository: Repository, day: str) -> int:
    """Add up what is booked on a day.

    Raises:
        WorldError: an entry cannot be read, so nobody knows.
    """
    tip = repository.side_branch(BRANCH).tip()
    names = [name for name in _names(repository, tip) if name.startswith(day)]
    return sum(_entry(repository, tip, name, day).cost for name in names)


def left_today(repository: Repository, settings: CoderSettings) -> int:
    """Say what is left of today; jobs are run again long after their plan was made.

    Raises:
        WorldError: as `spent_on`.
    """
    spent = spent_on(repository, MACHINE_CLOCK.now().date().isoformat())
    return max(0, int(settings.max_cost_per_day_usd * 1_000_000) - spent)


def _names(repository: Repository, tip: str) -> list[str]:
    """List the branch's files; nothing was ever appended where there is no tip."""
    listed = repository.git.ask("ls-tree", "-z", "--name-only", tip).out if tip else b""
    return listed.decode("utf-8", "replace").split("\0")[:-1]


def _entry(repository: Repository, tip: str, name: str, day: str) -> Entry:
    data = repository.read(tip, name) or b""
    try:
        entry = Entry.model_validate_json(data) if len(data) <= _MOST_BYTES else None
    except (ValidationError, ValueError):
        entry = None
    if entry is None or entry.day != day or not re.fullmatch(r"[0-9a-f-]+\.json", name, re.ASCII):
        hint = f"No model is asked without it. Look at what was pushed to {BRANCH}."
        raise WorldError(f"{BRANCH} has an entry that cannot be read: {name[:80]!a}", hint)
    return entry


@dataclass(frozen=True)
class Ceilings:
    """Says what each job of a run may spend, and in words what that means for the day."""

    each: tuple[int, ...]
    words: str


def ceilings(settings: CoderSettings, spent: int, asking: Sequence[int]) -> Ceilings:
    """Share what is left of the day among jobs, given how many contracts of each ask a model."""
    limit = int(settings.max_cost_per_day_usd * 1_000_000)
    one = int(settings.max_cost_per_invocation_usd * 1_000_000)
    jobs = sum(count > 0 for count in asking)
    share = max(0, limit - spent) // jobs if jobs else 0
    each = tuple(min(share, one * count) for count in asking)
    words = (
        f"models: {dollars(spent)} of {dollars(limit)} US dollars of today are spent; this run may "
        f"spend {dollars(sum(each))}, {dollars(one)} for one contract at most. A run that begins "
        f"before this one has booked its spend may spend as much once more."
    )
    return Ceilings(each, words)
