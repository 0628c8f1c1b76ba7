"""Turns a proven candidate into sealed evidence and into the words of its pull request."""

import json
from dataclasses import dataclass

from bot.coder.port import Candidate
from bot.git.identity import Trailers
from bot.git.repository import Repository
from bot.proof.assignment import Assignment
from bot.proof.base_version import BaseVersion, find_base_version
from bot.proof.evidence import PROVENANCE, Evidence, gates_file, provenance_file, tool_versions
from bot.proof.line import Proven
from bot.report.behaviour import compare_trades
from bot.report.holding import held_value
from bot.report.page import report_html
from bot.report.picture import PICTURE, picture
from bot.report.proposal import pull_request_body
from bot.report.story import Story


@dataclass(frozen=True)
class Destination:
    """Says where a candidate goes.

    Attributes:
        tag: its name in Git.
        replaces: the version of the base branch that it would replace, if there is one.
    """

    tag: str
    replaces: BaseVersion | None = None


@dataclass(frozen=True)
class Sealed:
    """Holds evidence, and the pull request's text that goes with it."""

    evidence: Evidence
    body: str


def seal(proven: Proven, destination: Destination) -> Sealed:
    """Write every file of the evidence and the statement over all of them.

    The picture's address in the pull request is its path; a forge knows where that is shown.
    """
    work, examination = proven.work, proven.examination
    files = dict(examination.results)
    files["gates.json"] = gates_file(examination.verdicts, work.targets.notes)
    body = ""
    if examination.judgement is not None:
        story = tell_story(proven, destination)
        drawn = picture(story)
        files[PICTURE] = drawn.encode()
        files["report.html"] = report_html(story, drawn).encode()
        body = pull_request_body(story, f"{work.folder}/{PICTURE}")
    versions = tool_versions(work.targets.freqtrade_version)
    files[PROVENANCE] = provenance_file(work, proven.delivered, files, versions)
    return Sealed(Evidence(examination.verdicts, files, work.folder), body)


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
    candles = {name: (c.times, c.open, c.close) for name, c in work.data.candles.items()}
    return Story(
        contract=work.contract,
        program=work.program,
        verdicts=examination.verdicts,
        summary=judgement.summary,
        trades=trades,
        equity=judgement.broker.get_equity_curve(),
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
        held=held_value(candles, work.contract.capital),
        files=tuple(sorted(candidate.files)),
        notes=work.targets.notes,
        compact=json.loads(examination.results["summary.json"]).get("compact", {}),
    )
