"""Turns candles and settings into feeds: each symbol's bars, in the order of time."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from adapters.loop.strategy_decisions import Decisions
from adapters.loop.views import CandleView
from adapters.orders import StrategyDict
from Backtest.candles import (
    COLUMNS,
    Candles,
    check_candles,
    check_columns,
    columns_of,
    tidy_candles,
)
from Backtest.sim_errors import BacktestError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Feed:
    """Holds one symbol's candles and what is decided on them."""

    symbol: str
    candles: Candles
    decisions: Decisions


# The bars that open at the same time, each with the entry that is wanted on it.
Moment = list[tuple[Feed, int, StrategyDict | None]]


def setting(cfg: Mapping[str, object], key: str, default: object = None) -> Any:
    """Look a setting up; where a parameter has its name, the setting is `contract_<key>`."""
    prefixed = f"contract_{key}"
    value = cfg[prefixed] if prefixed in cfg else cfg.get(key, default)
    return default if value is None else value


class Share(NamedTuple):
    """Holds one symbol's part of a run: its candles as a frame and as columns, its settings."""

    symbol: str
    frame: object
    cfg: StrategyDict
    candles: Candles


def by_symbol(
    df: pd.DataFrame | CandleView,
    cfg: StrategyDict,
    check: Callable[[Candles], None] = check_columns,
) -> list[Share]:
    """Splits candles by symbol, in list order, each with its own settings, and checks them.

    Raises:
        CandleError: a candle is malformed.
        BacktestError: the candles are not those of the symbols in the settings.
    """
    tidy: Any = df
    if isinstance(df, CandleView):
        candles, names_symbols = df.candles, False
        check(candles)
    else:
        tidy = tidy_candles(df)
        names_symbols = "symbol" in tidy.columns
        candles = check_candles(tidy) if names_symbols else columns_of(tidy)
        if not names_symbols:
            check(candles)
    listed = [str(name) for name in setting(cfg, "symbols", ())]
    if not names_symbols:
        symbol = str(setting(cfg, "symbol", listed[0] if listed else "ASSET"))
        if len(listed) > 1:
            raise BacktestError(
                f"the settings list {len(listed)} symbols, the candles do not say whose they are",
                "Add a column 'symbol'",
            )
        return [Share(symbol, tidy, cfg, candles)]
    names = listed or list(dict.fromkeys(tidy["symbol"].tolist()))
    parts = {str(name): part for name, part in tidy.groupby("symbol", sort=False)}
    missing = [name for name in names if name not in parts]
    if missing:
        raise BacktestError(
            f"there are no candles of {missing[0]!r}", f"There are: {', '.join(parts)}"
        )
    key = "contract_symbol" if "contract_symbol" in cfg else "symbol"
    frames = {name: parts[name].reset_index(drop=True) for name in names}
    return [
        Share(name, frame, {**cfg, key: name}, columns_of(frame)) for name, frame in frames.items()
    ]


def moments(feeds: Sequence[Feed]) -> Iterator[Moment]:
    """Asks for the entries of every bar and yields the bars that open at the same time."""

    def keyed(order: int, feed: Feed) -> Iterator[tuple[int, int, int]]:
        return ((time, order, idx) for idx, time in enumerate(feed.candles.times.tolist()))

    merged = heapq.merge(*(keyed(order, feed) for order, feed in enumerate(feeds)))
    for _, together in groupby(merged, key=lambda bar: bar[0]):
        bars = [(feeds[order], idx) for _, order, idx in together]
        yield [(feed, idx, feed.decisions.entry(idx) or None) for feed, idx in bars]


def series_of(feed: Feed, idx: int) -> pd.Series[Any]:
    """Gives a bar as the Series that BaseAdapter names."""
    import pandas as pd

    time, *numbers = feed.candles.row(idx)
    named = dict(zip(COLUMNS, numbers, strict=True))
    moment = pd.Timestamp(time, unit="ms", tz="UTC")
    return pd.Series({"timestamp": moment, **named, "symbol": feed.symbol})
