"""backtesting.py: next() on every bar, orders at the next open."""

import warnings
from typing import Any

import pandas as pd
import talib
from backtesting import Backtest, Strategy  # type: ignore[import-not-found]
from worker import FEE, OVERBOUGHT, OVERSOLD, STOP, TARGET, serve  # type: ignore[import-not-found]

warnings.simplefilter("ignore")


class Dip(Strategy):  # type: ignore[misc]
    def init(self) -> None:
        self.rsi = self.I(talib.RSI, self.data.Close, 14)
        self.trend = self.I(talib.SMA, self.data.Close, 200)

    def next(self) -> None:
        if self.position:
            if self.rsi[-1] > OVERBOUGHT:
                self.position.close()
        elif self.rsi[-1] < OVERSOLD and self.data.Close[-1] > self.trend[-1]:
            price = self.data.Close[-1]
            self.buy(size=0.9, sl=price * (1 - STOP), tp=price * (1 + TARGET))


class Cross(Strategy):  # type: ignore[misc]
    def init(self) -> None:
        self.fast = self.I(talib.SMA, self.data.Close, 20)
        self.slow = self.I(talib.SMA, self.data.Close, 100)

    def next(self) -> None:
        if self.position:
            if self.fast[-1] < self.slow[-1] and self.fast[-2] >= self.slow[-2]:
                self.position.close()
        elif self.fast[-1] > self.slow[-1] and self.fast[-2] <= self.slow[-2]:
            self.buy(size=0.9)


def _maker(strategy: Any) -> Any:
    def make(c: Any) -> Any:
        frame = pd.DataFrame(
            {name.capitalize(): c[name] for name in ("open", "high", "low", "close", "volume")},
            index=pd.DatetimeIndex(c["time"]),
        )

        def run() -> Any:
            stats = Backtest(frame, strategy, cash=1e9, commission=FEE).run()
            rows = stats._trades
            names = ("EntryBar", "ExitBar", "EntryPrice", "ExitPrice")
            return lambda: list(zip(*(rows[name].tolist() for name in names), strict=True))

        return run

    return make


serve({"dip": _maker(Dip), "cross": _maker(Cross)})
