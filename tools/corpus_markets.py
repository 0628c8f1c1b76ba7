"""The markets that the corpus is held to: three synthetic ones and the S&P 500."""

from pathlib import Path

import pandas as pd

from adapters.testing import market
from Backtest.candles import columns_of
from Backtest.times import timeframe_ms
from bot.contract.model import Contract
from bot.data.market_data import MarketData

BARS = 5000
SEEDS = (11, 12, 13)
# Where the same real prices start for a second and a third symbol.
_LATER = 600
_SP500 = Path(__file__).resolve().parents[1] / "tests" / "fixtures" / "sp500_daily.csv"


def markets(contract: Contract, bars: int = BARS) -> dict[str, dict[str, pd.DataFrame]]:
    """Candles by symbol, by the name of the market."""
    minutes = timeframe_ms(contract.market.timeframe) // 60_000
    symbols = contract.market.symbols
    places = {
        f"synthetic {seed}": {
            symbol: market(bars, seed + 100 * number, minutes)
            for number, symbol in enumerate(symbols)
        }
        for seed in SEEDS
    }
    real = {symbol: _real(number, minutes, bars) for number, symbol in enumerate(symbols)}
    return {**places, "S&P 500": real}


def _real(number: int, minutes: int, bars: int) -> pd.DataFrame:
    """Real daily prices; at their own days, or one candle after another where those are shorter."""
    prices = pd.read_csv(_SP500).iloc[number * _LATER :].reset_index(drop=True)
    prices = prices.head(max(bars, 100) if bars < BARS else len(prices))
    if minutes == 1440:
        return prices.assign(timestamp=pd.to_datetime(prices["timestamp"], utc=True))
    opens = pd.date_range("2000-01-01", periods=len(prices), freq=f"{minutes}min", tz="UTC")
    return prices.assign(timestamp=opens)


def market_data(contract: Contract, bars: int) -> MarketData:
    """The first synthetic market as the gates read one."""
    frames = next(iter(markets(contract, bars).values()))
    return MarketData(
        {symbol: columns_of(frame) for symbol, frame in frames.items()}, "sha256:0", {}
    )
