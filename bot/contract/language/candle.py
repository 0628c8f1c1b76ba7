"""Takes candles one by one and makes longer ones of them."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

# A Monday: weeks begin there, and every shorter candle does too.
_ORIGIN = datetime(1970, 1, 5, tzinfo=UTC)


@dataclass(frozen=True)
class Candle:
    """Holds one bar: when it opened (UTC), its prices and its volume."""

    timestamp: datetime
    open: float
    high: float
    low: float
    close: float
    volume: float


class LongerCandles:
    """Takes candles one by one and gives the longer ones as they close.

    A longer candle is made of the candles that are there; where some are missing at its end it
    closes with the first candle after it. Lengths are in minutes; `own` is that of the candles
    taken.
    """

    def __init__(self, minutes: int, own: int) -> None:
        self._length = timedelta(minutes=minutes)
        self._own = timedelta(minutes=own)
        self._open: Candle | None = None

    def take(self, candle: Candle) -> list[Candle]:
        """Take the next candle; gives the longer candles that have closed since."""
        closed = []
        start = candle.timestamp - (candle.timestamp - _ORIGIN) % self._length
        if self._open is not None and self._open.timestamp != start:
            closed.append(self._open)
            self._open = None
        if self._open is None:
            self._open = replace(candle, timestamp=start)
        else:
            self._open = _extended(self._open, candle)
        if candle.timestamp + self._own >= start + self._length:
            closed.append(self._open)
            self._open = None
        return closed


def _extended(longer: Candle, candle: Candle) -> Candle:
    return replace(
        longer,
        high=max(longer.high, candle.high),
        low=min(longer.low, candle.low),
        close=candle.close,
        volume=longer.volume + candle.volume,
    )
