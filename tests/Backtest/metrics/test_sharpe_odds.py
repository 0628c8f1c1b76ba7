"""What a Sharpe ratio is worth equals the published examples and another way to compute it."""

import math

import numpy as np
import pytest
from scipy import stats

from Backtest.metrics.sharpe_odds import (
    Moments,
    best_by_chance,
    deflated_sharpe,
    least_track_record,
    moments_of,
    probable_sharpe,
    spread_of_ratios,
)

DAYS = 250.0


def powers(returns: np.ndarray) -> np.ndarray:
    return np.array([len(returns), *((returns**power).sum() for power in (1, 2, 3, 4))])


def test_the_deflated_ratio_is_that_of_the_paper() -> None:
    """Bailey and Lopez de Prado (2014): 2.5 a year, 100 tries, five years, skew -3, kurtosis 10."""
    found = Moments(1250, 2.5 / math.sqrt(DAYS), -3.0, 10.0)
    spread = math.sqrt(0.5 / DAYS)
    assert best_by_chance(100, spread) == pytest.approx(0.1132, abs=5e-5)
    assert deflated_sharpe(found, 100, spread) == pytest.approx(0.9004, abs=5e-5)
    assert deflated_sharpe(found, 46, spread) == pytest.approx(0.9505, abs=5e-5)
    normal = Moments(1250, 2.5 / math.sqrt(DAYS))
    assert deflated_sharpe(normal, 88, spread) == pytest.approx(0.9505, abs=5e-5)


@pytest.mark.parametrize(("periods", "years"), [(252, 2.7295), (52, 2.8270), (12, 3.2408)])
def test_the_least_track_record_is_that_of_the_paper(periods: int, years: float) -> None:
    """Bailey and Lopez de Prado (2012): years until a ratio of 2 is surely above 1."""
    found = Moments(100, 2.0 / math.sqrt(periods))
    needed = least_track_record(found, 1.0 / math.sqrt(periods))
    assert needed is not None
    assert needed / periods == pytest.approx(years, abs=0.005)


def test_skewed_months_need_five_years() -> None:
    """The same with the skew -0.72 and the kurtosis 5.78 of hedge funds' months."""
    found = Moments(100, 2.0 / math.sqrt(12.0), -0.72, 5.78)
    needed = least_track_record(found, 1.0 / math.sqrt(12.0))
    assert needed is not None
    assert needed / 12.0 == pytest.approx(4.99, abs=0.005)


def test_the_probable_ratio_is_that_of_the_paper() -> None:
    """Two years of months at 0.458 each; skew and kurtosis of a fund take 7 points off."""
    assert probable_sharpe(Moments(24, 0.458)) == pytest.approx(0.982, abs=5e-4)
    assert probable_sharpe(Moments(24, 0.458, -2.448, 10.164)) == pytest.approx(0.913, abs=5e-4)


@pytest.mark.parametrize("seed", range(4))
def test_moments_of_sums_are_those_of_the_returns(seed: int) -> None:
    returns = stats.skewnorm(4).rvs(500, random_state=seed) * 0.01 + 0.0005
    found = moments_of(powers(returns))
    assert found is not None
    assert found.count == 500
    assert found.sharpe == pytest.approx(returns.mean() / returns.std(ddof=1), rel=1e-9)
    assert found.skew == pytest.approx(stats.skew(returns), rel=1e-6)
    assert found.kurtosis == pytest.approx(stats.kurtosis(returns, fisher=False), rel=1e-6)


def test_the_least_track_record_is_where_the_ratio_becomes_probable() -> None:
    found = Moments(5, 0.1, -1.0, 7.0)
    needed = least_track_record(found, 0.03)
    assert needed is not None
    for count, sure in ((math.floor(needed), False), (math.ceil(needed), True)):
        odds = probable_sharpe(Moments(count, 0.1, -1.0, 7.0), 0.03)
        assert odds is not None
        assert (odds >= 0.95) is sure


def test_the_best_of_many_draws_lies_where_the_formula_says() -> None:
    draws = np.random.default_rng(1).normal(0.0, 1.0, (2_000, 100))
    found = [best_by_chance(100, spread_of_ratios(list(one)) or 0.0) for one in draws]
    assert np.mean(found) == pytest.approx(draws.max(axis=1).mean(), abs=0.05)


def test_what_has_no_meaning_is_none() -> None:
    assert moments_of(np.zeros(5)) is None
    assert moments_of(powers(np.zeros(50))) is None
    assert least_track_record(Moments(50, 0.1), 0.1) is None
    assert spread_of_ratios([1.0]) is None
    assert best_by_chance(1, 2.0) == 0.0
