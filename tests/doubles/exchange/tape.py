"""Turns candles into prices: where the market is at any moment, and how it came there."""

import bisect
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

MINUTE = 60_000
FRAMES = {"1m": 1, "3m": 3, "5m": 5, "15m": 15, "30m": 30, "1h": 60, "4h": 240, "1d": 1440}
TICK = Decimal("0.01")


@dataclass(frozen=True)
class Candle:
    """One candle of the tape; time is its opening, in milliseconds."""

    time: int
    open: Decimal
    high: Decimal
    low: Decimal
    close: Decimal
    volume: Decimal

    def corners(self) -> tuple[Decimal, ...]:
        """Gives the prices in the order in which they come: the nearer extreme first."""
        if self.close >= self.open:
            return (self.open, self.low, self.high, self.close)
        return (self.open, self.high, self.low, self.close)


@dataclass(frozen=True)
class Leg:
    """A move in one direction, from one price to another."""

    time: int
    start: Decimal
    end: Decimal

    def reaches(self, level: Decimal, *, falling: bool) -> bool:
        """Says whether the move is at or beyond a level, seen from above or from below."""
        return min(self.start, self.end) <= level if falling else max(self.start, self.end) >= level

    def first(self, level: Decimal, *, falling: bool) -> Decimal:
        """Gives the first price at or beyond the level: the start of the move if it began there."""
        beyond = self.start <= level if falling else self.start >= level
        return self.start if beyond else level


class Tape:
    """The candles of one symbol, all of the same width and without gaps."""

    def __init__(self, candles: Sequence[Candle], frame: str) -> None:
        self.candles = list(candles)
        self.width = FRAMES[frame] * MINUTE
        self._times = [candle.time for candle in self.candles]

    def index(self, now: int) -> int:
        """Finds the candle of a moment; before the first and after the last, those."""
        return max(0, min(bisect.bisect_right(self._times, now) - 1, len(self._times) - 1))

    def price(self, now: int) -> Decimal:
        """Gives the price at a moment."""
        candle = self.candles[self.index(now)]
        return self._at(candle, now)

    def legs(self, since: int, now: int) -> Iterator[Leg]:
        """Gives every move after one moment until another, gaps between candles included."""
        last = self.price(since)
        for place in range(self.index(since), self.index(now) + 1):
            candle = self.candles[place]
            third = self.width / 3
            corners = candle.corners()
            if candle.time > since and corners[0] != last:
                yield Leg(candle.time, corners[0], corners[0])
                last = corners[0]
            for number, corner in enumerate(corners[1:], start=1):
                begin, end = candle.time + third * (number - 1), candle.time + third * number
                if end <= since or begin >= now:
                    continue
                price = corner if end <= now else self._at(candle, now)
                yield Leg(int(min(end, now)), last, price)
                last = price

    def klines(
        self, frame: str, now: int, start: int | None, end: int | None, limit: int
    ) -> list[Candle]:
        """Gives candles of a frame as Binance does: the last one is not complete."""
        width = FRAMES[frame] * MINUTE
        last = self.index(now)
        first = (
            max(0, last - (limit + 2) * max(1, width // self.width))
            if start is None
            else self.index(start)
        )
        out: list[Candle] = []
        for place in range(first, last + 1):
            candle = self.candles[place]
            if place == last:
                candle = self._part(candle, now)
            time = candle.time // width * width
            if out and out[-1].time == time:
                old = out[-1]
                out[-1] = Candle(
                    time,
                    old.open,
                    max(old.high, candle.high),
                    min(old.low, candle.low),
                    candle.close,
                    old.volume + candle.volume,
                )
            else:
                out.append(Candle(time, *_prices(candle)))
        if start is None and first > 0:
            out = out[1:]  # it began in the middle
        kept = [
            c for c in out if (start is None or c.time >= start) and (end is None or c.time <= end)
        ]
        return kept[:limit] if start is not None else kept[-limit:]

    def _at(self, candle: Candle, now: int) -> Decimal:
        corners = candle.corners()
        part = max(0.0, min(3.0, (now - candle.time) / self.width * 3))
        place = min(2, int(part))
        low, high = corners[place], corners[place + 1]
        return (low + (high - low) * Decimal(part - place)).quantize(TICK)

    def _part(self, candle: Candle, now: int) -> Candle:
        seen = [candle.open, self._at(candle, now)]
        seen += candle.corners()[1 : 1 + min(3, max(0, int((now - candle.time) * 3 // self.width)))]
        return Candle(candle.time, candle.open, max(seen), min(seen), seen[1], candle.volume)


def _prices(candle: Candle) -> tuple[Decimal, Decimal, Decimal, Decimal, Decimal]:
    return candle.open, candle.high, candle.low, candle.close, candle.volume


def candle(time: int, *values: float) -> Candle:
    """Makes a candle of plain numbers, on the tick."""
    begin, high, low, close = (Decimal(str(value)).quantize(TICK) for value in values[:4])
    return Candle(time, begin, high, low, close, Decimal(str(round(values[4], 5))))


def wander(
    first: int, count: int, frame: str = "1m", price: float = 20_000.0, seed: int = 7
) -> list[Candle]:
    """Makes a random walk, the same for the same seed."""
    chance, out, width = random.Random(seed), [], FRAMES[frame] * MINUTE
    for number in range(count):
        begin = price
        price *= math.exp(chance.gauss(0, 0.001))
        out.append(
            candle(
                first + number * width,
                *(begin, max(begin, price) * 1.0003, min(begin, price) * 0.9997, price),
                10 + chance.random(),
            )
        )
    return out


def breakout(
    first: int, frame: str = "5m", price: float = 20_000.0, flat: int = 300, *, falls: bool = False
) -> list[Candle]:
    """Makes a flat market, one candle that breaks out of it, and a long rise after it, or a fall.

    The breakout is the candle number `flat` (from 0); the rise goes on for as many candles. Each
    candle of the rise is a breakout too, so that it does not matter when the clock ends one.
    """
    width, out = FRAMES[frame] * MINUTE, []
    for number in range(flat):
        swing = 10 if number % 2 else -10
        out.append(candle(first + number * width, price, price + 20, price - 20, price + swing, 10))
    top, step = price + 35, -60 if falls else 60
    out.append(candle(first + flat * width, price + 5, top, price - 5, top, 30))
    for number in range(1, flat):
        begin = top + (number - 1) * step
        high, low = max(begin, begin + step) + 5, min(begin, begin + step)
        out.append(candle(first + (flat + number) * width, begin, high, low, begin + step, 12))
    return out
