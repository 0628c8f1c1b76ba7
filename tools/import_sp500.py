"""Turns the S&P 500 table inside the package `arch` into the daily candles under tests/fixtures.

Needs `pip install arch` (version 8.0.0 made the committed file); nothing else here does. Rows are
copied, never mended: an impossible row stops the import with its date.
"""

import argparse
import importlib
from pathlib import Path

import pandas as pd

COLUMNS = {"Open": "open", "High": "high", "Low": "low", "Close": "close", "Volume": "volume"}


def daily_candles(table: pd.DataFrame) -> pd.DataFrame:
    """Rename the columns, round prices to cents and refuse impossible rows.

    Raises:
        ValueError: a price is outside its day's range, a value is missing or dates are not rising.
    """
    candles = table[list(COLUMNS)].rename(columns=COLUMNS)
    candles[["open", "high", "low", "close"]] = candles[["open", "high", "low", "close"]].round(2)
    body = candles[["open", "close"]]
    impossible = (
        candles.isna().any(axis=1)
        | (candles["high"] < body.max(axis=1))
        | (candles["low"] > body.min(axis=1))
        | (candles["low"] <= 0)
        | (candles["volume"] <= 0)
    )
    if impossible.any():
        days = ", ".join(str(day) for day in candles.index[impossible])
        raise ValueError(f"impossible rows, nothing written: {days}")
    if not (candles.index.is_monotonic_increasing and candles.index.is_unique):
        raise ValueError("dates are not strictly rising, nothing written")
    candles.index = pd.DatetimeIndex(candles.index).strftime("%Y-%m-%dT%H:%M:%SZ")
    return candles.rename_axis("timestamp")


def main() -> None:
    """Read the command line and write the file."""
    parser = argparse.ArgumentParser(description="Write the real daily S&P 500 candles.")
    parser.add_argument("--out", type=Path, default=Path("tests/fixtures/sp500_daily.csv"))
    arguments = parser.parse_args()
    table = importlib.import_module("arch.data.sp500").load()
    daily_candles(table).to_csv(arguments.out, float_format="%.2f", lineterminator="\n")
    print(arguments.out)


if __name__ == "__main__":
    main()
