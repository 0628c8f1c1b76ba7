"""Offers what generated tests need: a seeded market, an adapter for it, the strategy itself."""

import importlib.util
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from adapters.loop.strategy_decisions import AskedDecisions, SignalDecisions, essence
from adapters.simbroker_adapter import SimBrokerAdapter
from adapters.strategy_cli import broker_settings
from Backtest.simbroker import SimBroker
from Backtest.strategy_signals import read_signals

SIDES = ("BUY", "SELL")
Trade = tuple[str, int, float, int, float, str, float]
# Minutes since the deciding candle opened; open, high, low, close.
Candle = tuple[int, float, float, float, float]
# The bar of an order, the candles after it, the trade that they make of it.
Fate = tuple[int, list[Candle], Trade]

_FIRST_CANDLE = pd.Timestamp("2024-01-01", tz="UTC")
_MINUTE_MS = 60_000
_BATCH = 512
_DRIFTS = (-0.006, -0.002, 0.0, 0.002, 0.006)
_SWINGS = (0.003, 0.008, 0.02)
_STAGED_GAPS = (0.0, 0.0, 0.2, -0.2, 0.6, -0.6, 1.5, -1.5, 3.0, -3.0)
_STAGED_BODIES = (0.0, 0.1, 0.4, 1.0, 1.0, 2.0, 3.0)
_STAGED_SHADOWS = (0.0, 0.0, 0.0, 0.1, 0.4, 2.0)


class _Mood(NamedTuple):
    """Says how a market behaves: level, volume and swings, how often it turns, gaps and rests."""

    price: float = 100.0
    volume: int = 1
    swing: float = 1.0
    regime_bars: int = 40
    gaps: float = 0.05
    untraded: float = 0.0


# The usual one, and others for rules that it does not decide.
MOODS = (
    _Mood(),
    _Mood(price=30_000.0, volume=1_000),
    _Mood(price=5.0, volume=100_000),
    _Mood(swing=0.15),
    _Mood(swing=4.0, gaps=0.3, untraded=0.2),
    _Mood(swing=0.5, regime_bars=250, untraded=0.2),
    _Mood(price=1_000.0, volume=10_000_000, swing=2.0, regime_bars=10),
)


def market(bars: int, seed: int, minutes: int = 60) -> pd.DataFrame:
    """Synthetic candles that rise, fall, jump and stall; the same on every machine.

    Only whole-number chance and rounding to cents go into them, so that expected values can be
    written down. The thousands of `seed` are the number of a mood, see `MOODS`.
    """
    return _long_market(-(-bars // _BATCH) * _BATCH, seed, minutes).iloc[:bars].copy()


@lru_cache(maxsize=64)
def _long_market(bars: int, seed: int, minutes: int) -> pd.DataFrame:
    """Gives a market of which shorter ones are the start, made once."""
    return _framed(_rows(seed, bars), minutes)


def _framed(rows: list[tuple[float, ...]], minutes: int) -> pd.DataFrame:
    """Open, high, low, close and volume of every candle, with its time."""
    frame = pd.DataFrame(rows, columns=["open", "high", "low", "close", "volume"])
    opens = _FIRST_CANDLE + pd.to_timedelta([minutes * bar for bar in range(len(rows))], unit="min")
    frame.insert(0, "timestamp", opens)
    return frame


def _rows(seed: int, bars: int) -> list[tuple[float, ...]]:
    """Open, high, low, close and volume of every candle."""
    chance = _Chance(seed)
    mood = MOODS[seed // 1000 % len(MOODS)]
    close = mood.price
    rows: list[tuple[float, ...]] = []
    drift = swing = 0.0
    for bar in range(bars):
        if bar % mood.regime_bars == 0:
            drift, swing = chance.pick(_DRIFTS), chance.pick(_SWINGS) * mood.swing
        gap = chance.bell() * swing if chance.uniform() < mood.gaps else 0.0
        opened = round(max(1.0, close * (1 + gap)), 2)
        close = round(max(1.0, opened * (1 + drift / 4 + chance.bell() * swing)), 2)
        high = round(max(opened, close) * (1 + chance.uniform() * swing), 2)
        low = round(max(0.5, min(opened, close) * (1 - chance.uniform() * swing)), 2)
        volume = round(100 + 900 * chance.uniform() * (1 + abs(close / opened - 1) * 50))
        rests = mood.untraded > 0.0 and chance.uniform() < mood.untraded
        rows.append((opened, high, low, close, 0.0 if rests else float(volume * mood.volume)))
    return rows


def staged_market(bars: int, seed: int, minutes: int = 60) -> pd.DataFrame:
    """Candles that are put together of bodies, shadows and gaps of a few sizes, in any order.

    Every candle pattern shows in them sooner or later, which a market that moves as prices do keeps
    one waiting for.
    """
    return _staged(bars, seed, minutes).copy()


@lru_cache(maxsize=4)
def _staged(bars: int, seed: int, minutes: int) -> pd.DataFrame:
    chance, close = _Chance(seed), 100.0
    rows: list[tuple[float, ...]] = []
    for _ in range(bars):
        opened = round(close + chance.pick(_STAGED_GAPS), 2)
        way = 1 if opened < 60 else -1 if opened > 140 else chance.pick((1, 1, -1, -1))
        close = round(opened + way * chance.pick(_STAGED_BODIES), 2)
        high = round(max(opened, close) + chance.pick(_STAGED_SHADOWS), 2)
        low = round(min(opened, close) - chance.pick(_STAGED_SHADOWS), 2)
        rows.append((opened, high, low, close, 100.0))
    return _framed(rows, minutes)


def added_up(values: ArrayLike) -> tuple[float, float]:
    """Gives the sum of the values that are there, and the sum of each times its bar."""
    numbers = np.asarray(values, dtype=np.float64)
    known = np.where(np.isfinite(numbers), numbers, 0.0)
    return float(known.sum()), float((known * np.arange(len(known))).sum())


def adds_up(values: ArrayLike, expected: tuple[float, float]) -> bool:
    """Says whether values add up to what is expected, as exactly as sums of so many can."""
    sizes = added_up(np.abs(np.asarray(values, dtype=np.float64)))
    pairs = zip(added_up(values), expected, sizes, strict=True)
    return all(abs(found - wanted) <= 1e-9 * size + 1e-9 for found, wanted, size in pairs)


class _Chance:
    """Holds a linear congruential generator: exact in integers, so that no machine differs."""

    def __init__(self, seed: int) -> None:
        self._state = (seed * 2862933555777941757 + 3037000493) % 2**64

    def uniform(self) -> float:
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % 2**64
        return float((self._state >> 33) / 2**31)

    def bell(self) -> float:
        """Gives a number around 0, mostly within 1: four uniforms added."""
        return sum(self.uniform() for _ in range(4)) - 2.0

    def pick(self, values: tuple[float, ...]) -> float:
        return values[int(self.uniform() * len(values))]


def new_adapter(cfg: Mapping[str, object]) -> SimBrokerAdapter:
    """Makes a simulated broker with a strategy's own capital and costs."""
    return SimBrokerAdapter(SimBroker(**broker_settings(cfg)))


def trades_of(adapter: SimBrokerAdapter) -> list[Trade]:
    """Tells what was traded: side, entry bar and price, exit bar and price, exit rule, profit."""
    return [
        (
            trade.side,
            trade.entry_row,
            trade.entry_price,
            trade.exit_row,
            trade.exit_price,
            trade.rule_out,
            trade.pnl,
        )
        for trade in adapter.broker.get_trades()
    ]


def played_out(
    order: Mapping[str, Any], decided: pd.Series, after: list[Candle], cfg: Mapping[str, Any]
) -> Trade:
    """Gives the trade that an order becomes on the candles after the one it was decided on.

    It is of one lot, or one unit, and cash is ample: its levels are looked at, not its size.

    Raises:
        ValueError: the broker refuses the order, or nothing fills it.
    """
    settings = broker_settings(cfg)
    volume = settings.get("lot") or 1.0
    settings |= {"capital": 1e6 * volume * float(decided["close"]), "min_notional": None}
    broker = SimBroker(**settings)
    answer = broker.place_order({**order, "volume": volume})
    if not answer["success"]:
        raise ValueError(answer["error"])
    opened, top, bottom, last = (float(decided[name]) for name in ("open", "high", "low", "close"))
    for minute, open_, high, low, close in [(0, opened, top, bottom, last), *after]:
        broker.step_candle(minute * _MINUTE_MS, open_, high, low, close, 0.0, order["symbol"])
    (trade,) = trades_of(SimBrokerAdapter(broker))
    return trade


def both_answers(strategy: Any, candles: pd.DataFrame) -> tuple[list[object], list[object]]:
    """Tells what a strategy answers at every bar, asked by its methods and read from arrays.

    An answer is the order without its volume, and whether a long and a short are left.
    """
    asked = AskedDecisions(strategy, candles)
    signals = read_signals(strategy.signals(strategy.prepare_indicators(candles)), len(candles))
    closes = candles["close"].to_numpy(np.float64)
    offered = SignalDecisions(signals, strategy.cfg["symbol"], closes)
    return _answers(asked, len(candles)), _answers(offered, len(candles))


def _answers(decisions: AskedDecisions | SignalDecisions, bars: int) -> list[object]:
    return [
        (
            essence(decisions.entry(idx)),
            *(decisions.leaves({"position_id": "", "action": side}, idx) for side in SIDES),
        )
        for idx in range(bars)
    ]


def load_strategy(name: str) -> ModuleType:
    """Loads the file `Backtest/codes/<name>.py` of the repository that the calling test is in.

    Raises:
        FileNotFoundError: no folder above the test has it.
    """
    caller = Path(sys._getframe(1).f_globals["__file__"]).resolve()
    for folder in caller.parents:
        path = folder / "Backtest" / "codes" / f"{name}.py"
        if path.is_file():
            break
    else:
        raise FileNotFoundError(f"Backtest/codes/{name}.py is in no folder above {caller}")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
