"""Finds the clauses of rules that decide nothing on any made market, and says why none can."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from adapters.testing import MOODS, market
from Backtest.times import timeframe_ms
from bot.contract.language.evaluator import evaluate
from bot.contract.language.program import Program
from bot.contract.language.tree import Logic
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

    One of an `and` decides where all others hold, one of an `or` where no other does; it has to
    have said yes there at one bar and no at another.
    """
    bars, minutes = market_bars(program), timeframe_ms(contract.market.timeframe) // 60_000
    rules = {rule: tree for rule, tree in program.rules.items() if isinstance(tree, Logic)}
    named = {
        f"{rule} {number}": clause
        for rule, tree in rules.items()
        for number, clause in enumerate(tree.operands)
    }
    said: dict[str, set[bool]] = {name: set() for name in named}
    for seed in seeds:
        if all(len(answers) == 2 for answers in said.values()):
            return {}
        values = evaluate(replace(program, rules=named), market(bars, seed, minutes))
        for rule, tree in rules.items():
            needed = tree.operator == "and"
            parts = [values[f"{rule} {number}"] for number in range(len(tree.operands))]
            for number, part in enumerate(parts):
                others = [other == needed for other in (*parts[:number], *parts[number + 1 :])]
                said[f"{rule} {number}"] |= set(part[np.logical_and.reduce(others)].tolist())
    found: dict[str, list[str]] = {}
    for name, clause in named.items():
        if len(said[name]) < 2:
            rule = name.partition(" ")[0]
            why = _WHY[rules[rule].operator, next(iter(said[name]), None)]
            found.setdefault(rule, []).append(f"`{in_words(clause)}` {why}")
    return found
