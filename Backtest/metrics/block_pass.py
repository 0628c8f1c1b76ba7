"""Adds up returns in blocks of rows, and judges choices by halves of the blocks: machine code."""

import numpy as np
from numpy.typing import NDArray

from Backtest.compiled.machine_code import NUMBERS, WHOLE, fills, loop, part, reads, types

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

POWERS = 4
GROUP, GROUPS = 4, 4  # blocks whose sums are all added up beforehand; how many such groups
LEAST_SQUARES = 1e-300  # of returns; what never moves has fewer


def block_sums(equity: Floats, moving: tuple[Whole, Whole], blocks: int) -> Floats:
    """Gives, by block, how many returns there are and the sums of their first four powers.

    `moving` is from which rows on and up to which others equity may move, in pieces that do not
    overlap. Once equity is not positive, returns have no meaning and count as 0.
    """
    sums = np.zeros((blocks, POWERS + 1))
    add_powers(equity, *moving, sums)
    return sums


@loop(NUMBERS, WHOLE, WHOLE, fills(types.float64, 2))
def add_powers(rows: Floats, firsts: Whole, lasts: Whole, sums: Floats) -> None:
    """Add the powers of returns to the sums of their block; return n is that from row n on."""
    blocks, count = sums.shape[0], max(rows.size - 1, 0)
    for block in range(blocks):
        sums[block, 0] = (block + 1) * count // blocks - block * count // blocks
    block, done = 0, 0
    for piece in range(firsts.size):
        # A position may be entered in the bar that the one before it was left in.
        first, last = max(firsts[piece] - 1, done), min(lasts[piece], rows.size - 1)
        done = max(done, last)
        for place in range(first, last):
            if not rows[place + 1] > 0.0 or not rows[place] > 0.0:
                continue
            while (block + 1) * count // blocks <= place:
                block += 1
            change = rows[place + 1] / rows[place] - 1.0
            square = change * change
            sums[block, 1] += change
            sums[block, 2] += square
            sums[block, 3] += square * change
            sums[block, 4] += square * square


@part
def sums_by_choice(rows: Floats) -> Floats:
    """Add up every choice of the rows of each group of four; choice n has the rows of n's bits."""
    made = np.zeros((GROUPS, 1 << GROUP, rows.shape[1]))
    for row in range(rows.shape[0]):
        group, bit = row // GROUP, 1 << row % GROUP
        for choice in range(bit):
            made[group, choice | bit] = made[group, choice] + rows[row]
    return made


@part
def add_score(sums: Floats, squares: Floats, half: int, scores: Floats) -> None:
    """Fill in numbers that order the tries by their Sharpe ratios on the blocks of a half.

    Given are the sums by choice. All tries have as many returns, so the square of their sum over
    the sum of their squares, with the sum's sign, will do. What never moves has 0.
    """
    every = (1 << GROUP) - 1
    a, b, c, d = half & every, half >> 4 & every, half >> 8 & every, half >> 12
    sums_a, sums_b, sums_c, sums_d = sums[0, a], sums[1, b], sums[2, c], sums[3, d]
    squares_a, squares_b = squares[0, a], squares[1, b]
    squares_c, squares_d = squares[2, c], squares[3, d]
    for place in range(scores.size):
        score = (sums_a[place] + sums_b[place]) + (sums_c[place] + sums_d[place])
        moved = (squares_a[place] + squares_b[place]) + (squares_c[place] + squares_d[place])
        scores[place] = score * (abs(score) / (moved + LEAST_SQUARES))


@part
def judge_half(inside: Floats, outside: Floats) -> tuple[int, int]:
    """Say whether the best inside is in the worse half outside, and whether it loses there."""
    chosen, below, equal = inside.argmax(), 0, 0
    for place in range(outside.size):
        below += outside[place] < outside[chosen]
        equal += outside[place] == outside[chosen]
    # Its rank, ties in the middle, beside the middle of all ranks: both doubled.
    return int(2 * below + equal + 1 <= outside.size + 1), int(outside[chosen] < 0.0)


@loop(reads(types.float64, 2), reads(types.float64, 2))
def judge_halves(sums: Floats, squares: Floats) -> tuple[int, int]:
    """Choose the best try by every half of the blocks, and count how it fails on the other.

    Both are by block and try, of an even number of blocks. Gives how often the chosen one is in
    the worse half, and how often it loses.
    """
    blocks, count = sums.shape
    chosen_sums, chosen_squares = sums_by_choice(sums), sums_by_choice(squares)
    one, other = np.empty(count), np.empty(count)
    failed, lost, every = 0, 0, (1 << blocks) - 1
    for half in range(1, 1 << blocks, 2):  # those with the first block; their rests are the others
        held = 0
        for block in range(blocks):
            held += half >> block & 1
        if 2 * held != blocks:
            continue
        add_score(chosen_sums, chosen_squares, half, one)
        add_score(chosen_sums, chosen_squares, every - half, other)
        for failing, losing in (judge_half(one, other), judge_half(other, one)):
            failed += failing
            lost += losing
    return failed, lost
