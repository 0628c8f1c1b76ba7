"""What the best of many sets is worth, from the sets alone."""

import numpy as np
import pytest
from scipy import stats

from bot.sweep.luck import Tried, deflate, luck_of

PERIODS, YEARS = 365.0, 1_600 / 365.0
CHANCE = np.random.default_rng(11)


def tried(place: int, returns: np.ndarray) -> Tried:
    parts = np.array_split(returns, 16)
    sums = np.array([[len(p), *((p**n).sum() for n in (1, 2, 3, 4))] for p in parts])
    sharpe = returns.mean() / returns.std(ddof=1) * np.sqrt(PERIODS)
    fall = 0.1 + 0.01 * place
    figures = {"sharpe": sharpe, "break_even_cost_bps": 12.0, "max_drawdown": fall}
    return Tried({"a": place}, figures, sums=sums)


def rows(edge: float) -> list[Tried]:
    found = [tried(n, CHANCE.normal(0.0, 0.01, 1_600)) for n in range(40)]
    found.append(tried(40, CHANCE.normal(edge, 0.01, 1_600)))
    return sorted(found, key=lambda row: -(row.figures["sharpe"] or 0.0))


def test_the_deflated_ratio_is_that_of_the_returns_and_their_number() -> None:
    """Worked out from the definition with scipy: threshold, skew and kurtosis of the first row."""
    found = rows(0.0015)
    luck = luck_of(found, "sharpe", PERIODS, YEARS)
    ratios = [row.figures["sharpe"] for row in found]
    high, higher = stats.norm.ppf([1 - 1 / 41, 1 - 1 / (41 * np.e)])
    euler = stats.gumbel_r.mean()  # the Euler-Mascheroni constant
    expected = np.std(ratios, ddof=1) * ((1 - euler) * high + euler * higher)
    assert luck.expected_best == pytest.approx(expected)
    total = found[0].sums.sum(axis=0)
    mean, square, cube, fourth = total[1:] / total[0]
    variance = square - mean**2
    skew = (cube - 3 * mean * square + 2 * mean**3) / variance**1.5
    kurtosis = (fourth - 4 * mean * cube + 6 * mean**2 * square - 3 * mean**4) / variance**2
    ratio, least = ratios[0] / np.sqrt(PERIODS), expected / np.sqrt(PERIODS)
    noise = 1 - skew * ratio + (kurtosis - 1) / 4 * ratio**2
    score = (ratio - least) * np.sqrt((1_600 - 1) / noise)
    assert luck.deflated == pytest.approx(stats.norm.cdf(score))
    assert luck.sets == 41
    assert luck.break_even_cost_bps == 12.0


def test_an_edge_is_told_from_noise() -> None:
    noise, edge = (luck_of(rows(size), "sharpe", PERIODS, YEARS) for size in (0.0, 0.003))
    assert noise.deflated is not None
    assert edge.deflated is not None
    assert noise.deflated < 0.95 < edge.deflated
    assert noise.overfitting is not None
    assert edge.overfitting is not None
    assert edge.overfitting < 0.05 < noise.overfitting
    assert edge.years_needed is not None
    assert edge.years_needed < YEARS


def test_neighbours_by_a_figure_that_is_good_when_it_is_low() -> None:
    found = sorted(rows(0.0), key=lambda row: row.figures["max_drawdown"] or 0.0)
    luck = luck_of(found, "max_drawdown", PERIODS, YEARS)
    assert (luck.neighbours, luck.stability) == (1, 1.0)


def test_what_cannot_be_said_is_none() -> None:
    alone = luck_of(rows(0.0)[:1], "sharpe", PERIODS, YEARS)
    assert (alone.expected_best, alone.deflated, alone.overfitting) == (None, None, None)
    assert luck_of(rows(0.0), "sharpe", None, None).deflated is None
    assert alone.by_worlds is None


def test_a_narrow_search_around_what_a_wide_one_found_is_not_worth_more() -> None:
    """Tries that the ledger has without their ratios scatter as chance lets them, at least."""
    naive, careful = [], []
    for _ in range(40):
        wide = CHANCE.normal(0.0, 0.01, (200, 800))
        best = wide[(wide.mean(axis=1) / wide.std(axis=1)).argmax()]
        close = [tried(n, best + CHANCE.normal(0.0, 0.001, 800)) for n in range(3)]
        close.sort(key=lambda row: -(row.figures["sharpe"] or 0.0))
        luck = luck_of(close, "sharpe", PERIODS, YEARS)
        naive.append(deflate(luck, close, PERIODS, 203).deflated)
        careful.append(deflate(luck, close, PERIODS, 203, others=200).deflated)
    passed = [sum((odds or 0.0) >= 0.95 for odds in each) for each in (naive, careful)]
    assert passed[0] > 20  # as if nobody had searched before
    assert passed[1] <= 4
    # Where these scatter more than chance does, the others do too.
    far = [tried(n, CHANCE.normal(0.002 * n, 0.01, 800)) for n in (4, 3, 2, 1)]
    luck = luck_of(far, "sharpe", PERIODS, YEARS)
    assert deflate(luck, far, PERIODS, 9, others=5) == deflate(luck, far, PERIODS, 9)
