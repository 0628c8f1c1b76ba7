"""Our figures against those that quantstats gave for the same curves; see `quantstats_answers`.

Where the definitions differ, the difference itself is computed here: `docs/figures.md` names it.
"""

import json
import math

import numpy as np
import pytest

from Backtest.metrics import risk_figures as figures
from Backtest.metrics.curves import curve_of
from Backtest.metrics.run_figures import sharpe, sortino
from tests.Backtest.metrics.quantstats_answers import ANSWERS, YEARLY
from tests.Backtest.metrics.test_risk_figures import NEAR, curves, random_curve

TOLD = json.loads(ANSWERS.read_text())["answers"]


@pytest.mark.parametrize("place", range(23))
def test_figures_of_returns_are_those_of_quantstats(place: int) -> None:
    curve, told = curves()[place], TOLD[place]
    returns = figures.returns_of(curve)
    outcomes = np.sign(returns).astype(np.int8)
    measured = curve_of(curve, float(curve[0]))
    moved = outcomes != 0
    won, lost = returns[outcomes > 0].sum(), -returns[outcomes < 0].sum()
    assert {
        "volatility": figures.volatility(returns, YEARLY),
        "omega": figures.omega(returns),
        "cvar": figures.shortfall(returns),
        "sharpe": sharpe(measured, YEARLY),
        "sortino": sortino(measured, YEARLY),
        "max_drawdown": -measured.deepest,
        "comp": math.expm1(measured.growth),
        "payoff_ratio": figures.payoff(returns, outcomes),
        # quantstats leaves returns of zero out of its win rate; a trade that came out even counts.
        "kelly_criterion": figures.kelly(returns[moved], outcomes[moved]),
        "profit_factor": won / lost,
        "consecutive_wins": figures.longest_streak(outcomes, 1),
        "consecutive_losses": figures.longest_streak(outcomes, -1),
    } == {
        name: pytest.approx(told[name], **NEAR)
        for name in (
            *("volatility", "omega", "cvar", "sharpe", "sortino", "max_drawdown", "comp"),
            *("payoff_ratio", "kelly_criterion", "profit_factor"),
            *("consecutive_wins", "consecutive_losses"),
        )
    }


@pytest.mark.parametrize("place", range(23))
def test_the_definitions_that_differ_differ_as_documented(place: int) -> None:
    curve, told = curves()[place], TOLD[place]
    returns = figures.returns_of(curve)
    start, count = float(curve[0]), len(returns)
    # Ours divides by the rows, quantstats by the returns less one.
    ulcer = figures.ulcer(curve, start)
    assert ulcer is not None
    assert ulcer * math.sqrt((count + 1) / (count - 1)) == pytest.approx(
        told["ulcer_index"], **NEAR
    )
    # Ours compounds the returns, quantstats adds them up and drops the sign.
    deepest = -told["max_drawdown"]
    assert abs(float(returns.sum())) / deepest == pytest.approx(told["recovery_factor"], **NEAR)
    assert figures.recovery(told["comp"], deepest) == pytest.approx(told["comp"] / deepest, **NEAR)
    # Ours counts the returns, quantstats fits a normal distribution to them.
    normal = float(returns.mean()) - 1.6448536269514722 * float(returns.std(ddof=1))
    assert normal == pytest.approx(told["value_at_risk"], **NEAR)


@pytest.mark.parametrize("place", range(23))
def test_holding_is_compared_as_quantstats_does(place: int) -> None:
    curve, other, told = curves()[place], random_curve(place + 100), TOLD[place]
    length = min(len(curve), len(other))
    one, two = figures.returns_of(curve[:length]), figures.returns_of(other[:length])
    found = figures.compare(one, two, YEARLY)
    assert found.beta == pytest.approx(told["beta"], **NEAR)
    # Ours compounds a day's alpha over the year, quantstats multiplies it.
    assert found.beta is not None
    alpha = float((one - found.beta * two).mean())
    assert alpha * YEARLY == pytest.approx(told["alpha"], **NEAR)
    assert found.alpha == pytest.approx((1.0 + alpha) ** YEARLY - 1.0, **NEAR)


@pytest.mark.parametrize("place", range(23))
def test_months_are_those_of_quantstats(place: int) -> None:
    curve = curves()[place]
    times = np.datetime64("2020-01-01", "ms").astype(np.int64) + 86_400_000 * np.arange(len(curve))
    months = figures.by_month(times, curve, float(curve[0]))
    total = math.fsum(abs(value or 0.0) for _, value in months)
    assert total == pytest.approx(TOLD[place]["months"], **NEAR)
