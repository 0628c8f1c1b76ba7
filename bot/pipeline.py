"""The line: a contract to a plan, a candidate, verdicts, evidence, a branch, a pull request."""

import logging
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot import __version__
from bot.bus.port import Bus, Event, EventName, timestamp
from bot.coder.port import Candidate, Coder, Failure
from bot.contract.digest import contract_digest
from bot.contract.language import Program
from bot.contract.load import LoadedContract, load_contract
from bot.contract.model import Contract
from bot.contract.program import compile_contract
from bot.contract.warmup import warmup
from bot.earlier import find_earlier_version, refuse_other_contract
from bot.errors import InputError, StratwrightError
from bot.evidence import Evidence, Origin, read_gates
from bot.forge.port import Draft, Forge, PullRequest, PullState
from bot.gates.examination import Examination, examine
from bot.gates.port import Case, Verdict
from bot.git.proposal import Proposal, Proposed, State, TagTaken
from bot.identity import TaskName, correlation_id
from bot.logs import correlated
from bot.market_data import MarketData, read_market_data
from bot.memory import Memory
from bot.places import path_in_repository
from bot.plan import TodoList, make_plan, planned_files
from bot.repository import Repository
from bot.sealing import Sealed, commit_message, seal
from bot.targets import Delivery, decide_delivery
from bot.trial import USUAL_LIMITS, Limits
from bot.verification import verify
from bot.written import write_files
from sandbox_runner.port import Sandbox

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Workshop:
    """The edges that a line works with.

    Attributes:
        freqtrade: the folder of packages with Freqtrade; None if it is not installed.
        require_targets: whether a target that cannot be proven here stops the line.
        memory: answers of the sandbox that are not asked for again; None to ask always.
        say: shows one line of progress.
        at: told each boundary between steps; the tests end the process there.
    """

    repository: Repository
    forge: Forge
    bus: Bus
    coder: Coder
    sandbox: Sandbox
    mypy_cache: Path | None = None
    regenerate: bool = False
    limits: Limits = USUAL_LIMITS
    freqtrade: Path | None = None
    require_targets: bool = False
    memory: Memory | None = None
    say: Callable[[str], None] = lambda line: None
    at: Callable[[str], None] = lambda step: None
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


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


@dataclass(frozen=True)
class Commission:
    """A contract taken on: everything that decides the outcome, before anything is written.

    Attributes:
        delivery: which of its targets are delivered.
        fuller_id: the name of the run that would deliver all of them, where this one does not.
    """

    contract: Contract
    program: Program
    data: MarketData
    origin: Origin
    plan: TodoList
    delivery: Delivery = field(default_factory=Delivery)
    fuller_id: str = ""
    task: TaskName = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "task", TaskName(self.contract.workflow, self.contract.task))


def run_line(path: Path, shop: Workshop) -> Result:
    """Take a contract through the whole line; running it again changes nothing.

    Raises:
        StratwrightError: the input, the world or a safety rule stopped it.
    """
    work = take_on(load_contract(path), shop)
    with correlated(work.origin.correlation_id), shop.repository.lock(work.task, on_wait=shop.say):
        earlier, tag = find_earlier(work, shop)
        if earlier is not None:
            return earlier
        publish(shop, work, EventName.TASK_DISPATCHED, {"plan": [t.id for t in work.plan.todos]})
        try:
            return _rounds(work, tag, shop)
        except StratwrightError as error:
            # Or `status` would call it running for ever.
            with suppress(StratwrightError):
                publish(shop, work, EventName.TODO_CREATED, {"mend": [error.message]})
            raise


def _rounds(work: Commission, tag: str, shop: Workshop) -> Result:
    """Write and prove, as often as the coder may, then propose or stop."""
    failures: tuple[Failure, ...] = ()
    while True:
        candidate = write(work, shop, failures)
        examination = prove(work, candidate, shop)
        kept = work.delivery.kept(work.contract, candidate)
        sealed = seal_with_earlier(work, kept, examination, tag, shop)
        shop.at("sealed")
        if sealed.evidence.passed:
            publish(shop, work, EventName.TEST_PASSED, {"gates": len(examination.verdicts)})
            done = propose(work, kept, sealed, tag, shop)
            return replace(done, remembered=examination.remembered)
        failures = (*failures, refuse(work, candidate, sealed.evidence, shop))
        if len(failures) >= shop.coder.rounds:
            stopped = blocked(work, sealed.evidence, shop)
            return replace(stopped, remembered=examination.remembered)


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
    program = compile_contract(contract)
    shop.say(f"{contract.workflow}/{contract.task}: reading {contract.data.source} candles")
    data = read_market_data(contract, shop.repository.root, say=shop.say)
    refuse_other_candles(data, shop.repository)
    path = path_in_repository(loaded.path, shop.repository.root)
    digest = contract_digest(contract)
    parts = (shop.repository.repository_id, path, digest, data.digest)
    name = correlation_id(*parts, delivery.generator(__version__))
    whole = Delivery(freqtrade=True).generator(__version__) if delivery.notes else ""
    plan = make_plan(contract, path, warmup(program))
    return Commission(
        contract,
        program,
        data,
        Origin(name, path, digest, loaded.data),
        plan,
        delivery,
        correlation_id(*parts, whole) if whole else "",
    )


def refuse_other_candles(data: MarketData, repository: Repository) -> None:
    """Stop if the base has other candles: the tag would hold them, and not what was proven.

    Raises:
        InputError: a file of candles here differs from the base's.
    """
    base = repository.base()
    for path, content in data.contents.items():
        held = repository.read(base.commit, path)
        if held not in (None, content):
            message = f"{path} here is not the one of {base.branch or base.commit[:12]}"
            hint = "Commit and push the candles first, or take your change to them back."
            raise InputError(message, hint)


def find_earlier(work: Commission, shop: Workshop) -> tuple[Result | None, str]:
    """What an earlier run of the same contract delivered whole; else the tag to deliver under.

    A run that died between the push and the pull request has left its tag: this one goes on under
    the same name. Only what a pull request was opened for is done.
    """
    name, repository = work.origin.correlation_id, shop.repository
    pull = last = shop.forge.find(work.task.branch)
    refuse_other_contract(pull, work.origin.contract_path, work.task, repository)
    if pull is not None and work.fuller_id and work.fuller_id == pull.draft.correlation_id:
        # A machine that can prove less does not take back what one that can prove more proposed.
        found = find_earlier(fuller(work), shop)
        if found[0] is not None:
            return found
    if pull is not None and pull.draft.correlation_id != name:
        pull = None
    if shop.regenerate:
        return None, another_tag(work, pull, repository)
    tag = repository.delivered(work.task, name)
    commit = believe(tag, repository) if tag else ""
    if last is not None and last.state is PullState.CLOSED and (pull or last.draft.head == commit):
        closed = Proposed(State.UNCHANGED, work.task, tag, commit, "")
        verdicts = sealed_verdicts(repository, closed, work.delivery.notes)
        return finished(work, closed, last, "unchanged", verdicts), tag
    if not tag:
        return None, work.task.tag(name)
    done = repository.resume(work.task, name, repository.base())
    if done is None:
        return None, repository.next_tag(work.task, name)
    told = pull is not None and pull.draft.tag == done.tag
    if told or done.state is State.MERGED:
        verdicts = sealed_verdicts(repository, done, work.delivery.notes)
        return finished(work, done, pull, "unchanged", verdicts), done.tag
    return None, done.tag


def believe(tag: str, repository: Repository) -> str:
    """The commit of a tag that an earlier run made, once its evidence has been computed again.

    Raises:
        TagTaken: the evidence does not hold; anybody who may push can make a tag.
    """
    commit = repository.commit_of(f"refs/tags/{tag}")
    wrong = [finding for finding in verify(tag, repository) if not finding.holds]
    if wrong:
        raise TagTaken(tag, commit, f"{wrong[0].name}: {wrong[0].detail}".rstrip(": "))
    return commit


def fuller(work: Commission) -> Commission:
    """The same contract with all its targets delivered."""
    origin = replace(work.origin, correlation_id=work.fuller_id)
    return replace(work, origin=origin, delivery=Delivery(freqtrade=True), fuller_id="")


def another_tag(work: Commission, pull: PullRequest | None, repository: Repository) -> str:
    """The tag of one more candidate; the newest one again if no pull request tells of it yet."""
    name = work.origin.correlation_id
    tag = repository.next_tag(work.task, name)
    _, attempt = work.task.attempt(tag) or (name, 1)
    newest = work.task.tag(name, attempt - 1) if attempt > 1 else ""
    return newest if pull is not None and newest not in ("", pull.draft.tag) else tag


def write(work: Commission, shop: Workshop, failures: tuple[Failure, ...]) -> Candidate:
    """Let the coder write a candidate."""
    shop.say(f"{work.task}: writing the strategy and its tests")
    publish(shop, work, EventName.CODER_INVOKED, {"round": len(failures) + 1})
    candidate = shop.coder.write(work.contract, work.origin.contract_path, failures)
    publish(shop, work, EventName.CODER_COMPLETE, {"files": sorted(candidate.files)})
    shop.at("written")
    return candidate


def prove(work: Commission, candidate: Candidate, shop: Workshop) -> Examination:
    """Let every gate judge the candidate; its code runs in the sandbox and nowhere else."""
    planned = planned_paths(work)
    examination = examine(
        work.contract,
        work.program,
        Case(candidate.contents, planned),
        work.data,
        work.origin.correlation_id,
        shop.sandbox,
        shop.mypy_cache,
        lambda part: shop.say(f"{work.task}: {part} done"),
        shop.limits,
        work.delivery,
        shop.memory,
    )
    shop.at("proven")
    return examination


def seal_with_earlier(
    work: Commission, candidate: Candidate, examination: Examination, tag: str, shop: Workshop
) -> Sealed:
    """Write the evidence, and compare the trades with those of the base branch's version."""
    base = shop.repository.base().commit
    earlier = find_earlier_version(shop.repository, base, work.task, work.data)
    return seal(
        work.contract,
        work.program,
        work.origin,
        candidate,
        work.data,
        examination,
        tag,
        earlier,
        work.delivery,
    )


def planned_paths(work: Commission) -> frozenset[str]:
    """The files that the plan gave to the candidate."""
    return frozenset(planned_files(work.contract))


def propose(
    work: Commission, candidate: Candidate, sealed: Sealed, tag: str, shop: Workshop
) -> Result:
    """Commit candidate and evidence, push branch and tag, open or update the pull request."""
    evidence, base = sealed.evidence, shop.repository.base()
    files = candidate.contents
    files |= {f"{evidence.folder}/{name}": data for name, data in evidence.files.items()}
    files[work.origin.contract_path] = work.origin.contract_bytes
    message, trailers = commit_message(work.contract, work.origin, candidate, evidence.digest)
    proposal = Proposal(work.task, tag, base, files, message, trailers, (evidence.folder,))
    try:
        done = shop.repository.propose(proposal, shop.at)
    except TagTaken:
        # An earlier run on another base, or somebody else's that was quicker: if it holds.
        shop.repository.delivered(work.task, work.origin.correlation_id)
        done = shop.repository.propose(proposal, shop.at, believe(tag, shop.repository))
    publish(shop, work, EventName.ARTIFACT_COMMITTED, {"commit": done.commit, "tag": done.tag})
    shop.at("committed")
    draft = Draft(
        branch=work.task.branch,
        base=base.branch,
        base_commit=base.commit,
        head=done.commit,
        tag=done.tag,
        correlation_id=work.origin.correlation_id,
        title=f"{work.contract.name}: {work.task}",
        body=sealed.body,
    )
    pull = shop.forge.submit(draft, reopen=shop.regenerate)
    shop.at("submitted")
    if pull.state is PullState.OPEN:
        publish(shop, work, EventName.PR_OPENED, {"number": pull.number})
    return finished(work, done, pull, "proposed", evidence.verdicts)


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


def sealed_verdicts(
    repository: Repository, done: Proposed, notes: tuple[str, ...]
) -> tuple[Verdict, ...]:
    """What the gates said of a delivered candidate, as its commit has it; empty if unreadable."""
    if not repository.commit_of(done.commit):
        return ()
    content = repository.read(done.commit, f"artifacts/{done.task}/gates.json")
    try:
        return () if content is None else read_gates(content, notes)
    except ValueError:
        return ()


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
