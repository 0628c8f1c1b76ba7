"""Turns one bar, as a Series, a dict or another mapping, into plain numbers."""

from typing import Any, NamedTuple

from Backtest.sim_errors import BacktestError, CandleError
from Backtest.times import to_ms

PRICES = ("open", "high", "low", "close")
TIME_NAMES = ("timestamp", "date", "datetime", "time")
INFINITY = float("inf")


class Row(NamedTuple):
    """Holds one candle; `timestamp` is the open of the candle in UTC milliseconds."""

    timestamp: int
    open: float
    high: float
    low: float
    close: float
    volume: float = 0.0
    symbol: str | None = None


def read_row(bar: Any, number: int) -> Row:
    """Read a bar, its names in either case of letters.

    A bar without a timestamp takes the name of its Series (its index in the frame), else its
    number. A bar without a volume has none traded.

    Raises:
        CandleError: a price is missing or is no number, or the timestamp cannot be read.
    """
    if isinstance(bar, Row):
        return bar
    known = {str(key).lower(): key for key in bar.keys()}  # noqa: SIM118 - a Series iterates values
    symbol = bar[known["symbol"]] if "symbol" in known else None
    return Row(
        timestamp=_time(bar, known, number),
        open=_price(bar, known, "open", number),
        high=_price(bar, known, "high", number),
        low=_price(bar, known, "low", number),
        close=_price(bar, known, "close", number),
        volume=_price(bar, known, "volume", number) if "volume" in known else 0.0,
        symbol=None if symbol is None else str(symbol),
    )


def _price(bar: Any, known: dict[str, object], name: str, number: int) -> float:
    if name not in known:
        raise CandleError(f"bar {number} has no {name}", f"It has: {', '.join(known)}", number)
    value = bar[known[name]]
    try:
        return float(value)
    except (TypeError, ValueError):
        raise CandleError(
            f"bar {number}: {name} is {value!r}", "Prices and volumes are numbers", number
        ) from None


def _time(bar: Any, known: dict[str, object], number: int) -> int:
    moment = next((bar[known[name]] for name in TIME_NAMES if name in known), None)
    if moment is None:
        moment = getattr(bar, "name", None)
    if moment is None:
        return number
    try:
        return to_ms(moment)
    except BacktestError as error:
        raise CandleError(f"bar {number}: {error.message}", error.hint, number) from None


def fault_of(row: Row) -> str | None:
    """Say what is wrong with a candle on its own, None if it is sound."""
    for name in (*PRICES, "volume"):
        value = getattr(row, name)
        if value != value:
            return f"{name} is missing (NaN)"
        if abs(value) == INFINITY:
            return f"{name} is infinite"
    for name in PRICES:
        if getattr(row, name) <= 0.0:
            return f"{name} is {getattr(row, name)!r}, prices are above 0"
    if row.volume < 0.0:
        return f"volume is {row.volume!r}, it cannot be negative"
    if row.high < row.low:
        return f"high {row.high!r} is below low {row.low!r}"
    for name in ("open", "close"):
        if not row.low <= getattr(row, name) <= row.high:
            return f"{name} {getattr(row, name)!r} is outside low {row.low!r} to high {row.high!r}"
    return None
