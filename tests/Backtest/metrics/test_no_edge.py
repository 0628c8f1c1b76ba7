"""Worlds without an edge keep what candles look like and nothing that can be foreseen."""

from collections.abc import Callable

import numpy as np
import pytest

from adapters.testing import market
from Backtest.candles import Candles, check_columns, columns_of, tidy_candles
from Backtest.metrics.no_edge import NO_EDGE, phase_randomised, shuffled

PLAIN = columns_of(tidy_candles(market(2_001, 5)))
Maker = Callable[[Candles, int], Candles]
both = pytest.mark.parametrize("make", NO_EDGE.values(), ids=NO_EDGE)


def moves(candles: Candles) -> np.ndarray:
    return np.diff(np.log(candles.close))


def momentum(bars: int = 2_000) -> Candles:
    """Candles whose every move is half of the one before, and a trend."""
    chance, steps = np.random.default_rng(7), [0.0]
    for shock in chance.normal(0.0005, 0.01, bars - 1):
        steps.append(0.5 * steps[-1] + shock)
    close = 100.0 * np.exp(np.cumsum(steps))
    before = np.concatenate(([100.0], close[:-1]))
    columns = (before, np.maximum(before, close) * 1.001, np.minimum(before, close) * 0.999, close)
    return Candles(np.arange(bars) * 3_600_000, *columns, np.ones(bars))


def echo(candles: Candles) -> float:
    found = moves(candles)
    return float(np.corrcoef(found[1:], found[:-1])[0, 1])


@both
def test_a_world_is_sound_and_the_same_for_a_seed(make: Maker) -> None:
    for candles in (PLAIN, momentum()):
        world = make(candles, 3)
        check_columns(world)
        assert (world.times == candles.times).all()
        assert (world.close == make(candles, 3).close).all()
        assert (world.close != make(candles, 4).close).any()


@both
def test_a_world_has_no_drift(make: Maker) -> None:
    world = make(momentum(), 1)
    simple = world.close / np.concatenate((world.open[:1], world.close[:-1])) - 1.0
    assert simple.mean() == pytest.approx(0.0, abs=1e-12)


def test_shuffling_takes_the_echo_and_leaves_the_moves() -> None:
    candles = momentum()
    world = shuffled(candles, 1)
    assert echo(candles) > 0.4
    assert abs(echo(world)) < 0.08
    before = np.log(candles.close / np.concatenate((candles.open[:1], candles.close[:-1])))
    after = np.log(world.close / np.concatenate((world.open[:1], world.close[:-1])))
    shift = before.mean() - after.mean()
    assert np.sort(after) + shift == pytest.approx(np.sort(before), abs=1e-9)
    assert np.sort(world.volume) == pytest.approx(np.sort(candles.volume))


def test_phases_leave_the_spectrum_and_take_the_bursts() -> None:
    candles = momentum()
    world = phase_randomised(candles, 1)
    assert echo(world) == pytest.approx(echo(candles), abs=0.05)
    assert np.std(moves(world)) == pytest.approx(np.std(moves(candles)), rel=0.02)
    chance = np.random.default_rng(1)
    wild = np.where(np.arange(2_000) // 200 % 2, 0.05, 0.002) * chance.normal(size=2_000)
    close = 100.0 * np.exp(np.cumsum(wild - wild.mean()))
    opens = np.concatenate(([100.0], close[:-1]))
    prices = (opens, np.maximum(opens, close), np.minimum(opens, close), close)
    bursts = Candles(np.arange(2_000) * 60_000, *prices, np.ones(2_000))

    def clustering(candles: Candles) -> float:
        sizes = np.abs(moves(candles))
        return float(np.corrcoef(sizes[1:], sizes[:-1])[0, 1])

    assert clustering(bursts) > 0.3
    assert abs(clustering(phase_randomised(bursts, 2))) < 0.1
