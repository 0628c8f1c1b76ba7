"""Candles cross the wall without losing a bit, and a cut history holds nothing of the rest."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_runner.harness.packed_candles import pack_candles, read_candles
from tests.chance import examples

PRICES = ("open", "high", "low", "close", "volume")
finite = st.floats(allow_nan=True, allow_infinity=True, width=64)


def frame_of(values: list[list[float]], unit: str = "us") -> pd.DataFrame:
    times = pd.date_range("2024-01-01", periods=len(values), freq="h", tz="UTC", unit=unit)
    frame = pd.DataFrame(values, columns=list(PRICES), dtype="float64")
    frame.insert(0, "timestamp", times)
    return frame


@examples(50)
@given(st.lists(st.lists(finite, min_size=5, max_size=5), min_size=1, max_size=20))
def test_every_float_survives(tmp_path_factory: pytest.TempPathFactory, values: list) -> None:
    frame = frame_of(values)
    path = tmp_path_factory.mktemp("candles") / "x"
    path.write_bytes(pack_candles(frame))
    back = read_candles(path)
    pd.testing.assert_frame_equal(back, frame, check_exact=True)
    assert back["close"].to_numpy().tobytes() == frame["close"].to_numpy().tobytes()


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_keep_their_unit_as_column_or_index(tmp_path: Path, unit: str) -> None:
    frame = frame_of([[1, 2, 0.5, 1.5, 10]] * 3, unit)
    for form in (frame, frame.set_index("timestamp"), frame.assign(symbol="BTC/USDT")):
        (tmp_path / "x").write_bytes(pack_candles(form))
        pd.testing.assert_frame_equal(read_candles(tmp_path / "x"), form, check_freq=False)


@pytest.mark.parametrize("bars", [0, 1, 7, 10])
def test_the_first_bars_are_the_frame_s_own(tmp_path: Path, bars: int) -> None:
    frame = frame_of([[n, n + 1, n - 1, n, n * 10] for n in range(10)])
    (tmp_path / "x").write_bytes(pack_candles(frame))
    pd.testing.assert_frame_equal(read_candles(tmp_path / "x", bars), frame.iloc[:bars])


def test_more_bars_than_there_are_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(pack_candles(frame_of([[1, 1, 1, 1, 1]])))
    with pytest.raises(ValueError, match="x has 1 bars, 2 were asked for"):
        read_candles(tmp_path / "x", 2)


def test_a_frame_that_was_read_can_be_changed(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(pack_candles(frame_of([[1, 1, 1, 1, 1]])))
    frame = read_candles(tmp_path / "x")
    frame.loc[0, "close"] = 2.0
    assert frame["close"].tolist() == [2.0]


@pytest.mark.parametrize("value", [object(), {1}, None])
def test_objects_are_refused(value: object) -> None:
    frame = pd.DataFrame({"odd": np.array([value], dtype=object)})
    with pytest.raises(ValueError, match="'odd'"):
        pack_candles(frame)


def test_the_same_frame_gives_the_same_bytes() -> None:
    assert pack_candles(frame_of([[1, 2, 3, 4, 5]])) == pack_candles(frame_of([[1, 2, 3, 4, 5]]))
