"""Overfitting by halves of the history equals a plain reading of the paper."""

from itertools import combinations

import numpy as np
import pytest

from Backtest.metrics.overfitting import neighbours_of, overfitting, stability


def sums(returns: np.ndarray, blocks: int) -> np.ndarray:
    """By try and block, the count, sum and sum of squares of returns given by row and try."""
    parts = np.array_split(returns, blocks)
    return np.array(
        [
            [[len(p), p[:, n].sum(), (p[:, n] ** 2).sum()] for p in parts]
            for n in range(len(returns.T))
        ]
    )


def by_the_paper(returns: np.ndarray, blocks: int) -> float:
    """Bailey, Borwein, Lopez de Prado, Zhu: rank of the chosen one outside, as a logit."""
    rows = np.array_split(np.arange(len(returns)), blocks)
    logits = []
    for chosen in combinations(range(blocks), blocks // 2):
        inside = np.concatenate([rows[b] for b in chosen])
        outside = np.concatenate([rows[b] for b in range(blocks) if b not in chosen])
        one, other = returns[inside], returns[outside]
        best = int(np.argmax(one.mean(0) / one.std(0, ddof=1)))
        ratios = other.mean(0) / other.std(0, ddof=1)
        place = float(np.sum(ratios <= ratios[best])) / (returns.shape[1] + 1)
        logits.append(np.log(place / (1 - place)))
    return float(np.mean(np.array(logits) <= 0.0))


@pytest.mark.parametrize(("seed", "tries"), [(1, 7), (2, 10), (3, 25)])
def test_it_is_what_the_paper_says(seed: int, tries: int) -> None:
    chance = np.random.default_rng(seed)
    returns = chance.normal(0.0, 0.01, (403, tries)) + np.linspace(0.0, 0.0015, tries)
    found = overfitting(sums(returns, 8))
    assert found is not None
    assert found.ways == 70
    assert found.probability == pytest.approx(by_the_paper(returns, 8), abs=1e-12)


def test_the_best_of_noise_is_a_coin_and_a_true_edge_is_not() -> None:
    chance = np.random.default_rng(4)
    noise = [overfitting(sums(chance.normal(0.0, 0.01, (480, 20)), 16)) for _ in range(12)]
    assert 0.3 < np.mean([one.probability for one in noise if one]) < 0.7
    edge = chance.normal(0.0, 0.01, (480, 20))
    edge[:, 3] += 0.004
    found = overfitting(sums(edge, 16))
    assert found is not None
    assert found.probability == 0.0
    assert found.loss == 0.0


def test_without_a_choice_there_is_no_figure() -> None:
    returns = np.random.default_rng(6).normal(0.0, 0.01, (80, 3))
    assert overfitting(sums(returns[:, :1], 8)) is None
    assert overfitting(sums(returns[:9], 8)) is None
    assert overfitting(sums(returns, 7)) is None


def test_a_try_that_never_trades_is_worth_nothing_and_no_error() -> None:
    returns = np.random.default_rng(7).normal(-0.001, 0.01, (160, 4))
    returns[:, 2] = 0.0
    found = overfitting(sums(returns, 8))
    assert found is not None
    assert 0.0 <= found.probability <= 1.0


def test_neighbours_are_one_step_away_in_one_parameter() -> None:
    tried = [{"a": a, "b": b} for a in (1, 2, 5, 9) for b in (0.1, 0.2)]
    near = [tried[place] for place in neighbours_of({"a": 5, "b": 0.1}, tried)]
    assert near == [{"a": 2, "b": 0.1}, {"a": 5, "b": 0.2}, {"a": 9, "b": 0.1}]


def test_stability_is_the_share_that_keeps_half() -> None:
    assert stability(2.0, [1.0, 0.99, 3.0, None]) == 0.5
    assert stability(0.0, [1.0]) is None
    assert stability(2.0, []) is None
    assert stability(None, [1.0]) is None
