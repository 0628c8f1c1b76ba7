"""Finds what an earlier run, or somebody else, put under the names of an assignment."""

from dataclasses import dataclass

from bot.contract.load import load_contract
from bot.errors import InputError, WorldError
from bot.forge.port import PullRequest, PullState
from bot.git.identity import TaskName
from bot.git.repository import Repository
from bot.proof.assignment import Assignment
from bot.proof.edges import Workshop
from bot.report.hidden_block import read_hidden_block


@dataclass(frozen=True)
class Earlier:
    """Says what is under a contract's name, by its words alone; none of it is trusted."""

    tag: str  # the name to deliver under
    # The newest pull request of the branch, whoever made it and whatever it says.
    pull: PullRequest | None = None
    claimed: bool = False  # whether that pull request says that it proposes this very run
    # Whether a person closed it unmerged. A no is obeyed without proof, because all that follows
    # from it is that nothing is proposed.
    closed: bool = False
    # The newest tag, where one more candidate is asked for and that pull request is open with the
    # newest already.
    shown: str = ""

    def merged_as(self, commit: str, repository: Repository) -> bool:
        """Say whether the pull request was merged into the base, with a commit in its head."""
        pull = self.pull
        if pull is None or pull.state is not PullState.MERGED:
            return False
        if pull.draft.base != repository.base().branch:
            return False
        head = repository.commit_of(pull.draft.head)
        return bool(head) and repository.is_in(commit, head)

    def shows(self, tag: str) -> bool:
        """Say whether the pull request is about a tag."""
        return self.pull is not None and self.pull.draft.tag == tag

    def showed_before(self, tag: str) -> str:
        """Name the tag that the pull request showed before a tag, as its text says.

        A closed one counts: a run that dies between reopening it and writing its text is followed
        by one that finds it open.
        """
        block = read_hidden_block(self.pull.draft.body) if self.pull is not None else None
        if block is None or self.pull is None or self.pull.state is PullState.MERGED:
            return ""
        return str(block.get("previous", "") if block["tag"] == tag else block["tag"])

    def is_same(self, pull: PullRequest) -> bool:
        """Say whether a pull request said all of it before."""
        before = self.pull
        return before is not None and (before.number, before.state, before.draft) == (
            pull.number,
            pull.state,
            pull.draft,
        )


def find_earlier(work: Assignment, shop: Workshop) -> Earlier:
    """Look for what was put under the names of an assignment.

    Raises:
        InputError: an open pull request holds the task for another contract.
        WorldError: a machine that can prove more proposed more, and this one cannot check it.
    """
    name, repository = work.origin.correlation_id, shop.repository
    pull = shop.forge.find(work.task.branch)
    refuse_other_contract(pull, work.origin.contract_path, work.task, repository)
    said = pull.draft.correlation_id if pull is not None else ""
    newest = repository.delivered(work.task, name)
    if shop.regenerate:
        tag = _another_tag(work, newest, pull if said == name else None, repository)
        is_shown = pull is not None and (pull.state, said, pull.draft.tag) == (
            PullState.OPEN,
            name,
            newest,
        )
        return Earlier(tag, pull, shown=newest if is_shown else "")
    tag = newest or work.task.tag(name)
    if pull is None:
        return Earlier(tag)
    commit = repository.commit_of(f"refs/tags/{newest}") if newest else ""
    ours = said in (name, work.fuller_id or name) or pull.draft.head == commit
    if pull.state is PullState.CLOSED and ours:
        return Earlier(tag, pull, True, True)
    if work.fuller_id and said == work.fuller_id:
        # A machine that can prove less does not take back what one that can prove more proposed.
        raise WorldError(
            f"pull request #{pull.number} proposes {work.task} with its Freqtrade file, which "
            "cannot be checked here",
            "Install Freqtrade and run again; or propose the rest alone with --regenerate.",
        )
    return Earlier(tag, pull, said == name)


def _another_tag(
    work: Assignment, newest: str, pull: PullRequest | None, repository: Repository
) -> str:
    """Name the tag of one more candidate; the newest again if no pull request is about it yet."""
    if pull is not None and newest not in ("", pull.draft.tag):
        return newest
    return repository.next_tag(work.task, work.origin.correlation_id)


def refuse_other_contract(
    pull: PullRequest | None, path: str, task: TaskName, repository: Repository
) -> None:
    """Stop if an open pull request holds the task for another contract, which is still there.

    Raises:
        InputError: with both contracts and the way out.
    """
    block = read_hidden_block(pull.draft.body) if pull else None
    if pull is None or block is None or pull.state is not PullState.OPEN:
        return
    other = str(block["contract"])
    if other == path:
        return
    try:
        held = load_contract(repository.root / other, models=True).contract
    except InputError:
        return  # moved away, or a contract no more: the task is free
    if TaskName(held.workflow, held.task) == task:
        raise InputError(
            f"pull request #{pull.number} is about another contract of {task}: {other}, not {path}",
            f"Close it (stratwright pr close {pull.number}), or give one of them another task.",
        )
