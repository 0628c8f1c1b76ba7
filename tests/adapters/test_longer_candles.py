"""Longer candles are made of the ones that are there, and seen once they have closed."""

import numpy as np
import pandas as pd

from adapters import series
from adapters.loop.views import CandleView
from Backtest.candles import columns_of

NAN = np.nan


def hours(*opens: str) -> pd.DataFrame:
    """Candles whose prices count up from 1."""
    count = np.arange(1.0, len(opens) + 1)
    return pd.DataFrame(
        {
            "timestamp": pd.to_datetime(list(opens), utc=True),
            "open": count,
            "high": count + 0.5,
            "low": count - 0.5,
            "close": count + 0.25,
            "volume": count * 10,
        }
    )


# The first 4h candle is half there, the second whole, the third lacks its last two hours.
FRAME = hours(
    *("2024-01-01T02:00", "2024-01-01T03:00"),
    *("2024-01-01T04:00", "2024-01-01T05:00", "2024-01-01T06:00", "2024-01-01T07:00"),
    *("2024-01-01T08:00", "2024-01-01T09:00", "2024-01-01T12:00"),
)


def test_a_longer_candle_takes_in_its_shorter_ones() -> None:
    longer = series.resampled(FRAME, 240)
    assert longer["timestamp"].dt.hour.tolist() == [0, 4, 8, 12]
    assert longer["open"].tolist() == [1.0, 3.0, 7.0, 9.0]
    assert longer["high"].tolist() == [2.5, 6.5, 8.5, 9.5]
    assert longer["low"].tolist() == [0.5, 2.5, 6.5, 8.5]
    assert longer["close"].tolist() == [2.25, 6.25, 8.25, 9.25]
    assert longer["volume"].tolist() == [30.0, 180.0, 150.0, 90.0]


def test_a_bar_sees_the_last_longer_candle_that_has_closed_with_it() -> None:
    seen = series.merged(np.array([1.0, 2.0, 3.0, 4.0]), FRAME, 240, 60)
    expected = [NAN, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0]
    assert np.array_equal(seen, expected, equal_nan=True)


def test_a_condition_is_false_before_the_first_has_closed() -> None:
    seen = series.merged(np.array([True, False, True, True]), FRAME, 240, 60)
    assert seen.tolist() == [False, True, True, True, True, False, False, False, True]


def test_weeks_begin_on_monday() -> None:
    days = hours("2023-12-30", "2023-12-31", "2024-01-01", "2024-01-07", "2024-01-08")
    longer = series.resampled(days, 7 * 1440)
    assert longer["timestamp"].dt.strftime("%m-%d").tolist() == ["12-25", "01-01", "01-08"]
    seen = series.merged(np.array([1.0, 2.0, 3.0]), days, 7 * 1440, 1440)
    assert np.array_equal(seen, [NAN, 1.0, 1.0, 2.0, 2.0], equal_nan=True)


def test_candles_without_pandas_make_the_same() -> None:
    view = CandleView(columns_of(FRAME))
    longer = series.resampled(view, 240)  # type: ignore[arg-type]
    assert isinstance(longer, CandleView)
    expected = series.resampled(FRAME, 240)
    for name in ("open", "high", "low", "close", "volume"):
        assert series.column(longer, name).tolist() == expected[name].tolist()
    assert series.hour(longer).tolist() == [0.0, 4.0, 8.0, 12.0]
    values = np.array([1.0, 2.0, 3.0, 4.0])
    one, other = (series.merged(values, df, 240, 60) for df in (FRAME, view))  # type: ignore[arg-type]
    assert np.array_equal(one, other, equal_nan=True)


def test_no_candles_make_none() -> None:
    assert len(series.resampled(FRAME.head(0), 240)) == 0
    assert len(series.merged(np.array([]), FRAME.head(0), 240, 60)) == 0
