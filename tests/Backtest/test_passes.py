"""One pass of machine code gives what several of numpy's give, to the last bit."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import Backtest.kernel  # noqa: F401 - machine code is at hand
from adapters import series
from adapters.decisions import _places
from Backtest.candle_pass import EXACT_US, us_to_ms
from Backtest.candles import columns_of
from Backtest.errors import CandleError
from Backtest.measures import squares
from Backtest.signal_pass import crossings

cells = st.one_of(st.integers(-2, 2).map(float), st.just(np.nan), st.floats(-1e300, 1e300))


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 5_000), st.sampled_from((1e-9, 1e-3, 1e150)))
def test_squares_are_added_as_numpy_adds_them(seed: int, count: int, size: float) -> None:
    returns = np.random.default_rng(seed).normal(0.0, size, count)
    mean = float(returns.sum()) / max(count, 1)
    losses = np.minimum(returns, 0.0)
    expected = float(np.square(returns - mean).sum()), float(np.square(losses).sum())
    assert squares(returns, mean) == expected


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(cells, cells), max_size=60))
def test_a_crossing_is_above_now_and_not_one_bar_ago(pairs: list[tuple[float, float]]) -> None:
    a, b = np.array(pairs).reshape(-1, 2).T.copy()
    found = np.ones(len(a), np.bool_)
    crossings(a, b, found)
    expected = [
        row > 0 and pairs[row][0] > pairs[row][1] and pairs[row - 1][0] <= pairs[row - 1][1]
        for row in range(len(pairs))
    ]
    assert found.tolist() == expected


@pytest.mark.parametrize("level", [0.25, None])
def test_series_cross_alike_with_and_without_machine_code(level: float | None) -> None:
    chance = np.random.default_rng(5)
    a, b = chance.normal(size=(2, 6_000)).round(1)
    a[:20] = np.nan
    other: Any = b if level is None else level
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(series, "is_loaded", lambda rows: False)
        plain = [series.crossed_above(a, other), series.crossed_below(a, other)]
    quick = [series.crossed_above(a, other), series.crossed_below(a, other)]
    assert sum(int(crossed.sum()) for crossed in plain) > 1_000
    assert all(np.array_equal(one, two) for one, two in zip(plain, quick, strict=True))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, EXACT_US - 1), max_size=50), st.integers(0, EXACT_US // 1000 - 2))
def test_microseconds_become_milliseconds_rounded_down(some: list[int], whole: int) -> None:
    stamps = np.array([*some, whole * 1000, whole * 1000 + 999, whole * 1000 + 1000], np.int64)
    times = np.empty_like(stamps)
    assert us_to_ms(stamps, times)
    assert times.tolist() == [stamp // 1000 for stamp in stamps.tolist()]


@pytest.mark.parametrize("stamp", [-1, EXACT_US, np.iinfo(np.int64).min])
def test_microseconds_out_of_reach_are_left_to_numpy(stamp: int) -> None:
    assert not us_to_ms(np.array([5, stamp], np.int64), np.empty(2, np.int64))


def frame(first: str) -> pd.DataFrame:
    """Many flat candles from a day on."""
    moments = pd.date_range(first, periods=3_000, freq="min", tz="UTC", unit="us")
    prices = {name: np.ones(3_000) for name in ("open", "high", "low", "close", "volume")}
    return pd.DataFrame({"timestamp": moments, **prices})


@pytest.mark.parametrize("first", ["1969-12-31", "2024-02-28 23:59:59.999999"])
def test_columns_have_the_milliseconds_of_the_frame(first: str) -> None:
    candles = frame(first)
    expected = (candles["timestamp"].astype("int64") // 1000).tolist()
    assert columns_of(candles).times.tolist() == expected


def test_a_missing_moment_is_named_by_its_row() -> None:
    candles = frame("2024-01-01")
    candles.loc[2_500, "timestamp"] = pd.NaT
    with pytest.raises(CandleError, match=r"row 2500 .*the timestamp is missing"):
        columns_of(candles)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from((-1, 0, 0, 0, 1)), max_size=70))
def test_places_of_flags_are_found_eight_at_a_time(flags: list[int]) -> None:
    expected = [place for place, flag in enumerate(flags) if flag]
    assert _places(np.array(flags, np.int8)).tolist() == expected
