"""Finds the clauses of rules that decide nothing on any made market, and says why none can."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from adapters.testing import MOODS, market
from Backtest.times import timeframe_ms
from bot.contract.language.evaluator import Array, evaluate
from bot.contract.language.program import Program
from bot.contract.language.tree import Logic, Node, Not
from bot.contract.language.warmup import warmup
from bot.contract.language.words import in_words
from bot.contract.model import Contract

# Markets that the template's tests are not made of, in every mood.
SEEDS = (*range(501, 521), *(1_000 * mood + 501 for mood in range(1, len(MOODS))))
# Those that tests are made of come first: nearly every clause is decided there.
ALL_SEEDS = (*range(1, 9), *SEEDS)
_BARS = 800
_MOST_BARS = 6_000
# By the operator, and the only thing that the clause said where it could have decided.
_WHY = {
    ("and", None): "is never left to decide: its other clauses do not hold together",
    ("and", True): "holds wherever its other clauses do",
    ("and", False): "never holds where its other clauses do",
    ("or", None): "is never left to decide: another clause always holds",
    ("or", True): "holds wherever no other clause does",
    ("or", False): "never holds where no other clause does",
}


def market_bars(program: Program) -> int:
    """Says how many bars a market needs so that the rules can be compared on it."""
    return min(warmup(program) + _BARS, _MOST_BARS)


def idle_clauses(
    contract: Contract, program: Program, seeds: Iterable[int] = ALL_SEEDS
) -> dict[str, list[str]]:
    """Gives the clauses of each rule that decide it at no bar of these markets, in words, and why.

    One of an `and` decides where all others hold, one of an `or` where no other does, and one
    inside a clause where that one decides; it has to have said yes there at one bar and no at
    another.
    """
    bars, minutes = market_bars(program), timeframe_ms(contract.market.timeframe) // 60_000
    clauses = [one for rule, tree in program.rules.items() for one in _clauses(rule, tree)]
    named = {name: clause for name, _, clause in clauses}
    said: dict[str, set[bool]] = {name: set() for name in named}
    for seed in seeds:
        if all(len(answers) == 2 for answers in said.values()):
            return {}
        values = evaluate(replace(program, rules=named), market(bars, seed, minutes))
        for rule, tree in program.rules.items():
            _listen(rule, tree, np.ones(bars, dtype=np.bool_), values, said)
    found: dict[str, list[str]] = {}
    idle: list[str] = []
    for name, operator, clause in clauses:
        # Inside a clause that decides nothing no part can.
        if len(said[name]) == 2 or any(name.startswith(f"{other} ") for other in idle):
            continue
        idle.append(name)
        why = _WHY[operator, next(iter(said[name]), None)]
        found.setdefault(name.partition(" ")[0], []).append(f"`{in_words(clause)}` {why}")
    return found


def _logic(tree: Node) -> Logic | None:
    """Gives the `and` or `or` that a clause is, also under a `not`."""
    while isinstance(tree, Not):
        tree = tree.part
    return tree if isinstance(tree, Logic) else None


def _clauses(name: str, tree: Node) -> Iterator[tuple[str, str, Node]]:
    """Gives the clauses of a rule and theirs, each named by its place, with what joins them."""
    logic = _logic(tree)
    if logic is None:
        return
    for number, clause in enumerate(logic.operands):
        yield f"{name} {number}", logic.operator, clause
        yield from _clauses(f"{name} {number}", clause)


def _listen(
    name: str,
    tree: Node,
    asked: NDArray[np.bool_],
    values: Mapping[str, Array],
    said: Mapping[str, set[bool]],
) -> None:
    """Notes what every clause said at the bars where it decides; `asked` are those of the whole."""
    logic = _logic(tree)
    if logic is None:
        return
    needed = logic.operator == "and"
    parts = [values[f"{name} {number}"] for number in range(len(logic.operands))]
    for number, clause in enumerate(logic.operands):
        others = [other == needed for other in (*parts[:number], *parts[number + 1 :])]
        alone = asked & np.logical_and.reduce(others)
        said[f"{name} {number}"] |= set(parts[number][alone].tolist())
        _listen(f"{name} {number}", clause, alone, values, said)
