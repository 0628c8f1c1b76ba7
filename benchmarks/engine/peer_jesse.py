"""jesse: its research backtest on one-minute candles, TA-Lib ahead of the run.

Its simulator knows candles of one minute only, so the five-minute bars are told to be that. A
market order fills at the close of the candle that it was decided on; jesse has no other way.
"""

import os
import tempfile
from typing import Any

os.chdir(tempfile.mkdtemp())  # it writes folders where it stands

import numpy as np  # noqa: E402
import talib  # noqa: E402
from jesse.research import backtest  # type: ignore[import-not-found]  # noqa: E402
from jesse.strategies import Strategy  # type: ignore[import-not-found]  # noqa: E402
from worker import (  # type: ignore[import-not-found]  # noqa: E402
    FEE,
    OVERBOUGHT,
    OVERSOLD,
    STOP,
    TARGET,
    crossed_above,
    serve,
)

CONFIG = {
    "starting_balance": 1_000_000,
    "fee": FEE,
    "type": "futures",
    "futures_leverage": 1,
    "futures_leverage_mode": "cross",
    "exchange": "Binance",
    "warm_up_candles": 0,
}
ROUTE = {"exchange": "Binance", "symbol": "BTC-USDT", "timeframe": "1m"}
FIRST_MS, MINUTE_MS = 1_420_070_400_000, 60_000


class Rules(Strategy):  # type: ignore[misc]
    enter: Any
    leave: Any
    levels: bool

    def should_long(self) -> bool:
        return bool(self.enter[self.index])

    def should_short(self) -> bool:
        return False

    def should_cancel_entry(self) -> bool:
        return True

    def go_long(self) -> None:
        self.buy = 0.2, self.price

    def on_open_position(self, order: Any) -> None:
        if self.levels:
            price = self.position.entry_price
            self.stop_loss = self.position.qty, price * (1 - STOP)
            self.take_profit = self.position.qty, price * (1 + TARGET)

    def update_position(self) -> None:
        if self.leave[self.index]:
            self.liquidate()


def _rows(c: Any) -> Any:
    bars = len(c["close"])
    names = ("open", "close", "high", "low", "volume")
    moments = FIRST_MS + MINUTE_MS * np.arange(bars)
    return np.column_stack([moments.astype(float), *(c[name] for name in names)])


def _maker(signals: Any, levels: bool) -> Any:
    def make(c: Any) -> Any:
        source = {"exchange": "Binance", "symbol": "BTC-USDT", "candles": _rows(c)}

        def run() -> Any:
            enter, leave = signals(c["close"])
            kind = type("Played", (Rules,), {"enter": enter, "leave": leave, "levels": levels})
            routes = [{**ROUTE, "strategy": kind}]
            found = backtest(CONFIG, routes, [], {"Binance-BTC-USDT": source})
            return lambda: [_trade(trade) for trade in found["trades"]]

        return run

    return make


def _trade(trade: Any) -> Any:
    """Bars of a trade; it stamps what happens in a candle with the candle's end."""
    opened, closed = (
        int(trade[name] - FIRST_MS) // MINUTE_MS - 1 for name in ("opened_at", "closed_at")
    )
    return opened, closed, trade["entry_price"], trade["exit_price"]


def dip(close: Any) -> Any:
    rsi, trend = talib.RSI(close, 14), talib.SMA(close, 200)
    return ((rsi < OVERSOLD) & (close > trend)).tolist(), (rsi > OVERBOUGHT).tolist()


def cross(close: Any) -> Any:
    fast, slow = talib.SMA(close, 20), talib.SMA(close, 100)
    return crossed_above(fast, slow).tolist(), crossed_above(slow, fast).tolist()


serve({"dip": _maker(dip, levels=True), "cross": _maker(cross, levels=False)})
