"""What the line needs of an exchange: pages of candles."""

from typing import NamedTuple, Protocol


class Candle(NamedTuple):
    """One candle as an exchange tells it; `time` is its open in UTC milliseconds."""

    time: int
    open: float
    high: float
    low: float
    close: float
    volume: float


class CandleSource(Protocol):
    """An exchange that tells candles."""

    name: str

    def page(self, symbol: str, timeframe: str, since_ms: int, limit: int) -> list[Candle]:
        """Up to `limit` candles from a moment on, as they come.

        Raises:
            InputError: the exchange has no such symbol or timeframe.
            PassingTrouble: asking again later may help.
            WorldError: asking again will not help.
        """


class PassingTrouble(Exception):
    """A request failed in a way that may pass; `wait_s` is the time that the exchange asked for."""

    def __init__(self, reason: str, wait_s: float = 0.0) -> None:
        """Keep why, and how long to stay away at least."""
        super().__init__(reason)
        self.reason = reason
        self.wait_s = wait_s
