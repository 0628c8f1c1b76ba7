"""A sweep gives for every set what a run of that set alone gives."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from adapters.loop.feeds import Feed
from adapters.loop.strategy_decisions import SignalDecisions
from adapters.simbroker_adapter import SimBrokerAdapter
from adapters.strategy_loop import run_feeds
from adapters.testing import market
from Backtest.candles import Candles, columns_of, tidy_candles
from Backtest.metrics.many_runs import Played, grid, sweep
from Backtest.sim_errors import BacktestError
from Backtest.sim_settings import SimSettings
from Backtest.simbroker import SimBroker
from Backtest.strategy_signals import read_signals

CANDLES = columns_of(tidy_candles(market(600, 5)))
SETS = grid(days=[3, 8], stop=[0.01, 0.03])


def momentum(candles: Candles, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Buy after a rise over some bars, sell after a fall."""
    rise = np.zeros(len(candles))
    days = parameters["days"]
    rise[days:] = candles.close[days:] - candles.close[:-days]
    return {
        "enter_long": rise > 1.5,
        "exit_long": rise < -1.5,
        "stop": {"fraction": parameters["stop"]},
        "size": {"equity": 0.5},
    }


def alone(parameters: Mapping[str, Any]) -> dict[str, Any]:
    broker = SimBroker(commission=0.001, compiled=False)
    signals = read_signals(momentum(CANDLES, parameters), len(CANDLES))
    feed = Feed("ASSET", CANDLES, SignalDecisions(signals, "ASSET", CANDLES.close))
    return run_feeds(SimBrokerAdapter(broker), [feed], {"commission": 0.001})


def test_a_grid_is_every_combination() -> None:
    assert SETS[1] == {"days": 3, "stop": 0.03}
    assert len(SETS) == 4


@pytest.mark.parametrize("workers", [1, 2])
def test_every_set_is_what_it_is_alone(workers: int) -> None:
    settings = SimSettings(commission=0.001)
    found = list(sweep(CANDLES, momentum, SETS, Played.report, settings=settings, workers=workers))
    assert found == [alone(parameters) for parameters in SETS]
    assert len({report["total_pnl"] for report in found}) == 4


def test_the_figures_of_a_set_are_those_of_its_report() -> None:
    reports = list(sweep(CANDLES, momentum, SETS, Played.report))
    for figures, report in zip(
        sweep(CANDLES, momentum, SETS, Played.figures), reports, strict=True
    ):
        assert {"sharpe", "max_drawdown", "turnover"} < figures.keys()
        assert figures == {name: report[name] for name in figures}


def test_a_set_that_cannot_be_played_is_refused() -> None:
    def too_risky(candles: Candles, parameters: Mapping[str, Any]) -> dict[str, Any]:
        return {**momentum(candles, parameters), "size": {"risk": 0.5}}

    with pytest.raises(BacktestError, match="does not play"):
        list(sweep(CANDLES, too_risky, SETS, Played.report))
