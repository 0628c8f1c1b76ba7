"""Turns a contract into other places to ask a strategy about: times, lengths, names, settings.

On the contract's own candles a strategy may follow the contract and still do something else next
year, on a longer history, with more capital. So it is asked in places drawn from the digest of its
own bytes, which it cannot know, and has to answer there what the contract answers. Everything is
made by sums and products: the same bytes on every processor.
"""

import hashlib
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from Backtest.times import timeframe_ms
from bot.contract.language.contract_decisions import contract_decisions
from bot.contract.language.evaluator import evaluate
from bot.contract.language.program import Program
from bot.contract.language.tree import Parameter
from bot.contract.language.warmup import warmup
from bot.contract.model import Contract
from bot.contract.numbers import CfgValue, flat_settings
from bot.data.market_data import MarketData

_HOUR_MS = 3_600_000
_DAY_MS = 24 * _HOUR_MS
_YEAR_S = 365 * 86_400
_AFTER_WARMUP = 250
_MOST_WARMUP = 6_000
_SMALL = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 100.0)
_SPARSE_YEARS = 25
_TRIES = 6
_NAMES = ("ETH/USDT", "SOL/USDT", "DOGE/BTC", "EUR/USD", "XAU/USD", "AAPL/USD", "BTC/USDT:USDT")
_CALM, _JUMPS = (0.0, 0.0004, 0.002, 0.006, 0.02), (0.4, 0.75, 1.3, 2.2)


@dataclass(frozen=True)
class Place:
    """Candles, a name, settings and a present that a strategy is asked about."""

    name: str  # what it is, for the reader of a verdict
    frame: pd.DataFrame  # the candles
    symbol: str  # what they are called
    # Settings other than the contract's.
    changes: Mapping[str, CfgValue] = field(default_factory=dict)
    at: tuple[int, ...] | None = None  # the bars that are asked about, all if None
    clock_s: int = 0  # how far the wall clock is moved
    ends: bool = False  # whether each bar is asked about as the last one of its history

    @property
    def described(self) -> str:
        """Gives the place in words."""
        times = self.frame["timestamp"]
        words = f"{self.name}: {len(times)} candles from {times.iloc[0]:%Y-%m-%d}, {self.symbol}"
        if len(self.changes) > 3:
            words += f", {len(self.changes)} other settings"
        elif self.changes:
            words += "".join(f", {key}={value}" for key, value in self.changes.items())
        years = self.clock_s / _YEAR_S
        return words + (f", the clock moved by {years:+.1f} years" if self.clock_s else "")


def places(
    contract: Contract, program: Program, data: MarketData, source: bytes, thorough: bool = False
) -> tuple[Place, ...]:
    """Draws the places that a strategy is asked about from its own bytes.

    They are many more if `thorough`, for code that the template did not write.
    """
    return tuple(_Draw(contract, program, data, source).all(thorough))


class _Draw:
    """Places of one strategy."""

    def __init__(
        self, contract: Contract, program: Program, data: MarketData, source: bytes
    ) -> None:
        self._contract = contract
        self._program = program
        frame = next(iter(data.frames.values()))
        self._length = max(len(one) for one in data.frames.values())
        self._kind = frame["timestamp"].dtype
        self._step = timeframe_ms(contract.market.timeframe)
        self._first = min(_ms(one["timestamp"].iloc[0]) for one in data.frames.values())
        self._last = max(_ms(one["timestamp"].iloc[-1]) for one in data.frames.values())
        self._level = float(frame["close"].iloc[-1])
        self._bars = min(warmup(program), _MOST_WARMUP) + _AFTER_WARMUP
        self._chance = random.Random(hashlib.sha256(b"places\0" + source).digest())  # noqa: S311
        self._settings = flat_settings(contract, program)

    def all(self, thorough: bool) -> Iterator[Place]:
        """Draws places ahead and back in time, larger and smaller, longer and shorter."""
        chance, own = self._chance, self._contract.market.symbols[0]
        for number in range(8 if thorough else 1):
            high = float(chance.randint(1, 9) * 10 ** chance.randint(5, 8))
            low = chance.randint(1, 9) / 10 ** chance.randint(2, 7)
            for name, years, level in (("ahead", 1, high), ("back", -1, low)):
                changes = self._changed()
                frame = self._lively(self._start(years), level, changes, gaps=bool(number % 2))
                moved = years * chance.randint(_YEAR_S, 12 * _YEAR_S)
                yield Place(name, frame, self._name(), changes, None, moved)
        start = self._last + self._step
        longer = int(max(2_000, self._length) * chance.uniform(1.2, 2.2))
        for bars in (longer, 40_000) if thorough else (longer,):
            frame = self._market(bars, start, self._level, gaps=True)
            asked = None if thorough and bars == longer else self._some(bars, 300)
            yield Place("longer", frame, own, at=asked)
        frame = self._sparse(start)
        yield Place("every day to come", frame, own, at=self._some(len(frame), 200))
        frame = self._lively(self._start(1), self._level)
        ends = [0, 1, 2, *self._some(self._bars, 400 if thorough else 12), self._bars - 1]
        asked = tuple(sorted(set(ends)))
        yield Place("as history grows", frame, self._name(), at=asked, ends=True)
        if thorough:
            yield from self._apart()

    def _apart(self) -> Iterator[Place]:
        """Draws each setting alone, each name, and ends of history in every coming year."""
        frame = self._lively(self._start(1), self._level)
        own = self._contract.market.symbols[0]
        for _ in range(2):
            for key, value in self._changed().items():
                yield Place("one setting", frame, own, {key: value})
        for name in (*_NAMES, self._name()):
            yield Place("another name", frame, name)
        frame = self._market(3_000, self._start(1), 100.0)
        whole = {name: frame[name].round(0) for name in frame.columns if name != "timestamp"}
        yield Place("whole prices", frame.assign(**whole), own, at=self._some(3_000, 500))
        yield Place("small numbers", self._small(frame), own, at=self._some(3_000, 500))
        for year in range(1, _SPARSE_YEARS):
            start = self._last + year * 365 * _DAY_MS + self._chance.randrange(365) * _DAY_MS
            frame = self._lively(start - start % self._step, self._level)
            late = range(self._bars - 30, self._bars)
            moved = self._chance.randint(-9, 25) * _YEAR_S
            yield Place("a coming year", frame, own, at=tuple(late), ends=True, clock_s=moved)

    def _small(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Gives candles at the very numbers that any code may have, so that `== 100` is met."""
        first, last, volume = (
            pd.Series(self._chance.choices(_SMALL, k=len(frame)), index=frame.index)
            for _ in range(3)
        )
        high, low = first.where(first > last, last), first.where(first < last, last)
        return frame.assign(open=first, high=high, low=low, close=last, volume=volume)

    def _start(self, direction: int) -> int:
        """Gives a time years after the contract's candles, or years before them."""
        days = self._chance.randint(400, 9 * 365) * _DAY_MS + self._chance.randrange(_DAY_MS)
        if direction < 0:
            start = max(_DAY_MS * 365, self._first - days - self._bars * self._step)
        else:
            start = self._last + days
        return start - start % self._step

    def _name(self) -> str:
        letters = "".join(self._chance.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ", k=4))
        return self._chance.choice((*_NAMES, f"{letters}/USDT"))

    def _some(self, bars: int, count: int) -> tuple[int, ...]:
        return tuple(sorted(self._chance.sample(range(bars), min(bars, count))))

    def _sparse(self, start: int) -> pd.DataFrame:
        """Candles a day apart, at hours that go round, over all the years to come."""
        apart = max(self._step, 23 * _HOUR_MS // self._step * self._step)
        bars = max(_SPARSE_YEARS * 365 * _DAY_MS // apart, 10)
        bars = min(bars, 12_000)
        frame = self._market(bars, start, self._level)
        return frame.assign(timestamp=self._times(start + apart * np.arange(bars)))

    def _times(self, ms: NDArray[np.int64]) -> pd.Series:
        return pd.Series(pd.to_datetime(ms, unit="ms", utc=True)).astype(self._kind)

    def _lively(
        self,
        start: int,
        level: float,
        changes: Mapping[str, CfgValue] | None = None,
        gaps: bool = False,
    ) -> pd.DataFrame:
        """Gives a market on which the contract orders something, if one is found soon."""
        ordered, ruled = changed(self._contract, self._program, changes or {})
        for _ in range(_TRIES):
            frame = self._market(self._bars, start, level, gaps)
            if contract_decisions(ordered, ruled, frame, "X")["entries"]:
                break
        return frame

    def _market(self, bars: int, start: int, level: float, gaps: bool = False) -> pd.DataFrame:
        """Calm and wild stretches, jumps, prices that stand still, candles without volume."""
        chance = np.random.Generator(np.random.PCG64(self._chance.getrandbits(64)))
        stretches = bars // 40 + 1
        width = np.repeat(np.asarray(_CALM)[chance.integers(0, 5, stretches)], 40)[:bars]
        lean = np.repeat(chance.uniform(-0.4, 0.4, stretches), 40)[:bars]
        steps = 1.0 + width * (chance.uniform(-1.0, 1.0, bars) + lean)
        jumps = chance.uniform(size=bars) < 0.002
        steps[jumps] = np.asarray(_JUMPS)[chance.integers(0, 4, int(jumps.sum()))]
        closes, price = [], level
        for step in steps.tolist():
            moved = price * step
            # Within three digits of where it began, so that a long market stays one.
            price = moved if level * 0.05 < moved < level * 20.0 else price / step
            closes.append(price)
        close = np.asarray(closes)
        opened = np.concatenate(([level], close[:-1]))
        above, below = chance.uniform(0.0, 1.0, (2, bars)) * width
        quiet = np.repeat(chance.uniform(size=stretches) < 0.05, 40)[:bars]
        volume = np.where(quiet, 0.0, chance.uniform(1.0, 1000.0, bars))
        moments = start + self._step * np.arange(bars)
        if gaps:
            missing = chance.integers(1, 200, bars) * (chance.uniform(size=bars) < 0.01)
            moments += self._step * np.cumsum(missing)
        return pd.DataFrame(
            {
                "timestamp": self._times(moments),
                "open": opened,
                "high": np.maximum(opened, close) * (1.0 + above),
                "low": np.minimum(opened, close) * (1.0 - below),
                "close": close,
                "volume": volume,
            }
        )

    def _changed(self) -> dict[str, CfgValue]:
        """Other settings, each within its range; a value that the rules cannot take is left out."""
        found: dict[str, CfgValue] = {}
        probe = self._market(30, self._last, self._level)
        for name, default in self._program.parameters.items():
            span = self._contract.parameters[name].range
            value = self._number(default, span)
            try:
                evaluate(self._program, probe, {name: value})
            except Exception:  # noqa: S112 - TA-Lib's own, of any type
                continue
            found[name] = value
        for place, key in self._settings.keys.items():
            usual = self._settings.defaults[key]
            if key not in self._program.parameters and isinstance(usual, int | float):
                found[key] = self._number(usual, _risk_span(place, usual))
        key_of = self._settings.key_of
        others: dict[str, CfgValue] = {
            "symbols": [self._name(), self._name()],
            "timeframe": self._chance.choice(("5m", "4h", "1d")),
            "lot": self._chance.choice((0.001, 0.01, 0.5)),
            "tick": self._chance.choice((0.01, 0.5)),
            "min_notional": self._chance.choice((5.0, 20.0)),
            "capital": round(self._contract.capital * self._chance.uniform(0.01, 60.0), 2),
            "commission": self._chance.choice((0.0, 0.0002, 0.005, 0.02)),
            "slippage": self._chance.choice((0.0, 0.0001, 0.004, 0.01)),
            "spread": self._chance.choice((0.0001, 0.0003, 0.003)),
            "execution": self._chance.choice(("next_open", "this_close")),
            "seed": self._chance.randrange(2**32),
            "max_positions": self._chance.randint(2, 9),
            "exit_profit_only": self._chance.random() < 0.5,
            "ignore_roi_if_entry_signal": self._chance.random() < 0.5,
        }
        return found | {key_of(name): value for name, value in others.items()}

    def _number(
        self, default: int | float, span: tuple[int | float, int | float] | None
    ) -> int | float:
        low, high = sorted(span or (default * 0.6, default * 1.5))
        if isinstance(default, int) and all(isinstance(end, int) for end in span or ()):
            least = min(default, 2) if default > 0 else round(low)
            return self._chance.randint(max(round(low), least), max(round(high), least))
        return round(self._chance.uniform(low, high), 6)


def _risk_span(place: str, usual: int | float) -> tuple[float, float] | None:
    """Says where a risk number may go; None for a period, which stays near its own."""
    if place.endswith(".timeperiod"):
        return None
    if place.startswith("roi."):
        return usual * 0.5, usual
    top = {"size.equity": 1.0, "size.risk": 0.1, "size.units": 1e6, "take_profit": 3.0}
    atr = 100.0 if place.endswith(".atr") else 0.95
    return usual * 0.3, max(usual, min(usual * 10, top.get(place, atr)))


def _ms(moment: pd.Timestamp) -> int:
    return int(moment.timestamp() * 1000)


def changed(
    contract: Contract, program: Program, changes: Mapping[str, CfgValue]
) -> tuple[Contract, Program]:
    """Gives a contract and its Program as they would be with other settings."""
    settings = flat_settings(contract, program)
    now: dict[str, Any] = {**settings.defaults, **changes}
    parameters = {name: now[name] for name in program.parameters}
    atr_periods = {
        name: value if isinstance(value, Parameter) else now[settings.keys[f"{name}.timeperiod"]]
        for name, value in program.atr_periods.items()
    }
    raw = contract.risk.model_dump(mode="python", exclude_none=True)
    for place, key in settings.keys.items():
        if key in parameters:
            continue
        name, _, inner = place.partition(".")
        if not inner:
            raw[name] = now[key]
        else:
            raw[name][int(inner) if name == "roi" else inner] = now[key]
    risk = type(contract.risk).model_validate(raw)
    market = contract.market.model_copy(update={"lot": now[settings.key_of("lot")]})
    costs = contract.costs.model_copy(
        update={name: now[settings.key_of(name)] for name in type(contract.costs).model_fields}
    )
    capital = now[settings.key_of("capital")]
    update = {"risk": risk, "market": market, "capital": capital, "costs": costs}
    other = replace(program, parameters=parameters, atr_periods=atr_periods)
    return contract.model_copy(update=update), other
