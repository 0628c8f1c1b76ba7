"""The import copies rows or stops; it never mends."""

import pandas as pd
import pytest

from tools.import_sp500 import daily_candles


@pytest.fixture
def table():
    return pd.DataFrame(
        {
            "Open": [10.004, 11.0],
            "High": [12.0, 12.0],
            "Low": [9.0, 10.0],
            "Close": [11.0, 10.5],
            "Adj Close": [11.0, 10.5],
            "Volume": [100, 200],
        },
        index=pd.DatetimeIndex(["1999-01-04", "1999-01-05"], name="Date"),
    )


def test_columns_are_renamed_and_prices_are_cents(table):
    candles = daily_candles(table)
    assert list(candles.columns) == ["open", "high", "low", "close", "volume"]
    assert candles.index.tolist() == ["1999-01-04T00:00:00Z", "1999-01-05T00:00:00Z"]
    assert candles["open"].tolist() == [10.0, 11.0]


@pytest.mark.parametrize(
    ("column", "value"), [("High", 10.7), ("Low", 10.9), ("Volume", 0), ("Close", float("nan"))]
)
def test_an_impossible_row_stops_the_import_and_is_named(table, column, value):
    table[column] = table[column].astype(float)
    table.loc["1999-01-05", column] = value
    with pytest.raises(ValueError, match="1999-01-05"):
        daily_candles(table)


def test_dates_out_of_order_stop_the_import(table):
    with pytest.raises(ValueError, match="rising"):
        daily_candles(table.iloc[::-1])
