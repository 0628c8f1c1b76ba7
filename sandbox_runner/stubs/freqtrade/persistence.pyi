"""What a generated strategy reads of Freqtrade's trades and orders."""

from datetime import datetime
from typing import Any

class Order:
    ft_order_side: str

class Trade:
    pair: str
    is_short: bool
    leverage: float
    open_rate: float
    fee_open: float
    fee_close: float
    @property
    def open_date_utc(self) -> datetime: ...
    @property
    def entry_side(self) -> str: ...
    def get_custom_data(self, key: str, default: Any = None) -> Any: ...
    def set_custom_data(self, key: str, value: Any) -> None: ...
