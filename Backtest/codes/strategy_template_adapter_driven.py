# Written by stratwright 0.1.0 from a contract; change the contract, not this file.
# Contract: brain/code/template-contract.yaml
# Digest: sha256:4acbdd5e7f331eefa90e8004187daf4d09e83ddcb94fd078473b22bc80ba6f84
"""StrategyTemplate: an adapter-driven strategy in one file, the same for backtest and live."""

from typing import Any

import pandas as pd
import talib

from adapters import series
from adapters.base_adapter import BaseAdapter
from adapters.sizing import volume_of
from adapters.strategy_cli import main
from adapters.strategy_loop import replay

DESCRIPTION = "The shape that every generated strategy has; copy it to write one by hand."

DEFAULT_CFG: dict[str, Any] = {
    "oversold": 30,
    "symbol": "BTC/USDT",
    "symbols": ["BTC/USDT"],
    "timeframe": "1h",
    "lot": None,
    "tick": None,
    "min_notional": None,
    "capital": 10000.0,
    "commission": 0.001,
    "slippage": 0.0005,
    "spread": 0.0,
    "execution": "next_open",
    "seed": 7,
    "max_positions": 1,
    "exit_profit_only": False,
    "ignore_roi_if_entry_signal": False,
    "stop_loss": 0.02,
    "take_profit": 0.04,
    "size_equity": 0.1,
}


class Strategy:
    """The rules of StrategyTemplate; it remembers nothing between bars."""

    def __init__(self, cfg: dict[str, Any]) -> None:
        """Take the contract's values, with those in cfg instead where it has them."""
        unknown = sorted(set(cfg) - set(DEFAULT_CFG))
        if unknown:
            raise ValueError(f"unknown configuration: {', '.join(unknown)}")
        self.cfg: dict[str, Any] = {**DEFAULT_CFG, **cfg}

    def prepare_indicators(self, df: pd.DataFrame) -> dict[str, pd.Series]:
        """Compute every indicator and every rule once, for all candles."""
        oversold = self.cfg["oversold"]
        close = series.column(df, "close")

        rsi = talib.RSI(close, timeperiod=14)

        # Enter long when rsi is below oversold.
        enter_long = rsi < oversold

        # Exit long when rsi is above 70.
        exit_long = rsi > 70
        return series.by_name(
            df,
            {
                "rsi": rsi,
                "enter_long": enter_long,
                "exit_long": exit_long,
            },
        )

    def find_entries(
        self, df: pd.DataFrame, indicators: dict[str, pd.Series], idx: int
    ) -> dict[str, Any] | None:
        """The order of this bar, if the entry rule holds."""
        if not indicators["enter_long"].iloc[idx]:
            return None
        return self._order(df, indicators, idx)

    def find_exits(
        self,
        position: dict[str, Any],
        df: pd.DataFrame,
        indicators: dict[str, pd.Series],
        idx: int,
    ) -> dict[str, Any] | None:
        """Whether the exit rule of the position's side holds at this bar."""
        rule = "exit_long"
        if position["action"] != "BUY" or not indicators[rule].iloc[idx]:
            return None
        return {"position_id": position["position_id"], "reason": rule}

    def signals(self, indicators: dict[str, pd.Series]) -> dict[str, Any]:
        """What find_entries and find_exits answer, for all candles at once."""
        return {
            "enter_long": indicators["enter_long"],
            "exit_long": indicators["exit_long"],
            "stop": {"fraction": self.cfg["stop_loss"]},
            "target": {"fraction": self.cfg["take_profit"]},
            "size": {"equity": self.cfg["size_equity"]},
        }

    def _order(
        self, df: pd.DataFrame, indicators: dict[str, pd.Series], idx: int
    ) -> dict[str, Any] | None:
        """The order of an entry, with its levels measured from this bar's close."""
        close = series.at(df, "close", idx)
        stop = close * self.cfg["stop_loss"]
        target = close * self.cfg["take_profit"]
        order: dict[str, Any] = {
            "action": "BUY",
            "symbol": self.cfg["symbol"],
            "type": "MARKET",
            "sl": close - stop,
            "tp": close + target,
            "comment": "enter_long",
            "stop": {"fraction": self.cfg["stop_loss"]},
            "target": {"fraction": self.cfg["take_profit"]},
            "size": {"equity": self.cfg["size_equity"]},
        }
        order["volume"] = volume_of(order, self.cfg["capital"], close, self.cfg["lot"])
        return order


def run_backtest(adapter: BaseAdapter, df: pd.DataFrame, cfg: dict[str, Any]) -> dict[str, Any]:
    """Replay the candles through the adapter, bar by bar, and report."""
    return replay(Strategy, adapter, df, {**DEFAULT_CFG, **cfg})


def run_live(adapter: BaseAdapter, cfg: dict[str, Any]) -> None:
    """Trade live: only the live host does that, with a signed approval of this very file."""
    raise PermissionError("live trading needs a signed approval and runs on the live host only")


if __name__ == "__main__":
    main(Strategy, run_backtest, run_live, DEFAULT_CFG)
