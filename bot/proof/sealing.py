"""Turns a proven candidate into sealed evidence and into the words of its pull request."""

import json
from dataclasses import dataclass, replace

from bot.coder.model.prices import dollars
from bot.coder.model.session import SESSION, SESSION_SIGNATURE, read_session
from bot.coder.port import Candidate
from bot.contract.digest import contract_digest
from bot.contract.language.program import Program
from bot.contract.model import Contract
from bot.data.market_data import MarketData
from bot.git.identity import Trailers
from bot.git.repository import Repository
from bot.proof.assignment import Assignment
from bot.proof.base_version import Version, find_base_version, find_shown_version
from bot.proof.evidence import PROVENANCE, Evidence, gates_file, provenance_file, tool_versions
from bot.proof.judge import Judgement
from bot.proof.line import Proven
from bot.report.answered import Answered, example_bars
from bot.report.behaviour import compare_trades
from bot.report.curve import Curve
from bot.report.holding import held_value
from bot.report.page import report_html
from bot.report.picture import PICTURE, picture
from bot.report.proposal import pull_request_body
from bot.report.story import Story, Written
from bot.sweep.search import FILE as SEARCH


@dataclass(frozen=True)
class Destination:
    """Says where a candidate goes."""

    tag: str  # its name in Git
    # The version of the base branch that it would replace, if there is one.
    replaces: Version | None = None


@dataclass(frozen=True)
class Sealed:
    """Holds evidence, the pull request's text that goes with it, and what both tell."""

    evidence: Evidence
    body: str
    story: Story | None = None


def seal(proven: Proven, destination: Destination) -> Sealed:
    """Write every file of the evidence and the statement over all of them.

    The picture's address in the pull request is its path; a forge knows where that is shown.
    """
    work, examination = proven.work, proven.examination
    files = dict(examination.results)
    files["gates.json"] = gates_file(examination.verdicts, work.targets.notes)
    files |= proven.candidate.evidence
    if work.answers is not None:
        files |= work.answers.files
    if work.searched is not None:
        files[SEARCH] = work.searched.search.content
    body, story = "", None
    if examination.judgement is not None:
        story = tell_story(proven, destination)
        drawn = picture(story)
        files[PICTURE] = drawn.encode()
        files["report.html"] = report_html(story, drawn).encode()
        body = _body(story, work)
    versions = tool_versions(work.targets.freqtrade_version)
    files[PROVENANCE] = provenance_file(work, proven.delivered, files, versions)
    return Sealed(Evidence(examination.verdicts, files, work.folder), body, story)


def body_since(sealed: Sealed, work: Assignment, previous: str, repository: Repository) -> str:
    """Write the pull request's text once more, beside what the pull request showed before.

    `previous` is a tag's name, as the pull request gives it; what it stands for is replayed here.
    """
    story = sealed.story
    if story is None or previous in ("", story.tag):
        return sealed.body
    shown = find_shown_version(work, previous, repository)
    if shown is None:
        return sealed.body
    since = compare_trades(shown.trades, story.trades, shown.name)
    return _body(replace(story, previous=previous, since=since), work)


def _body(story: Story, work: Assignment) -> str:
    return pull_request_body(story, f"{work.folder}/{PICTURE}")


def seal_on(base: str, proven: Proven, tag: str, repository: Repository) -> Sealed:
    """Seal for a commit of the base branch, and compare the trades with its version's."""
    return seal(proven, Destination(tag, find_base_version(proven.work, base, repository)))


def commit_message(work: Assignment, candidate: Candidate, digest: str) -> tuple[str, Trailers]:
    """Say in commit and tag what evidence was sealed, and where the candidate came from."""
    message = (
        f"ai: propose {work.contract.name} for {work.task}\n\nEvidence: {work.folder} {digest}"
    )
    trailers = Trailers(
        work.origin.correlation_id,
        candidate.prompt_hash,
        work.origin.contract_digest,
        candidate.coder,
        candidate.model,
    )
    return message, trailers


def tell_story(proven: Proven, destination: Destination) -> Story:
    """Gather what the report says.

    Raises:
        ValueError: there is no backtest to report.
    """
    work, examination, candidate = proven.work, proven.examination, proven.delivered
    judgement, replaces = examination.judgement, destination.replaces
    if judgement is None:
        raise ValueError("there is no backtest to report")
    trades = judgement.broker.get_trades()
    change = compare_trades(replaces.trades, trades, replaces.name) if replaces else None
    return Story(
        contract=work.contract,
        program=work.program,
        verdicts=examination.verdicts,
        summary=judgement.summary,
        trades=trades,
        equity=judgement.broker.get_equity_rows(),
        correlation_id=work.origin.correlation_id,
        branch=work.task.branch,
        tag=destination.tag,
        contract_path=work.origin.contract_path,
        contract_digest=work.origin.contract_digest,
        data_digest=work.data.digest,
        data_files=work.data.files,
        prompt_hash=candidate.prompt_hash,
        coder=candidate.coder,
        model=candidate.model,
        versions=tool_versions(work.targets.freqtrade_version),
        behaviour_change=change,
        base_summary=replaces.summary if replaces else None,
        candles=work.data.candles,
        held=_held(work.data, work.contract),
        files=tuple(sorted(candidate.files)),
        notes=work.targets.notes,
        answered=_answered(work),
        searched=work.searched.search.told if work.searched else None,
        written=_written(candidate),
        compact=json.loads(examination.results["summary.json"]).get("compact", {}),
    )


def _written(candidate: Candidate) -> Written | None:
    """Tells how a model wrote the files, if one did."""
    data = candidate.evidence.get(SESSION)
    if data is None:
        return None
    session, signed = read_session(data), SESSION_SIGNATURE in candidate.evidence
    cost = dollars(session.cost)
    return Written(session.rounds, len(session.exchanges), cost, session.prices, signed)


def _answered(work: Assignment) -> Answered | None:
    """Tells what a model made of the contract's prose, on the contract's own candles."""
    if work.answers is None:
        return None
    said, frames = work.answers.transcript, work.data.frames
    told = work.program.rules if said.draft else said.answers
    return Answered(
        model=said.model,
        cost_usd=dollars(said.cost),
        prices=said.prices,
        calls=len(said.calls),
        signed=bool(work.answers.signature),
        assumptions={rule: answer.assumptions for rule, answer in said.answers.items()},
        bars={rule: example_bars(work.program, frames, rule) for rule in told},
        drafted=said.draft.assumptions if said.draft else None,
    )


def tell_backtest(
    contract: Contract, program: Program, data: MarketData, judgement: Judgement, path: str
) -> Story:
    """Gathers what a report says of a backtest alone: no gate has judged it, no tag holds it."""
    return Story(
        contract=contract,
        program=program,
        verdicts=(),
        summary=judgement.summary,
        trades=judgement.broker.get_trades(),
        equity=judgement.broker.get_equity_rows(),
        correlation_id="",
        branch="",
        tag="",
        contract_path=path,
        contract_digest=contract_digest(contract),
        data_digest=data.digest,
        data_files=data.files,
        prompt_hash="",
        coder="",
        candles=data.candles,
        held=_held(data, contract),
    )


def _held(data: MarketData, contract: Contract) -> Curve:
    candles = {name: (c.times, c.open, c.close) for name, c in data.candles.items()}
    return held_value(candles, contract.capital)
