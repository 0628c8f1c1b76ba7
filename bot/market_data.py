"""A contract's `data` to checked candles and the digest of the files they came from."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.views import CandleView
from Backtest.candles import Candles, read_columns
from Backtest.errors import BacktestError
from Backtest.times import iso, to_ms
from bot.contract.model import Contract
from bot.contract.symbols import file_symbol, moment
from bot.errors import InputError
from bot.places import inside

if TYPE_CHECKING:  # half a second, which a backtest of arrays does not need
    import pandas as pd


@dataclass(frozen=True)
class MarketData:
    """Candles of every symbol of a contract.

    Attributes:
        candles: checked candles a symbol, in the contract's order.
        digest: `sha256:` over the names and bytes of the files.
        contents: the files' bytes, by their path in the repository or, outside it, by name.
    """

    candles: Mapping[str, Candles]
    digest: str
    contents: Mapping[str, bytes]

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files, in the order of the symbols."""
        return tuple(self.contents)

    @cached_property
    def frames(self) -> "Mapping[str, pd.DataFrame]":
        """One tidy frame a symbol."""
        return {symbol: CandleView(found).to_pandas() for symbol, found in self.candles.items()}

    @property
    def frame(self) -> "pd.DataFrame":
        """All candles: the one symbol's, or the long form with a `symbol` column."""
        import pandas as pd

        if len(self.frames) == 1:
            return next(iter(self.frames.values()))
        parts = [frame.assign(symbol=symbol) for symbol, frame in self.frames.items()]
        return pd.concat(parts, ignore_index=True)


def read_market_data(contract: Contract, root: Path, given: Path | None = None) -> MarketData:
    """Read the candles that a contract names, or those of another file or pattern.

    Args:
        contract: whose data.
        root: the repository; paths in the contract are relative to it.
        given: read this instead; `{symbol}` in it stands for each symbol.

    Raises:
        InputError: a file is missing or a candle is malformed.
    """
    digest = hashlib.sha256()
    candles: dict[str, Candles] = {}
    contents: dict[str, bytes] = {}
    for symbol in contract.market.symbols:
        label, path = _file_of(contract, symbol, root, given)
        try:
            candles[symbol] = _span(read_columns(path), contract, label)
            data = path.read_bytes()
        except BacktestError as error:
            # A contract's file by the contract's name for it, not by where it lies here.
            shown = str(path) if given is not None else label
            raise InputError(error.message.replace(str(path), shown), error.hint) from None
        except OSError as error:
            raise InputError(f"{label} cannot be read: {error.strerror}") from None
        digest.update(f"{symbol}\0{len(data)}\0".encode() + data)
        contents[label] = data
    return MarketData(candles, f"sha256:{digest.hexdigest()}", contents)


def data_paths(contract: Contract) -> tuple[str, ...]:
    """The files that a contract names, by their paths in the repository."""
    return tuple(_path_of(contract, symbol) for symbol in contract.market.symbols)


def _span(candles: Candles, contract: Contract, label: str) -> Candles:
    """The candles from the contract's `start` up to its `end`."""
    first, last = (
        None if text is None else to_ms(moment(text))
        for text in (contract.data.start, contract.data.end)
    )
    found = candles.between(first, last)
    if len(found) == 0:
        hint = f"They are from {iso(int(candles.times[0]))} to {iso(int(candles.times[-1]))}."
        raise InputError(f"{label} has no candle between data.start and data.end", hint)
    return found


def _file_of(contract: Contract, symbol: str, root: Path, given: Path | None) -> tuple[str, Path]:
    if given is None:
        label = _path_of(contract, symbol)
        return label, inside(root, label)
    stem = file_symbol(symbol)
    if len(contract.market.symbols) == 1:
        path = Path(str(given).replace("{symbol}", stem))
        return path.name, path
    if "{symbol}" not in str(given):
        hint = f"Write {{symbol}} in the path; it becomes {stem} and so on."
        raise InputError("the contract has several symbols and --data names one file", hint)
    path = Path(str(given).replace("{symbol}", stem))
    return path.name if stem in path.name else f"{stem}/{path.name}", path


def _path_of(contract: Contract, symbol: str) -> str:
    source, pattern = contract.data.source, contract.data.path
    if source == "ccxt" or pattern is None:
        hint = "Give --data FILE, or a contract with source: csv, feather or freqtrade and a path."
        raise InputError(f"data.source: {source} is not downloaded by this version", hint)
    label = pattern.replace("{symbol}", file_symbol(symbol))
    if source == "freqtrade" and not label.endswith((".feather", ".csv", ".parquet")):
        return f"{label.rstrip('/')}/{file_symbol(symbol)}-{contract.market.timeframe}.feather"
    return label
