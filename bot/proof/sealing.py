"""An examined candidate to sealed evidence and to the words of its pull request."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from bot.coder.port import Candidate
from bot.contract.language.program import Program
from bot.contract.model import Contract
from bot.data.market_data import MarketData
from bot.git.identity import TaskName, Trailers
from bot.proof.earlier import EarlierVersion
from bot.proof.evidence import (
    PROVENANCE,
    Evidence,
    Origin,
    gates_file,
    provenance_file,
    tool_versions,
)
from bot.proof.examination import Examination
from bot.proof.targets import ADAPTER_ONLY, Delivery
from bot.report.behaviour import compare_trades
from bot.report.holding import held_value
from bot.report.page import report_html
from bot.report.picture import PICTURE, picture
from bot.report.proposal import pull_request_body
from bot.report.story import Story


@dataclass(frozen=True)
class Sealed:
    """Evidence, and the pull request's text that goes with it."""

    evidence: Evidence
    body: str


def seal(
    contract: Contract,
    program: Program,
    origin: Origin,
    candidate: Candidate,
    data: MarketData,
    examination: Examination,
    tag: str,
    earlier: EarlierVersion | None = None,
    delivery: Delivery = ADAPTER_ONLY,
) -> Sealed:
    """Write every file of the evidence and the statement over all of them.

    The picture's address in the pull request is its path; a forge knows where that is shown.
    """
    folder = evidence_folder(contract)
    versions = tool_versions(delivery.freqtrade_version)
    files = dict(examination.results)
    files["gates.json"] = gates_file(examination.verdicts, delivery.notes)
    body = ""
    if examination.judgement is not None:
        story = tell_story(
            contract,
            program,
            origin,
            candidate,
            data,
            examination,
            tag,
            versions,
            earlier,
            delivery.notes,
        )
        files[PICTURE] = picture(story).encode()
        files["report.html"] = report_html(story).encode()
        body = pull_request_body(story, f"{folder}/{PICTURE}")
    files[PROVENANCE] = provenance_file(origin, candidate, data, files, folder, versions)
    return Sealed(Evidence(examination.verdicts, files, folder), body)


def evidence_folder(contract: Contract) -> str:
    """Where the evidence lies in the repository."""
    return f"artifacts/{contract.workflow}/{contract.task}"


def commit_message(
    contract: Contract, origin: Origin, candidate: Candidate, evidence_digest: str
) -> tuple[str, Trailers]:
    """What the commit and the tag say: the sealed evidence, and where the candidate came from."""
    subject = f"ai: propose {contract.name} for {contract.workflow}/{contract.task}"
    message = f"{subject}\n\nEvidence: {evidence_folder(contract)} {evidence_digest}"
    trailers = Trailers(
        origin.correlation_id,
        candidate.prompt_hash,
        origin.contract_digest,
        candidate.coder,
        candidate.model,
    )
    return message, trailers


def tell_story(
    contract: Contract,
    program: Program,
    origin: Origin,
    candidate: Candidate,
    data: MarketData,
    examination: Examination,
    tag: str,
    versions: Mapping[str, str],
    earlier: EarlierVersion | None = None,
    notes: tuple[str, ...] = (),
) -> Story:
    """Gather what the report tells."""
    judgement = examination.judgement
    if judgement is None:
        raise ValueError("there is no backtest to tell of")
    trades = judgement.broker.get_trades()
    change = compare_trades(earlier.trades, trades, earlier.name) if earlier else None
    return Story(
        contract=contract,
        program=program,
        verdicts=examination.verdicts,
        summary=judgement.summary,
        trades=trades,
        equity=judgement.broker.get_equity_curve(),
        correlation_id=origin.correlation_id,
        branch=TaskName(contract.workflow, contract.task).branch,
        tag=tag,
        contract_path=origin.contract_path,
        contract_digest=origin.contract_digest,
        data_digest=data.digest,
        data_files=data.files,
        prompt_hash=candidate.prompt_hash,
        coder=candidate.coder,
        model=candidate.model,
        versions=versions,
        behaviour_change=change,
        held=held_value(
            {name: (c.times, c.open, c.close) for name, c in data.candles.items()}, contract.capital
        ),
        files=tuple(sorted(candidate.files)),
        notes=notes,
        compact=json.loads(examination.results["summary.json"]).get("compact", {}),
    )
