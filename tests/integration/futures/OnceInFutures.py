"""Enters futures once, long or short, with a stop at the exchange; for the launcher's tests."""

import os
from typing import Any, ClassVar

from freqtrade.persistence import Trade  # type: ignore[import-not-found, unused-ignore]
from freqtrade.strategy import IStrategy  # type: ignore[import-not-found, unused-ignore]
from pandas import DataFrame

SIDE = "STRATWRIGHT_TEST_SIDE"


class OnceInFutures(IStrategy):  # type: ignore[misc, unused-ignore]
    """One trade with leverage 3; it ends at its stop, or 0.2 % above its entry."""

    INTERFACE_VERSION = 3
    timeframe = "5m"
    startup_candle_count = 20
    can_short = True
    process_only_new_candles = False
    minimal_roi: ClassVar = {"0": 100.0}
    stoploss = -0.03  # of the stake: 1 % of the price
    order_types: ClassVar = {
        **dict.fromkeys(("entry", "exit", "emergency_exit", "force_exit", "stoploss"), "market"),
        "stoploss_on_exchange": True,
        "stoploss_on_exchange_interval": 5,
    }

    def populate_indicators(self, df: DataFrame, metadata: dict[str, Any]) -> DataFrame:
        return df

    def populate_entry_trend(self, df: DataFrame, metadata: dict[str, Any]) -> DataFrame:
        df.loc[df.index[-1], f"enter_{os.environ.get(SIDE, 'long')}"] = 1
        return df

    def populate_exit_trend(self, df: DataFrame, metadata: dict[str, Any]) -> DataFrame:
        return df

    def leverage(self, *args: Any, **kwargs: Any) -> float:
        return 3.0

    def custom_stake_amount(self, *args: Any, **kwargs: Any) -> float:
        return 200.0

    def confirm_trade_entry(self, *args: Any, **kwargs: Any) -> bool:
        return not Trade.get_trades_proxy()

    def custom_exit(self, *args: Any, current_profit: float, **kwargs: Any) -> str | None:
        return "target" if current_profit > 0.006 else None
