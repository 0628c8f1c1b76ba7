"""Turns the ranges of a contract's parameters into the values that a search may try."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import product
from random import Random
from typing import TYPE_CHECKING

from bot.errors import InputError

if TYPE_CHECKING:
    from bot.contract.model import Contract

STEPS = 100  # about so many a range; whole numbers all, up to ten times as many
NEAR_SHARE = 0.05  # of the listed values: how far a neighbour is

Space = Mapping[str, Sequence[int | float]]
Values = dict[str, int | float]


def space_of(contract: Contract) -> Space:
    """List the values of every parameter that has a range, rising, its default among them.

    A contract whose rules or risk refuse an end of a range was not loaded.

    Raises:
        InputError: no parameter has a range.
    """
    space: dict[str, Sequence[int | float]] = {}
    for name, parameter in contract.parameters.items():
        if parameter.range is None or parameter.range[0] == parameter.range[1]:
            continue
        low, high = parameter.range
        listed = _stepped(low, high, whole=parameter.is_integer)
        space[name] = sorted({*listed, parameter.default})
    if not space:
        hint = "Give one a range, as `oversold: {default: 30, range: [15, 40]}`."
        raise InputError("no parameter has a range to search", hint)
    return space


def _stepped(low: int | float, high: int | float, *, whole: bool) -> list[int | float]:
    """Both ends and round steps between them; decimals as people write them."""
    first, last = Decimal(repr(low)), Decimal(repr(high))
    if whole and last - first <= 10 * STEPS:
        step = Decimal(1)
    else:
        step = _round_step((last - first) / STEPS)
        step = max(step.to_integral_value(), Decimal(1)) if whole else step
    count = int((last - first) / step)
    numbers = [*(first + step * place for place in range(count + 1)), last]
    return [int(number) if whole else float(number) for number in numbers]


def _round_step(least: Decimal) -> Decimal:
    """1, 2 or 5 times a power of ten, not below a number."""
    power = Decimal(10) ** least.adjusted()
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least)


def grid_sets(space: Space, most: int) -> list[Values]:
    """Every combination of values, thinned evenly in each parameter to at most so many sets."""
    taken = dict.fromkeys(space, 1)
    for name in (longest := sorted(space, key=lambda each: len(space[each]))):
        left = longest[longest.index(name) :]
        share = int((most / math.prod(taken.values())) ** (1.0 / len(left)) + 1e-9)
        taken[name] = max(1, min(len(space[name]), share))
    listed = []
    for name, values in space.items():
        last, count = len(values) - 1, taken[name]
        places = [last // 2] if count == 1 else [last * n // (count - 1) for n in range(count)]
        listed.append([values[place] for place in places])
    return [dict(zip(space, chosen, strict=True)) for chosen in product(*listed)]


def random_sets(space: Space, most: int, seed: int) -> list[Values]:
    """So many sets by chance, none twice; all of them if there are no more."""
    sizes = [len(values) for values in space.values()]
    count = math.prod(sizes)
    if count <= most:
        return grid_sets(space, most)
    chance, chosen = Random(seed), dict[int, None]()  # noqa: S311 - repeatable, no secret
    while len(chosen) < most:
        chosen[chance.randrange(count)] = None
    return [_numbered(space, number) for number in chosen]


def _numbered(space: Space, number: int) -> Values:
    """The set of a number, as digits to the bases of the parameters."""
    found: Values = {}
    for name, values in space.items():
        number, place = divmod(number, len(values))
        found[name] = values[place]
    return found


def near_sets(space: Space, values: Mapping[str, int | float]) -> list[Values]:
    """The sets around one: each parameter moved down and up by itself, where its range allows."""
    found = []
    for name, listed in space.items():
        place = listed.index(values[name])
        apart = max(1, round(NEAR_SHARE * (len(listed) - 1)))
        for other in (place - apart, place + apart):
            if 0 <= other < len(listed):
                found.append({**values, name: listed[other]})
    return found
