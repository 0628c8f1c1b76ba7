"""Computes rules in one pass of machine code; `adapters.series` says what they mean."""

from Backtest.compiled.kernel_forms import Flags, Floats
from Backtest.compiled.machine_code import NUMBERS, fills, loop, types


@loop(NUMBERS, NUMBERS, fills(types.boolean))
def crossings(a: Floats, b: Floats, crossed: Flags) -> None:
    """Fill in where a is above b and was at or below it one bar before."""
    crossed[:1] = False
    now_a, now_b, before_a, before_b = a[1:], b[1:], a[:-1], b[:-1]
    shown = crossed[1:]
    for row in range(shown.size):
        shown[row] = (now_a[row] > now_b[row]) & (before_a[row] <= before_b[row])


@loop(NUMBERS, NUMBERS, fills(types.boolean), fills(types.boolean))
def both_crossings(a: Floats, b: Floats, above: Flags, below: Flags) -> None:
    """Fill in the crossings of a over b, and those of b over a."""
    above[:1] = below[:1] = False
    now_a, now_b, before_a, before_b = a[1:], b[1:], a[:-1], b[:-1]
    over, under = above[1:], below[1:]
    for row in range(over.size):
        over[row] = (now_a[row] > now_b[row]) & (before_a[row] <= before_b[row])
        under[row] = (now_a[row] < now_b[row]) & (before_a[row] >= before_b[row])
