"""A contract's `data` to checked candles and the digest of the files they came from."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from Backtest.candles import read_candles
from Backtest.errors import BacktestError
from bot.contract.model import Contract
from bot.errors import InputError
from bot.places import inside


@dataclass(frozen=True)
class MarketData:
    """Candles of every symbol of a contract.

    Attributes:
        frames: one tidy frame a symbol, in the contract's order.
        digest: `sha256:` over the names and bytes of the files.
        contents: the files' bytes, by their path in the repository or, outside it, by name.
    """

    frames: Mapping[str, pd.DataFrame]
    digest: str
    contents: Mapping[str, bytes]

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files, in the order of the symbols."""
        return tuple(self.contents)

    @property
    def frame(self) -> pd.DataFrame:
        """All candles: the one symbol's, or the long form with a `symbol` column."""
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
    frames: dict[str, pd.DataFrame] = {}
    contents: dict[str, bytes] = {}
    for symbol in contract.market.symbols:
        label, path = _file_of(contract, symbol, root, given)
        try:
            frames[symbol] = read_candles(path)
            data = path.read_bytes()
        except BacktestError as error:
            raise InputError(error.message, error.hint) from None
        except OSError as error:
            raise InputError(f"{label} cannot be read: {error.strerror}") from None
        digest.update(f"{symbol}\0{len(data)}\0".encode() + data)
        contents[label] = data
    return MarketData(frames, f"sha256:{digest.hexdigest()}", contents)


def data_paths(contract: Contract) -> tuple[str, ...]:
    """The files that a contract names, by their paths in the repository."""
    return tuple(_path_of(contract, symbol) for symbol in contract.market.symbols)


def _file_of(contract: Contract, symbol: str, root: Path, given: Path | None) -> tuple[str, Path]:
    if given is None:
        label = _path_of(contract, symbol)
        return label, inside(root, label)
    stem = _stem(symbol)
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
    label = pattern.replace("{symbol}", _stem(symbol))
    if source == "freqtrade" and not label.endswith((".feather", ".csv", ".parquet")):
        return f"{label.rstrip('/')}/{_stem(symbol)}-{contract.market.timeframe}.feather"
    return label


def _stem(symbol: str) -> str:
    """A symbol as file names have it: BTC_USDT."""
    return symbol.replace("/", "_").replace(":", "_")
