"""backtesting.py from a new process to written files: trades, equity and figures."""

import sys
from pathlib import Path

import pandas as pd
import talib
from backtesting import Backtest, Strategy  # type: ignore[import-not-found]
from worker import (  # type: ignore[import-not-found]
    CAPITAL,
    FEE,
    OVERBOUGHT,
    OVERSOLD,
    STOP,
    TARGET,
)


class Dip(Strategy):  # type: ignore[misc]
    """The work `dip`, as in peer_backtesting.py."""

    def init(self) -> None:
        """Compute the indicators."""
        self.rsi = self.I(talib.RSI, self.data.Close, 14)
        self.trend = self.I(talib.SMA, self.data.Close, 200)

    def next(self) -> None:
        """Decide at a bar."""
        close = self.data.Close[-1]
        if self.position:
            if self.rsi[-1] > OVERBOUGHT:
                self.position.close()
        elif self.rsi[-1] < OVERSOLD and close > self.trend[-1]:
            self.buy(size=0.9, sl=close * (1 - STOP), tp=close * (1 + TARGET))


def main(data: str, out: str) -> None:
    """Read, run, write."""
    frame = pd.read_csv(data, index_col="timestamp", parse_dates=True).rename(columns=str.title)
    cash = 1_000 * CAPITAL  # it buys whole units only
    found = Backtest(frame, Dip, cash=cash, commission=FEE, finalize_trades=True).run()
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    found["_trades"].to_csv(folder / "trades.csv")
    found["_equity_curve"].to_csv(folder / "equity_curve.csv")
    figures = found.drop(["_strategy", "_trades", "_equity_curve"])
    figures.to_json(folder / "summary.json", default_handler=str)


main(*sys.argv[1:])
