"""Turns rules into scenes: single bars that decide each rule, and each of its clauses alone."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from bot.coder.template.markets import Bits, Choice, clause_name, patterns, told_apart
from bot.contract.language.evaluator import Array
from bot.contract.language.occurrences import clauses_of
from bot.contract.language.program import Program
from bot.contract.language.tree import Logic, Node
from bot.contract.language.words import in_words

_MOST_WORDS = 56

# The rule, the market's seed, the market's last bar, and whether the rule holds there.
Scene = tuple[str, int, int, bool]

# The market's seed, the market's last bar, and the pattern's value there.
Sighting = tuple[int, int, float]


@dataclass(frozen=True)
class Sketch:
    """Describes a scene: its rule, what it shows, and the bars of a market that show it."""

    rule: str
    title: str
    holds: bool
    bars: Bits


def scenes(choice: Choice, warmup: int) -> dict[str, Scene]:
    """Finds one bar for every way in which a rule is decided, by what it shows.

    Bars of the warm-up are taken only if there is no other.
    """
    found: dict[str, Scene] = {}
    for seed, values in choice.values.items():
        for sketch in _sketches(choice.program, values):
            if sketch.title not in found and sketch.bars.any():
                bar = _telling(sketch.bars, warmup)
                found[sketch.title] = (sketch.rule, seed, bar, sketch.holds)
    return dict(sorted(found.items())) | _edges(choice, warmup)


def sightings(choice: Choice) -> dict[str, Sighting]:
    """Says where to see each candle pattern that the tests' own market does not show."""
    found: dict[str, Sighting] = {}
    for key in patterns(choice.program):
        if choice.values[choice.seed][key].any():
            continue
        for seed, values in choice.values.items():
            bars = np.flatnonzero(values[key])
            if len(bars):
                found[key] = (seed, int(bars[0]), float(values[key][bars[0]]))
                break
    return found


def _edges(choice: Choice, warmup: int) -> dict[str, Scene]:
    """Gives a bar for each mistaken rule that the tests' own market does not tell from the rule."""
    found: dict[str, Scene] = {}
    for name, rule in choice.mistaken.items():
        if told_apart(choice.values[choice.seed], name, rule).any():
            continue
        for seed, values in choice.values.items():
            bars = told_apart(values, name, rule)
            if bars.any():
                bar = _telling(bars, warmup)
                title = f"{rule} at an edge: market {seed}, bar {bar}"
                found[title] = (rule, seed, bar, bool(values[rule][bar]))
                break
    return found


def _telling(bars: Bits, warmup: int) -> int:
    late = np.flatnonzero(bars[warmup:])
    return int(late[0]) + warmup if len(late) else int(np.flatnonzero(bars)[0])


def _sketches(program: Program, values: Mapping[str, Array]) -> Iterator[Sketch]:
    for rule, tree in program.rules.items():
        whole: Bits = np.asarray(values[rule], dtype=np.bool_)
        yield Sketch(rule, f"{rule} holds", True, whole)
        yield Sketch(rule, f"{rule} does not hold", False, _last_quiet(whole))
        parts = clauses_of(tree)
        computed = [
            np.asarray(values[clause_name(rule, number)], dtype=np.bool_)
            for number in range(len(parts))
        ]
        for number, part in enumerate(parts):
            others = [bits for other, bits in enumerate(computed) if other != number]
            if isinstance(tree, Logic) and tree.operator == "and":
                alone = ~computed[number] & np.logical_and.reduce(others)
                yield Sketch(rule, _title(rule, "fails only by", number, part), False, alone)
            else:
                alone = computed[number] & ~np.logical_or.reduce(others)
                yield Sketch(rule, _title(rule, "holds only by", number, part), True, alone)


def _title(rule: str, how: str, number: int, clause: Node) -> str:
    """Says what a scene shows, with the clause in words if they are few."""
    said = in_words(clause)
    short = len(said) <= _MOST_WORDS and said.isascii()
    return f"{rule} {how}: {said}" if short else f"{rule} {how} its clause {number + 1}"


def _last_quiet(whole: Bits) -> Bits:
    """Gives bars at which a rule is about to hold; if there are none, all at which it does not."""
    before: Bits = ~whole & np.append(whole[1:], False)
    return before if before.any() else ~whole
