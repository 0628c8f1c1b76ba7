"""A trigger to the work that it asks for: contracts to propose, to refuse, to close, or an answer.

The plan job and the write job both compute this from the event and the base branch; nothing of it
is handed on.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from bot.contract.problems import Problem
from bot.errors import InputError
from bot.events.contracts import (
    Read,
    changed_contracts,
    contract_paths,
    read_contract,
    read_contract_of,
)
from bot.events.form import contract_from_form, contract_path
from bot.events.reasons import Ignored, Reason
from bot.events.trigger import Dispatched, FormFiled, Ordered, Push, Trigger
from bot.forge.port import Forge, PullState
from bot.identity import TaskName, task_of_branch
from bot.report.hidden_block import read_hidden_block
from bot.repository import Repository
from bot.settings import Settings

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
        at: the issue or pull request that asked; 0 for a push.
        order: the comment that asked; 0 if none did.
        branch: whose pull request to close.
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

    @property
    def path(self) -> str:
        """The contract's, if there is one."""
        return self.read.path if self.read else ""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the contract."""
        return self.read.problems if self.read else ()


def make_work(
    trigger: Trigger, repository: Repository, forge: Forge, settings: Settings
) -> tuple[Item, ...] | Ignored:
    """Find out what a trigger asks for; who may ask was settled before."""
    planner = _Planner(repository, forge, settings)
    if isinstance(trigger, Push):
        return planner.push(trigger)
    if isinstance(trigger, FormFiled):
        return (planner.form(trigger.number, trigger.body),)
    if isinstance(trigger, Ordered):
        return (planner.order(trigger),)
    return planner.dispatch(trigger)


class _Planner:
    def __init__(self, repository: Repository, forge: Forge, settings: Settings) -> None:
        self._repository = repository
        self._forge = forge
        self._settings = settings
        self._known: dict[str, dict[str, TaskName | None]] = {}

    def push(self, trigger: Push) -> tuple[Item, ...] | Ignored:
        """Contracts that arrived, changed or went away."""
        after, folder = trigger.after, self._settings.contracts
        if not self._repository.commit_of(after):
            return Ignored(Reason.PUSH_REPLACED)
        changed, gone = changed_contracts(self._repository, trigger.before, after, folder)
        items = [self._item(path, after) for path in changed]
        if gone:
            items += self._closings(trigger, gone)
        return tuple(items) or Ignored(Reason.NO_CONTRACT)

    def form(self, number: int, body: str, order: int = 0, regenerate: bool = False) -> Item:
        """The contract that an issue's answers ask for."""
        path = contract_path(number)
        try:
            text = contract_from_form(number, body).text
        except InputError as error:
            words = f"{error.message}. {error.hint}".strip()
            return Item(Deed.REFUSE, key_of(path), at=number, order=order, words=words)
        read = read_contract(path, text.encode(), self._repository.root)
        return self._judged(read, self._repository.base().commit, number, order, regenerate)

    def order(self, trigger: Ordered) -> Item:
        """What a command asks for."""
        verb = trigger.verb
        if verb in ("retry", "regenerate"):
            again = verb == "regenerate"
            if trigger.on_pull_request:
                return self._order_on_pull(trigger, again)
            if not trigger.issue_body:
                return _answer(
                    trigger, f"This issue does not carry the label “{self._settings.label}”."
                )
            return self.form(trigger.number, trigger.issue_body, trigger.comment_id, again)
        if verb == "explain":
            return (
                _answer(trigger, "explain")
                if trigger.on_pull_request
                else _answer(
                    trigger, "`/stratwright explain` works under a pull request of the bot."
                )
            )
        if verb in ("approve", "halt", "rollback"):
            words = (
                f"`/stratwright {verb}` is not available: this version writes, proves and proposes "
                "strategies and has no live trading. Nothing was changed."
            )
            return _answer(trigger, words)
        return _answer(trigger, _COMMANDS)

    def dispatch(self, trigger: Dispatched) -> tuple[Item, ...] | Ignored:
        """The contracts that were named, or all."""
        commit = self._repository.base().commit
        there = contract_paths(self._repository, commit, self._settings.contracts)
        strange = sorted(set(trigger.contracts) - set(there))
        if strange:
            raise InputError(
                f"{strange[0]!r} is not a contract of the default branch",
                f"There are: {', '.join(there[:20]) or 'none yet'}.",
            )
        items = [
            self._item(path, commit, regenerate=trigger.regenerate)
            for path in trigger.contracts or there
        ]
        return tuple(items) or Ignored(Reason.NO_CONTRACT)

    def _item(self, path: str, commit: str, regenerate: bool = False) -> Item:
        read = read_contract_of(self._repository, commit, path)
        return self._judged(read, commit, 0, 0, regenerate)

    def _judged(self, read: Read, commit: str, at: int, order: int, regenerate: bool) -> Item:
        key, words = key_of(read.path), ""
        if read.task is not None:
            words = self._taken(read.path, read.task, commit)
        good = read.task is not None and not words
        deed = Deed.PROPOSE if good else Deed.REFUSE
        return Item(deed, key, read, at, order, regenerate, words=words)

    def _taken(self, path: str, task: TaskName, commit: str) -> str:
        """Why a task's name is not free; two contracts would overwrite each other's branch."""
        for other, owner in self._tasks(commit).items():
            if other != path and owner == task:
                return (
                    f"{other} is the contract of {task} already: give this one another "
                    "workflow or task, or change that one."
                )
        pull = self._forge.find(task.branch)
        block = read_hidden_block(pull.draft.body) if pull else None
        if pull and block and pull.state is PullState.OPEN and block["contract"] != path:
            return (
                f"pull request #{pull.number} is about another contract of {task}: "
                "close it, or give this one another name."
            )
        return ""

    def _tasks(self, commit: str) -> dict[str, TaskName | None]:
        """Whose contracts a commit has, read once."""
        if commit not in self._known:
            paths = contract_paths(self._repository, commit, self._settings.contracts)
            self._known[commit] = {
                path: read_contract_of(self._repository, commit, path).task for path in paths
            }
        return self._known[commit]

    def _closings(self, trigger: Push, gone: Iterable[str]) -> list[Item]:
        kept = set(self._tasks(trigger.after).values())
        items = []
        for path in gone:
            read = read_contract_of(self._repository, trigger.before, path)
            if read.task is not None and read.task not in kept:
                items.append(Item(Deed.CLOSE, key_of(path), read, branch=read.task.branch))
        return items

    def _order_on_pull(self, trigger: Ordered, again: bool) -> Item:
        pull = self._forge.get(trigger.number)
        block = read_hidden_block(pull.draft.body)
        if task_of_branch(pull.draft.branch) is None or block is None:
            return _answer(trigger, "This pull request is not one of the bot's.")
        path = str(block["contract"])
        base = self._repository.base().commit
        at = base if self._repository.read(base, path) is not None else pull.draft.head
        if not self._repository.commit_of(at):
            return _answer(trigger, "The branch of this pull request is not there any more.")
        read = read_contract_of(self._repository, at, path)
        if read.task is not None and read.task.branch != pull.draft.branch:
            return _answer(trigger, "Its contract belongs to another branch by now.")
        return self._judged(read, base, trigger.number, trigger.comment_id, again)


_COMMANDS = (
    "The commands are `/stratwright retry` (run the line again), `/stratwright regenerate` "
    "(propose again what was closed) and, under a pull request, `/stratwright explain` (what the "
    "gates said). A command stands on the first line of a comment, alone."
)


def _answer(trigger: Ordered, words: str) -> Item:
    key = key_of(f"comment {trigger.comment_id}")
    return Item(Deed.ANSWER, key, at=trigger.number, order=trigger.comment_id, words=words)


def key_of(name: str) -> str:
    """Twelve hex digits: safe in file names, job names and outputs, whatever the name says."""
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:12]


@dataclass(frozen=True)
class Matrix:
    """The jobs to start: those that build, and those that write."""

    build: tuple[tuple[str, ...], ...]
    write: tuple[tuple[str, ...], ...]


def make_matrix(items: Iterable[Item]) -> Matrix:
    """Spread the items over jobs: one each, and more only where GitHub has no more jobs to give."""
    work = list(items)
    build = spread([item.key for item in work if item.deed is Deed.PROPOSE], _MOST_PROPOSALS)
    others = [item.key for item in work if item.deed is not Deed.PROPOSE]
    return Matrix(build, (*build, *spread(others, MOST_JOBS - _MOST_PROPOSALS)))


def spread(keys: list[str], most: int) -> tuple[tuple[str, ...], ...]:
    """Deal keys out into at most so many heaps."""
    return tuple(tuple(keys[start::most]) for start in range(min(most, len(keys))))
