"""Finds the work that a trigger asks for: contracts to propose, refuse or close, or an answer.

Every job computes this from the event and the base branch; nothing of it is handed on. Which
contracts changed is read from Git. GitHub is asked about pull requests: the plan lists the open
ones, page by page; the other jobs ask only about what they were given to do.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

from bot.errors import InputError
from bot.forge.port import PullRequest, PullRequests, PullState
from bot.forge.reasons import Ignored, Reason
from bot.forge.trigger import CommandGiven, DeployAsked, Dispatched, FormFiled, Push, Trigger
from bot.git.identity import TaskName, task_of_branch
from bot.git.repository import Repository
from bot.proof.assignment import Answers
from bot.report.hidden_block import read_hidden_block
from bot.settings import DEPLOY_WORKFLOW, Settings
from bot.workflow.contracts import (
    Change,
    Read,
    changed_contracts,
    contract_paths,
    is_contract,
    is_form_path,
    read_contract,
    read_contract_of,
)
from bot.workflow.drafts import DIGEST, edited_text, find_draft, signed_draft
from bot.workflow.form import OPEN_THE_FORM, contract_from_form, contract_path
from bot.workflow.items import Action, Item, key_of
from bot.workflow.prefill import prefilled
from bot.workshop import may_ask

DEPLOY_VERBS = ("approve", "halt", "rollback")


def make_work(
    trigger: Trigger,
    repository: Repository,
    forge: PullRequests,
    settings: Settings,
    keys: Collection[str] | None = None,
) -> tuple[Item, ...] | Ignored:
    """Find out what a trigger asks for; who may ask was settled before.

    With `keys` only these items are given, and GitHub is asked about no others.
    """
    planner = _Planner(repository, forge, settings)
    if isinstance(trigger, Push):
        return planner.push(trigger, keys)
    if isinstance(trigger, FormFiled):
        item = planner.settled(planner.form(trigger.number, trigger.body))
        if item.asks and not trigger.labelled:
            # GitHub tells the label of a new issue by an event of its own: a model is paid once.
            return Ignored(Reason.NOT_OUR_ACTION, "the event of the label asks the model")
        return (item,)
    if isinstance(trigger, DeployAsked):
        return Ignored(Reason.DEPLOYS)
    if isinstance(trigger, CommandGiven):
        if trigger.verb in DEPLOY_VERBS and planner.deploys():
            return Ignored(Reason.DEPLOYS)
        return (planner.settled(planner.command(trigger)),)
    return planner.dispatch(trigger, keys)


class _Planner:
    def __init__(self, repository: Repository, forge: PullRequests, settings: Settings) -> None:
        self._repository = repository
        self._forge = forge
        self._settings = settings
        self._reads: dict[tuple[str, str], Read] = {}
        self._known: dict[str, dict[str, TaskName | None]] = {}

    def push(self, trigger: Push, keys: Collection[str] | None) -> tuple[Item, ...] | Ignored:
        """Contracts that arrived, changed or went away."""
        after, folder = trigger.after, self._settings.contracts
        if not self._repository.commit_of(after):
            return Ignored(Reason.PUSH_REPLACED, after[:12])
        change = changed_contracts(self._repository, trigger.before, after, folder)
        if keys is None:
            return self._whole_push(trigger, change)
        own = [path for path in change.changed if key_of(path) in keys]
        items = [self.settled(self._item(path, after)) for path in own]
        if set(keys) - {item.key for item in items}:
            closings = self._closings(trigger, change, self._forge.pulls(only_open=True))
            items += [item for item in closings if item.key in keys]
        return tuple(items)

    def _whole_push(self, trigger: Push, change: Change) -> tuple[Item, ...] | Ignored:
        if not change.changed and not change.gone and change.comparable:
            return Ignored(Reason.NO_CONTRACT)
        pulls = self._forge.pulls(only_open=True)
        items = [self.settled_by(self._item(path, trigger.after), pulls) for path in change.changed]
        items += self._closings(trigger, change, pulls)
        return tuple(items) or Ignored(Reason.NO_CONTRACT, "and there is no pull request to close")

    def settled(self, item: Item) -> Item:
        """An item with GitHub asked whether its task's name is free."""
        if item.action is not Action.PROPOSE or item.read is None or item.read.task is None:
            return item
        pull = self._forge.find(item.read.task.branch)
        return self._settled(item, item.read.task, pull)

    def settled_by(self, item: Item, pulls: Iterable[PullRequest]) -> Item:
        """The same, by a list of open pull requests."""
        if item.action is not Action.PROPOSE or item.read is None or item.read.task is None:
            return item
        branch = item.read.task.branch
        found = [pull for pull in pulls if pull.draft.branch == branch]
        return self._settled(item, item.read.task, found[-1] if found else None)

    def _settled(self, item: Item, task: TaskName, pull: PullRequest | None) -> Item:
        """Refuse an item whose task an open pull request holds for another contract."""
        block = read_hidden_block(pull.draft.body) if pull else None
        if pull is None or block is None or pull.state is not PullState.OPEN:
            return item
        other = str(block["contract"])
        if other == item.path or self._left(item.commit, other, task):
            return item
        words = (
            f"pull request #{pull.number} is about another contract of {task}: "
            "close it, or give this one another name."
        )
        return replace(item, action=Action.REFUSE, words=words)

    def _left(self, commit: str, path: str, task: TaskName) -> bool:
        """Whether a contract does not hold a task any more: moved away, or made another's."""
        there = self._tasks(commit)
        if path in there:
            return there[path] not in (None, task)
        return self._gone(commit, path)

    def _gone(self, commit: str, path: str) -> bool:
        """Whether a contract is not there, and not because it waits in a form's pull request."""
        if path in self._tasks(commit):
            return False
        if not is_form_path(path, self._settings.contracts):
            return True
        return bool(self._repository.git.run("log", "-1", "--format=%H", commit, "--", path).text)

    def form(self, number: int, body: str, comment: int = 0, regenerate: bool = False) -> Item:
        """The contract that an issue's answers ask for."""
        path = contract_path(number, self._settings.contracts)
        try:
            text = contract_from_form(number, body, path).text
        except InputError as error:
            words = f"{error.message}. {error.hint}".strip()
            prose = words.endswith(OPEN_THE_FORM)
            asks = prose and body.strip() and may_ask(self._settings.coder)
            return Item(
                Action.DRAFT if asks else Action.REFUSE,
                key_of(path),
                at=number,
                comment=comment,
                regenerate=regenerate,
                words=words,
                commit=self._repository.base().commit,
                text=body,
                prefilled=prefilled(body) if prose else "",
            )
        read = read_contract(path, text.encode(), self._repository.root)
        return self._judged(read, self._repository.base().commit, number, comment, regenerate)

    def command(self, trigger: CommandGiven) -> Item:
        """What a command asks for."""
        known = _COMMANDS.get(trigger.verb)
        if known is None:
            return _answer(trigger, _help(), Reason.NO_SUCH_COMMAND)
        if trigger.argument and known.about and not known.takes_word:
            words = f"Nothing was done: more words stand beside the command. {_help()}"
            return _answer(trigger, words, Reason.NO_SUCH_COMMAND)
        return known.carry_out(self, trigger)

    def retry(self, trigger: CommandGiven) -> Item:
        """Run the line again, or propose again what was closed."""
        again = trigger.verb == "regenerate"
        if trigger.on_pull_request:
            return self._retry_pull(trigger, again)
        if not trigger.issue_body:
            words = f"This issue does not carry the label “{self._settings.label}”."
            return _answer(trigger, words, Reason.NOT_OUR_LABEL)
        return self.form(trigger.number, trigger.issue_body, trigger.comment_id, again)

    def accept(self, trigger: CommandGiven) -> Item:
        """Make a drafted contract, or the edited one below the command, the issue's own."""
        if trigger.on_pull_request or not trigger.issue_body:
            words = "`/stratwright accept` works under the issue that was drafted."
            return _answer(trigger, words, Reason.NO_SUCH_COMMAND)
        good = DIGEST.fullmatch(trigger.argument)
        found = find_draft(self._repository, trigger.argument) if good else None
        draft, issue = (found.draft, found.issue) if found else (None, None)
        if draft is None or issue is None or issue.number != trigger.number:
            words = "No draft of this issue has that digest; nothing was done."
            return _answer(trigger, words, Reason.NO_SUCH_DRAFT)
        try:
            text = edited_text(trigger.below) or draft.text
        except InputError as error:
            words = f"Nothing was done: {error.message}. {error.hint}"
            return _answer(trigger, words, Reason.BAD_INPUT)
        path = contract_path(trigger.number, self._settings.contracts)
        read = read_contract(path, text.encode(), self._repository.root)
        base = self._repository.base().commit
        return self._judged(read, base, trigger.number, trigger.comment_id, False)

    def explain(self, trigger: CommandGiven) -> Item:
        """Answer with what the gates said."""
        if trigger.on_pull_request:
            return _answer(trigger, "explain")
        words = "`/stratwright explain` works under a pull request of the bot."
        return _answer(trigger, words, Reason.NO_SUCH_COMMAND)

    def deploys(self) -> bool:
        """Say whether the repository has the workflow that deploys, halts and rolls back."""
        base = self._repository.base().commit
        return self._repository.objects.entry(base, DEPLOY_WORKFLOW) is not None

    def not_available(self, trigger: CommandGiven) -> Item:
        """Answer that the repository does not have what a command needs."""
        words = (
            f"`/stratwright {trigger.verb}` is not set up here: `stratwright init --deploy` writes "
            "the workflow that does it. A person's own key works without: `stratwright approve`, "
            "`halt` and `rollback` at a terminal. Nothing was changed."
        )
        return _answer(trigger, words, Reason.NOT_AVAILABLE)

    def dispatch(
        self, trigger: Dispatched, keys: Collection[str] | None
    ) -> tuple[Item, ...] | Ignored:
        """The contracts that were named, or all."""
        commit = self._repository.base().commit
        there = contract_paths(self._repository, commit, self._settings.contracts)
        strange = sorted(set(trigger.contracts) - set(there))
        if strange:
            raise InputError(
                f"{strange[0]!r} is not a contract of the default branch",
                f"There are: {', '.join(there[:20]) or 'none yet'}.",
            )
        named = dict.fromkeys(trigger.contracts or there)
        if keys is not None:
            own = [path for path in named if key_of(path) in keys]
            return tuple(self.settled(self._item(path, commit, trigger.regenerate)) for path in own)
        if not named:
            return Ignored(Reason.NO_CONTRACT)
        pulls = self._forge.pulls(only_open=True)
        return tuple(
            self.settled_by(self._item(path, commit, trigger.regenerate), pulls) for path in named
        )

    def _item(self, path: str, commit: str, regenerate: bool = False) -> Item:
        return self._judged(self._read(commit, path), commit, 0, 0, regenerate)

    def _read(self, commit: str, path: str) -> Read:
        """A contract of a commit, read once."""
        if (commit, path) not in self._reads:
            self._reads[commit, path] = read_contract_of(self._repository, commit, path)
        return self._reads[commit, path]

    def _judged(self, read: Read, commit: str, at: int, comment: int, regenerate: bool) -> Item:
        words = ""
        if read.task is not None:
            words = self._taken(read.path, read.task, commit)
        fits = read.task is not None and not words and (not read.is_open or self._may_ask(read))
        action = Action.PROPOSE if fits else Action.REFUSE
        item = Item(
            action, key_of(read.path), read, at, comment, regenerate, words=words, commit=commit
        )
        return replace(item, answers=self._drafted(read)) if at else item

    def _drafted(self, read: Read) -> Answers | None:
        """What a model said where it drafted this very text and the bot signed that."""
        if not is_form_path(read.path, self._settings.contracts) or read.loaded is None:
            return None
        digest = hashlib.sha256(read.data).hexdigest()
        return signed_draft(self._repository, digest, self._settings.coder.signers)

    def _may_ask(self, read: Read) -> bool:
        """Whether settings and contract let a model say what the contract's prose means."""
        wanted = read.loaded is not None and read.loaded.strategy.coder != "template"
        return wanted and may_ask(self._settings.coder)

    def _taken(self, path: str, task: TaskName, commit: str) -> str:
        """Why a task's name is not free; two contracts would overwrite each other's branch."""
        for other, owner in self._tasks(commit).items():
            if other != path and owner == task:
                return (
                    f"{other} is the contract of {task} already: give this one another "
                    "workflow or task, or change that one."
                )
        return ""

    def _tasks(self, commit: str) -> dict[str, TaskName | None]:
        """Whose contracts a commit has, read once."""
        if commit not in self._known:
            paths = contract_paths(self._repository, commit, self._settings.contracts)
            self._known[commit] = {path: self._read(commit, path).task for path in paths}
        return self._known[commit]

    def _closings(self, trigger: Push, change: Change, pulls: Iterable[PullRequest]) -> list[Item]:
        """Open pull requests whose contract the push deleted, or made into another task's."""
        there, former = self._tasks(trigger.after), self._former(trigger, change)
        items = []
        for pull in pulls:
            branch, task = pull.draft.branch, task_of_branch(pull.draft.branch)
            block = read_hidden_block(pull.draft.body)
            path = str(block["contract"]) if block else former.get(branch, "")
            known = is_contract(path, self._settings.contracts)
            if task is None or not known or task in there.values():
                continue
            gone = path in change.gone or (
                not change.comparable and self._gone(trigger.after, path)
            )
            successor = there.get(path) if path in change.changed else None
            if gone or successor is not None:
                key, words = key_of(f"close {branch}"), str(successor or "")
                read = Read(path, b"", None)
                items.append(
                    Item(Action.CLOSE, key, read, branch=branch, words=words,
                         commit=trigger.after, number=pull.number)
                )  # fmt: skip
        return items

    def _former(self, trigger: Push, change: Change) -> dict[str, str]:
        """The branches of the contracts that a push touched, as they were before it."""
        if not change.comparable:
            return {}
        reads = [self._read(trigger.before, path) for path in (*change.gone, *change.changed)]
        return {read.task.branch: read.path for read in reads if read.task is not None}

    def _retry_pull(self, trigger: CommandGiven, again: bool) -> Item:
        pull = self._forge.get(trigger.number)
        block = read_hidden_block(pull.draft.body)
        if task_of_branch(pull.draft.branch) is None or block is None:
            words = "This pull request is not one of the bot's."
            return _answer(trigger, words, Reason.NOT_OUR_PULL)
        path = str(block["contract"])
        base = self._repository.base().commit
        if not is_contract(path, self._settings.contracts):
            words = "This pull request does not name a contract of the repository."
            return _answer(trigger, words, Reason.NOT_OUR_PULL)
        if self._gone(base, path):
            words = "Its contract was deleted from the default branch; put it back."
            return _answer(trigger, words, Reason.CONTRACT_GONE)
        at = base if self._repository.read(base, path) is not None else pull.draft.head
        if not self._repository.commit_of(at):
            words = "The branch of this pull request is not there any more."
            return _answer(trigger, words, Reason.CONTRACT_GONE)
        read = self._read(at, path)
        if read.task is not None and read.task.branch != pull.draft.branch:
            words = "Its contract belongs to another branch by now."
            return _answer(trigger, words, Reason.NOT_OUR_PULL)
        return self._judged(read, base, trigger.number, trigger.comment_id, again)


@dataclass(frozen=True)
class _Command:
    """A command of comments."""

    carry_out: Callable[[_Planner, CommandGiven], Item]
    about: str = ""  # what it does, in a few words; empty if it is not available yet
    on_pulls: bool = False  # whether it works under pull requests only
    takes_word: bool = False  # whether a word stands beside it


_COMMANDS = {
    "retry": _Command(_Planner.retry, "run the line again"),
    "regenerate": _Command(_Planner.retry, "propose again what was closed"),
    "accept": _Command(_Planner.accept, "make a draft the contract", takes_word=True),
    "explain": _Command(_Planner.explain, "what the gates said", on_pulls=True),
    "approve": _Command(_Planner.not_available),
    "halt": _Command(_Planner.not_available),
    "rollback": _Command(_Planner.not_available),
}
"""Every command, a row each."""


def _help() -> str:
    said = {
        on_pulls: ", ".join(
            f"`/stratwright {verb}` ({each.about})"
            for verb, each in _COMMANDS.items()
            if each.about and each.on_pulls is on_pulls
        )
        for on_pulls in (False, True)
    }
    return (
        f"The commands are {said[False]} and, under a pull request, {said[True]}. "
        "A command stands on the first line of a comment, alone."
    )


def _answer(trigger: CommandGiven, words: str, reason: Reason | None = None) -> Item:
    """An answer to a command; with the code of the reason where it is not carried out."""
    key = key_of(f"comment {trigger.comment_id}")
    told = f"{words} [{reason}]" if reason else words
    return Item(Action.ANSWER, key, at=trigger.number, comment=trigger.comment_id, words=told)
