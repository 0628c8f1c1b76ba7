"""Lists every gate: its name, what it needs, and what judges. A new gate is one row."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.contract.language.program import Program
from bot.contract.model import Contract
from bot.gates.behaviour import judge_determinism, judge_elsewhere, judge_lookahead
from bot.gates.constitution import ConstitutionGate
from bot.gates.file_gate import FileGate
from bot.gates.foreign.template_gate import NAME as TEMPLATE
from bot.gates.mutation.mutation_gate import GATE as MUTATION
from bot.gates.outcome import judge_acceptance, judge_artifacts, judge_correlation
from bot.gates.port import Case, Gate, Verdict
from bot.gates.questions import Trial
from bot.gates.secrets import find_secrets
from bot.gates.static.static_check import check_file
from bot.gates.static.syntax_tree import read_tree
from bot.gates.tools import judge_tool


@dataclass(frozen=True)
class Inquiry:
    """Holds what a gate may look at when the sandbox has answered."""

    contract: Contract
    program: Program
    correlation_id: str
    case: Case
    trial: Trial
    tested: Verdict  # the verdict on the tests, from which the results have their report
    results: Mapping[str, bytes]  # the files of the evidence so far
    summary: Mapping[str, object]  # the figures of the backtest
    parity: Callable[[], Verdict]  # compares the engines on the decisions that were replayed


@dataclass(frozen=True)
class Row:
    """Describes a gate on what came out of the sandbox."""

    name: str
    judge: Callable[[Inquiry], Verdict]
    # The jobs of the sandbox whose answers it judges; see bot/proof/trial.py.
    jobs: frozenset[str] = frozenset()
    # Whether it has nothing to judge where there was nothing to replay.
    needs_backtest: bool = False


def _row(name: str, judge: Callable[[Inquiry], Verdict], *jobs: str) -> Row:
    return Row(name, judge, frozenset(jobs), needs_backtest=not jobs)


def _linter(tool: str) -> Row:
    """Judges what a linter printed."""
    return _row(tool, lambda of: judge_tool(tool, of.trial.tools[tool], of.case.files), tool)


def _on_answers(name: str, judge: Callable[[Trial, Contract, Program], Verdict], *jobs: str) -> Row:
    """Judges what the strategy answered."""
    return _row(name, lambda of: judge(of.trial, of.contract, of.program), *jobs)


# Code that one of these refuses is not run.
STATIC: tuple[Gate, ...] = (
    FileGate("syntax", lambda path, content: read_tree(content)[1]),
    FileGate("imports", check_file),
    ConstitutionGate(),
    FileGate("secrets", find_secrets, every_file=True),
)
LINTERS = ("flake8", "mypy", "bandit")
TABLE = (
    *map(_linter, LINTERS),
    _row("pytest", lambda of: of.tested, "pytest", "whole"),
    _on_answers("determinism", judge_determinism, "whole", "again"),
    _on_answers("lookahead", judge_lookahead, "whole", "cuts"),
    _on_answers("elsewhere", judge_elsewhere, "again"),
    _row("engine-parity", lambda of: of.parity()),
    _row("artifacts", lambda of: judge_artifacts(of.results)),
    _row("correlation", lambda of: judge_correlation(of.results["events.log"], of.correlation_id)),
    _row("acceptance", lambda of: judge_acceptance(of.contract.acceptance, of.summary)),
)
# Beside the others, where the template did not write the candidate.
FOREIGN = (TEMPLATE, MUTATION)
NAMES = (*(gate.name for gate in STATIC), *(row.name for row in TABLE))
