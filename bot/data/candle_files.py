"""Folders to the candle files in them: symbol, timeframe, range, rows; and candles to files."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from Backtest.candles import COLUMNS, READERS, Candles, read_columns
from Backtest.metrics.run_figures import usual_step
from Backtest.sim_errors import BacktestError
from Backtest.times import fits_timeframe, in_words, iso
from bot.contract.symbols import TIMEFRAMES
from bot.errors import InputError, WorldError
from bot.files import write_files

if TYPE_CHECKING:
    import pandas as pd

# Folders of programs and of results, in which nobody keeps candles.
SKIPPED = frozenset({"node_modules", "build", "dist", "artifacts", "__pycache__", "venv"})
KINDS = (".csv", ".feather", ".parquet")
MOST_BYTES = 500_000_000
# As Freqtrade and our own downloads name files: BTC_USDT-1h.feather, BTC_USDT_USDT-1h-futures.csv.
_NAME = re.compile(r"(?:example_)?([A-Z0-9.]+)(?:_([A-Z0-9]+))?(?:_([A-Z0-9]+))?-(\d+[mhdwM])\b")


@dataclass(frozen=True)
class CandleFile:
    """What is in a candle file; `fault` says why it cannot be used, where it cannot."""

    path: Path
    symbol: str
    timeframe: str = ""
    rows: int = 0
    first: int = 0
    last: int = 0
    fault: str = ""


def find_candle_files(root: Path) -> list[CandleFile]:
    """Read every candle file below a folder; hidden folders and those of programs are left out."""
    return [read_candle_file(path) for path in sorted(_paths(root)) if _is_candles(path)]


def _paths(root: Path) -> Iterator[Path]:
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if name not in SKIPPED and not name.startswith(".")]
        yield from (Path(folder, name) for name in names if name.lower().endswith(tuple(READERS)))


def _is_candles(path: Path) -> bool:
    """Look at a file's name, and at the first line of a csv: many are of something else."""
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            return False
        if path.suffix.lower() == ".csv":
            with path.open("rb") as file:
                names = file.readline(500).decode("utf-8", "replace").lower()
            return all(name in names for name in COLUMNS)
    except OSError:
        return False
    return path.suffix.lower() in KINDS or _NAME.match(path.name) is not None


def read_candle_file(path: Path) -> CandleFile:
    """Say what is in one candle file."""
    symbol = symbol_of(path)
    try:
        candles = read_columns(path)
    except BacktestError as error:
        return CandleFile(path, symbol, fault=error.message.replace(f"{path}: ", ""))
    times = candles.times
    return CandleFile(
        path, symbol, timeframe_of(candles), len(candles), int(times[0]), int(times[-1])
    )


def symbol_of(path: Path) -> str:
    """The symbol that a file is named after; empty if its name says none."""
    found = _NAME.match(path.name)
    if found is None:
        return ""
    base, quote, settle, _ = found.groups()
    return base + (f"/{quote}" if quote else "") + (f":{settle}" if settle else "")


def timeframe_of(candles: Candles) -> str:
    """The timeframe that most candles are apart; in seconds if there is no such timeframe."""
    step = usual_step(candles.times) or 0
    known = (name for name in TIMEFRAMES if step > 0 and fits_timeframe(step, name))
    return next(known, in_words(step))


def write_candle_file(root: Path, label: str, source: Path) -> None:
    """Write the candles of a csv file to another file, of the kind that its name says.

    Raises:
        InputError: it is no kind that is written here.
        WorldError: pyarrow is missing, or the disk does not take it.
    """
    kind = Path(label).suffix.lower()
    if kind not in KINDS:
        raise InputError(f"{label} is of no kind that can be written", f"Use {', '.join(KINDS)}.")
    content = source.read_bytes() if kind == ".csv" else _arrow_bytes(read_columns(source), kind)
    write_files(root, {label: content})


def _arrow_bytes(candles: Candles, kind: str) -> bytes:
    import io

    frame, sink = _freqtrade_frame(candles), io.BytesIO()
    try:
        if kind == ".feather":
            frame.to_feather(sink, compression="lz4")
        else:
            frame.to_parquet(sink)
    except ImportError:
        raise WorldError(f"{kind} needs the package pyarrow", "pip install pyarrow") from None
    return sink.getvalue()


def _freqtrade_frame(candles: Candles) -> "pd.DataFrame":
    """The columns as Freqtrade has them: `date` in UTC, then the prices."""
    import pandas as pd

    dates = pd.to_datetime(candles.times, unit="ms", utc=True)
    return pd.DataFrame({"date": dates, **{name: getattr(candles, name) for name in COLUMNS}})


def contract_line(found: CandleFile) -> str:
    """How a contract names a file of candles."""
    source = {".csv": "csv", ".feather": "feather"}.get(found.path.suffix.lower(), "freqtrade")
    if source == "freqtrade":
        # The contract asks for an exchange there; Freqtrade's folder is named after it.
        below = re.search(r"user_data/data/([a-z][a-z0-9]+)/", found.path.as_posix())
        source += f", exchange: {below[1] if below else 'local'}"
    return f'data: {{source: {source}, path: "{found.path.as_posix()}"}}'


def span_words(found: CandleFile) -> str:
    """The range of a file, to the minute where it is shorter than days."""
    digits = 10 if found.timeframe.endswith(("d", "w", "M")) else 16
    first, last = (iso(moment)[:digits].replace("T", " ") for moment in (found.first, found.last))
    return f"{first} to {last}"
