"""Cuts the line into the jobs of a workflow: plan, generate, gates, write.

plan reads. generate writes a candidate and runs nothing. gates runs the candidate in the sandbox,
with no token and no repository. write judges what the sandbox answered, and is the only one that
may change anything; see docs/decisions/0005-jobs-by-permission.md.
"""

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from bot.coder.port import Candidate, Coder, Failure
from bot.contract.digest import contract_digest
from bot.contract.model import AnyContract, Contract
from bot.data.market_data import read_market_data
from bot.errors import InputError, SafetyStop, StratwrightError, WorldError
from bot.files import write_files
from bot.forge.port import PullState, Thread
from bot.gates.freqtrade.installation import find_freqtrade
from bot.pipeline import Result, carry_out, take_on
from bot.proof.assignment import Assignment, Origin, assign
from bot.proof.earlier import find_earlier
from bot.proof.edges import Prover
from bot.proof.evidence import tool_versions
from bot.proof.examination import Examination
from bot.proof.line import prove, written_by
from bot.proof.line import write as write_candidate
from bot.proof.targets import decide_targets
from bot.redaction import redact
from bot.workflow.asking import adopt, ask
from bot.workflow.candles import with_candles
from bot.workflow.context import Context
from bot.workflow.contracts import read_contract
from bot.workflow.drafts import ask_for_draft
from bot.workflow.handover import (
    NOTHING,
    TAMPERED,
    Answers,
    Digests,
    Handover,
    Talk,
    read_answers,
    read_case,
    read_talk,
    write_answers,
    write_case,
    write_talk,
)
from bot.workflow.items import Action, Item
from sandbox_runner.recording import RecordingSandbox, ReplayingSandbox


def generate(context: Context, item: Item, out: Path, before: Digests = NOTHING) -> str:
    """Write a candidate and hand it on with all that the gates need; gives the file's digest.

    The candidate of the round `before` is judged by the recorded answers; what was refused is
    written again with the failures in view, as often as the coder may. The digest is empty if
    nothing is to do. What stops the job after a model was paid is handed on with the cost.
    """
    paid: list[Talk] = []
    try:
        return _generate(context, item, out, before, paid)
    except StratwrightError as error:
        if not paid:
            raise
        context.say(f"{item.path}: {error.message}")
        told = Talk(model=paid[0].model, cost=paid[0].cost, error=redact(error.message),
                    hint=redact(error.hint), exit_code=error.exit_code)  # fmt: skip
        return write_talk(out, item.key, told)


def _generate(context: Context, item: Item, out: Path, before: Digests, paid: list[Talk]) -> str:
    if item.action is Action.REFUSE:
        context.say(f"{item.path}: refused by now; the write job tells it on GitHub")
        return ""
    if item.action is Action.DRAFT:
        talk = None if before.case else ask_for_draft(context, item)
        return write_talk(out, item.key, talk) if talk else ""
    if item.read is None or item.read.loaded is None or item.action is not Action.PROPOSE:
        raise InputError(f"there is no contract to write code for under {item.key}")
    loaded, answers = item.read.loaded, item.answers
    shop = context.workshop(regenerate=item.regenerate)
    coder = shop.open_coder(loaded.strategy)
    told = read_talk(out, item.key, before.case) if before.case else (None, True)
    if not told[1]:
        return ""
    handed = read_case(out, item.key, before.case).candidates if before.case else ()
    if handed and len(handed) >= coder.rounds:
        return ""
    checked = with_candles(item, context.repository)
    if checked.action is Action.REFUSE:
        context.say(f"{checked.problems[0]}; the write job tells it on GitHub")
        return ""
    talk = told[0]
    if item.asks and talk is not None:
        loaded, answers = adopt(context, item.read, talk)
    elif item.asks:
        asked = ask(context, item, shop)
        if asked is None:
            return ""
        talk = asked.talk
        if asked.loaded is None:
            context.say(f"{item.path}: {talk.error}")
            return write_talk(out, item.key, talk)
        paid += [talk] if talk.cost else []
        loaded, answers = asked.loaded, asked.answers
    work = take_on(loaded, shop, answers)
    if find_earlier(work, shop).closed:
        context.say(f"{work.task}: nothing to do, its pull request was closed")
        return ""
    failures: tuple[Failure, ...] = ()
    for candidate in handed:
        prover = replay(work, read_answers(out, item.key, before.answers))
        proven = prove(work, candidate, prover)
        if proven.passed:
            return ""
        failures = (*failures, proven.failure)
    context.say(f"{work.task}: writing the strategy and its tests, round {len(failures) + 1}")
    candidate = write_candidate(work, coder, failures)
    return write_case(out, item.key, replace(handover_of(work, candidate, handed), talk=talk))


def handover_of(
    work: Assignment, candidate: Candidate, refused: tuple[Candidate, ...] = ()
) -> Handover:
    """Put a candidate together with all that the gates need."""
    origin, candles = work.origin, work.data.contents
    return Handover(origin.contract_path, origin.contract_bytes, candles, candidate, refused)


def replay(work: Assignment, answers: Answers) -> Prover:
    """Give the gates what the sandbox answered; nothing runs.

    Raises:
        WorldError: the gates ran with other versions than those known here.
    """
    check_versions(answers, work)
    return Prover(ReplayingSandbox(answers.outcomes))


def still_to_regenerate(context: Context, item: Item) -> bool:
    """Whether one more candidate is asked for, and has not been proposed for this request yet.

    People run a workflow again, GitHub delivers twice and runners die: a request is carried out
    once. The check comes last and says for which request it was written. A proposal without one was
    not finished, so it is gone on with.
    """
    if not item.regenerate or item.read is None or item.read.task is None:
        return item.regenerate
    pull = context.forge.find(item.read.task.branch)
    if pull is None or pull.state is not PullState.OPEN:
        return True
    last = context.forge.checks.find(pull.draft.head)
    if last is None or last.key not in ("", pull.draft.tag):
        return False
    anchor = _anchor(context, item)
    return not last.link.endswith(anchor) if anchor else last.link != proof_link(context, item)


def proof_link(context: Context, item: Item) -> str:
    """What a check links to: the run, and the comment that asked for it."""
    page = context.runner.run_url
    if item.comment and not page:
        page = context.forge.threads.address(Thread(item.at))
    return f"{page}{_anchor(context, item)}"


def _anchor(context: Context, item: Item) -> str:
    return context.forge.threads.anchor(item.comment) if item.comment else ""


def run_gates(
    key: str, digests: Digests, folder: Path, prover: Prover
) -> tuple[Examination | None, str]:
    """Run a candidate in the sandbox, and hand on what the sandbox answered in all rounds.

    Gives what the gates say here, which nobody trusts, and the digest of what was handed on; or
    nothing, where a model gave no answer that a candidate could be written from.
    """
    if not read_talk(folder, key, digests.case)[1]:
        return None, ""
    case = read_case(folder, key, digests.case)
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        write_files(root, dict(case.candles))
        read = read_contract(case.contract_path, case.contract, root)
        if read.loaded is None:
            raise InputError(f"{case.contract_path} is not a contract", str(read.problems[0]))
        contract = read.loaded.strategy
        data = read_market_data(contract, root)
    # Where Freqtrade is not installed the write job, if it is to deliver its file, finds no answer.
    targets = decide_targets(contract, find_freqtrade())
    # The run's own name is computed where there is a repository.
    origin = Origin(f"corr_{key}", case.contract_path, contract_digest(contract), case.contract)
    recorder = RecordingSandbox(prover.sandbox)
    work = assign(contract, data, origin, targets)
    proven = prove(work, case.candidate, replace(prover, sandbox=recorder))
    versions = tool_versions(targets.freqtrade_version)
    known = read_answers(folder, key, digests.answers).outcomes if digests.answers else {}
    answers = Answers({**known, **recorder.outcomes}, versions)
    return proven.examination, write_answers(folder, key, answers)


def deliver(context: Context, item: Item, folder: Path, digests: Digests) -> Result:
    """Judge a candidate by the recorded answers and propose it; runs none of its code.

    Raises:
        SafetyStop: what was handed over is not what this contract gives.
    """
    if item.read is None or item.read.loaded is None:
        raise InputError(f"there is no contract under {item.key}")
    shop = context.workshop(regenerate=still_to_regenerate(context, item))
    loaded, answers = item.read.loaded, item.answers
    if item.asks:
        talk, _ = read_talk(folder, item.key, digests.case)
        loaded, answers = adopt(context, item.read, talk)
    work = take_on(loaded, shop, answers)

    def open_coder(contract: Contract) -> Coder:
        case = read_case(folder, item.key, digests.case)
        return HandedOver(case, work, shop.open_coder(contract))

    def open_prover() -> Prover:
        answers = read_answers(folder, item.key, digests.answers)
        return replace(replay(work, answers), say=shop.say)

    return carry_out(work, replace(shop, open_coder=open_coder, open_prover=open_prover))


@dataclass(frozen=True)
class HandedOver:
    """Writes with a coder, and compares with what was handed over.

    Contract, candles and candidate are computed here. The coder is the one that contract and
    settings name, never the one that the file names.
    """

    case: Handover
    work: Assignment
    coder: Coder

    @property
    def name(self) -> str:
        """Names the coder."""
        return self.coder.name

    @property
    def rounds(self) -> int:
        """Says how many candidates may be tried, as far as they were handed over."""
        return min(self.coder.rounds, len(self.case.candidates))

    def write(
        self, contract: AnyContract, contract_path: str, failures: tuple[Failure, ...] = ()
    ) -> Candidate:
        """Write what this job would have handed over itself.

        Raises:
            SafetyStop: something differs.
            WorldError: the default branch moved; a new run sorts it out.
        """
        case, work, wrong = self.case, self.work, ""
        handed = case.candidates[len(failures)]
        written = written_by(work, self.coder.write(contract, contract_path, failures))
        own = handover_of(work, written)
        if (case.contract_path, case.contract) != (own.contract_path, own.contract):
            wrong = "its contract is another"
        elif case.candles != own.candles:
            raise WorldError(
                f"the candles of {work.task} on the default branch changed while the jobs ran",
                "Run the whole workflow again.",
            )
        elif handed.coder != written.coder:
            named = written.coder
            wrong = f"contract and settings name the coder {named}, and the file names another"
        elif handed != written:
            wrong = f"the coder {written.coder} writes it otherwise"
        if wrong:
            message = f"what was handed over for {work.task} is not what its contract gives"
            raise SafetyStop(f"{message}: {wrong}", TAMPERED)
        return written


def check_versions(answers: Answers, work: Assignment) -> None:
    """Compare the versions that the gates ran with those that this job knows.

    Both jobs install from one lock, so the evidence may name the versions known here. Freqtrade
    need not be installed here: its version is the lock's then.

    Raises:
        WorldError: they differ.
    """
    known = tool_versions(work.targets.freqtrade_version)
    ran = dict(answers.versions)
    if not work.targets.freqtrade:
        ran.pop("freqtrade", None)  # it was there and proved nothing
    if ran != known:
        names = sorted(name for name in known | ran if known.get(name) != ran.get(name))
        raise WorldError(
            f"the gates of {work.task} ran with another version of {', '.join(names)[:200]}",
            "Run the whole workflow again; all its jobs must name the same action.",
        )
