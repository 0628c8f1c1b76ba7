"""A strategy written by hand in the single-file shape: buy a dip below the mean, sell above it."""

from typing import Any

import pandas as pd

from adapters.base_adapter import BaseAdapter
from adapters.strategy_cli import main
from adapters.strategy_loop import replay

DEFAULT_CFG: dict[str, Any] = {
    "period": 5,
    "dip": 0.01,
    "symbol": "BTC/USDT",
    "symbols": ["BTC/USDT"],
    "timeframe": "1h",
    "capital": 10_000.0,
    "commission": 0.001,
    "slippage": 0.0005,
    "spread": 0.0,
    "execution": "next_open",
    "lot": None,
    "tick": None,
    "min_notional": None,
    "max_positions": 1,
}


class Strategy:
    """Buy dips below a short mean."""

    def __init__(self, cfg: dict[str, Any]) -> None:
        """Keep the settings."""
        self.cfg = {**DEFAULT_CFG, **cfg}

    def prepare_indicators(self, df: pd.DataFrame) -> dict[str, pd.Series]:
        """Compute the mean once."""
        mean = df["close"].rolling(self.cfg["period"]).mean()
        return {
            "enter_long": df["close"] < mean * (1 - self.cfg["dip"]),
            "exit_long": df["close"] > mean,
        }

    def find_entries(
        self, df: pd.DataFrame, indicators: dict[str, pd.Series], idx: int
    ) -> dict[str, Any] | None:
        """Buy where the close is far below the mean."""
        if not indicators["enter_long"].iloc[idx]:
            return None
        close = float(df["close"].iloc[idx])
        return {
            "action": "BUY",
            "symbol": self.cfg["symbol"],
            "volume": 0.1 * self.cfg["capital"] / close,
            "type": "MARKET",
            "sl": close * 0.97,
            "comment": "enter_long",
            "stop": {"fraction": 0.03},
            "target": {"fraction": 0.04},
            "size": {"equity": 0.1},
        }

    def find_exits(
        self,
        position: dict[str, Any],
        df: pd.DataFrame,
        indicators: dict[str, pd.Series],
        idx: int,
    ) -> dict[str, Any] | None:
        """Sell where the close is above the mean."""
        if position["action"] == "BUY" and indicators["exit_long"].iloc[idx]:
            return {"position_id": position["position_id"], "reason": "exit_long"}
        return None


def run_backtest(adapter: BaseAdapter, df: pd.DataFrame, cfg: dict[str, Any]) -> dict[str, Any]:
    """Back-test on candles."""
    return replay(Strategy, adapter, df, {**DEFAULT_CFG, **cfg})


def run_live(adapter: BaseAdapter, cfg: dict[str, Any]) -> None:
    """Live trading needs a person's approval."""
    raise NotImplementedError("Live trading requires manual approval")


if __name__ == "__main__":
    main(Strategy, run_backtest, run_live, DEFAULT_CFG)
