"""The line: a contract to a plan, a candidate, verdicts, evidence, a branch, a pull request."""

import logging
import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bot.bus.port import Event, EventName, timestamp
from bot.coder.port import Candidate, Failure
from bot.contract.load import LoadedContract, load_contract
from bot.data.market_data import MarketData, read_market_data
from bot.errors import InputError, StratwrightError, WorldError
from bot.files import path_in_repository, write_files
from bot.forge.port import Draft, PullRequest, PullState
from bot.gates.port import Verdict
from bot.git.proposal import Proposal, Proposed, State, TagTaken
from bot.git.repository import Repository
from bot.logs import correlated
from bot.proof.comparison import Writing, find_differences
from bot.proof.earlier import refuse_other_contract
from bot.proof.evidence import PROVENANCE, Evidence, makers
from bot.proof.examination import Examination
from bot.proof.line import Commission, Workshop, name_work, planned_paths, prove, seal_on, written
from bot.proof.sealing import Sealed, commit_message
from bot.proof.targets import Delivery, decide_delivery

_log = logging.getLogger(__name__)
_MOST_NAMED = 20  # a stranger may list any number
NOTHING_NEW = "there is nothing to regenerate: one more candidate would be the same"


@dataclass(frozen=True)
class Result:
    """What became of a contract."""

    status: str
    correlation_id: str
    branch: str
    tag: str
    commit: str = ""
    pull_request: int | None = None
    gates: tuple[Verdict, ...] = ()
    artifacts: str = ""
    note: str = ""
    remembered: frozenset[str] = frozenset()

    @property
    def exit_code(self) -> int:
        """0 done or nothing to do, 1 refused by a gate."""
        return 1 if self.status == "blocked" else 0

    def to_dict(self) -> dict[str, Any]:
        """Give the result to programs."""
        return {
            "status": self.status,
            "correlation_id": self.correlation_id,
            "branch": self.branch,
            "tag": self.tag,
            "commit": self.commit,
            "pull_request": self.pull_request,
            "gates": [verdict.to_dict() for verdict in self.gates],
            "artifacts": self.artifacts,
            "note": self.note,
            "remembered": sorted(self.remembered),
        }


def run_line(path: Path, shop: Workshop) -> Result:
    """Take a contract through the whole line; running it again changes nothing.

    Raises:
        StratwrightError: the input, the world or a safety rule stopped it.
    """
    work = take_on(load_contract(path), shop)
    with correlated(work.origin.correlation_id), shop.repository.lock(work.task, on_wait=shop.say):
        earlier = find_earlier(work, shop)
        if earlier.closed:
            return stays_closed(work, earlier)
        if not earlier.claimed:
            plan = [todo.id for todo in work.plan.todos]
            publish(shop, work, EventName.TASK_DISPATCHED, {"plan": plan})
        try:
            return _rounds(work, earlier, shop)
        except StratwrightError as error:
            # Or `status` would call it running for ever.
            with suppress(StratwrightError):
                if not earlier.claimed:
                    publish(shop, work, EventName.TODO_CREATED, {"mend": [error.message]})
            raise


def _rounds(work: Commission, earlier: "Earlier", shop: Workshop) -> Result:
    """Write and prove, as often as the coder may, then propose or stop."""
    failures: tuple[Failure, ...] = ()
    while True:
        candidate = write(work, shop, failures, quiet=earlier.claimed)
        result, failure = judge_and_propose(work, candidate, earlier, shop)
        if failure is None:
            return result
        failures = (*failures, failure)
        if len(failures) >= shop.coder.rounds:
            return result


def judge_and_propose(
    work: Commission, candidate: Candidate, earlier: "Earlier", shop: Workshop
) -> tuple[Result, Failure | None]:
    """Let the gates judge a candidate; what they pass is proposed, what they refuse is kept."""
    examination = prove(work, candidate, shop)
    kept = work.delivery.kept(work.contract, candidate)
    verdicts = examination.verdicts
    failure = None
    if verdicts and all(verdict.passed for verdict in verdicts):
        if not earlier.claimed:
            publish(shop, work, EventName.TEST_PASSED, {"gates": len(verdicts)})
        result = propose(work, kept, examination, earlier, shop)
    else:
        base = shop.repository.base().commit
        sealed = seal_on(base, work, kept, examination, earlier.tag, shop.repository)
        shop.at("sealed")
        failure = refuse(work, candidate, sealed.evidence, shop)
        result = blocked(work, sealed.evidence, shop)
    return replace(result, remembered=examination.remembered), failure


def take_on(loaded: LoadedContract, shop: Workshop, delivery: Delivery | None = None) -> Commission:
    """Resolve a contract: its Program, its candles, its plan and its name.

    Args:
        loaded: the contract.
        shop: the edges.
        delivery: what an earlier job decided to deliver; else it is decided here.
    """
    contract = loaded.strategy
    if delivery is None:
        delivery = decide_delivery(contract, shop.freqtrade, strict=shop.require_targets)
    for note in delivery.notes:
        shop.say(f"{contract.workflow}/{contract.task}: {note}")
    shop.say(f"{contract.workflow}/{contract.task}: reading {contract.data.source} candles")
    data = read_market_data(contract, shop.repository.root, say=shop.say)
    for file in refuse_other_candles(data, shop.repository):
        warning = "is not in Git: commit it, or nobody else can verify what is proposed"
        shop.say(f"{contract.workflow}/{contract.task}: {file} {warning}")
    path = path_in_repository(loaded.path, shop.repository.root)
    return name_work(loaded, path, data, delivery, shop.repository)


def refuse_other_candles(data: MarketData, repository: Repository) -> tuple[str, ...]:
    """Stop if the base has other candles: the tag would hold them, and not what was proven.

    Returns:
        The files of the repository that the base does not have.

    Raises:
        InputError: a file of candles here differs from the base's.
    """
    base, absent = repository.base(), []
    for path, content in data.contents.items():
        held = repository.read(base.commit, path)
        if held is None and (repository.root / path).is_file():
            absent.append(path)
        if held not in (None, content):
            message = f"{path} here is not the one of {base.branch or base.commit[:12]}"
            hint = "Commit and push the candles first, or take your change to them back."
            raise InputError(message, hint)
    return tuple(absent)


@dataclass(frozen=True)
class Earlier:
    """What stands under a contract's name, by its words alone; none of it is believed.

    Attributes:
        tag: the name to deliver under.
        pull: the newest pull request of the branch, whoever made it and whatever it says.
        claimed: whether that pull request says that it proposes this very run.
        closed: whether a person closed it unmerged. A no is obeyed without proof, because all that
            follows from it is that nothing is proposed.
        shown: the newest tag, where one more candidate is asked for and that pull request is open
            with the newest already.
    """

    tag: str
    pull: PullRequest | None = None
    claimed: bool = False
    closed: bool = False
    shown: str = ""


def find_earlier(work: Commission, shop: Workshop) -> Earlier:
    """Look for what an earlier run, or somebody else, put under the names of this one.

    Raises:
        WorldError: a machine that can prove more proposed more, and this one cannot check it.
    """
    name, repository = work.origin.correlation_id, shop.repository
    pull = shop.forge.find(work.task.branch)
    refuse_other_contract(pull, work.origin.contract_path, work.task, repository)
    said = pull.draft.correlation_id if pull is not None else ""
    newest = repository.delivered(work.task, name)
    if shop.regenerate:
        tag = another_tag(work, newest, pull if said == name else None, repository)
        is_shown = pull is not None and (pull.state, said, pull.draft.tag) == (
            PullState.OPEN,
            name,
            newest,
        )
        return Earlier(tag, pull, shown=newest if is_shown else "")
    commit = repository.commit_of(f"refs/tags/{newest}") if newest else ""
    tag = newest or work.task.tag(name)
    if pull is None:
        return Earlier(tag)
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


def another_tag(
    work: Commission, newest: str, pull: PullRequest | None, repository: Repository
) -> str:
    """The tag of one more candidate; the newest one again if no pull request tells of it yet."""
    if pull is not None and newest not in ("", pull.draft.tag):
        return newest
    return repository.next_tag(work.task, work.origin.correlation_id)


def stays_closed(work: Commission, earlier: Earlier) -> Result:
    """What a person closed unmerged is not proposed again; nothing about it is said to hold."""
    nothing = Proposed(State.UNCHANGED, work.task, "", "", "")
    return finished(work, nothing, earlier.pull, "unchanged")


@dataclass(frozen=True)
class Compared:
    """A tag's commit that is, byte for byte, what this run writes; and what was written."""

    commit: str
    sealed: Sealed


def compare(
    work: Commission, candidate: Candidate, examination: Examination, tag: str, shop: Workshop
) -> Compared | None:
    """Compare the commit of a tag with what this run writes on the same base; None if no tag is.

    Raises:
        TagTaken: it differs, or stands on what the base branch never had; anybody who may push can
            make a tag.
    """
    repository = shop.repository
    commit = repository.commit_of(f"refs/tags/{tag}")
    if not commit:
        return None
    parents = repository.parents(commit)
    if len(parents) != 1 or not repository.is_in(parents[0], repository.base().commit):
        raise TagTaken(tag, commit, "it does not stand on a commit of the base branch")
    sealed = seal_on(parents[0], work, candidate, examination, tag, repository)
    writing = written(work, candidate, sealed, tag)
    for name, why in find_differences(writing, commit, repository):
        raise TagTaken(tag, commit, f"{name} {why}{other_makers(writing, commit, repository)}")
    return Compared(commit, sealed)


def other_makers(writing: Writing, commit: str, repository: Repository) -> str:
    """Say which product and tools a tag names that are not those of this run; empty if none."""
    path = f"{writing.folder}/{PROVENANCE}"
    named = makers(repository.read(commit, path) or b"")
    here = makers(writing.files[path])
    other = [
        f"{key if key in here else ascii(key[:40])} {named[key][:40]!a} there, "
        f"{here.get(key, 'none')} here"
        for key in sorted(named)
        if named[key] != here.get(key)
    ]
    return f"; it was made with {', '.join(other[:_MOST_NAMED])}" if other else ""


def write(
    work: Commission, shop: Workshop, failures: tuple[Failure, ...], *, quiet: bool = False
) -> Candidate:
    """Let the coder write a candidate; one that is only compared is not told to the bus."""
    shop.say(f"{work.task}: writing the strategy and its tests")
    if not quiet:
        publish(shop, work, EventName.CODER_INVOKED, {"round": len(failures) + 1})
    candidate = shop.coder.write(work.contract, work.origin.contract_path, failures)
    if not quiet:
        publish(shop, work, EventName.CODER_COMPLETE, {"files": sorted(candidate.files)})
    shop.at("written")
    return candidate


def propose(
    work: Commission,
    candidate: Candidate,
    examination: Examination,
    earlier: Earlier,
    shop: Workshop,
) -> Result:
    """Commit candidate and evidence, push branch and tag, open or update the pull request.

    What stands there already is compared first, and gone on with only if it is the same.
    """
    repository, verdicts = shop.repository, examination.verdicts
    base = repository.base()
    same = nothing_new(work, candidate, examination, earlier, shop)
    tag, again = (earlier.shown, NOTHING_NEW) if same else (earlier.tag, "")
    same = same or compare(work, candidate, examination, tag, shop)
    if same and earlier.pull and merged_as(earlier.pull, same.commit, base.branch, repository):
        there = Proposed(State.MERGED, work.task, tag, same.commit, "")
        return finished(work, there, earlier.pull, "unchanged", verdicts)
    sealed = (
        same.sealed if same else seal_on(base.commit, work, candidate, examination, tag, repository)
    )
    shop.at("sealed")
    writing = written(work, candidate, sealed, tag)
    words = commit_message(work.contract, work.origin, candidate, sealed.evidence.digest)
    proposal = Proposal(work.task, tag, base, writing.files, *words, (writing.folder,))
    try:
        done = repository.propose(proposal, shop.at, same.commit if same else "")
    except TagTaken:
        # Somebody was quicker: gone on with if it is the same.
        repository.delivered(work.task, work.origin.correlation_id)
        same = compare(work, candidate, examination, tag, shop)
        if same is None:
            raise
        sealed, done = same.sealed, repository.propose(proposal, shop.at, same.commit)
    if done.state is State.MERGED:
        pull = earlier.pull if earlier.claimed else None
        return finished(work, done, pull, "unchanged", verdicts)
    told = earlier.pull is not None and earlier.pull.draft.tag == done.tag
    if done.state is State.PROPOSED or not told:
        publish(shop, work, EventName.ARTIFACT_COMMITTED, {"commit": done.commit, "tag": done.tag})
    shop.at("committed")
    draft = Draft(
        branch=work.task.branch,
        base=base.branch,
        base_commit=repository.parents(done.commit)[0],
        head=done.commit,
        tag=done.tag,
        correlation_id=work.origin.correlation_id,
        title=f"{work.contract.name}: {work.task}",
        body=sealed.body,
    )
    pull = shop.forge.submit(draft, reopen=shop.regenerate)
    shop.at("submitted")
    unchanged = told and done.state is State.UNCHANGED and shows_the_same(earlier.pull, pull)
    # A run that was announced is told to have ended, or `status` would call it running for ever.
    if pull.state is PullState.OPEN and not (unchanged and earlier.claimed):
        publish(shop, work, EventName.PR_OPENED, {"number": pull.number})
    done = replace(done, note="; ".join(part for part in (again, done.note) if part))
    return finished(work, done, pull, "unchanged" if unchanged else "proposed", verdicts)


def nothing_new(
    work: Commission,
    candidate: Candidate,
    examination: Examination,
    earlier: Earlier,
    shop: Workshop,
) -> Compared | None:
    """What an open pull request shows, if one more candidate would be the same on the same base."""
    if not earlier.shown:
        return None
    try:
        same = compare(work, candidate, examination, earlier.shown, shop)
    except TagTaken:
        return None  # it was made otherwise, so there is something to make anew
    repository = shop.repository
    base = repository.base().commit
    return same if same and repository.parents(same.commit) == (base,) else None


def merged_as(pull: PullRequest, commit: str, base: str, repository: Repository) -> bool:
    """Whether a pull request was merged into the base with a commit as its head, or below it."""
    if pull.state is not PullState.MERGED or pull.draft.base != base:
        return False
    head = repository.commit_of(pull.draft.head)
    return bool(head) and repository.is_in(commit, head)


def shows_the_same(before: PullRequest | None, after: PullRequest) -> bool:
    """Whether a pull request said all of it before."""
    return before is not None and (before.number, before.state, before.draft) == (
        after.number,
        after.state,
        after.draft,
    )


def finished(
    work: Commission,
    done: Proposed,
    pull: PullRequest | None,
    status: str,
    verdicts: tuple[Verdict, ...] = (),
) -> Result:
    """What stands in Git and on the forge now."""
    note = done.note
    if pull is not None and pull.state is PullState.CLOSED:
        note = f"pull request #{pull.number} was closed unmerged; --regenerate reopens it"
    elif done.state is State.MERGED:
        note = "the base branch has it already"
    return Result(
        status=status,
        correlation_id=work.origin.correlation_id,
        branch=work.task.branch,
        tag=done.tag,
        commit=done.commit,
        pull_request=pull.number if pull is not None else None,
        gates=verdicts,
        artifacts=f"artifacts/{work.task}",
        note="; ".join(part for part in (note, *work.delivery.notes) if part),
    )


def refuse(work: Commission, candidate: Candidate, evidence: Evidence, shop: Workshop) -> Failure:
    """Turn the refused verdicts into a branch todo, and keep the evidence for the reader."""
    failed = [verdict for verdict in evidence.verdicts if not verdict.passed]
    reasons = [verdict.to_dict() for verdict in failed]
    publish(shop, work, EventName.TEST_FAILED, {"gates": [verdict.name for verdict in failed]})
    publish(shop, work, EventName.TODO_CREATED, {"mend": reasons})
    planned, folder = planned_paths(work), runs_folder(shop, work)
    kept = {path: data for path, data in candidate.contents.items() if path in planned}
    kept |= {f"{evidence.folder}/{name}": data for name, data in evidence.files.items()}
    # An earlier refusal may have had files that this one has not.
    shutil.rmtree(folder, ignore_errors=True)
    write_files(folder, kept)
    shop.at("refused")
    return Failure(candidate, tuple(failed))


def blocked(work: Commission, evidence: Evidence, shop: Workshop) -> Result:
    """Every round was refused: say so with every error; nothing is pushed."""
    return Result(
        status="blocked",
        correlation_id=work.origin.correlation_id,
        branch=work.task.branch,
        tag="",
        gates=evidence.verdicts,
        artifacts=str(runs_folder(shop, work)),
        note="refused by a gate; nothing was pushed",
    )


def runs_folder(shop: Workshop, work: Commission) -> Path:
    """Where a refused candidate and its evidence stay."""
    return shop.repository.folder / "runs" / work.origin.correlation_id


def publish(shop: Workshop, work: Commission, name: EventName, data: dict[str, object]) -> None:
    """Tell the bus what happened."""
    moment = timestamp(shop.now())
    _log.info(name.value, extra={"task_name": str(work.task), "data": data})
    shop.bus.publish(
        Event(name, work.origin.correlation_id, work.task.workflow, work.task.task, moment, data)
    )
