"""Machine code measures a curve, adds up and checks candles as plain Python does, to the bit."""

import dataclasses
import itertools
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from Backtest import candles
from Backtest.candles import COLUMNS, Candles
from Backtest.compiled.candle_pass import are_sound
from Backtest.metrics import curves
from Backtest.metrics.exact_sums import exact_sum
from Backtest.metrics.measures import exact_total
from Backtest.metrics.measures import survey as compiled_survey
from Backtest.sim_errors import CandleError
from tests.chance import examples

numbers = st.floats(allow_nan=False, allow_infinity=False)


def some_equity(seed: int, bars: int, held: float) -> Any:
    """A curve that moves now and then."""
    chance = np.random.default_rng(seed)
    steps = np.where(chance.random(bars) < held, chance.normal(0.0, 0.02, bars), 0.0)
    return 1e4 * np.exp(np.cumsum(steps))


def plain_survey(rows: Any, start: float, spans: curves.Spans) -> Any:
    """The survey without machine code: few rows never take it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(curves, "is_loaded", lambda rows: False)
        return curves.survey(rows, start, spans)


def quick_survey(rows: Any, start: float, *places: Any) -> Any:
    """The survey with machine code, however few rows there are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(curves, "is_loaded", lambda rows: True)
        return curves.survey(rows, start, *places)


def test_machine_code_is_what_measures_a_usual_curve() -> None:
    assert compiled_survey(some_equity(1, 3_000, 0.3), 1e4, [(0, 3_000)]) is not None


@pytest.mark.parametrize("spread", [0.0, 1e-13, 1e-9, 1e-5])
def test_returns_that_hardly_differ_keep_their_digits(spread: float) -> None:
    chance = np.random.default_rng(8)
    steps = 1e-3 + chance.normal(0.0, spread, 5_000)
    rows = 1e4 * np.exp(np.cumsum(steps))
    returns = [Decimal(now) / Decimal(before) - 1 for before, now in itertools.pairwise(rows)]
    mean = sum(returns) / len(returns)
    exact = math.sqrt(sum((each - mean) ** 2 for each in returns) / (len(returns) - 1))
    for found in (quick_survey(rows, 1e4, [(0, 5_000)]), plain_survey(rows, 1e4, [(0, 5_000)])):
        assert found[0].deviation == pytest.approx(exact, rel=1e-6, abs=1e-15)


@examples(200)
@given(
    st.integers(0, 10**6),
    st.integers(2, 3000),
    st.sampled_from([0.0, 0.01, 0.3, 1.0]),
    st.lists(st.floats(0.0, 1.0), max_size=4),
    st.sampled_from([5e3, 1e4, 3e4]),
)
def test_a_curve_is_measured_to_the_last_bit(
    seed: int, bars: int, held: float, cuts: list[float], start: float
) -> None:
    rows = some_equity(seed, bars, held)
    places = sorted({0, bars, *(int(cut * bars) for cut in cuts)})
    spans = list(itertools.pairwise(places))
    found, expected = quick_survey(rows, start, spans), plain_survey(rows, start, spans)
    assert dataclasses.asdict(found[0]) == dataclasses.asdict(expected[0])
    assert found[1] == expected[1]
    assert found[1] == [
        curves.drawdowns(rows[first:last], rows[first - 1] if first else start).max()
        for first, last in spans
    ]


@examples(100)
@given(
    st.integers(0, 10**6),
    st.lists(st.tuples(st.integers(0, 90), st.integers(0, 200)), max_size=12),
    st.lists(st.floats(0.0, 1.0), max_size=4),
)
def test_a_curve_that_moves_in_known_places_is_looked_at_there(
    seed: int, steps: list[tuple[int, int]], cuts: list[float]
) -> None:
    firsts, lasts, row = [], [], 0
    for gap, length in steps:
        firsts.append(row + gap)
        row = firsts[-1] + length
        lasts.append(row)
    bars = row + 100
    moves = np.zeros(bars)
    for first, last in zip(firsts, lasts, strict=True):
        moves[first : last + 1] = np.random.default_rng(seed).normal(0.0, 0.02, last + 1 - first)
    rows = 1e4 * np.exp(np.cumsum(moves))
    places = sorted({0, bars, *(int(cut * bars) for cut in cuts)})
    spans = list(itertools.pairwise(places))
    moving = (np.array(firsts, dtype=np.int64), np.array(lasts, dtype=np.int64))
    assert quick_survey(rows, 1e4, spans, moving) == plain_survey(rows, 1e4, spans)


@pytest.mark.parametrize("bad", [0.0, -5.0, math.inf, math.nan])
def test_a_curve_that_is_not_positive_is_left_to_the_plain_way(bad: float) -> None:
    rows = np.array([100.0, 90.0, bad, 95.0])
    assert compiled_survey(rows, 100.0, [(0, 4)]) is None


@examples(300)
@given(st.lists(numbers, max_size=60))
def test_sums_are_rounded_once(values: list[float]) -> None:
    found = exact_total(np.array(values, dtype=np.float64))
    try:
        expected = math.fsum(values)
    except OverflowError:
        assert not math.isfinite(found)
        return
    assert found == expected or not math.isfinite(found)


def test_a_tie_goes_where_the_rest_pulls_it() -> None:
    for values in ([1e16, 1.0, 1e-16], [1e16, 1.0, -1e-16], [1e16, 1.0, 1e-320], [0.1] * 10, []):
        assert exact_total(np.array(values)) == math.fsum(values)


def some_candles(bars: int) -> Candles:
    chance = np.random.default_rng(bars)
    close, opened = 100 + chance.random(bars), 100 + chance.random(bars)
    high, low = np.maximum(opened, close) + 0.5, np.minimum(opened, close) - 0.5
    times = np.arange(bars, dtype=np.int64) * 60_000
    return Candles(times, opened, high, low, close, chance.random(bars))


def passes(columns: Candles) -> bool:
    return bool(are_sound(columns.times, *(getattr(columns, name) for name in COLUMNS)))


@examples(200)
@given(
    st.integers(1, 40),
    st.sampled_from(["times", *COLUMNS]),
    st.integers(0, 39),
    st.sampled_from([0.0, -1.0, 99.0, 100.5, 102.5, math.nan, math.inf, -math.inf]),
)
def test_the_pass_over_candles_refuses_what_the_check_refuses(
    bars: int, column: str, row: int, value: float
) -> None:
    columns = some_candles(bars)
    assert passes(columns)
    if column == "times" and not math.isfinite(value):
        return
    getattr(columns, column)[row % bars] = value
    try:
        candles.check_columns(columns)
        is_sound = True
    except CandleError:
        is_sound = False
    assert passes(columns) == is_sound


def test_long_candles_are_refused_with_their_row_whoever_looks() -> None:
    columns = some_candles(5_000)
    candles.check_columns(columns)
    columns.high[4_321] = 1.0
    with pytest.raises(CandleError, match="row 4321"):
        candles.check_columns(columns)


def test_the_figures_of_many_trades_are_those_of_exact_sums() -> None:
    values = np.random.default_rng(3).normal(0.0, 100.0, 5_000)
    assert exact_sum(values) == math.fsum(values.tolist())
