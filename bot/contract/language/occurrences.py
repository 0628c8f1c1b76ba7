"""Turns a Program and candles into how often each rule and each of its clauses held."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from bot.contract.language.evaluator import Array, evaluate
from bot.contract.language.program import Program
from bot.contract.language.tree import Logic, Node
from bot.contract.language.warmup import warmup
from bot.contract.language.words import in_words

if TYPE_CHECKING:
    import pandas as pd

LONGEST_WORDS = 200


def clauses_of(tree: Node) -> tuple[Node, ...]:
    """The parts that an `and` or an `or` at the top of a rule joins; none for a single one."""
    return tree.operands if isinstance(tree, Logic) else ()


def count_signals(program: Program, frames: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """Count over all candles of all symbols, as JSON-ready data.

    Returns:
        `candles`, `warmup`, `entries` (candles that ask for a position), `collisions` (candles
        with an entry beside the exit of its side, or beside the other entry), and for each rule
        how often it held, its clauses, and two of them that never held together.
    """
    named = {
        f"{rule} {place}": clause
        for rule, tree in program.rules.items()
        for place, clause in enumerate(clauses_of(tree))
    }
    whole = replace(program, rules={**program.rules, **named})
    values = [evaluate(whole, frame) for frame in frames.values()]
    held = {name: np.concatenate([each[name] for each in values]) for name in whole.rules}
    nothing = np.zeros(sum(map(len, frames.values())), dtype=np.bool_)
    ready = ~nothing
    for field in program.atr_periods:
        ready &= ~np.isnan(np.concatenate([each[f"{field}.atr"] for each in values]))
    long, short, out_long, out_short = (
        held.get(name, nothing) for name in ("enter_long", "enter_short", "exit_long", "exit_short")
    )
    collisions = (long & out_long) | (short & out_short) | (long & short)
    return {
        "candles": len(nothing),
        "warmup": warmup(program),
        "entries": int(np.count_nonzero((long | short) & ~collisions & ready)),
        "collisions": int(np.count_nonzero(collisions)),
        "rules": {rule: _rule(rule, tree, held) for rule, tree in program.rules.items()},
    }


def _rule(rule: str, tree: Node, held: Mapping[str, Array]) -> dict[str, Any]:
    parts = [held[f"{rule} {place}"] for place in range(len(clauses_of(tree)))]
    words = [in_words(clause)[:LONGEST_WORDS] for clause in clauses_of(tree)]
    found: dict[str, Any] = {
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
