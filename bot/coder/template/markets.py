"""Turns rules into markets on which they differ from what could be written by mistake."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from adapters.testing import MOODS, market
from bot.coder.template.mistakes import mistakes
from bot.contract.language.evaluator import Array, evaluate
from bot.contract.language.idle_clauses import SEEDS
from bot.contract.language.occurrences import clauses_of
from bot.contract.language.program import Program
from bot.contract.language.program_steps import TalibStep
from bot.contract.language.tree import Node, Truth

Bits = NDArray[np.bool_]

# A market of more bars is not walked by the interpreter.
LONGEST_WALK = 3_000
# So many bars are made in all at each step: of long markets there are fewer to choose among.
_MOST_BARS = 120_000
_SEEDS = range(1, 25)
# A rule that never holds on the tests' market is worse than any mistake it does not show.
_RULE_WEIGHT = 1_000
# After so many markets a longer one shows more than another of the same length.
_ENOUGH = 8
_LONG_SEEDS = range(101, 105)
_LONG_BARS = 1_500
# Other moods; then the markets that mutants are held against: what differs there has its test.
_LAST_SEEDS = (*(1_000 * mood + 101 for mood in range(1, len(MOODS))), *SEEDS)
_LAST_BARS = 600


@dataclass(frozen=True)
class Choice:
    """Holds the markets that were looked at."""

    program: Program  # the contract's Program
    seed: int  # the market of the tests
    # Rules, clauses and mistaken rules by seed, the market of the tests first.
    values: Mapping[int, Mapping[str, Array]]
    mistaken: Mapping[str, str]  # the names of the mistaken versions, with the rule of each


def lively_markets(program: Program, bars: int, minutes: int) -> Choice:
    """Find a market on which every rule holds, and tells itself from its mistaken versions.

    A test on a market where a clause never matters would pass on a strategy without it. What one
    market does not tell apart another may; what none of this length does, a longer one may.
    """
    variants = {
        f"{rule} {number}": tree
        for rule, whole in program.rules.items()
        for number, tree in enumerate([Truth(0, True), Truth(0, False), *mistakes(whole)])
    }
    rules = {name: _rule_of(name) for name in variants}
    beside = replace(program, rules={**program.rules, **_clauses(program), **variants})
    tried: dict[int, Mapping[str, Array]] = {}
    best, seed, missing = -1, _SEEDS[0], set(variants)
    for number in _SEEDS[: max(1, _MOST_BARS // bars)]:
        values = tried[number] = evaluate(beside, market(bars, number, minutes))
        shown = {name for name, rule in rules.items() if told_apart(values, name, rule).any()}
        score = len(shown) + _RULE_WEIGHT * sum(bool(values[rule].any()) for rule in program.rules)
        if score > best:
            best, seed = score, number
        missing -= shown
        all_hold = best >= _RULE_WEIGHT * len(program.rules)
        if len(shown) == len(variants) or (all_hold and len(tried) >= _ENOUGH):
            break
    looked_at = {seed: tried[seed], **tried}
    unseen = {key for key in patterns(program) if not tried[seed][key].any()}
    if missing or unseen:
        looked_at |= _longer(program, {name: variants[name] for name in missing}, bars, minutes)
    return Choice(program, seed, looked_at, rules)


def patterns(program: Program) -> list[str]:
    """Gives the indicators that are 0 at nearly every bar: TA-Lib's candle patterns."""
    return [
        step.name
        for step in program.steps
        if isinstance(step, TalibStep) and step.function.name.startswith("CDL")
    ]


def _longer(
    program: Program, missing: Mapping[str, Node], bars: int, minutes: int
) -> dict[int, Mapping[str, Array]]:
    """Says what the usual markets did not show, on longer ones."""
    left = dict(missing)
    found: dict[int, Mapping[str, Array]] = {}
    for number in (*_LONG_SEEDS, *_LAST_SEEDS)[: _MOST_BARS // bars]:
        if number not in _LONG_SEEDS and not left:
            break
        longer = bars + (_LAST_BARS if number in SEEDS else _LONG_BARS)
        beside = replace(program, rules={**program.rules, **_clauses(program), **left})
        values = evaluate(beside, market(longer, number, minutes))
        shown = [name for name in left if told_apart(values, name, _rule_of(name)).any()]
        if shown or number in _LONG_SEEDS:
            found[number] = values
        left = {name: tree for name, tree in left.items() if name not in shown}
    return found


def _rule_of(variant: str) -> str:
    return variant.partition(" ")[0]


def told_apart(values: Mapping[str, Array], name: str, rule: str) -> Bits:
    """Gives the bars at which a mistaken version differs; none where it was not computed."""
    whole: Bits = np.asarray(values[rule], dtype=np.bool_)
    other = values.get(name)
    return np.zeros(len(whole), dtype=np.bool_) if other is None else whole != other


def clause_name(rule: str, number: int) -> str:
    """Gives the name under which a clause is computed beside the rules."""
    return f"{rule} clause {number}"


def _clauses(program: Program) -> dict[str, Node]:
    return {
        clause_name(rule, number): clause
        for rule, tree in program.rules.items()
        for number, clause in enumerate(clauses_of(tree))
    }
