"""Keeps downloaded candles as csv files in the user's cache folder; they need no network again.

    <cache>/candles/<exchange>/<BTC_USDT>-<timeframe>-<start>-<end>.csv

<cache> is $XDG_CACHE_HOME/stratwright or ~/.cache/stratwright; start and end are written as
20240101T000000Z. The same candles give the same bytes, so the digest of the data stays the same.
"""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from adapters.clock import Clock
from Backtest.times import iso
from bot.clock import MACHINE_CLOCK
from bot.contract.symbols import file_symbol
from bot.data.exchange.download import Patience, Say, Stretch, download, whole
from bot.data.exchange.port import Candle
from bot.errors import WorldError
from bot.files import cache_folder


def fetched(
    exchange: str,
    stretch: Stretch,
    say: Say,
    *,
    futures: bool,
    patience: Patience | None = None,
    clock: Clock = MACHINE_CLOCK,
    count: Callable[[int], None] | None = None,
) -> Path:
    """The file with a stretch's candles, downloaded unless it is there.

    `count` is told after each page how many candles there are; without it, `say` is.

    Raises:
        InputError: the exchange, symbol or timeframe does not exist, or there is no candle.
        WorldError: the exchange cannot be reached, or the file not be written.
    """
    stretch = whole(stretch, int(clock.now().timestamp() * 1000))
    path = place_of(exchange, stretch)
    if path.exists():
        return path
    from bot.data.exchange.ccxt_exchange import open_exchange

    source = open_exchange(exchange, futures=futures)
    candles = download(source, stretch, say, patience, count)
    try:
        _write(path, candles)
    except OSError as error:
        raise WorldError(f"cannot write {path}: {error.strerror}", "Check the disk.") from None
    return path


def place_of(exchange: str, stretch: Stretch) -> Path:
    """Where a stretch's file is kept."""
    span = "-".join(_stamp(moment) for moment in (stretch.start, stretch.end))
    name = f"{file_symbol(stretch.symbol)}-{stretch.timeframe}-{span}.csv"
    return cache_folder() / "candles" / exchange / name


def _stamp(moment: int) -> str:
    return iso(moment).replace("-", "").replace(":", "")


def _write(path: Path, candles: list[Candle]) -> None:
    """Write all or nothing: readers see the old state or the whole file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["timestamp,open,high,low,close,volume"]
    lines += [",".join((iso(c.time), *(repr(number) for number in c[1:]))) for c in candles]
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".download-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
