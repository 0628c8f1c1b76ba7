"""The figures of risk against empyrical and against arithmetic written apart."""

import itertools
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from Backtest.metrics import risk_figures as figures

NEAR = {"rel": 1e-9, "abs": 1e-12}
HOUSE = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def empyrical() -> Any:
    """Brings all of scipy, so not before it is asked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import empyrical
    return empyrical


def random_curve(seed: int) -> np.ndarray:
    dice = np.random.default_rng(seed)
    rows = int(dice.integers(30, 900))
    steps = dice.normal(0.0003, 0.01, rows) * (dice.random(rows) < dice.uniform(0.2, 1.0))
    return np.asarray(10_000.0 * np.cumprod(1.0 + steps))


def real_curve(part: int) -> np.ndarray:
    """Holding the shipped daily series, in three parts."""
    closes = pd.read_csv(HOUSE / "tests/fixtures/sp500_daily.csv")["close"].to_numpy(float)
    third = len(closes) // 3
    return np.asarray(closes[part * third : (part + 1) * third])


CURVES = [random_curve(seed) for seed in range(20)]


def curves() -> list[np.ndarray]:
    return [*CURVES, *(real_curve(part) for part in range(3))]


@pytest.mark.parametrize("place", range(23))
def test_returns_are_measured_as_empyrical_does(place: int, empyrical: Any) -> None:
    curve = curves()[place]
    returns = figures.returns_of(curve)
    series = pd.Series(returns)
    yearly = 365.25
    wanted = empyrical.annual_volatility(series, annualization=yearly)
    assert figures.volatility(returns, yearly) == pytest.approx(wanted, **NEAR)
    assert figures.omega(returns) == pytest.approx(empyrical.omega_ratio(series), **NEAR)
    assert figures.value_at_risk(returns) == pytest.approx(empyrical.value_at_risk(series), **NEAR)
    assert figures.shortfall(returns) == pytest.approx(
        empyrical.conditional_value_at_risk(series), **NEAR
    )


@pytest.mark.parametrize("place", range(23))
def test_a_run_beside_holding_is_compared_as_empyrical_does(place: int, empyrical: Any) -> None:
    curve = curves()[place]
    other = random_curve(place + 100)
    length = min(len(curve), len(other))
    one, two = figures.returns_of(curve[:length]), figures.returns_of(other[:length])
    found = figures.compare(one, two, 252.0)
    beta = empyrical.beta(pd.Series(one), pd.Series(two))
    assert found.beta == pytest.approx(beta, **NEAR)
    assert found.correlation == pytest.approx(np.corrcoef(one, two)[0, 1], **NEAR)
    alpha = empyrical.alpha(pd.Series(one), pd.Series(two), annualization=252)
    assert found.alpha == pytest.approx(alpha, **NEAR)


def walked(curve: np.ndarray, capital: float) -> list[tuple[int, int, int | None, float]]:
    """The falls of a curve, row by row."""
    found: list[tuple[int, int, int | None, float]] = []
    peak, at, trough = capital, -1, None
    for row, value in enumerate(curve.tolist()):
        if value >= peak:
            if trough is not None:
                found.append((at, trough, row, 1.0 - curve[trough] / peak))
            peak, at, trough = value, row, None
        elif trough is None or value < curve[trough]:
            trough = row
    if trough is not None:
        found.append((at, trough, None, 1.0 - curve[trough] / peak))
    return sorted(found, key=lambda fall: (-fall[3], fall[0]))


@pytest.mark.parametrize("place", range(23))
def test_falls_are_those_of_a_walk_along_the_curve(place: int) -> None:
    curve = curves()[place]
    capital = float(curve[0]) * (1.01 if place % 2 else 0.99)
    falls = figures.falls_of(curve, capital, 10)
    assert [
        (fall.peak, fall.trough, fall.end, pytest.approx(fall.depth, **NEAR)) for fall in falls
    ] == walked(curve, capital)[:10]
    under = depth = 0.0
    peak = capital
    for value in curve.tolist():
        peak = max(peak, value)
        under += value < peak
        depth += (1.0 - value / peak) ** 2
    assert figures.time_under_water(curve, capital) == pytest.approx(under / len(curve), **NEAR)
    assert figures.ulcer(curve, capital) == pytest.approx(math.sqrt(depth / len(curve)), **NEAR)


def test_trades_are_measured_by_hand() -> None:
    pnl = np.array([30.0, -10.0, 20.0, 10.0, -20.0, -10.0, 0.0])
    outcomes = np.sign(pnl).astype(np.int8)
    assert figures.payoff(pnl, outcomes) == pytest.approx(20.0 / (40.0 / 3.0))
    share = 3.0 / 7.0
    assert figures.kelly(pnl, outcomes) == pytest.approx(share - (1.0 - share) / 1.5)
    mean = sum(pnl) / 7.0
    spread = math.sqrt(sum((value - mean) ** 2 for value in pnl) / 6.0)
    assert figures.system_quality(pnl) == pytest.approx(math.sqrt(7.0) * mean / spread)
    for wanted in (1, -1):
        runs = [len(list(part)) for sign, part in itertools.groupby(outcomes) if sign == wanted]
        assert figures.longest_streak(outcomes, wanted) == max(runs) == 2


def test_months_compound_to_the_whole() -> None:
    curve = random_curve(5)
    times = 1_700_000_000_000 + 86_400_000 * np.arange(len(curve))
    months = figures.by_month(times, curve, 10_000.0)
    assert [month for month, _ in months] == sorted(
        {str(pd.Timestamp(t, unit="ms"))[:7] for t in times}
    )
    whole = math.prod(1.0 + (value or 0.0) for _, value in months)
    assert whole == pytest.approx(curve[-1] / 10_000.0, **NEAR)


@pytest.mark.parametrize("rows", [[], [1.0], [1.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
def test_a_curve_without_risk_has_no_figure_instead_of_a_wrong_one(rows: list[float]) -> None:
    curve = np.array(rows)
    returns = figures.returns_of(curve)
    assert figures.omega(returns) is None
    assert figures.compare(returns, returns, 252.0).beta is None
    assert figures.recovery(0.1, 0.0) is None
    assert figures.payoff(returns, np.sign(returns).astype(np.int8)) is None
    assert figures.longest_streak(np.zeros(0, dtype=np.int8), 1) == 0


def test_profit_in_r_is_over_the_way_to_the_first_stop() -> None:
    pnl, volume = np.array([20.0, -11.0, 5.0]), np.array([2.0, 1.0, 1.0])
    found = figures.in_risks(pnl, volume, np.array([100.0, 50.0, 9.0]), [95.0, 60.0, None])
    assert found.tolist() == [2.0, -1.1]


@pytest.mark.parametrize("place", range(20))
def test_a_histogram_counts_every_value_between_round_edges(place: int) -> None:
    values = figures.returns_of(CURVES[place])
    found = figures.histogram(values, 24)
    assert found is not None
    edges, counts = found["edges"], found["counts"]
    assert (len(edges), sum(counts)) == (len(counts) + 1, len(values))
    assert len(counts) <= 25
    assert edges[0] <= values.min() <= values.max() <= edges[-1]
    for low, high, number in zip(edges, edges[1:], counts, strict=False):
        assert number == pytest.approx(np.count_nonzero((values >= low) & (values < high)), abs=1)
    assert figures.histogram(np.empty(0), 24) is None
    assert figures.histogram(np.array([0.01]), 24)["counts"][0] == 1  # type: ignore[index]
