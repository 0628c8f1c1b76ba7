"""Turns a candidate into all verdicts: static gates first, then what the sandbox can show."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from bot.contract.language.idle_clauses import idle_clauses
from bot.errors import InputError
from bot.gates.answer_reader import NoAnswer, plain_text
from bot.gates.behaviour import (
    disagreement,
    judge_tests,
    judge_trusted_tests,
    name_idle,
    whole_decisions,
)
from bot.gates.engine_parity import judge_engine_parity
from bot.gates.foreign.template_gate import judge_template
from bot.gates.freqtrade.target import NAME as FREQTRADE
from bot.gates.freqtrade.target import examine_freqtrade
from bot.gates.mutation.mutation_gate import GATE as MUTATION
from bot.gates.mutation.mutation_gate import try_mutants
from bot.gates.port import Case, Verdict
from bot.gates.questions import Trial
from bot.gates.table import FOREIGN, LINTERS, NAMES, STATIC, TABLE, Inquiry
from bot.proof.assignment import Assignment
from bot.proof.edges import Prover
from bot.proof.evidence import report_file, result_files
from bot.proof.judge import Judgement, decide, judge, with_tear_sheet
from bot.proof.origin import is_the_templates, template_files
from bot.proof.searching import GATE as LUCK
from bot.proof.searching import judge_luck
from bot.proof.targets import ADAPTER_ONLY, Targets
from bot.proof.trial import run_trial
from bot.report.figures import Summary

MOST_MUTANTS = 80
MOST_BYTES = 1_000_000
MOST_FILES = 50
STEP = "mend what the first refused gate names"


def gate_names(
    targets: Targets = ADAPTER_ONLY, foreign: bool = False, searched: bool = False
) -> tuple[str, ...]:
    """The gates that judge what is delivered, in the order of their verdicts."""
    names = (*NAMES, *FOREIGN) if foreign else NAMES
    names = (*names, FREQTRADE) if targets.freqtrade else names
    return (*names, LUCK) if searched else names


@dataclass(frozen=True)
class Examination:
    """What the gates said, and the results that were computed on the way."""

    verdicts: tuple[Verdict, ...]  # one for every gate of `gate_names`, in that order
    # Test report, trades, equity, events and summary, as far as they exist.
    results: Mapping[str, bytes]
    judgement: Judgement | None  # the trusted replay; None if the candidate gave nothing to replay
    # The gates whose tools were not run again; they judged what is remembered.
    remembered: frozenset[str] = frozenset()


def examine(work: Assignment, case: Case, prover: Prover) -> Examination:
    """Let every gate judge a candidate.

    Code that a static gate refuses is not run: the gates that would need it have failed. A file
    that is not delivered is read by the static gates and the linters all the same. Code that the
    template did not write has two gates more, is asked in many more places, and has to pass the
    tests that the template writes, whatever its own say.

    Raises:
        WorldError: the sandbox failed.
    """
    judged = _examine(work, case, prover)
    if work.searched is None:
        return judged
    return replace(judged, verdicts=(*judged.verdicts, judge_luck(work.searched)))


def _examine(work: Assignment, case: Case, prover: Prover) -> Examination:
    def done(part: str) -> None:
        prover.say(f"{work.task}: {part} done")

    contract, targets = work.contract, work.targets
    heavy = [path for path, content in sorted(case.files.items()) if len(content) > MOST_BYTES]
    if heavy or len(case.files) > MOST_FILES:
        # A search through megabytes would take the gates minutes, and no strategy needs them.
        what = f"{plain_text(heavy[0], 80)} is too large" if heavy else "there are too many files"
        return _unjudged(gate_names(targets), what)
    prover.expect(1)
    static = tuple(gate.judge(case) for gate in STATIC)
    done("static gates")
    needed = {contract.strategy_file, contract.tests_file}
    missing = sorted(needed - set(case.files))
    if missing or not all(verdict.passed for verdict in static):
        cause = f"{missing[0]} is missing" if missing else "a static gate refused the code"
        unrun = _unjudged(gate_names(targets)[len(STATIC) :], cause)
        return Examination((*static, *unrun.verdicts), {}, None)
    written = template_files(contract, work.program, frozenset(case.files))
    foreign = not is_the_templates(case.files, written)
    prover.expect(foreign + bool(targets.freqtrade))
    tests = contract.tests_file
    with ThreadPoolExecutor(1) as beside:
        # What the engine makes of the contract's own decisions needs no sandbox.
        parity = beside.submit(_own_parity, work)
        trusted = written[tests].encode() if foreign else None
        trial = run_trial(work, case.files, replace(prover, say=done), trusted)
    judged = judge_trial(work, case, static, trial, parity.result)
    if foreign:
        judged = _judge_foreign(work, case.files, written, judged, prover)
        done(MUTATION)
    if not targets.freqtrade:
        return judged
    verdict, known = examine_freqtrade(
        contract,
        work.program,
        case.files,
        work.data,
        prover.sandbox,
        prover.limits,
        targets.packages,
        prover.memory,
    )
    done(FREQTRADE)
    remembered = judged.remembered | ({FREQTRADE} if known else set())
    return replace(judged, verdicts=(*judged.verdicts, verdict), remembered=remembered)


def _own_parity(work: Assignment) -> Verdict:
    asked = (work.contract, work.program, work.data)
    return judge_engine_parity(*asked, decide(*asked))


def _judge_foreign(
    work: Assignment,
    files: Mapping[str, bytes],
    written: Mapping[str, str],
    judged: Examination,
    prover: Prover,
) -> Examination:
    """Judge code that the template did not write; mutants only where all other gates passed."""
    contract = work.contract
    strategy = contract.strategy_file
    tests = contract.tests_file
    parts = judge_template(files, written, strategy, tests)
    if parts.passed and all(verdict.passed for verdict in judged.verdicts):
        trusted = {**files, tests: written[tests].encode()}
        mutation = try_mutants(contract, trusted, prover.sandbox, MOST_MUTANTS).verdict
    else:
        mutation = _unjudged((MUTATION,), "another gate refused the code").verdicts[0]
    return replace(judged, verdicts=(*judged.verdicts, parts, mutation))


def _unjudged(names: tuple[str, ...], cause: str) -> Examination:
    """Gates that could not run have failed."""
    verdicts = (Verdict(name, False, "not run", f"not run: {cause}", "", STEP) for name in names)
    return Examination(tuple(verdicts), {}, None)


def judge_trial(
    work: Assignment,
    case: Case,
    static: tuple[Verdict, ...],
    trial: Trial,
    own_parity: Callable[[], Verdict] | None = None,
) -> Examination:
    """Let the gates judge what came out of the sandbox, beside what the static gates said.

    `own_parity` gives the verdict of `engine-parity` on the contract's own decisions, if somebody
    has it already; it counts where the strategy's are the same.
    """
    contract, program, data = work.contract, work.program, work.data
    name, tests = work.origin.correlation_id, contract.tests_file
    judgement, difference, played = _replay(work, trial)
    tested, report = judge_tests(trial.tests, tests, case.files[tests], difference)
    if trial.trusted is not None:
        tested = judge_trusted_tests(trial.trusted, tests, case.files[tests], tested)
    tested = name_idle(tested, idle_clauses(contract, program))
    results: dict[str, bytes] = {} if report is None else {"test_report.json": report_file(report)}
    if judgement is not None:
        results |= result_files(judgement, name)

    def parity() -> Verdict:
        if own_parity is not None and not difference:
            return own_parity()
        return judge_engine_parity(contract, program, data, played)

    summary = judgement.summary if judgement is not None else {}
    asked = Inquiry(contract, program, name, case, trial, tested, results, summary, parity)
    unrun = f"not run: {difference}"
    judged = [
        Verdict(row.name, False, "not run", unrun, contract.strategy_file, STEP)
        if row.needs_backtest and judgement is None
        else row.judge(asked)
        for row in TABLE
    ]
    tools = tuple(verdict for verdict in judged if verdict.name in LINTERS)
    others = tuple(verdict for verdict in judged if verdict.name not in LINTERS)
    crash = difference if judgement is None else ""
    verdicts = (*static, *tools, *told_once(others, crash))
    remembered = frozenset(row.name for row in TABLE if row.jobs and row.jobs <= trial.remembered)
    return Examination(verdicts, results, judgement, remembered)


def told_once(verdicts: tuple[Verdict, ...], crash: str) -> tuple[Verdict, ...]:
    """Let one gate tell of a crash, and where it was; the others point to it."""
    core = crash.removeprefix("the strategy failed with ")
    if not core:
        return verdicts
    same = [verdict for verdict in verdicts if core in verdict.reason]
    if not same:
        return verdicts
    # The line that crashed says more than the line of the test that met it.
    lines = sorted((one.where for one in same if ":" in one.where), key=_is_of_a_test)
    placed = next(iter(lines), same[0].where)
    first = replace(same[0], where=placed)
    reason = f"not run: see {first.name}"
    told = {
        one.name: replace(one, figure="not run", reason=reason, next_step=STEP) for one in same
    } | {first.name: first}
    return tuple(told.get(verdict.name, verdict) for verdict in verdicts)


def _is_of_a_test(where: str) -> bool:
    return where.startswith("tests/")


def _replay(work: Assignment, trial: Trial) -> tuple[Judgement | None, str, Summary]:
    """What the broker makes of the strategy's decisions, where they leave the contract, and them.

    Decisions that agree may differ in a number's last digit. Then the contract's own are replayed,
    which `verify` can compute again without the candidate.
    """
    contract, program, data = work.contract, work.program, work.data
    try:
        decisions, wanted = whole_decisions(trial), decide(contract, program, data)
        difference = disagreement(decisions, wanted)
        played = decisions if difference else wanted
        judgement = judge(contract, program, data, played)
        return with_tear_sheet(judgement, data.candles), difference, played
    except NoAnswer as error:
        return None, error.reason, {}
    except InputError as error:
        return None, f"its orders cannot be replayed: {error.message}", {}
    except (ArithmeticError, ValueError) as error:
        # Numbers of the right form and no sense, as 1e308 for a volume.
        return None, f"its orders cannot be replayed: {error}", {}
