"""Asks a strategy what it decides, bar by bar, or reads it from a record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adapters.loop.views import FrameView, frame_view, series_view
from adapters.orders import StrategyDict
from Backtest.sim_errors import BacktestError
from Backtest.strategy_signals import Signals, read_signals

if TYPE_CHECKING:
    import pandas as pd

    Indicators = dict[str, pd.Series[Any]]

EXIT_RULES = {"BUY": "exit_long", "SELL": "exit_short"}
SAMPLE_BARS = 8
LONG, SHORT, TRUE = b"\x01", b"\xff", b"\x01"  # as one byte of int8, and of bool
BEATS = {"stop": "sl", "target": "tp"}
RECORD_KEYS = ("entries", "exit_long", "exit_short")


class StrategyShape(Protocol):
    """States the methods of a single-file strategy."""

    def prepare_indicators(self, df: pd.DataFrame) -> Indicators:
        """Compute all indicators once."""

    def find_entries(
        self, df: pd.DataFrame, indicators: Indicators, idx: int
    ) -> StrategyDict | None:
        """Answer the enter rules at a bar."""

    def find_exits(
        self,
        position: StrategyDict,
        df: pd.DataFrame,
        indicators: Indicators,
        idx: int,
    ) -> StrategyDict | None:
        """Answer the exit rule of a position at a bar."""


class Decisions(Protocol):
    """Raw answers of the rules, without knowledge of what is held."""

    def entry(self, idx: int) -> StrategyDict | None:
        """Gives the order wanted at a bar; None also where both enter rules say yes."""

    def leaves(self, position: Mapping[str, object], idx: int) -> bool:
        """Says whether the exit rule of the position's side says yes at a bar."""


class AskedDecisions:
    """Decisions asked of a strategy as they are needed; bar by bar it is shown light views."""

    def __init__(self, strategy: StrategyShape, df: Any) -> None:
        """Prepares the indicators once; `df` is a frame of candles or a view of one."""
        indicators = strategy.prepare_indicators(df)
        shown: Any = df if isinstance(df, FrameView) else frame_view(df)
        views: Any = {name: series_view(values) for name, values in indicators.items()}
        find_entries = strategy.find_entries
        find_exits: Callable[..., object] = strategy.find_exits
        both = _both_entries(indicators)

        def entry(idx: int) -> StrategyDict | None:
            return None if idx in both else find_entries(shown, views, idx)

        def leaves(position: Mapping[str, object], idx: int) -> bool:
            return bool(find_exits(position, shown, views, idx))

        self._offer = getattr(strategy, "signals", None)
        self._indicators = indicators
        # For who asks at every bar and cannot afford a call more.
        self.question = (find_entries, shown, views, both)
        self.entry = entry
        self.leaves = leaves

    def signals(self, symbol: str, closes: NDArray[np.float64]) -> Signals | None:
        """Gives all answers at once, if the strategy offers them; they are compared with a sample.

        Raises:
            BacktestError: they are malformed, or not what the strategy answers bar by bar.
        """
        if self._offer is None:
            return None
        signals = read_signals(self._offer(self._indicators), len(closes))
        for idx in _sample(signals):
            offered = signals.order(idx, symbol, float(closes[idx]))
            compared = {
                "find_entries": (essence(self.entry(idx)), essence(offered)),
                "find_exits of a long": (self._exits("BUY", idx), signals.exit_long[idx]),
                "find_exits of a short": (self._exits("SELL", idx), signals.exit_short[idx]),
            }
            for question, (answer, meant) in compared.items():
                if answer != meant:
                    raise BacktestError(
                        f"the strategy's signals differ from its {question} at bar {idx}",
                        "Let `signals` offer what the methods answer, or leave it out",
                    )
        return signals

    def _exits(self, action: str, idx: int) -> bool:
        return self.leaves({"position_id": "", "action": action}, idx)


def _sample(signals: Signals) -> list[int]:
    """Bars to compare at: entries and exits from all over the run, and the bars after them."""
    bars = len(signals.enter)
    chosen = {0, bars - 1} if bars else set()
    flags = (
        (signals.enter, LONG),
        (signals.enter, SHORT),
        (signals.exit_long, TRUE),
        (signals.exit_short, TRUE),
    )
    for values, wanted in flags:
        found = _spread(values.tobytes(), wanted)
        chosen.update(found, (idx + 1 for idx in found if idx + 1 < bars))
    return sorted(chosen)


def _spread(flags: bytes, wanted: bytes) -> list[int]:
    """Finds where a flag is set: its first place in each part of the run, and the last of all."""
    step = max(1, len(flags) // SAMPLE_BARS)
    found = (flags.find(wanted, first, first + step) for first in range(0, len(flags), step))
    return [idx for idx in (*found, flags.rfind(wanted)) if idx >= 0]


def essence(order: Mapping[str, object] | None) -> StrategyDict | None:
    """Gives an order without what the loop or another of its keys decides."""
    if not order:
        return None
    beaten = {"volume"} | {absolute for step, absolute in BEATS.items() if order.get(step)}
    return {key: value for key, value in order.items() if key not in beaten and value is not None}


@dataclass(frozen=True)
class SignalDecisions:
    """Decisions of signals that nobody has to be asked for."""

    offered: Signals
    symbol: str
    closes: NDArray[np.float64]

    def signals(self, symbol: str, closes: NDArray[np.float64]) -> Signals:
        """Gives the signals themselves."""
        del symbol, closes
        return self.offered

    def entry(self, idx: int) -> StrategyDict | None:
        """Gives the order that the signals mean."""
        return self.offered.order(idx, self.symbol, float(self.closes[idx]))

    def leaves(self, position: Mapping[str, object], idx: int) -> bool:
        """Look the exit up."""
        rule = self.offered.exit_long if position["action"] == "BUY" else self.offered.exit_short
        return bool(rule[idx])


def _both_entries(indicators: Mapping[str, ArrayLike]) -> frozenset[int]:
    """Bars at which long and short are wanted at once, where the strategy offers both series."""
    if "enter_long" not in indicators or "enter_short" not in indicators:
        return frozenset()
    sides = (indicators["enter_long"], indicators["enter_short"])
    long, short = (np.asarray(side, dtype=bool) for side in sides)
    return frozenset(np.flatnonzero(long & short).tolist())


@dataclass(frozen=True)
class RecordedDecisions:
    """Decisions as data: orders by bar, and the bars at which each exit rule says yes."""

    entries: Mapping[int, StrategyDict]
    exit_long: frozenset[int]
    exit_short: frozenset[int]

    def entry(self, idx: int) -> StrategyDict | None:
        """Look the order up."""
        return self.entries.get(idx)

    def leaves(self, position: Mapping[str, object], idx: int) -> bool:
        """Look the exit up."""
        return idx in (self.exit_long if position["action"] == "BUY" else self.exit_short)


def read_record(data: object, bars: int) -> RecordedDecisions:
    """Read recorded decisions back, trusting nothing.

    Raises:
        BacktestError: the data has another shape, or names a bar that is not there.
    """
    if not isinstance(data, Mapping) or sorted(data) != sorted(RECORD_KEYS):
        raise BacktestError("the decisions are malformed", f"Keys: {', '.join(RECORD_KEYS)}")
    entries: dict[int, StrategyDict] = {}
    wanted = data["entries"]
    if not isinstance(wanted, Mapping):
        raise BacktestError("the decisions' entries are malformed", "Give orders by bar")
    for key, order in wanted.items():
        text = str(key)
        if not (text.isascii() and text.isdigit() and len(text) < 12 and isinstance(order, dict)):
            raise BacktestError(f"the decisions' entry {key!r} is malformed", "Give orders by bar")
        entries[_bar(int(text), bars)] = order
    return RecordedDecisions(
        entries, _bars(data["exit_long"], bars), _bars(data["exit_short"], bars)
    )


def _bars(listed: object, bars: int) -> frozenset[int]:
    if not isinstance(listed, Iterable) or isinstance(listed, (str, bytes, Mapping)):
        raise BacktestError("the decisions' exits are malformed", "Give lists of bars")
    return frozenset(_bar(idx, bars) for idx in listed)


def _bar(idx: object, bars: int) -> int:
    if not isinstance(idx, int) or isinstance(idx, bool) or not 0 <= idx < bars:
        raise BacktestError(f"the decisions name bar {idx!r}", f"There are bars 0 to {bars - 1}")
    return idx
