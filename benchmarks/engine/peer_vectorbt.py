"""vectorbt: Portfolio.from_signals on next-bar prices; statistics as its stats() computes them."""

from typing import Any

import numpy as np
import pandas as pd
import talib
import vectorbt as vbt  # type: ignore[import-not-found]
from worker import (  # type: ignore[import-not-found]
    CAPITAL,
    FEE,
    OVERBOUGHT,
    OVERSOLD,
    STOP,
    TARGET,
    crossed_above,
    serve,
)


def _next(signal: Any) -> Any:
    """Signals a bar later: filled at that bar's open."""
    later = np.zeros_like(signal)
    later[1:] = signal[:-1]
    return later


def _play(c: Any, enter: Any, leave: Any, **levels: Any) -> Any:
    if enter.ndim == 2:  # many sets at once: prices as a column beside them
        c = {name: column[:, None] for name, column in c.items()}
    portfolio = vbt.Portfolio.from_signals(
        c["close"],
        _next(enter),
        _next(leave),
        price=c["open"],
        open=c["open"],
        high=c["high"],
        low=c["low"],
        init_cash=CAPITAL,
        fees=FEE,
        stop_entry_price="FillPrice",  # as ours; its default counts stops from the close
        freq="5min",
        **levels,
    )
    figures = (
        portfolio.total_return(),
        portfolio.max_drawdown(),
        portfolio.sharpe_ratio(),
        portfolio.sortino_ratio(),
        portfolio.trades.win_rate(),
        portfolio.trades.profit_factor(),
    )
    assert len(figures) == 6  # noqa: S101 - the report is part of the work

    def trades() -> Any:
        rows = portfolio.trades.records
        if isinstance(rows, pd.DataFrame):
            rows = rows.to_records(index=False)
        names = ("entry_idx", "exit_idx", "entry_price", "exit_price")
        columns = [rows[name].tolist() for name in names]
        return list(zip(*columns, strict=True))

    return portfolio, trades


def dip(c: Any) -> Any:
    def run() -> Any:
        rsi, trend = talib.RSI(c["close"], 14), talib.SMA(c["close"], 200)
        enter, leave = (rsi < OVERSOLD) & (c["close"] > trend), rsi > OVERBOUGHT
        return _play(c, enter, leave, sl_stop=STOP, tp_stop=TARGET)[1]

    return run


def cross(c: Any) -> Any:
    def run() -> Any:
        fast, slow = talib.SMA(c["close"], 20), talib.SMA(c["close"], 100)
        return _play(c, crossed_above(fast, slow), crossed_above(slow, fast))[1]

    return run


def sweep(c: Any) -> Any:
    def run() -> Any:
        rsi, trend = talib.RSI(c["close"], 14), talib.SMA(c["close"], 200)
        up, leave = c["close"] > trend, rsi > OVERBOUGHT
        total = 0
        for stop in range(10):  # ten at a time: all hundred at once take gigabytes
            enter = np.stack([(rsi < 22 + level) & up for level in range(10)], axis=1)
            leaves = np.repeat(leave[:, None], 10, axis=1)
            portfolio, _ = _play(c, enter, leaves, sl_stop=0.01 + 0.003 * stop, tp_stop=TARGET)
            total += int(portfolio.trades.count().sum())
        return total

    return run


serve({"dip": dip, "cross": cross, "sweep": sweep})
