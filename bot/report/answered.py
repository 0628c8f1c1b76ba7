"""Shows what a model made of rules in prose: bars where each fires, one where it just does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from adapters import series
from bot.contract.language.evaluator import Array, evaluate
from bot.contract.language.occurrences import clauses_of, with_clauses
from bot.contract.language.program import Program
from bot.contract.language.tree import Indicator, Logic, Node, Price, walk
from bot.contract.language.words import in_words
from bot.report.figures import moment

if TYPE_CHECKING:
    import pandas as pd

_MOST_VALUES = 6
_FIRING = 3


@dataclass(frozen=True)
class ExampleBar:
    """Shows a rule at one bar."""

    symbol: str
    time: str
    fires: bool
    values: str  # what the rule reads there
    missing: str = ""  # the clauses that do not hold, in words


@dataclass(frozen=True)
class Answered:
    """Tells what a model said, what it assumed and what that cost."""

    model: str
    cost_usd: str
    prices: str  # the date of the price table
    calls: int
    signed: bool  # whether the bot signed what was sent and received
    assumptions: Mapping[str, Sequence[str]]
    bars: Mapping[str, Sequence[ExampleBar]]
    # What the model assumed where it drafted the whole contract; None where it did not.
    drafted: Sequence[str] | None = None


def example_bars(
    program: Program, frames: Mapping[str, pd.DataFrame], rule: str
) -> list[ExampleBar]:
    """Pick the first, a middle and the last bar where a rule fires, and one that it just misses."""
    whole = with_clauses(replace(program, rules={rule: program.rules[rule]}))
    bars: list[ExampleBar] = []
    for symbol, frame in frames.items():
        values = evaluate(whole, frame)
        fired = np.flatnonzero(values[rule])
        missed = _missed(whole, values, rule, fired)
        shown = _bars(symbol, frame, values, program.rules[rule])
        without = _failing(whole, values, rule)
        near = [] if missed is None else [shown.at(missed, False, without)]
        if len(fired):
            picked = dict.fromkeys((fired[0], fired[len(fired) // 2], fired[-1]))
            return [*(shown.at(int(at), True) for at in picked), *near]
        bars = bars or near
    return bars


@dataclass(frozen=True)
class _Shown:
    symbol: str
    times: Sequence[int]
    columns: Mapping[str, Array]

    def at(self, idx: int, fires: bool, failing: Mapping[str, Array] | None = None) -> ExampleBar:
        read = ", ".join(f"{name} {column[idx]:g}" for name, column in self.columns.items())
        without = [words for words, held in (failing or {}).items() if not held[idx]]
        when = moment(int(self.times[idx]))
        return ExampleBar(self.symbol, when, fires, read, "; ".join(without))


def _bars(symbol: str, frame: pd.DataFrame, values: Mapping[str, Array], tree: Node) -> _Shown:
    """What a rule reads, by name, in the order in which it names it."""
    columns: dict[str, Array] = {}
    for part in walk(tree):
        if isinstance(part, Price):
            columns[part.name] = series.column(frame, part.name)
        elif isinstance(part, Indicator):
            columns[part.key] = np.asarray(values[part.key], dtype=np.float64)
    kept = dict(list(columns.items())[:_MOST_VALUES])
    times = frame["timestamp"].astype("datetime64[ms, UTC]").astype("int64").tolist()
    return _Shown(symbol, times, kept)


def _failing(program: Program, values: Mapping[str, Array], rule: str) -> dict[str, Array]:
    """The clauses of a rule in words, and where each holds."""
    tree = program.rules[rule]
    clauses = clauses_of(tree) or (tree,)
    names = [f"{rule} {place}" for place in range(len(clauses))] if clauses_of(tree) else [rule]
    return {in_words(part): values[name] for part, name in zip(clauses, names, strict=True)}


def _missed(program: Program, values: Mapping[str, Array], rule: str, fired: Array) -> int | None:
    """The bar that lacks the fewest clauses of an `and` and lies nearest to one that fires."""
    held = np.asarray(values[rule], dtype=np.bool_)
    quiet = np.flatnonzero(~held)
    if not len(quiet):
        return None
    tree = program.rules[rule]
    if isinstance(tree, Logic) and tree.operator == "and":
        parts = [np.asarray(part, np.bool_) for part in _failing(program, values, rule).values()]
        lacking = np.count_nonzero(~np.array(parts), axis=0)[quiet]
        quiet = quiet[lacking == lacking.min()]
    if not len(fired):
        return int(quiet[-1])
    after = np.searchsorted(fired, quiet).clip(0, len(fired) - 1)
    before = (np.searchsorted(fired, quiet) - 1).clip(0, len(fired) - 1)
    far = np.minimum(np.abs(fired[after] - quiet), np.abs(fired[before] - quiet))
    return int(quiet[np.flatnonzero(far == far.min())[-1]])
