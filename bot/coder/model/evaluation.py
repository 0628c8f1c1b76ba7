"""Measures how a model reads traders' words: by bars on which decisions differ, not by text."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from adapters.testing import MOODS, market
from bot.coder.model.agent import NotAnswered
from bot.coder.model.agent_coder import Asking
from bot.contract.document.source import read_source
from bot.contract.language.evaluator import Array, evaluate
from bot.contract.language.program import read_program

CASES = Path(__file__).with_name("cases")
SEEDS = tuple(1_000 * mood + 7 for mood in range(len(MOODS)))
BARS = 1_000
_MINUTES = 60


@dataclass(frozen=True)
class EvaluatedCase:
    """Names rules in words, each with what it means."""

    name: str
    rules: Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class Score:
    """Says how far one answer is from what was meant.

    Attributes:
        differing: bars on which some rule decides otherwise; all bars where there is no answer.
        bars: all bars that were compared.
        rounds: how often the model was asked.
        cost: in millionths of a US dollar.
    """

    case: str
    differing: int
    bars: int
    rounds: int
    cost: int
    answered: bool

    @property
    def is_exact(self) -> bool:
        """Says whether every decision is the one that was meant."""
        return self.answered and self.differing == 0


def read_cases(rules: int | None = None, strategies: int | None = None) -> list[EvaluatedCase]:
    """Read the cases that come with the product, or the first of each kind."""
    single = yaml.safe_load((CASES / "rules.yaml").read_text(encoding="utf-8"))[:rules]
    whole = yaml.safe_load((CASES / "strategies.yaml").read_text(encoding="utf-8"))[:strategies]
    found = [EvaluatedCase(str(words), {"enter_long": (words, text)}) for words, text in single]
    return found + [
        EvaluatedCase(f"strategy {number}", {name: (row[0], row[1]) for name, row in each.items()})
        for number, each in enumerate(whole, 1)
    ]


def evaluate_model(cases: Sequence[EvaluatedCase], asking: Asking, samples: int) -> Iterator[Score]:
    """Ask about every case so many times; what the model cannot answer counts as all bars."""
    for case in cases:
        wanted = decisions(case, {name: text for name, (_, text) in case.rules.items()})
        bars = len(wanted)
        for _ in range(samples):
            try:
                told = asking.ask(document(case))
            except NotAnswered as error:
                yield Score(case.name, bars, bars, error.turns, error.cost, False)
                continue
            given = decisions(case, told.expressions)
            differing = int(np.count_nonzero((given != wanted).any(axis=1)))
            yield Score(case.name, differing, bars, len(told.calls), told.cost, True)


def document(case: EvaluatedCase) -> dict[str | int, object]:
    """Give the contract that a case is asked in."""
    root = read_source((CASES / "base.yaml").read_bytes(), "yaml").root
    if root is None:
        raise ValueError("base.yaml cannot be read")
    return {**root, "rules": {name: {"prose": words} for name, (words, _) in case.rules.items()}}


def decisions(case: EvaluatedCase, expressions: Mapping[str, str]) -> Array:
    """Decide every bar of every market: a row a bar, a column a rule."""
    root = {str(key): value for key, value in document(case).items()}
    program = read_program({**root, "rules": dict(expressions)})
    rows = []
    for seed in SEEDS:
        values = evaluate(program, market(BARS, seed, _MINUTES))
        rows.append(np.column_stack([np.asarray(values[name], np.bool_) for name in case.rules]))
    return np.concatenate(rows)


def summary(scores: Sequence[Score]) -> dict[str, float]:
    """Sum an evaluation up."""
    return {
        "answers": len(scores),
        "exact": sum(score.is_exact for score in scores),
        "not_answered": sum(not score.answered for score in scores),
        "bars": sum(score.bars for score in scores),
        "differing_bars": sum(score.differing for score in scores),
        "score": 1 - sum(s.differing for s in scores) / max(1, sum(s.bars for s in scores)),
        "mean_rounds": statistics.fmean(score.rounds for score in scores) if scores else 0.0,
        "cost_usd": sum(score.cost for score in scores) / 1e6,
    }
