"""Offers fixtures for tests of strategies, in every pytest run where stratwright is installed.

They are made anew for each test, so that no test can spoil another's. Nothing heavy is imported
before a test asks for one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import pandas as pd

    from adapters.mock_exchange import MockExchange

CANDLES = 200
SEED = 7
PAIR = "BTC/USDT"


@pytest.fixture
def sample_dataframe() -> pd.DataFrame:
    """200 hourly candles that rise, fall, jump and stall, the same on every machine.

    Both names of the time are there: `timestamp` for adapter-driven strategies, `date` for
    Freqtrade's.
    """
    from adapters.testing import market

    frame = market(CANDLES, SEED)
    frame.insert(1, "date", frame["timestamp"])
    return frame


@pytest.fixture
def sample_dataframe_with_indicators(sample_dataframe: pd.DataFrame) -> pd.DataFrame:
    """Gives the same candles with common indicators, for rules of entry and exit."""
    import talib

    frame = sample_dataframe
    high, low, close = (frame[name].to_numpy() for name in ("high", "low", "close"))
    frame["rsi"] = talib.RSI(close, 14)
    for period in (20, 50):
        frame[f"sma_{period}"] = talib.SMA(close, period)
        frame[f"ema_{period}"] = talib.EMA(close, period)
    frame["macd"], frame["macdsignal"], frame["macdhist"] = talib.MACD(close, 12, 26, 9)
    upper, middle, lower = talib.BBANDS(close, 20, 2.0, 2.0)
    frame["bb_upperband"], frame["bb_middleband"], frame["bb_lowerband"] = upper, middle, lower
    frame["atr"] = talib.ATR(high, low, close, 14)
    frame["adx"] = talib.ADX(high, low, close, 14)
    # Of the candles before this one, as a breakout asks for it.
    frame["donchian_upper"] = frame["high"].rolling(20).max().shift(1)
    frame["donchian_lower"] = frame["low"].rolling(20).min().shift(1)
    return frame


@pytest.fixture
def mock_exchange() -> MockExchange:
    """Gives an exchange with CCXT's methods and answers, that nobody has to be connected to."""
    from adapters.mock_exchange import MockExchange
    from adapters.testing import market

    return MockExchange({PAIR: market(CANDLES, SEED)})


@pytest.fixture
def minimal_config() -> dict[str, object]:
    """Gives the least that Freqtrade takes as a configuration for a dry run or a back-test."""
    return {
        "dry_run": True,
        "dry_run_wallet": 10_000,
        "stake_currency": "USDT",
        "stake_amount": "unlimited",
        "max_open_trades": 1,
        "trading_mode": "spot",
        "margin_mode": "",
        "timeframe": "1h",
        "exchange": {
            "name": "binance",
            "key": "",
            "secret": "",
            "pair_whitelist": [PAIR],
            "pair_blacklist": [],
        },
        "entry_pricing": {"price_side": "same", "use_order_book": False},
        "exit_pricing": {"price_side": "same", "use_order_book": False},
        "pairlists": [{"method": "StaticPairList"}],
        "dataformat_ohlcv": "feather",
    }
