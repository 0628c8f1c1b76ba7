"""One pass of machine code gives what several of numpy's give, to the last bit."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import Backtest.compiled.kernel  # noqa: F401 - machine code is at hand
from adapters import series
from adapters.loop.strategy_decisions import SAMPLE_BARS, _spread
from Backtest.candles import columns_of
from Backtest.compiled.candle_pass import EXACT_US, us_to_ms
from Backtest.compiled.signal_pass import both_crossings, crossings
from Backtest.sim_errors import CandleError
from tests.chance import examples

cells = st.one_of(st.integers(-2, 2).map(float), st.just(np.nan), st.floats(-1e300, 1e300))


@examples(200)
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
    above, below, other = (np.ones(len(a), np.bool_) for _ in range(3))
    both_crossings(a, b, above, below)
    crossings(b, a, other)
    assert (above.tolist(), below.tolist()) == (expected, other.tolist())


@pytest.mark.parametrize("level", [0.25, None])
def test_series_cross_alike_with_and_without_machine_code(level: float | None) -> None:
    chance = np.random.default_rng(5)
    a, b = chance.normal(size=(2, 6_000)).round(1)
    a[:20] = np.nan
    other: Any = b if level is None else level
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(series, "is_loaded", lambda rows: False)
        plain = [series.crossed_above(a, other), series.crossed_below(a, other)]
        plain += series.crossed(a, other)
    quick = [series.crossed_above(a, other), series.crossed_below(a, other)]
    quick += series.crossed(a, other)
    assert sum(int(crossed.sum()) for crossed in plain) > 1_000
    assert all(np.array_equal(one, two) for one, two in zip(plain, quick, strict=True))


@examples(200)
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


@examples(200)
@given(st.lists(st.sampled_from((-1, 0, 0, 0, 1)), max_size=200))
def test_the_sample_takes_flags_from_every_part_of_the_run(flags: list[int]) -> None:
    places = [place for place, flag in enumerate(flags) if flag == 1]
    found = _spread(np.array(flags, np.int8).tobytes(), b"\x01")
    assert set(found) <= set(places)
    assert bool(found) == bool(places)
    part = max(1, len(flags) // SAMPLE_BARS)
    assert {place // part for place in found} == {place // part for place in places}
    assert not places or places[-1] in found
