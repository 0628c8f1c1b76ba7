"""The line cut into the jobs of a workflow: plan, generate, gates, write.

plan reads. generate writes a candidate and runs nothing. gates runs the candidate in the sandbox,
with no token and no repository. write judges what the sandbox answered, and is the only one that
may change anything; see docs/decisions/0005-jobs-by-permission.md.
"""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bot.bus.port import EventName
from bot.contract.model import Contract
from bot.contract.program import compile_contract
from bot.errors import InputError, SafetyStop, WorldError
from bot.events.candles import with_candles
from bot.events.contracts import read_contract
from bot.events.desk import Desk
from bot.events.handover import (
    Handover,
    has_case,
    read_case,
    read_outcomes,
    write_case,
    write_outcomes,
)
from bot.events.items import Deed, Item
from bot.forge.port import PullState
from bot.freqtrade_place import find_freqtrade
from bot.gates.examination import Examination, examine
from bot.gates.port import Case
from bot.logs import correlated
from bot.market_data import read_market_data
from bot.pipeline import (
    Commission,
    Result,
    Workshop,
    blocked,
    find_earlier,
    propose,
    prove,
    publish,
    refuse,
    seal_with_earlier,
    take_on,
)
from bot.plan import planned_files
from bot.recording import RecordingSandbox, ReplayingSandbox
from bot.targets import FREQTRADE, Delivery, decide_delivery, left_out, without_freqtrade
from bot.written import write_files
from sandbox_runner.port import Sandbox


def generate(desk: Desk, item: Item, out: Path) -> bool:
    """Write a candidate and hand it on with all that the gates need; False if nothing is to do."""
    if item.deed is Deed.REFUSE:
        desk.say(f"{item.path}: refused by now; the write job tells it on GitHub")
        return False
    if item.read is None or item.read.loaded is None or item.deed is not Deed.PROPOSE:
        raise InputError(f"there is no contract to write code for under {item.key}")
    loaded, checked = item.read.loaded, with_candles(item, desk.repository)
    if checked.problems:
        desk.say(f"{checked.problems[0]}; the write job tells it on GitHub")
        return False
    shop = desk.workshop(regenerate=item.regenerate)
    work = take_on(loaded, shop)
    if find_earlier(work, shop)[0] is not None:
        desk.say(f"{work.task}: nothing to do, it was delivered before")
        return False
    desk.say(f"{work.task}: writing the strategy and its tests")
    candidate = shop.coder.write(work.contract, work.origin.contract_path)
    origin, candles = work.origin, work.data.contents
    case = Handover(
        origin.contract_path,
        origin.contract_bytes,
        candles,
        candidate,
        origin.correlation_id,
        work.delivery.freqtrade,
    )
    write_case(out, item.key, case)
    return True


def still_to_regenerate(desk: Desk, item: Item) -> bool:
    """Whether one more candidate is asked for, and has not been proposed for this request yet.

    People run a workflow again, GitHub delivers twice and runners die: a request is carried out
    once. The check comes last and says for which request it was written. A proposal without one was
    not finished, so it is gone on with.
    """
    if not item.regenerate or item.read is None or item.read.task is None:
        return item.regenerate
    pull = desk.forge.find(item.read.task.branch)
    if pull is None or pull.state is not PullState.OPEN:
        return True
    link = desk.forge.checks.last_link(pull.draft.head, pull.draft.tag)
    if link is None:
        return False
    return not link.endswith(_anchor(item)) if item.order else link != proof_link(desk, item)


def proof_link(desk: Desk, item: Item) -> str:
    """What a check links to: the run, and the comment that asked for it."""
    page = desk.actions.run_url
    if item.order and not page:
        page = f"{desk.forge.address}/issues/{item.at}"
    return f"{page}{_anchor(item)}"


def _anchor(item: Item) -> str:
    return f"#issuecomment-{item.order}" if item.order else ""


def run_gates(
    key: str,
    folder: Path,
    out: Path,
    sandbox: Sandbox,
    mypy_cache: Path | None = None,
    on_done: Callable[[str], None] = lambda name: None,
) -> Examination:
    """Run a candidate in the sandbox, and hand on what the sandbox answered."""
    case = read_case(folder, key)
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        write_files(root, dict(case.candles))
        read = read_contract(case.contract_path, case.contract, root)
        if read.loaded is None:
            raise InputError(f"{case.contract_path} is not a contract", str(read.problems[0]))
        contract = read.loaded.strategy
        data = read_market_data(contract, root)
    # What is delivered was decided by the job before; here it is proven, or the job fails.
    delivery = handed_delivery(case, contract)
    if delivery.freqtrade:
        delivery = decide_delivery(contract, find_freqtrade(), strict=True)
    recorder = RecordingSandbox(sandbox)
    examination = examine(
        contract,
        compile_contract(contract),
        Case(case.candidate.contents, frozenset(planned_files(contract))),
        data,
        case.correlation_id,
        recorder,
        mypy_cache,
        on_done,
        delivery=delivery,
    )
    write_outcomes(out, key, recorder.outcomes)
    return examination


def handed_delivery(case: Handover, contract: Contract) -> Delivery:
    """What the job that wrote the candidate decided to deliver."""
    asked = case.freqtrade and FREQTRADE in contract.targets
    return Delivery(freqtrade=True) if asked else without_freqtrade(contract)


def deliver(desk: Desk, item: Item, folder: Path) -> Result:
    """Judge a candidate by the recorded answers and propose it; runs none of its code.

    Raises:
        SafetyStop: what was handed over is not what this contract gives.
    """
    if item.read is None or item.read.loaded is None:
        raise InputError(f"there is no contract under {item.key}")
    shop = desk.workshop(regenerate=still_to_regenerate(desk, item))
    delivery = None
    if has_case(folder, item.key):
        # Freqtrade need not be installed where its answers are only judged.
        delivery = handed_delivery(read_case(folder, item.key), item.read.loaded.strategy)
        if delivery.notes:
            left_out(item.read.loaded.strategy, strict=shop.require_targets)
    work = take_on(item.read.loaded, shop, delivery)
    with correlated(work.origin.correlation_id), shop.repository.lock(work.task, on_wait=shop.say):
        earlier, tag = find_earlier(work, shop)
        if earlier is not None:
            return earlier
        case = read_case(folder, item.key)
        check_handover(case, work, shop)
        shop = replace(shop, sandbox=ReplayingSandbox(read_outcomes(folder, item.key)))
        return judge_and_propose(work, case, tag, shop)


def judge_and_propose(work: Commission, case: Handover, tag: str, shop: Workshop) -> Result:
    """The end of the line, as `run_line` has it."""
    publish(shop, work, EventName.TASK_DISPATCHED, {"plan": [t.id for t in work.plan.todos]})
    publish(shop, work, EventName.CODER_COMPLETE, {"files": sorted(case.candidate.files)})
    examination = prove(work, case.candidate, shop)
    kept = work.delivery.kept(work.contract, case.candidate)
    sealed = seal_with_earlier(work, kept, examination, tag, shop)
    if sealed.evidence.passed:
        publish(shop, work, EventName.TEST_PASSED, {"gates": len(examination.verdicts)})
        return propose(work, kept, sealed, tag, shop)
    refuse(work, case.candidate, sealed.evidence, shop)
    return blocked(work, sealed.evidence, shop)


def check_handover(case: Handover, work: Commission, shop: Workshop) -> None:
    """Compare what was handed over with what this job knows by itself.

    Contract, candles and name are computed here. The template's files are written again; a model's
    cannot be, and stand before the gates and the reviewer as what they are: code of a stranger.

    Raises:
        SafetyStop: something differs.
        WorldError: the default branch moved; a new run sorts it out.
    """
    same = (case.contract_path, case.contract) == (
        work.origin.contract_path,
        work.origin.contract_bytes,
    )
    if same and case.candles != work.data.contents:
        raise WorldError(
            f"the candles of {work.task} on the default branch changed while the jobs ran",
            "Run the whole workflow again.",
        )
    same = same and case.correlation_id == work.origin.correlation_id
    if same and case.candidate.coder == "template":
        same = shop.coder.write(work.contract, work.origin.contract_path) == case.candidate
    if not same:
        raise SafetyStop(
            f"what was handed over for {work.task} is not what its contract gives",
            "Run the whole workflow again; if it stays so, somebody tampered with the artifacts.",
        )
