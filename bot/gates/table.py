"""Lists every gate: its name, what it needs, and what judges. A new gate is one row."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.contract.language.program import Program
from bot.contract.model import Contract
from bot.gates.behaviour import judge_determinism, judge_elsewhere, judge_lookahead
from bot.gates.constitution import ConstitutionGate
from bot.gates.foreign.template_gate import NAME as TEMPLATE
from bot.gates.imports import ImportsGate
from bot.gates.mutation.mutation_gate import GATE as MUTATION
from bot.gates.outcome import judge_acceptance, judge_artifacts, judge_correlation
from bot.gates.port import Case, Gate, Verdict
from bot.gates.questions import Trial
from bot.gates.secrets import SecretsGate
from bot.gates.syntax import SyntaxGate
from bot.gates.tools import judge_tool


@dataclass(frozen=True)
class Inquiry:
    """Holds what a gate may look at when the sandbox has answered.

    Attributes:
        tested: the verdict on the tests, from which the results have their report.
        results: the files of the evidence so far.
        summary: the figures of the backtest.
        parity: compares the engines on the decisions that were replayed.
    """

    contract: Contract
    program: Program
    correlation_id: str
    case: Case
    trial: Trial
    tested: Verdict
    results: Mapping[str, bytes]
    summary: Mapping[str, Any]
    parity: Callable[[], Verdict]

    def of_tool(self, tool: str) -> Verdict:
        """Judge what a linter printed."""
        return judge_tool(tool, self.trial.tools[tool], self.case.files)


@dataclass(frozen=True)
class Row:
    """Describes a gate on what came out of the sandbox.

    Attributes:
        jobs: the jobs of the sandbox whose answers it judges; see bot/proof/trial.py.
        needs_backtest: whether it has nothing to judge where there was nothing to replay.
    """

    name: str
    judge: Callable[[Inquiry], Verdict]
    jobs: frozenset[str] = frozenset()
    needs_backtest: bool = False


def _row(name: str, judge: Callable[[Inquiry], Verdict], *jobs: str) -> Row:
    return Row(name, judge, frozenset(jobs), needs_backtest=not jobs)


# Code that one of these refuses is not run.
STATIC: tuple[Gate, ...] = (SyntaxGate(), ImportsGate(), ConstitutionGate(), SecretsGate())
LINTERS = ("flake8", "mypy", "bandit")
TABLE = (
    _row("flake8", lambda asked: asked.of_tool("flake8"), "flake8"),
    _row("mypy", lambda asked: asked.of_tool("mypy"), "mypy"),
    _row("bandit", lambda asked: asked.of_tool("bandit"), "bandit"),
    _row("pytest", lambda asked: asked.tested, "pytest", "whole"),
    _row(
        "determinism",
        lambda asked: judge_determinism(asked.trial, asked.contract.strategy_file),
        *("whole", "again"),
    ),
    _row(
        "lookahead",
        lambda asked: judge_lookahead(
            asked.trial, asked.contract, asked.program, asked.contract.strategy_file
        ),
        *("whole", "cuts"),
    ),
    _row(
        "elsewhere",
        lambda asked: judge_elsewhere(
            asked.trial, asked.contract, asked.program, asked.contract.strategy_file
        ),
        "again",
    ),
    _row("engine-parity", lambda asked: asked.parity()),
    _row("artifacts", lambda asked: judge_artifacts(asked.results)),
    _row(
        "correlation",
        lambda asked: judge_correlation(asked.results["events.log"], asked.correlation_id),
    ),
    _row("acceptance", lambda asked: judge_acceptance(asked.contract.acceptance, asked.summary)),
)
# Beside the others, where the template did not write the candidate.
FOREIGN = (TEMPLATE, MUTATION)
NAMES = (*(gate.name for gate in STATIC), *(row.name for row in TABLE))
