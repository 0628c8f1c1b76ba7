"""Sums by block are those of the returns themselves, wherever positions begin and end."""

from itertools import pairwise

import numpy as np
import pytest

from Backtest.metrics.block_pass import block_sums

ALWAYS = np.array([0]), np.array([10_000])


def plain(equity: np.ndarray, blocks: int) -> np.ndarray:
    returns = np.diff(equity) / equity[:-1]
    bounds = [len(returns) * block // blocks for block in range(blocks + 1)]
    found = []
    for first, last in pairwise(bounds):
        part = returns[first:last]
        found.append([len(part), *((part**power).sum() for power in (1, 2, 3, 4))])
    return np.array(found)


@pytest.mark.parametrize(("rows", "blocks"), [(1_000, 16), (97, 4), (33, 16), (17, 2)])
def test_sums_are_those_of_the_returns(rows: int, blocks: int) -> None:
    equity = 1e4 * np.exp(np.cumsum(np.random.default_rng(rows).normal(0.0, 0.01, rows)))
    found = block_sums(equity, ALWAYS, blocks)
    assert found == pytest.approx(plain(equity, blocks), rel=1e-9, abs=1e-15)


def test_only_rows_in_which_a_position_was_held_are_looked_at() -> None:
    """Also where one is entered in the bar that the one before it was left in."""
    chance = np.random.default_rng(3)
    firsts, lasts = np.array([5, 9, 30, 71]), np.array([9, 14, 30, 99])
    moves = np.zeros(100)
    for first, last in zip(firsts, lasts, strict=True):
        moves[first : last + 1] = chance.normal(0.0, 0.02, last - first + 1)
    equity = 1e4 * np.exp(np.cumsum(moves))
    found = block_sums(equity, (firsts, lasts), 8)
    assert found == pytest.approx(plain(equity, 8), rel=1e-9, abs=1e-15)


def test_lost_capital_and_short_histories_are_no_error() -> None:
    lost = np.array([100.0, 50.0, 0.0, 0.0, 0.0])
    assert block_sums(lost, ALWAYS, 2)[:, 1].tolist() == [-0.5, 0.0]
    assert block_sums(np.empty(0), ALWAYS, 2).tolist() == np.zeros((2, 5)).tolist()
    assert block_sums(np.array([1.0]), (np.array([0]), np.array([0])), 2).sum() == 0.0
