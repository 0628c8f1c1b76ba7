"""Turns a Program and candles into how often each rule and each of its clauses held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations
from typing import NotRequired, TypedDict

import numpy as np

from bot.contract.language.evaluator import Array
from bot.contract.language.program import Program
from bot.contract.language.tree import Logic, Node
from bot.contract.language.warmup import warmup
from bot.contract.language.words import in_words

LONGEST_WORDS = 200
_COLLIDING = {
    "enter_long": ("exit_long", "enter_short"),
    "enter_short": ("exit_short", "enter_long"),
}


class ClauseCounts(TypedDict):
    """Says how often a clause held, and the clause in words."""

    words: str
    held: int


class RuleCounts(TypedDict):
    """Says how often a rule and its clauses held, and which two clauses never held together."""

    held: int
    clauses: list[ClauseCounts]
    never_together: NotRequired[list[str]]


class SignalCounts(TypedDict):
    """Holds what was counted over all candles of all symbols.

    `entries` are candles that ask for a position, `collisions` those with an entry beside the exit
    of its side, or beside the other entry.
    """

    candles: int
    warmup: int
    entries: int
    collisions: int
    rules: dict[str, RuleCounts]


def clauses_of(tree: Node) -> tuple[Node, ...]:
    """Gives the parts that an `and` or `or` at the top of a rule joins; none for a single one."""
    return tree.operands if isinstance(tree, Logic) else ()


def with_clauses(program: Program) -> Program:
    """Make each clause of a rule a rule of its own, to be evaluated with the others."""
    named = {
        f"{rule} {place}": clause
        for rule, tree in program.rules.items()
        for place, clause in enumerate(clauses_of(tree))
    }
    return replace(program, rules={**program.rules, **named})


def count_signals(program: Program, values: Sequence[Mapping[str, Array]]) -> SignalCounts:
    """Counts over all candles, from what `evaluate` gives of `with_clauses` for each symbol."""
    held = {rule: _joined(values, rule) for rule in with_clauses(program).rules}
    entries = collisions = 0
    for rule, others in _COLLIDING.items():
        if rule in held:
            # Entries are rare, so only their candles are looked at.
            at = np.flatnonzero(held[rule])
            beside = [held[other][at] for other in others if other in held]
            clash = reduce(np.logical_or, beside, np.zeros(len(at), dtype=np.bool_))
            ready = [~np.isnan(_joined(values, f"{f}.atr")[at]) for f in program.atr_periods]
            entries += int(np.count_nonzero(reduce(np.logical_and, ready, ~clash)))
            collisions += int(np.count_nonzero(clash))
    if "enter_long" in held and "enter_short" in held:
        # A candle with both was counted for each.
        collisions -= int(np.count_nonzero(held["enter_long"] & held["enter_short"]))
    return {
        "candles": sum(len(each[next(iter(program.rules))]) for each in values),
        "warmup": warmup(program),
        "entries": entries,
        "collisions": collisions,
        "rules": {rule: _rule(rule, tree, held) for rule, tree in program.rules.items()},
    }


def _joined(values: Sequence[Mapping[str, Array]], name: str) -> Array:
    """Join the symbols' arrays of a name; one symbol's is taken as it is."""
    return values[0][name] if len(values) == 1 else np.concatenate([each[name] for each in values])


def _rule(rule: str, tree: Node, held: Mapping[str, Array]) -> RuleCounts:
    parts = [held[f"{rule} {place}"] for place in range(len(clauses_of(tree)))]
    words = [in_words(clause)[:LONGEST_WORDS] for clause in clauses_of(tree)]
    found: RuleCounts = {
        "held": int(np.count_nonzero(held[rule])),
        "clauses": [
            {"words": text, "held": int(np.count_nonzero(part))}
            for text, part in zip(words, parts, strict=True)
        ],
    }
    if found["held"] == 0 and isinstance(tree, Logic) and all(part.any() for part in parts):
        apart = (
            [words[one], words[other]]
            for one, other in combinations(range(len(parts)), 2)
            if not (parts[one] & parts[other]).any()
        )
        found["never_together"] = next(apart, [])
    return found
