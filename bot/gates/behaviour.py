"""Judges what a strategy did in the sandbox: the gates on behaviour."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

import numpy as np

from bot.contract.language.contract_decisions import Decisions, contract_decisions, decisions_of
from bot.contract.language.evaluator import evaluate
from bot.contract.language.program import Program
from bot.contract.model import Contract
from bot.gates.answer_reader import Answer, Answers, NoAnswer, plain_text, raise_for, same_decisions
from bot.gates.elsewhere import Place, changed
from bot.gates.foreign.strange_parts import find_missing_tests
from bot.gates.port import Cause, Verdict
from bot.gates.questions import ELSEWHERE, Trial, TrustedTests, other_name
from sandbox_runner.jobs import TEST_REPORT
from sandbox_runner.port import Outcome
from sandbox_runner.test_report import NotAReport, Report, find_problems, read_report

_MOST_REPORT = 8_000_000


def judge_tests(
    outcome: Outcome, tests: str, source: bytes, disagreement: str
) -> tuple[Verdict, Report | None]:
    """Judges the test run: the report is whole, names every test of the file, and all passed.

    `source` is the test file as the trusted side wrote it; `disagreement` says where the strategy's
    decisions differ from the contract's. There may be no report to keep.
    """
    name = "pytest"
    try:
        raise_for(outcome)
        report = _report(outcome)
    except (NoAnswer, NotAReport) as error:
        step = "run the tests: sandbox_runner/run_in_sandbox.py"
        cause: Cause = "no answer" if isinstance(error, NoAnswer) else "found"
        return Verdict(name, False, "no report", str(error), tests, step, cause), None
    problem, where = report_problem(report, tests, source)
    if not problem and outcome.exit_code != 0:
        problem, where = (
            f"the report is all well, but pytest exited with {outcome.exit_code}",
            tests,
        )
    if not problem and disagreement:
        problem = f"the tests passed, but the decisions do not follow the contract: {disagreement}"
    count = len(report["tests"])
    if problem:
        step = "mend the strategy, not the tests"
        return Verdict(name, False, f"{count} tests", problem, where, step, "found"), report
    return Verdict(name, True, f"{count} tests"), report


def judge_trusted_tests(trusted: TrustedTests, tests: str, source: bytes, own: Verdict) -> Verdict:
    """Judges the tests that count, beside those that the candidate brought.

    `source` is the candidate's own test file, which has to hold the template's and may hold more;
    `own` is the verdict on it.
    """
    theirs, _ = judge_tests(trusted.outcome, tests, trusted.source, "")
    if not theirs.passed:
        reason = f"of the contract's own tests, {theirs.reason}"
        return replace(theirs, reason=reason)
    missing = next(find_missing_tests(source, trusted.source.decode()), None)
    if own.passed and missing is not None:
        where = f"{tests}:{missing.line}"
        return Verdict("pytest", False, own.figure, missing.reason, where, missing.next_step)
    return replace(own, figure=f"{theirs.figure}, {own.figure.split()[0]} of its own")


def name_idle(tested: Verdict, idle: Mapping[str, Sequence[str]]) -> Verdict:
    """Says beside the tests that passed which clauses no market decides, so that no test can."""
    named = [f"{rule}: {clause}" for rule, clauses in idle.items() for clause in clauses]
    if not named or not tested.passed:
        return tested
    told = f"{tested.figure}; no market decides, so no test: {'; '.join(named)}"
    return replace(tested, figure=told)


def _report(outcome: Outcome) -> Report:
    content = outcome.outputs.get(TEST_REPORT)
    if content is None:
        why = outcome.refused.get(TEST_REPORT, "it was not asked for")
        raise NoAnswer(f"the test run ended with {outcome.exit_code} and left no report: {why}")
    if len(content) > _MOST_REPORT:
        raise NotAReport(f"the report has {len(content)} bytes, at most {_MOST_REPORT} are read")
    report = read_report(content)
    problems = find_problems(report)
    if problems:
        raise NotAReport(f"the report is not valid: {plain_text(problems[0])}")
    return report


def report_problem(report: Report, tests: str, source: bytes) -> tuple[str, str]:
    """Says what a valid report shows to be wrong with the tests of a file, and where."""
    for test in report["tests"]:
        nodeid, outcome = test["nodeid"], test["outcome"]
        if outcome != "passed":
            crash = (test.get("call") or test.get("setup") or {}).get("crash") or {}
            name = plain_text(nodeid.rpartition("::")[2], 80)
            told = f"{name} {outcome}: {crash.get('message', '')}"
            line = test["lineno"]
            where = tests if line is None else f"{tests}:{line + 1}"
            return plain_text(told, 280).rstrip(": "), where
        stages = [test.get(stage) for stage in ("setup", "call", "teardown")]
        if not all(stage and stage["outcome"] == "passed" for stage in stages):
            return f"{plain_text(nodeid, 80)} did not pass every stage", tests
        if not nodeid.startswith(f"{tests}::"):
            return f"the report names a test of another file: {plain_text(nodeid, 80)}", tests
    wanted = test_functions(source)
    if not wanted:
        return "the file has no test", tests
    ran = {test["nodeid"].partition("::")[2].partition("[")[0] for test in report["tests"]}
    for name, line in wanted.items():
        if name not in ran:
            return f"{name} is in the file, but it did not run", f"{tests}:{line}"
    if report["exitcode"] != 0:
        return f"pytest exited with {report['exitcode']}", tests
    return "", ""


def test_functions(source: bytes) -> dict[str, int]:
    """Gives the tests of a file as pytest names them, and their lines, read without running it."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found = {node.name: node.lineno for node in body if _is_test(node)}
    for group in body:
        if isinstance(group, ast.ClassDef) and group.name.startswith("Test"):
            methods = (node for node in group.body if _is_test(node))
            found |= {f"{group.name}::{node.name}": node.lineno for node in methods}
    return found


def _is_test(node: ast.stmt) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return isinstance(node, kinds) and node.name.startswith("test_")


test_functions.__test__ = False  # type: ignore[attr-defined]


def whole_decisions(trial: Trial) -> dict[str, Decisions]:
    """Gives the strategy's decisions on every bar, by symbol.

    Raises:
        NoAnswer: it gave none.
    """
    return {
        run.symbol: answers.record()
        for run, answers in zip(trial.whole.runs, trial.whole.answers(), strict=True)
    }


@dataclass(frozen=True)
class _Gate:
    """Is the frame of a gate on answers: what each of its verdicts says beside its reason."""

    name: str
    strategy: str
    step: str

    def refused(self, figure: str, reason: str, cause: Cause = "found") -> Verdict:
        return Verdict(self.name, False, figure, reason, self.strategy, self.step, cause)

    def no_answer(self, error: NoAnswer) -> Verdict:
        where = self.strategy if error.line is None else f"{self.strategy}:{error.line}"
        return replace(self.refused("no answer", error.reason, "no answer"), where=where)


def judge_determinism(trial: Trial, contract: Contract, program: Program) -> Verdict:
    """Compares answers to the same questions, asked twice and in another process."""
    step = "leave chance out, a contract's rules have none; no clock, no set order, no memory"
    gate = _Gate("determinism", contract.strategy_file, step)
    try:
        whole, again = trial.whole.answers(), trial.again.answers("again ")
    except NoAnswer as error:
        return gate.no_answer(error)
    for first, ahead, back in zip(whole, again[::2], again[1::2], strict=True):
        elsewhen = "asked in another process with another hash seed and clock"
        for answers, asked, how in (
            (first.passes[1], first.later, "asked a second time"),
            (ahead.passes[0], ahead.bars, elsewhen),
            (back.passes[0], back.bars, elsewhen),
        ):
            expected = tuple(first.passes[0][bar] for bar in asked)
            odd = _first_difference(expected, answers)
            if odd is not None:
                reason = f"bar {asked[odd]}: the answer changes when {how}"
                return gate.refused("answers differ", reason)
        if len({*first.indicators, *ahead.indicators, *back.indicators}) > 1:
            reason = "the indicators change when they are prepared again; the answers may follow"
            return gate.refused("indicators differ", reason)
    bars = sum(len(answers.bars) for answers in whole)
    thrice = sum(len(answers.later) for answers in whole)
    some = "" if thrice == bars else f", {thrice} of them"
    return Verdict(gate.name, True, f"{bars} bars{some}, 3 times the same")


def judge_lookahead(trial: Trial, contract: Contract, program: Program) -> Verdict:
    """Compares answers on cut-off histories with the whole one's, and asks on other prices."""
    step = "use only this bar and earlier ones; the answer must come from prices, not from dates"
    gate = _Gate("lookahead", contract.strategy_file, step)
    try:
        whole = {
            run.symbol: answers.passes[0]
            for run, answers in zip(trial.whole.runs, trial.whole.answers(), strict=True)
        }
        read = trial.cuts.each()
    except NoAnswer as error:
        return gate.no_answer(error)
    counted = 0
    left: Verdict | None = None
    for run, answers in zip(trial.cuts.runs, read, strict=True):
        # A run that failed hides no other: what the gate is for is said first.
        if isinstance(answers, NoAnswer):
            left = left or gate.no_answer(answers)
            continue
        if run.bars is None:
            reason, cause = _on_other_prices(trial, contract, program, run.symbol, answers, whole)
            if reason:
                odd = gate.refused(f"{counted} cuts", reason, cause)
                left = odd if cause == "found" else left or odd
            continue
        counted += 1
        expected = tuple(whole[run.symbol][bar] for bar in answers.bars)
        place = _first_difference(answers.passes[0], expected)
        if place is not None:
            reason = (
                f"bar {answers.bars[place]}: the answer on the first {run.bars} bars"
                " is not the answer on all of them"
            )
            return gate.refused(f"{counted} cuts", reason)
    return left or Verdict(gate.name, True, f"{counted} cuts, other prices")


def _on_other_prices(
    trial: Trial,
    contract: Contract,
    program: Program,
    symbol: str,
    answers: Answers,
    whole: Mapping[str, tuple[Answer, ...]],
) -> tuple[str, Cause]:
    """Says what is wrong on other prices, and whether it is this gate's own reason."""
    frame = trial.perturbed[other_name(symbol)]
    expected = contract_decisions(contract, program, frame, symbol, answers.bars)
    difference = same_decisions(answers.record(), expected)
    if not difference:
        return "", ""
    before = tuple(whole[symbol][bar] for bar in answers.bars)
    if answers.passes[0] == before and len(set(map(repr, before))) > 1:
        # Other prices, the same orders at the same times: a table of what will happen.
        return f"the answers stay the same on other prices: {difference}", "found"
    return f"on other prices the strategy leaves the contract: {difference}", "contract"


def judge_elsewhere(trial: Trial, contract: Contract, program: Program) -> Verdict:
    """Holds answers at other times, lengths, prices, names and settings to the contract."""
    step = "decide by the contract's rules and settings alone, on any candles"
    gate = _Gate("elsewhere", contract.strategy_file, step)
    try:
        found = trial.again.each(f"{ELSEWHERE} ")
    except NoAnswer as error:
        return gate.no_answer(error)
    asked, failed = 0, None
    for place, answers in zip(trial.places, found, strict=True):
        if isinstance(answers, NoAnswer):
            reason = f"{answers.reason} ({place.described})"
            failed = failed or gate.no_answer(NoAnswer(reason, answers.line))
            continue
        asked += len(answers.bars)
        difference = _at_a_place(contract, program, place, answers)
        if difference:
            reason = f"the strategy leaves the contract ({place.described}): {difference}"
            return gate.refused(f"{len(found)} places", reason)
    return failed or Verdict(gate.name, True, f"{len(found)} places, {asked} bars")


def _at_a_place(contract: Contract, program: Program, place: Place, answers: Answers) -> str:
    """Says where the answers at a place leave the contract; empty if nowhere."""
    as_set, ruled = changed(contract, program, place.changes)
    values = evaluate(ruled, place.frame)
    if not place.ends:
        for rule in program.rules:
            wanted = set(np.flatnonzero(values[rule]).tolist())
            odd = sorted(wanted ^ set(answers.signals.get(rule, ())))
            if odd:
                return f"bar {odd[0]}: `signals` differs from the contract's {rule}"
    expected = decisions_of(as_set, ruled, place.frame, values, place.symbol, answers.bars)
    return same_decisions(answers.record(), expected)


def _first_difference(left: tuple[Answer, ...], right: tuple[Answer, ...]) -> int | None:
    if left == right:
        return None
    pairs = enumerate(zip(left, right, strict=True))
    return next((place for place, (mine, theirs) in pairs if mine != theirs), None)


def disagreement(decisions: Mapping[str, Decisions], expected: Mapping[str, Decisions]) -> str:
    """Says where the strategy's decisions leave the contract's own; empty if nowhere."""
    for symbol, wanted in expected.items():
        difference = same_decisions(decisions[symbol], wanted)
        if difference:
            return f"{symbol}, {difference}"
    return ""
