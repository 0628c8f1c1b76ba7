"""What is traded, and where its candles come from."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from bot.contract.code_paths import INNER_PATH
from bot.contract.field_types import Part
from bot.contract.fields import amount, choice, pattern, wrong
from bot.contract.symbols import SYMBOL, TIME, TIMEFRAME, file_symbol


def _unlike_files(symbols: tuple[str, ...]) -> tuple[str, ...]:
    files: dict[str, str] = {}
    for symbol in symbols:
        other = files.setdefault(file_symbol(symbol).casefold(), symbol)
        if other is not symbol:
            raise wrong(f"{symbol} and {other} are one symbol", allowed="each symbol once")
    if not symbols:
        raise wrong("the list is empty", allowed="at least one symbol, as [BTC/USDT]")
    return symbols


class Market(Part):
    """What is traded."""

    symbols: Annotated[
        tuple[Annotated[str, SYMBOL], ...], AfterValidator(_unlike_files), Field(min_length=0)
    ] = Field(
        description="The symbols, as the exchange writes them. Rules run for each; cash is shared.",
        examples=[["BTC/USDT"]],
        json_schema_extra={"minItems": 1},
    )
    timeframe: Annotated[str, TIMEFRAME] = Field(
        description="Length of one candle.", examples=["1h"]
    )
    type: Annotated[Literal["spot", "futures"], choice("spot", "futures")] = Field(
        default="spot", description="Kind of market. Short rules need futures.", examples=["spot"]
    )
    lot: Annotated[float, amount(above=0)] | None = Field(
        default=None,
        description="Smallest step of volume; sizes are rounded down to it.",
        examples=[0.001],
    )
    tick: Annotated[float, amount(above=0)] | None = Field(
        default=None, description="Smallest step of price.", examples=[0.01]
    )
    min_notional: Annotated[float, amount(above=0)] | None = Field(
        default=None, description="Smallest value of an order, volume times price.", examples=[10]
    )


class Data(Part):
    """Where the candles come from."""

    source: Annotated[
        Literal["csv", "feather", "freqtrade", "ccxt"],
        choice("csv", "feather", "freqtrade", "ccxt"),
    ] = Field(
        description="csv and feather read a file, freqtrade its data folder, ccxt an exchange.",
        examples=["csv"],
    )
    path: Annotated[str, INNER_PATH] | None = Field(
        default=None,
        description="The file, or Freqtrade's data folder, relative to the repository. Several "
        "symbols need {symbol} in it, which becomes BTC_USDT for BTC/USDT.",
        examples=["tests/fixtures/sample_btc.csv"],
    )
    exchange: Annotated[str, pattern(r"[a-z][a-z0-9]{1,31}", "an exchange's id in ccxt")] | None = (
        Field(
            default=None,
            description="Exchange by its ccxt id; for the sources freqtrade and ccxt.",
            examples=["binance"],
        )
    )
    start: Annotated[str, TIME] | None = Field(
        default=None, description="First candle that counts, in UTC.", examples=["2024-01-01"]
    )
    end: Annotated[str, TIME] | None = Field(
        default=None,
        description="Candles from here on do not count, in UTC.",
        examples=["2024-07-01"],
    )
