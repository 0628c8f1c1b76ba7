"""What is traded, and where its candles come from."""

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from bot.contract.code_paths import INNER_PATH
from bot.contract.field_types import Part, optional, says
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


Step = Annotated[float, amount(above=0)]


class Market(Part):
    """What is traded."""

    symbols: Annotated[
        tuple[Annotated[str, SYMBOL], ...], AfterValidator(_unlike_files), Field(min_length=0)
    ] = says(
        "The symbols, as the exchange writes them. Rules run for each; cash is shared.",
        ["BTC/USDT"],
        json_schema_extra={"minItems": 1},
    )
    timeframe: Annotated[str, TIMEFRAME] = says("Length of one candle.", "1h")
    type: Annotated[Literal["spot", "futures"], choice("spot", "futures")] = says(
        "Kind of market. Short rules need futures.", "spot", default="spot"
    )
    lot: Step | None = optional("Smallest step of volume; sizes are rounded down to it.", 0.001)
    tick: Step | None = optional("Smallest step of price.", 0.01)
    min_notional: Step | None = optional("Smallest value of an order, volume times price.", 10)


class Data(Part):
    """Where the candles come from."""

    later: ClassVar[frozenset[str]] = frozenset({"holdout"})

    source: Annotated[
        Literal["csv", "feather", "freqtrade", "ccxt"],
        choice("csv", "feather", "freqtrade", "ccxt"),
    ] = says("csv and feather read a file, freqtrade its data folder, ccxt an exchange.", "csv")
    path: Annotated[str, INNER_PATH] | None = optional(
        "The file, or Freqtrade's data folder, relative to the repository. Several "
        "symbols need {symbol} in it, which becomes BTC_USDT for BTC/USDT.",
        "tests/fixtures/sample_btc.csv",
    )
    exchange: Annotated[str, pattern(r"[a-z][a-z0-9]{1,31}", "an exchange's id in ccxt")] | None = (
        optional("Exchange by its ccxt id; for the sources freqtrade and ccxt.", "binance")
    )
    start: Annotated[str, TIME] | None = optional("First candle that counts, in UTC.", "2024-01-01")
    end: Annotated[str, TIME] | None = optional(
        "Candles from here on do not count, in UTC.", "2024-07-01"
    )
    holdout: Annotated[str, TIME] | None = optional(
        "Candles from here on are sealed, in UTC: every command stops before them. `backtest "
        "--open-holdout` opens them, which the ledger counts for ever.",
        "2024-06-01",
    )
