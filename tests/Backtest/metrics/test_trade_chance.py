"""Trades in other orders end where they ended; what is missed changes it."""

import numpy as np
import pytest

from Backtest.metrics.curves import max_drawdown
from Backtest.metrics.trade_chance import MISSED_SHARE, trade_chance, trade_returns

RETURNS = np.random.default_rng(2).normal(0.004, 0.03, 80)


def test_returns_compound_to_the_same_end() -> None:
    pnl = np.array([100.0, -300.0, 250.0])
    found = trade_returns(pnl, 1_000.0)
    assert found == pytest.approx([0.1, -300.0 / 1_100.0, 250.0 / 800.0])
    assert 1_000.0 * np.prod(1.0 + found) == pytest.approx(1_050.0)
    assert len(trade_returns(np.array([-1_000.0, 5.0]), 1_000.0)) == 0
    assert len(trade_returns(np.empty(0), 1_000.0)) == 0


def test_falls_in_other_orders_are_those_of_plain_shuffles() -> None:
    """Another program: random.Random, a curve a shuffle, the engine's own drawdown."""
    import random

    found, chance = trade_chance(RETURNS, 1), random.Random(9)
    assert found is not None
    falls = []
    for _ in range(2_000):
        order = chance.sample(list(RETURNS), len(RETURNS))
        falls.append(max_drawdown(np.cumprod(1.0 + np.array(order)), 1.0))
    assert found.order_drawdown == pytest.approx(np.percentile(falls, (5, 50, 95)), rel=0.08)


def test_missed_trades_take_their_share_of_the_return() -> None:
    found = trade_chance(RETURNS, 1)
    assert found is not None
    low, middle, high = np.log1p(found.missed_return)
    assert low < middle < high
    assert middle == pytest.approx((1 - MISSED_SHARE) * np.log1p(RETURNS).sum(), rel=0.15)
    assert all(0.0 < fall < 1.0 for fall in found.missed_drawdown)


def test_the_seed_decides_and_the_memory_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert trade_chance(RETURNS, 1) == trade_chance(RETURNS, 1) != trade_chance(RETURNS, 2)
    assert trade_chance(RETURNS[:1], 1) is None
    monkeypatch.setattr("Backtest.metrics.trade_chance.CHUNK_CELLS", 100)
    found = trade_chance(RETURNS, 1)
    assert found is not None
    assert 0.0 < found.order_drawdown[0] < found.order_drawdown[2] < 1.0
