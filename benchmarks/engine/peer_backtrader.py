"""backtrader: next() on every bar, orders at the next open.

Stop and target are sent when the entry has filled, so that they count from its price; a bracket
would count them from the close before it. Either way they hold from the bar after the entry on.
"""

from typing import Any

import backtrader as bt  # type: ignore[import-not-found]
import pandas as pd
from worker import (  # type: ignore[import-not-found]
    CAPITAL,
    FEE,
    OVERBOUGHT,
    OVERSOLD,
    STOP,
    TARGET,
    serve,
)


class Dip(bt.Strategy):  # type: ignore[misc]
    def __init__(self) -> None:
        self.rsi = bt.talib.RSI(self.data.close, timeperiod=14)
        self.trend = bt.talib.SMA(self.data.close, timeperiod=200)
        self.closed: list[Any] = []
        self.entry: Any = None

    def next(self) -> None:
        price = self.data.close[0]
        if not self.position:
            if self.rsi[0] < OVERSOLD and price > self.trend[0]:
                self.buy(size=0.9 * self.broker.getvalue() / price)
        elif self.rsi[0] > OVERBOUGHT:
            for order in self.broker.get_orders_open():
                self.cancel(order)
            self.close()

    def protect(self, size: float, price: float) -> None:
        stop = self.sell(size=size, exectype=bt.Order.Stop, price=price * (1 - STOP))
        self.sell(size=size, exectype=bt.Order.Limit, price=price * (1 + TARGET), oco=stop)

    def notify_order(self, order: Any) -> None:
        if order.status == order.Completed:
            fill = (len(self) - 1, order.executed.price)
            if order.isbuy():
                self.entry = fill
                self.protect(order.executed.size, fill[1])
            elif self.entry is not None:
                self.closed.append((self.entry[0], fill[0], self.entry[1], fill[1]))
                self.entry = None


class Cross(Dip):
    def __init__(self) -> None:
        self.fast = bt.talib.SMA(self.data.close, timeperiod=20)
        self.slow = bt.talib.SMA(self.data.close, timeperiod=100)
        self.closed = []
        self.entry = None

    def protect(self, size: float, price: float) -> None:
        """The crossing has no levels."""

    def next(self) -> None:
        if not self.position:
            if self.fast[0] > self.slow[0] and self.fast[-1] <= self.slow[-1]:
                self.buy(size=0.9 * self.broker.getvalue() / self.data.close[0])
        elif self.fast[0] < self.slow[0] and self.fast[-1] >= self.slow[-1]:
            self.close()


def _maker(strategy: Any) -> Any:
    def make(c: Any) -> Any:
        frame = pd.DataFrame(
            {name: c[name] for name in ("open", "high", "low", "close", "volume")},
            index=pd.DatetimeIndex(c["time"]),
        )

        def run() -> Any:
            engine = bt.Cerebro()
            engine.adddata(bt.feeds.PandasData(dataname=frame))
            engine.addstrategy(strategy)
            engine.broker.setcash(CAPITAL)
            engine.broker.setcommission(FEE)
            engine.addanalyzer(bt.analyzers.DrawDown)
            engine.addanalyzer(bt.analyzers.TradeAnalyzer)
            (played,) = engine.run()
            return played.closed

        return run

    return make


serve({"dip": _maker(Dip), "cross": _maker(Cross)})
