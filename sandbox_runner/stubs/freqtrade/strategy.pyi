"""What a generated strategy uses of Freqtrade's IStrategy; Freqtrade ships no types."""

from datetime import datetime
from typing import Any

import pandas as pd

from .persistence import Order, Trade

class _DataProvider:
    def get_analyzed_dataframe(
        self, pair: str, timeframe: str
    ) -> tuple[pd.DataFrame, datetime]: ...

class _Wallets:
    def get_total_stake_amount(self) -> float: ...

class IntParameter:
    value: int
    def __init__(
        self,
        low: int,
        high: int,
        *,
        default: int,
        space: str,
        optimize: bool = True,
        load: bool = True,
    ) -> None: ...

class DecimalParameter:
    value: float
    def __init__(
        self,
        low: float,
        high: float,
        *,
        default: float,
        decimals: int = 3,
        space: str,
        optimize: bool = True,
        load: bool = True,
    ) -> None: ...

class IStrategy:
    INTERFACE_VERSION: int
    timeframe: str
    can_short: bool
    startup_candle_count: int
    minimal_roi: dict[str, float]
    stoploss: float
    trailing_stop: bool
    trailing_stop_positive: float | None
    trailing_stop_positive_offset: float
    trailing_only_offset_is_reached: bool
    use_custom_stoploss: bool
    use_custom_roi: bool
    use_exit_signal: bool
    exit_profit_only: bool
    ignore_roi_if_entry_signal: bool
    max_open_trades: int
    dp: _DataProvider
    wallets: _Wallets
    config: dict[str, Any]

    def __init__(self, config: dict[str, Any]) -> None: ...
    def populate_indicators(
        self, dataframe: pd.DataFrame, metadata: dict[str, Any]
    ) -> pd.DataFrame: ...
    def populate_entry_trend(
        self, dataframe: pd.DataFrame, metadata: dict[str, Any]
    ) -> pd.DataFrame: ...
    def populate_exit_trend(
        self, dataframe: pd.DataFrame, metadata: dict[str, Any]
    ) -> pd.DataFrame: ...
    def custom_stake_amount(
        self,
        pair: str,
        current_time: datetime,
        current_rate: float,
        proposed_stake: float,
        min_stake: float | None,
        max_stake: float,
        leverage: float,
        entry_tag: str | None,
        side: str,
        **kwargs: Any,
    ) -> float: ...
    def custom_stoploss(
        self,
        pair: str,
        trade: Trade,
        current_time: datetime,
        current_rate: float,
        current_profit: float,
        after_fill: bool,
        **kwargs: Any,
    ) -> float | None: ...
    def custom_roi(
        self,
        pair: str,
        trade: Trade,
        current_time: datetime,
        trade_duration: int,
        entry_tag: str | None,
        side: str,
        **kwargs: Any,
    ) -> float | None: ...
    def order_filled(
        self, pair: str, trade: Trade, order: Order, current_time: datetime, **kwargs: Any
    ) -> None: ...

def stoploss_from_absolute(
    stop_rate: float, current_rate: float, is_short: bool = False, leverage: float = 1.0
) -> float: ...
def timeframe_to_prev_date(timeframe: str, date: datetime | None = None) -> datetime: ...
