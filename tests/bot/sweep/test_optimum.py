"""A search finds what a look at everything finds, keeps to `acceptance`, and is repeatable."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from Backtest.candles import Candles
from bot.contract.goals import Acceptance
from bot.contract.language.program import compile_contract
from bot.contract.load import load_contract
from bot.data.market_data import read_market_data
from bot.errors import InputError
from bot.sweep.optimum import LINES, Goal, Optimum, ask_optuna, beyond, optimise
from bot.sweep.runs import FIGURES, Player, Tried
from bot.sweep.space import Space, random_sets, space_of

ROOT = Path(__file__).parents[3]
LOADED = load_contract(ROOT / "contracts" / "oversold_dip.yaml")
SPACE: Space = {"oversold": list(range(25, 41)), "rsi_period": list(range(7, 29))}


@pytest.fixture(scope="module")
def candles() -> Candles:
    return next(iter(read_market_data(LOADED.strategy, ROOT).candles.values()))


def found(candles: Candles, sampler: str, trials: int, **asked: Any) -> Optimum:
    contract = LOADED.strategy
    goal = Goal("return", trials, sampler, asked.pop("seed", 1), Acceptance(**asked))
    return optimise(Player(contract, compile_contract(contract)), candles, SPACE, goal)


@pytest.fixture(scope="module")
def everything(candles: Candles) -> Optimum:
    return found(candles, "grid", 1_000)


def test_a_whole_grid_holds_every_set_once_and_the_best_first(everything: Optimum) -> None:
    rows = everything.result.rows
    assert len(rows) == len({tuple(row.values.items()) for row in rows}) == 16 * 22
    assert rows[0].figures["return"] == max(row.figures["return"] or -9.0 for row in rows)
    assert everything.today.values == {"oversold": 35, "rsi_period": 14}
    assert everything.result.luck.sets == 352


def test_every_sampler_gives_figures_of_the_grid(candles: Candles, everything: Optimum) -> None:
    known = {tuple(row.values.items()): row.figures for row in everything.result.rows}
    for sampler in ("tpe", "random", "grid"):
        one = found(candles, sampler, 30)
        assert 15 <= len(one.result.rows) <= 30, sampler
        for row in one.result.rows:
            assert row.figures == known[tuple(row.values.items())]


def test_tpe_comes_nearer_than_chance() -> None:
    """On a hill of two parameters with a hundred values each, over some seeds."""
    space: Space = {"a": list(range(100)), "b": list(range(100))}

    def height(values: Mapping[str, float]) -> float:
        return -((values["a"] - 61) ** 2) - (values["b"] - 23) ** 2

    by_tpe, by_chance = [], []
    for seed in range(4):
        found: list[float] = []
        ask_optuna(
            space, 60, seed, lambda values, into=found: into.append(height(values)) or into[-1]
        )
        by_tpe.append(max(found))
        by_chance.append(max(height(values) for values in random_sets(space, 60, seed)))
    assert sum(by_tpe) > sum(by_chance) / 2


def test_a_set_that_misses_a_line_comes_after_all_that_meet_it(candles: Candles) -> None:
    least = 14
    rows = found(candles, "grid", 1_000, min_trades=least).result.rows
    meets = [(row.figures["total_trades"] or 0) >= least for row in rows]
    assert True in meets
    assert False in meets
    assert meets == sorted(meets, reverse=True)
    wanted = found(candles, "tpe", 30, min_trades=least)
    assert wanted.meets_all
    assert not found(candles, "random", 20, min_sharpe=90.0).meets_all


def test_the_only_set_of_one_trial_is_that_of_the_defaults(candles: Candles) -> None:
    for sampler in ("tpe", "random", "grid"):
        one = found(candles, sampler, 1)
        assert [row.values for row in one.result.rows] == [{"oversold": 35, "rsi_period": 14}]


def test_a_line_is_missed_by_its_share_and_nothing_lost_is_no_miss() -> None:
    goal = Goal("return", 5, "grid", 1, Acceptance(min_trades=10, min_profit_factor=1.2))
    row = Tried({}, {"total_trades": 5, "profit_factor": None, "total_pnl": 3.0})
    assert beyond(row, goal) == 0.5
    assert beyond(Tried({}, {**row.figures, "total_pnl": -3.0}), goal) == 1.5
    assert Goal("return", 5, "grid", 1, Acceptance(min_sqn=1.0)).left_out == ["min_sqn"]
    assert set(LINES.values()) <= set(FIGURES)


def test_too_many_trials_are_refused_before_anything_is_played(candles: Candles) -> None:
    with pytest.raises(InputError, match="200,000 trials are too many"):
        found(candles, "random", 200_000)


def test_the_space_of_the_contract_has_its_own_defaults() -> None:
    space = space_of(LOADED.strategy)
    for name, parameter in LOADED.strategy.parameters.items():
        assert parameter.default in space[name]
