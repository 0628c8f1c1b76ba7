"""Views answer as the pandas objects they stand for."""

import operator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adapters.loop.views import CandleView, array_view, frame_view, series_view
from adapters.testing import market
from Backtest.candles import columns_of, tidy_candles

FRAME = tidy_candles(market(50, 3)).assign(symbol="X/Y", count=range(50))
VIEW = frame_view(FRAME)
COLUMNS = ("open", "close", "volume", "count")


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("idx", [0, 7, 49, -1, -50])
def test_one_place_is_the_same_scalar_of_the_same_type(name: str, idx: int) -> None:
    expected = FRAME[name].iloc[idx]
    for found in (VIEW[name].iloc[idx], VIEW[name].iat[idx], getattr(VIEW, name).iloc[idx]):
        assert found == expected
        assert type(found) is type(expected)


def test_a_truth_is_numpys_so_that_not_and_invert_hold() -> None:
    rule = FRAME["close"] > FRAME["open"]
    view = series_view(rule)
    for idx in range(len(rule)):
        assert type(view.iloc[idx]) is np.bool_
        assert ~view.iloc[idx] == (not rule.iloc[idx])


@pytest.mark.parametrize("idx", [50, -51])
def test_a_place_that_is_not_there_is_an_index_error(idx: int) -> None:
    with pytest.raises(IndexError):
        VIEW["close"].iloc[idx]


@pytest.mark.parametrize("key", [slice(3, 9), slice(None, None, -1), [1, 5], np.int64(4)])
def test_other_places_are_pandas_answer(key: Any) -> None:
    found, expected = VIEW["close"].iloc[key], FRAME["close"].iloc[key]
    assert type(found) is type(expected)
    assert np.array_equal(found, expected)


def test_everything_else_is_pandas() -> None:
    close, real = VIEW["close"], FRAME["close"]
    assert close.rolling(5).mean().equals(real.rolling(5).mean())
    assert close[7] == real[7]
    assert list(close) == real.tolist()
    assert len(close) == len(VIEW) == 50
    assert close.index.equals(real.index)
    assert repr(close) == repr(real)
    assert repr(VIEW) == repr(FRAME)
    assert VIEW.iloc[3].equals(FRAME.iloc[3])
    assert VIEW["timestamp"].iloc[4] == FRAME["timestamp"].iloc[4]
    assert VIEW["symbol"].iloc[4] == "X/Y"
    assert list(VIEW) == list(FRAME)
    assert "close" in VIEW
    assert "nothing" not in VIEW
    assert VIEW[["open", "close"]].equals(FRAME[["open", "close"]])
    assert VIEW.shape == FRAME.shape
    assert np.array_equal(np.asarray(close), real.to_numpy())
    with pytest.raises(KeyError):
        VIEW["nothing"]
    with pytest.raises(AttributeError):
        VIEW.nothing  # noqa: B018 - asking is the test


@pytest.mark.parametrize("name", ["lt", "ge", "eq", "add", "sub", "mul", "truediv", "pow"])
def test_operators_are_pandas(name: str) -> None:
    act = getattr(operator, name)
    close, opened = VIEW["close"], VIEW["open"]
    assert act(close, opened).equals(act(FRAME["close"], FRAME["open"]))
    assert act(close, 2.0).equals(act(FRAME["close"], 2.0))
    assert act(2.0, close).equals(act(2.0, FRAME["close"]))
    assert (-close).equals(-FRAME["close"])


def test_views_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        VIEW["close"] = 1.0  # type: ignore[index]
    with pytest.raises(TypeError):
        VIEW["close"].iloc[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        VIEW["close"].values[0] = 1.0
    with pytest.raises(ValueError, match="truth value"):
        bool(VIEW["close"])
    with pytest.raises(TypeError):
        hash(VIEW["close"])


def test_candles_without_pandas_become_the_tidy_frame() -> None:
    plain = FRAME.drop(columns=["symbol", "count"])
    found = CandleView(columns_of(plain)).to_pandas()
    pd.testing.assert_frame_equal(found, plain, check_dtype=False)
    assert array_view(np.array([1.5, 2.5])).iloc[-1] == 2.5
    assert array_view(np.array([1.5, 2.5])).to_pandas().tolist() == [1.5, 2.5]
