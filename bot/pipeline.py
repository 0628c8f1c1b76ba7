"""Runs the line: contract, plan, candidate, verdicts, evidence, branch, pull request."""

import logging
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bot.bus.port import Event, EventName, timestamp
from bot.coder.constitution import ConstitutionViolated
from bot.coder.model.agent import NotAnswered
from bot.coder.model.loop import NotWritten
from bot.coder.model.prices import dollars
from bot.coder.model.prompt import asked_digest
from bot.coder.model.transcript import Transcript
from bot.coder.port import Candidate, Coder, Failure
from bot.contract.answering import prose_of
from bot.contract.load import LoadedContract
from bot.contract.model import AnyContract
from bot.data.market_data import read_market_data
from bot.errors import StratwrightError
from bot.files import path_in_repository, write_files
from bot.forge.port import Draft, PullRequest, PullState
from bot.gates.port import Verdict
from bot.git.proposal import Proposal, Proposed, State, TagTaken
from bot.logs import correlated
from bot.proof.answers import merged_answers, open_contract
from bot.proof.assignment import Answers, Assignment, assign_in
from bot.proof.comparison import compare, compare_shown, written
from bot.proof.earlier import Earlier, find_earlier
from bot.proof.edges import Ask, Workshop
from bot.proof.entries import planned_entries, wants_entries
from bot.proof.line import Proven, write_and_prove
from bot.proof.sealing import body_since, commit_message, seal_on
from bot.proof.searching import find_values, note_search
from bot.proof.sessions import keep_session
from bot.proof.targets import decide_targets

_log = logging.getLogger(__name__)
NOTHING_NEW = "there is nothing to regenerate: one more candidate would be the same"


@dataclass(frozen=True)
class Result:
    """Says what became of a contract."""

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
        gates = [verdict.to_dict() for verdict in self.gates]
        return {**vars(self), "gates": gates, "remembered": sorted(self.remembered)}


def run_line(path: Path, shop: Workshop) -> Result:
    """Take a contract through the whole line; running it again changes nothing.

    Raises:
        StratwrightError: the input, the world or a safety rule stopped it.
    """
    try:
        loaded, answers = open_contract(path, replace(shop, ask=published_ask(shop)))
    except NotAnswered as error:
        return _not_answered(error)
    return carry_out(take_on(loaded, shop, answers), shop)


def published_ask(shop: Workshop) -> Ask | None:
    """Publish that a model is asked about a contract's prose, and what came of it for how much."""
    ask = shop.ask
    if ask is None:
        return None

    def published(root: Mapping[str | int, object]) -> Transcript:
        name = f"corr_{asked_digest(root).removeprefix('sha256:')[:12]}"

        def tell(event: EventName, data: dict[str, object]) -> None:
            moment = timestamp(shop.clock.now())
            task = (str(root["workflow"]), str(root["task"]))
            _log.info(event.value, extra={"task_name": "/".join(task), "data": data})
            shop.bus.publish(Event(event, name, *task, moment, data))

        tell(EventName.CODER_INVOKED, {"coder": "agent", "rules": sorted(prose_of(root))})
        try:
            found = ask(root)
        except StratwrightError as error:
            spent = {"cost_usd": error.cost / 1e6, "turns": error.turns}
            tell(EventName.CODER_FAILED, {"coder": "agent", "error": error.message, **spent})
            tell(EventName.TODO_CREATED, {"mend": [error.message]})
            raise
        spent = {"cost_usd": found.cost / 1e6, "turns": len(found.calls)}
        tell(EventName.CODER_COMPLETE, {"coder": "agent", "model": found.model, **spent})
        return found

    return published


def _not_answered(error: NotAnswered) -> Result:
    """Say that a model was asked about a contract's prose, and what was wrong with its answers."""
    asked, cost = error.transcript.asked.removeprefix("sha256:"), dollars(error.transcript.cost)
    note = f"{error.message}\n{error.hint}\nasked {error.transcript.model}, cost {cost} US dollars"
    return Result("blocked", f"corr_{asked[:12]}", "", "", note=note)


def take_on(loaded: LoadedContract, shop: Workshop, answers: Answers | None = None) -> Assignment:
    """Resolve a contract: its Program, its candles, its plan, its targets and its name."""
    contract, repository = loaded.strategy, shop.repository
    task = f"{contract.workflow}/{contract.task}"
    targets = decide_targets(
        contract, shop.freqtrade, strict=shop.require_targets, elsewhere=shop.freqtrade_elsewhere
    )
    shop.say(f"{task}: reading {contract.data.source} candles")
    data = read_market_data(contract, repository.root, say=shop.say)
    targets = targets.without_candles(repository.absent_from_base(data.contents))
    for note in targets.notes:
        shop.say(f"{task}: {note}")
    path = path_in_repository(loaded.path, repository.root)
    told = answers or merged_answers(loaded, repository)
    loaded, searched = find_values(loaded, data, repository, shop.say)
    work = assign_in(
        repository.repository_id, loaded, path, data, targets, answers=told, searched=searched
    )
    if wants_entries(repository, repository.base().commit):
        work = replace(work, plan=planned_entries(work.plan, work.origin.correlation_id))
    return work


def carry_out(work: Assignment, shop: Workshop) -> Result:
    """Write, prove and propose an assignment; what a person closed is not proposed again.

    Raises:
        StratwrightError: the world or a safety rule stopped it.
    """
    with correlated(work.origin.correlation_id), shop.repository.lock(work.task, on_wait=shop.say):
        note_search(work.searched, shop.repository)
        earlier = find_earlier(work, shop)
        if earlier.closed:
            nothing = Proposed(State.UNCHANGED, work.task, "", "", "")
            return finished(work, nothing, earlier.pull, "unchanged")
        recalled = _recall(work, earlier, shop)
        if recalled is not None:
            return recalled
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


def _recall(work: Assignment, earlier: Earlier, shop: Workshop) -> Result | None:
    """Continue what this product wrote before from the same inputs; None if it has to run."""
    if shop.compared is None or not earlier.claimed:
        return None
    known = shop.compared.recall(work, earlier.tag, shop.repository)
    if known is None:
        return None
    if earlier.merged_as(known.commit, shop.repository):
        done = Proposed(State.MERGED, work.task, known.tag, known.commit, "")
        result = finished(work, done, earlier.pull, "unchanged", known.verdicts)
    else:
        again = shop.repository.again(work.task, known.tag, known.commit)
        if again is None:
            return None
        result = _show(work, again, known.body, known.verdicts, earlier, shop)
    return replace(result, remembered=frozenset(verdict.name for verdict in known.verdicts))


def _rounds(work: Assignment, earlier: Earlier, shop: Workshop) -> Result:
    """Write and prove, as often as the coder may; propose what passed, keep what was refused."""
    coder = _Published(work, shop.open_coder(work.contract), shop, quiet=earlier.claimed)
    told: list[str] = []
    try:
        for proven in write_and_prove(work, coder, shop.open_prover()):
            shop.at("proven")
            if proven.passed:
                if shop.kept_sessions is not None:
                    keep_session(proven.candidate, shop.kept_sessions)
                if not earlier.claimed:
                    publish(shop, work, EventName.TEST_PASSED, {"gates": len(proven.verdicts)})
                result = propose(proven, earlier, shop)
            else:
                result = refuse(proven, earlier, shop)
                told.append(f"round {len(told) + 1}: {proven.failure.summary}")
    except NotWritten as error:
        publish(shop, work, EventName.TODO_CREATED, {"mend": [error.message]})
        return _not_written(work, error, told)
    if len(told) > 1 and not proven.passed:
        result = replace(result, note="\n".join((result.note, *told)))
    return replace(result, remembered=proven.examination.remembered)


def _not_written(work: Assignment, error: NotWritten, told: list[str]) -> Result:
    """Say that a model gave no candidate, what refused those before, and what it cost."""
    cost = f"asked {error.turns} times, cost {dollars(error.cost)} US dollars; nothing was pushed"
    note, name = "\n".join((error.message, cost, *told)), work.origin.correlation_id
    return Result("blocked", name, work.task.branch, "", note=note)


@dataclass(frozen=True)
class _Published:
    """Publishes what a coder does; a candidate that is only compared is not published."""

    work: Assignment
    coder: Coder
    shop: Workshop
    quiet: bool

    @property
    def name(self) -> str:
        return self.coder.name

    @property
    def rounds(self) -> int:
        return self.coder.rounds

    def write(
        self, contract: AnyContract, contract_path: str, failures: tuple[Failure, ...] = ()
    ) -> Candidate:
        self.shop.say(f"{self.work.task}: writing the strategy and its tests")
        self._publish(EventName.CODER_INVOKED, {"round": len(failures) + 1})
        try:
            candidate = self.coder.write(contract, contract_path, failures)
        except StratwrightError as error:
            spent = {"cost_usd": error.cost / 1e6, "turns": error.turns}
            if isinstance(error, ConstitutionViolated):
                touched = {"paths": error.paths[:20], "restored": True}
                self._publish(EventName.CODER_VALIDATION_FAILED, {**touched, **spent})
            else:
                self._publish(EventName.CODER_FAILED, {"error": error.message, **spent})
            raise
        done: dict[str, object] = {"files": sorted(candidate.files)}
        if candidate.turns:
            done |= {"model": candidate.model, "turns": candidate.turns,
                     "cost_usd": candidate.cost / 1e6}  # fmt: skip
        self._publish(EventName.CODER_COMPLETE, done)
        self.shop.at("written")
        return candidate

    def _publish(self, name: EventName, data: dict[str, object]) -> None:
        if not self.quiet:
            publish(self.shop, self.work, name, data)


def propose(proven: Proven, earlier: Earlier, shop: Workshop) -> Result:
    """Commit candidate and evidence, push branch and tag, open or update the pull request.

    What is there already is compared first, and continued only if it is the same.
    """
    work, repository, verdicts = proven.work, shop.repository, proven.verdicts
    base = repository.base()
    same = compare_shown(proven, earlier.shown, repository)
    tag, again = (earlier.shown, NOTHING_NEW) if same else (earlier.tag, "")
    same = same or compare(proven, tag, repository)
    if same and earlier.merged_as(same.commit, repository):
        there = Proposed(State.MERGED, work.task, tag, same.commit, "")
        return finished(work, there, earlier.pull, "unchanged", verdicts)
    sealed = same.sealed if same else seal_on(base.commit, proven, tag, repository)
    shop.at("sealed")
    on = same.parent if same else base.commit
    writing = written(proven, sealed, tag, on, repository)
    words = commit_message(work, proven.delivered, sealed.evidence.digest)
    proposal = Proposal(work.task, tag, base, writing.files, *words, (writing.folder,))
    try:
        done = repository.propose(proposal, shop.at, same.commit if same else "")
    except TagTaken:
        # Somebody was quicker: continued if it is the same.
        repository.delivered(work.task, work.origin.correlation_id)
        same = compare(proven, tag, repository)
        if same is None:
            raise
        sealed, done = same.sealed, repository.propose(proposal, shop.at, same.commit)
    done = replace(done, note="; ".join(part for part in (again, done.note) if part))
    body = body_since(sealed, work, earlier.showed_before(done.tag), repository)
    if shop.compared is not None:
        shop.compared.keep(work, done, body, verdicts, repository)
    return _show(work, done, body, verdicts, earlier, shop)


def _show(
    work: Assignment,
    done: Proposed,
    body: str,
    verdicts: tuple[Verdict, ...],
    earlier: Earlier,
    shop: Workshop,
) -> Result:
    """Open or update the pull request of what stands in Git."""
    repository, base = shop.repository, shop.repository.base()
    if done.state is State.MERGED:
        pull = earlier.pull if earlier.claimed else None
        return finished(work, done, pull, "unchanged", verdicts)
    shown = earlier.shows(done.tag)
    if done.state is State.PROPOSED or not shown:
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
        body=body,
    )
    pull = shop.forge.submit(draft, reopen=shop.regenerate)
    shop.at("submitted")
    unchanged = shown and done.state is State.UNCHANGED and earlier.is_same(pull)
    # The end of a run that was announced is published, or `status` would call it running for ever.
    if pull.state is PullState.OPEN and not (unchanged and earlier.claimed):
        publish(shop, work, EventName.PR_OPENED, {"number": pull.number})
    return finished(work, done, pull, "unchanged" if unchanged else "proposed", verdicts)


def finished(
    work: Assignment,
    done: Proposed,
    pull: PullRequest | None,
    status: str,
    verdicts: tuple[Verdict, ...] = (),
) -> Result:
    """Say what is in Git and on the forge now."""
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
        artifacts=work.folder,
        note="; ".join(part for part in (note, *work.targets.notes) if part),
    )


def refuse(proven: Proven, earlier: Earlier, shop: Workshop) -> Result:
    """Turn the refused verdicts into a branch todo, and keep the evidence for the reader."""
    work, failed = proven.work, proven.failure.verdicts
    base = shop.repository.base().commit
    evidence = seal_on(base, proven, earlier.tag, shop.repository).evidence
    shop.at("sealed")
    publish(shop, work, EventName.TEST_FAILED, {"gates": [verdict.name for verdict in failed]})
    reasons = [verdict.to_dict() for verdict in failed]
    publish(shop, work, EventName.TODO_CREATED, {"mend": reasons})
    folder, files = shop.repository.folder / "runs" / work.origin.correlation_id, evidence.files
    kept = {p: data for p, data in proven.candidate.contents.items() if p in work.planned}
    # An earlier refusal may have had files that this one has not.
    shutil.rmtree(folder, ignore_errors=True)
    write_files(folder, kept | {f"{evidence.folder}/{name}": files[name] for name in files})
    shop.at("refused")
    return Result(
        status="blocked",
        correlation_id=work.origin.correlation_id,
        branch=work.task.branch,
        tag="",
        gates=evidence.verdicts,
        artifacts=str(folder),
        note="refused by a gate; nothing was pushed",
    )


def publish(shop: Workshop, work: Assignment, name: EventName, data: dict[str, object]) -> None:
    """Publish what happened on the bus."""
    moment = timestamp(shop.clock.now())
    _log.info(name.value, extra={"task_name": str(work.task), "data": data})
    shop.bus.publish(
        Event(name, work.origin.correlation_id, work.task.workflow, work.task.task, moment, data)
    )
