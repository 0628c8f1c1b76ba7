"""Turns a contract's `data` into checked candles and the digest of the files they came from."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.loop.views import CandleView
from Backtest.candles import Candles, check_spacing, parse_columns, read_bytes
from Backtest.sim_errors import BacktestError, CandleError
from Backtest.times import LAST_MS, iso, to_ms
from bot.contract.market import Data
from bot.contract.model import Contract
from bot.contract.symbols import file_symbol, moment
from bot.errors import InputError
from bot.files import inside

if TYPE_CHECKING:  # half a second, which a backtest of arrays does not need
    import pandas as pd

FREQTRADE_KINDS = (".feather", ".parquet", ".json.gz", ".json")
Files = Callable[[str], bytes | None]
"""Gives the bytes of a file of a repository by its path; None if it is not there."""


@dataclass(frozen=True)
class MarketData:
    """Candles of every symbol of a contract."""

    candles: Mapping[str, Candles]  # checked candles a symbol, in the contract's order
    digest: str  # `sha256:` over the names and bytes of the files
    # The files' bytes, by their path in the repository or, outside it, by name.
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


def _silent(_: str) -> None:
    """Say nothing."""


def read_market_data(
    contract: Contract,
    root: Path | Files,
    given: Path | None = None,
    say: Callable[[str], None] = _silent,
    warn: Callable[[str], None] | None = None,
    *,
    opened: bool = False,
) -> MarketData:
    """Read the candles that a contract names, or those of another file, pattern or exchange.

    Every file is read once: what is parsed and what the digest names are the same bytes.

    Args:
        contract: whose data.
        root: the repository, or what gives its files; paths in the contract are relative to it.
        given: read this instead; `{symbol}` in it stands for each symbol, and
            `ccxt:EXCHANGE:START[:END]` for a download.
        say: hears how a download goes, and of gaps in it.
        warn: hears of candles of another timeframe; without it they are refused.
        opened: give the sealed candles of `data.holdout` alone; otherwise they are left out,
            wherever the candles come from.

    Raises:
        InputError: a file is missing, a candle is malformed, an exchange has no such market.
        WorldError: an exchange cannot be reached.
    """
    contract, given = _redirected(contract, given)
    files = checkout_files(root) if isinstance(root, Path) else root
    digest = hashlib.sha256()
    candles: dict[str, Candles] = {}
    contents: dict[str, bytes] = {}
    for symbol in contract.market.symbols:
        try:
            label, path, data = _bytes_of(contract, symbol, files, given, say)
        except BacktestError as error:
            raise InputError(error.message, error.hint) from None
        try:
            found = parse_columns(data, path)
            _hold_to_timeframe(found, contract.market.timeframe, label, warn)
        except BacktestError as error:
            # A contract's file by the contract's name for it, not by where it lies here.
            shown = str(path) if given is not None else label
            raise InputError(error.message.replace(str(path), shown), error.hint) from None
        candles[symbol] = _sealed(_span(found, contract, label), contract, label, opened)
        if contract.data.source == "ccxt" and given is None:
            _tell_gaps(symbol, candles[symbol], contract.market.timeframe, say)
        digest.update(f"{symbol}\0{len(data)}\0".encode() + data)
        contents[label] = data
    return MarketData(candles, f"sha256:{digest.hexdigest()}", contents)


def checkout_files(root: Path) -> Files:
    """The files of a checkout, reached without a symbolic link."""

    def read(label: str) -> bytes | None:
        path = inside(root, label)
        return read_bytes(path) if path.is_file() else None

    return read


def _bytes_of(
    contract: Contract,
    symbol: str,
    files: Files,
    given: Path | None,
    say: Callable[[str], None],
) -> tuple[str, Path, bytes]:
    """The label, the path and the bytes of a symbol's candles."""
    if given is not None:
        label, path = _given_file(contract, symbol, given)
        return label, path, read_bytes(path)
    names = _paths_of(contract, symbol)
    if contract.data.source == "ccxt":
        path = _downloaded(contract, symbol, say)
        return names[0], path, read_bytes(path)
    for name in names:
        data = files(name)
        if data is not None:
            return name, Path(name), data
    hint = (
        "data.path counts from the top of the repository; commit the file if Git does not have "
        "it. `stratwright data list` shows the candles that are here."
    )
    raise CandleError(f"{names[0]} is not there", hint)


def _hold_to_timeframe(
    found: Candles, timeframe: str, label: str, warn: Callable[[str], None] | None
) -> None:
    try:
        check_spacing(found, timeframe, label)
    except BacktestError as error:
        if warn is None:
            raise
        told = f"warning: {error.message}; the minutes of ROI assume the timeframe"
        warn(f"{told}. {error.hint}")


def _redirected(contract: Contract, given: Path | None) -> tuple[Contract, Path | None]:
    """A contract whose candles come from the exchange that the command line names, if it does."""
    text = str(given) if given is not None else ""
    if not text.startswith("ccxt:"):
        return contract, given
    _, exchange, *times = text.split(":", 3)
    asked: dict[str, object] = {"source": "ccxt", "exchange": exchange}
    asked |= dict(zip(("start", "end"), times, strict=False))
    asked |= {"holdout": contract.data.holdout} if contract.data.holdout else {}
    try:
        data = Data.model_validate(asked)
    except ValueError:
        hint = "Write ccxt:EXCHANGE:START or ccxt:EXCHANGE:START:END, days in UTC: "
        raise InputError(
            f"--data {text} is not understood", hint + "ccxt:binance:2024-01-01:2024-07-01."
        ) from None
    return contract.model_copy(update={"data": data}), None


def _downloaded(contract: Contract, symbol: str, say: Callable[[str], None]) -> Path:
    """The cached file of a symbol's candles, downloaded if need be."""
    from bot.data.exchange.candle_cache import fetched
    from bot.data.exchange.download import Stretch

    data, market = contract.data, contract.market
    if data.start is None or data.exchange is None:
        raise InputError("data.source: ccxt needs a start", "Add start: 2024-01-01.")
    first = to_ms(moment(data.start))
    last = LAST_MS if data.end is None else to_ms(moment(data.end))
    stretch = Stretch(symbol, market.timeframe, first, last)
    return fetched(data.exchange, stretch, say, futures=market.type == "futures")


def _tell_gaps(symbol: str, candles: Candles, timeframe: str, say: Callable[[str], None]) -> None:
    from bot.data.exchange.download import gap_report

    told = gap_report(candles.times.tolist(), timeframe)
    if told is not None:
        say(f"{symbol} {timeframe}: {told}")


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


def _sealed(candles: Candles, contract: Contract, label: str, opened: bool) -> Candles:
    """The candles before the sealed ones; or, opened, the sealed ones."""
    if contract.data.holdout is None:
        return candles
    border = to_ms(moment(contract.data.holdout))
    found = candles.between(border, None) if opened else candles.between(None, border)
    if len(found) == 0:
        where = "from" if opened else "before"
        hint = f"They are from {iso(int(candles.times[0]))} to {iso(int(candles.times[-1]))}."
        raise InputError(f"{label} has no candle {where} data.holdout", hint)
    return found


def _given_file(contract: Contract, symbol: str, given: Path) -> tuple[str, Path]:
    stem = file_symbol(symbol)
    path = Path(str(given).replace("{symbol}", stem))
    if len(contract.market.symbols) == 1:
        return path.name, path
    if "{symbol}" not in str(given):
        hint = f"Write {{symbol}} in the path; it becomes {stem} and so on."
        raise InputError("the contract has several symbols and --data names one file", hint)
    return path.name if stem in path.name else f"{stem}/{path.name}", path


def _paths_of(contract: Contract, symbol: str) -> tuple[str, ...]:
    """Where a symbol's file may lie; in Freqtrade's folder it is of one of several kinds."""
    source, pattern, timeframe = contract.data.source, contract.data.path, contract.market.timeframe
    stem = f"{file_symbol(symbol)}-{timeframe}"
    if source == "ccxt":
        return (f"ccxt/{contract.data.exchange}/{stem}.csv",)
    label = (pattern or "").replace("{symbol}", file_symbol(symbol))
    if source != "freqtrade":
        return (label,)
    label = label or f"user_data/data/{contract.data.exchange}"
    if label.endswith((*FREQTRADE_KINDS, ".csv")):
        return (label,)
    if contract.market.type == "futures":
        stem = f"futures/{stem}-futures"
    return tuple(f"{label.rstrip('/')}/{stem}{kind}" for kind in FREQTRADE_KINDS)
