"""Turns a file or frame of candles into checked columns; bad data stops here, with its row."""

from __future__ import annotations

import io
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from Backtest.compiled.signal_run import is_loaded
from Backtest.metrics.run_figures import usual_step
from Backtest.rows import PRICES, TIME_NAMES, Row, fault_of
from Backtest.sim_errors import BacktestError, CandleError
from Backtest.times import FIRST_MS, fits_timeframe, in_words, iso, to_ms

if TYPE_CHECKING:  # pandas takes half a second to import; only readers of files pay for it
    import pandas as pd

COLUMNS = (*PRICES, "volume")
BLOCK_ROWS = 8192  # a block of candles stays in the processor's cache
SMALL_FILE_BYTES = 2_000_000  # about 25,000 candles; above, pandas is quicker than it is late
MOMENTS_A_MS = {"ms": 1, "us": 1_000, "ns": 1_000_000}
# 1990 to 2100 in seconds; in milliseconds some weeks of 1970, of which nobody has candles.
_SECONDS = (631_152_000, 4_102_444_800)
MS_DIGITS = 9  # of text that `to_ms` reads as milliseconds
# Text that is read for all candles at once, each digit as a 0.
_FORMS = {f"0000-00-00{t}00:00:00{z}\n".encode() for t in "T " for z in ("", "Z", "+00:00")}
MISSING = np.iinfo(np.int64).min  # numpy's word for no moment
READERS = {
    ".csv": "read_csv",
    ".feather": "read_feather",
    ".parquet": "read_parquet",
    ".json": "read_json",
    ".json.gz": "read_json",
}


@dataclass(frozen=True)
class Candles:
    """Holds one symbol's candles as plain columns; `times` are UTC milliseconds of the opens."""

    times: NDArray[np.int64]
    open: NDArray[np.float64]
    high: NDArray[np.float64]
    low: NDArray[np.float64]
    close: NDArray[np.float64]
    volume: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.times)

    @cached_property
    def plain(self) -> PlainColumns:
        """Gives the columns as sequences of Python's own numbers, made as they are read."""
        columns: list[Any] = [self.times, *(getattr(self, name) for name in COLUMNS)]
        return PlainColumns(*(memoryview(column) for column in columns))

    def row(self, idx: int) -> tuple[int, float, float, float, float, float]:
        """Gives one candle: time, open, high, low, close, volume."""
        times, opens, highs, lows, closes, volumes = self.plain
        return times[idx], opens[idx], highs[idx], lows[idx], closes[idx], volumes[idx]

    def between(self, first: int | None, last: int | None) -> Candles:
        """Gives the candles from a moment on, before another; None is no limit."""
        start = 0 if first is None else int(np.searchsorted(self.times, first))
        stop = len(self) if last is None else int(np.searchsorted(self.times, last))
        return self.rows(start, stop)

    def rows(self, start: int, stop: int) -> Candles:
        """Gives the candles from a row on, before another; their columns are not copied."""
        if (start, stop) == (0, len(self)):
            return self
        part = slice(start, stop)
        return Candles(self.times[part], *(getattr(self, name)[part] for name in COLUMNS))


class PlainColumns(NamedTuple):
    """Holds the columns value by value; lists of them would take longer than most runs."""

    times: Sequence[int]
    open: Sequence[float]
    high: Sequence[float]
    low: Sequence[float]
    close: Sequence[float]
    volume: Sequence[float]


def read_candles(path: str | Path) -> pd.DataFrame:
    """Read a csv, feather or parquet file, or Freqtrade's json, into a tidy, checked frame.

    Raises:
        CandleError: the file is missing, is of no known kind, or holds a malformed candle.
    """
    return _parse_frame(read_bytes(path), Path(path))


def read_columns(path: str | Path) -> Candles:
    """Read a candle file of one symbol into checked columns; a small csv needs no pandas.

    Raises:
        CandleError: as `read_candles`.
    """
    return parse_columns(read_bytes(path), path)


def read_bytes(path: str | Path) -> bytes:
    """Read a candle file once: whoever names its digest parses the same bytes.

    Raises:
        CandleError: the file is missing, cannot be read, or is of no known kind.
    """
    file = Path(path)
    _reader_of(file)
    if not file.is_file():
        raise CandleError(f"{file} is not there", "Give the path of a candle file")
    try:
        return file.read_bytes()
    except OSError as error:
        raise CandleError(f"cannot read {file}: {error.strerror}", "Check its owner") from None


def parse_columns(data: bytes, path: str | Path) -> Candles:
    """Turn the bytes of a candle file into checked columns; `path` names the file and its kind.

    Raises:
        CandleError: as `read_candles`.
    """
    file = Path(path)
    if file.suffix.lower() == ".csv" and len(data) < SMALL_FILE_BYTES:
        columns = _plain_csv(data)
        if columns is not None:
            return columns
    return columns_of(_parse_frame(data, file))


def _reader_of(file: Path) -> str:
    """Reads the name of pandas' function that reads files of this kind."""
    reader = next((READERS[kind] for kind in READERS if file.name.lower().endswith(kind)), None)
    if reader is None:
        raise CandleError(f"{file} is no candle file", f"Known kinds: {', '.join(READERS)}")
    return reader


def _parse_frame(data: bytes, file: Path) -> pd.DataFrame:
    frame = raw_frame(data, file)
    try:
        tidy = tidy_candles(frame)
        check_candles(tidy)
    except CandleError as error:
        raise _located(error, file) from None
    return tidy


def raw_frame(data: bytes, file: Path) -> pd.DataFrame:
    """Read the table of a candle file as it is written; nothing in it is checked.

    Raises:
        CandleError: the file is of no known kind, or cannot be read as one of its kind.
    """
    import pandas as pd

    reader = _reader_of(file)
    options = {"compression": "gzip"} if file.name.lower().endswith(".gz") else {}
    try:
        frame: pd.DataFrame = getattr(pd, reader)(io.BytesIO(data), **options)
    except ImportError:
        raise CandleError(
            f"{file} needs the package pyarrow to be read", "Run: pip install pyarrow"
        ) from None
    except (OSError, ValueError, EOFError, zlib.error) as error:  # parser errors are ValueErrors
        reason = " ".join(str(error).split())
        raise CandleError(f"cannot read {file}: {reason}", "Is it a whole candle file?") from None
    if reader == "read_json" and len(frame.columns) == 1 + len(COLUMNS):
        frame = frame.set_axis([TIME_NAMES[0], *COLUMNS], axis=1)  # rows without names
    return frame


def _plain_csv(data: bytes) -> Candles | None:
    """Parse a csv of nothing but candles; None if there is anything that pandas should look at."""
    try:
        header, *lines = data.decode("utf-8-sig").splitlines()
    except ValueError:
        return None
    names = header.lower().split(",")
    if sorted(names) != sorted((names[0], *COLUMNS)) or names[0] not in TIME_NAMES or not lines:
        return None
    cells = [line.split(",") for line in lines]
    if any(row[0].isdigit() and len(row[0]) < MS_DIGITS for row in cells):
        return None  # a whole number, which to_ms would take for a date such as 20240131
    if any(len(row) != len(names) or "_" in line for row, line in zip(cells, lines, strict=True)):
        return None
    found = dict(zip(names, zip(*cells, strict=True), strict=True))
    try:
        numbers = {name: np.array([float(cell) for cell in found[name]]) for name in COLUMNS}
        columns = Candles(np.array([to_ms(cell) for cell in found[names[0]]]), **numbers)
        check_columns(columns)
    except ValueError:  # a number, moment or candle that is none: pandas' reader names its line
        return None
    return columns


def _located(error: CandleError, file: Path) -> CandleError:
    """Put the file, and the line of a csv, before a candle's fault."""
    line = ""
    if error.row is not None and file.suffix.lower() == ".csv":
        line = f" line {error.row + 2}:"
    return CandleError(f"{file}:{line} {error.message}", error.hint, error.row)


def tidy_candles(frame: pd.DataFrame) -> pd.DataFrame:
    """Bring a frame to lower-case columns with a UTC `timestamp` column and rows from 0.

    The moment may be the index or a column named timestamp, date, datetime or time. Naive
    moments are UTC, integers are milliseconds. Other columns are kept.

    Raises:
        CandleError: a column is missing or doubled, or a moment or number cannot be read.
    """
    if _is_tidy(frame):
        return frame.copy(deep=False)  # pandas copies what somebody changes
    names = [str(name).lower() for name in frame.columns]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise CandleError(f"the column {doubled[0]!r} is there twice", "Keep one of them")
    tidy = frame.set_axis(names, axis=1)
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        raise CandleError(
            f"the candles have no column {missing[0]!r}", f"They have: {', '.join(names)}"
        )
    moments = _moments(tidy)
    tidy = tidy.drop(columns=[name for name in TIME_NAMES if name in names])
    tidy = tidy.reset_index(drop=True)
    tidy.insert(0, "timestamp", moments)
    for name in COLUMNS:
        tidy[name] = _numbers(tidy[name], name)
    return tidy


def _is_tidy(frame: pd.DataFrame) -> bool:
    """Says whether there is nothing to do."""
    import pandas as pd

    kinds = frame.dtypes.to_dict()
    moments = kinds.get("timestamp")
    return (
        isinstance(frame.index, pd.RangeIndex)
        and (frame.index.start, frame.index.step) == (0, 1)
        and isinstance(moments, pd.DatetimeTZDtype)
        and str(moments.tz) == "UTC"
        and len(kinds) == len(frame.columns)
        and all(kinds.get(name) == np.float64 for name in COLUMNS)
        and all(isinstance(name, str) and name == name.lower() for name in kinds)
        and not any(name in kinds for name in TIME_NAMES[1:])
    )


def _moments(frame: pd.DataFrame) -> pd.DatetimeIndex:
    """Read the column or index of moments as UTC."""
    import pandas as pd

    column = next((name for name in TIME_NAMES if name in frame.columns), None)
    named_index = str(frame.index.name).lower() in TIME_NAMES
    if column is None and not (isinstance(frame.index, pd.DatetimeIndex) or named_index):
        raise CandleError(
            "the candles have no timestamp", f"Name a column one of: {', '.join(TIME_NAMES)}"
        )
    values: Any = frame.index if column is None else frame[column]
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        index = pd.DatetimeIndex(values)
        return index.tz_localize("UTC") if index.tz is None else index.tz_convert("UTC")
    return pd.to_datetime(_each_ms(values.tolist()), unit="ms", utc=True).as_unit("ms")


def _each_ms(values: Sequence[object]) -> list[int]:
    """Read moments: all at once where they are written alike, else one by one."""
    with suppress(TypeError, ValueError):  # reading one by one names the row
        return _alike(values)
    found = []
    for row, value in enumerate(values):
        try:
            found.append(to_ms(value))
        except BacktestError as error:
            if value != value:
                raise _at(row, "the timestamp is missing") from None
            raise _at(row, error.message, error.hint) from None
    return found


def _alike(values: Sequence[Any]) -> list[int]:
    """Read moments of UTC that are all written in one form, to the second.

    Raises:
        ValueError, TypeError: one of them is no text, of another form, or no moment.
    """
    text = np.frombuffer("\n".join((*values, "")).encode("ascii"), np.uint8)
    written = text.reshape(len(values), -1)
    form = written.copy()
    form[:, :19][form[:, :19] - ord("0") < 10] = ord("0")
    if form[0].tobytes() not in _FORMS or (form != form[0]).any():
        raise ValueError("these moments are written in other forms")
    moments = np.ascontiguousarray(written[:, :19]).view("S19").ravel().astype("datetime64[ms]")
    found: list[int] = moments.astype(np.int64).tolist()
    if min(found) < FIRST_MS:
        raise ValueError("there is no year 0")
    return found


def _numbers(column: pd.Series[Any], name: str) -> pd.Series[Any]:
    """Read a column as floats, or name the first row that is none."""
    try:
        return column.astype("float64")
    except (TypeError, ValueError):
        for row, value in enumerate(column.tolist()):
            try:
                float(value)
            except (TypeError, ValueError):
                raise _at(row, f"{name} is {value!r}, a number is needed") from None
        raise


def check_candles(frame: pd.DataFrame) -> Candles:
    """Check a tidy frame: no gaps in values, prices above 0 and consistent, moments rising.

    With a `symbol` column, moments rise within each symbol.

    Returns:
        The frame's columns.

    Raises:
        CandleError: names the first row that is wrong.
    """
    symbols = frame["symbol"].tolist() if "symbol" in frame.columns else None
    nameless = [row for row, name in enumerate(symbols or ()) if not isinstance(name, str)]
    if nameless:
        raise _at(nameless[0], f"symbol is {(symbols or [])[nameless[0]]!r}, a name is needed")
    columns = columns_of(frame)
    check_columns(columns, symbols)
    return columns


def check_columns(columns: Candles, symbols: Sequence[str] | None = None) -> None:
    """Check candles; with the symbol of each row, moments rise within each symbol.

    Raises:
        CandleError: names the first row that is wrong.
    """
    if len(columns) == 0:
        raise CandleError("there are no candles", "Give at least one row")
    if words := seconds_words(columns.times):
        raise CandleError(words, "Write milliseconds (multiply by 1000), or ISO 8601")
    if symbols is None and pass_columns(columns):
        return
    wrong = _first_malformed(columns)
    late = _first_out_of_order(columns.times, symbols)
    if wrong is not None and (late is None or wrong <= late):
        raise _at(wrong, fault_of(Row(*columns.row(wrong))) or "the candle is malformed")
    if late is not None:
        moment = iso(int(columns.times[late]))
        raise _at(late, f"its time {moment} is not after the candle before it")


def seconds_words(times: NDArray[np.int64]) -> str:
    """Names whole seconds, which as milliseconds would be the first weeks of 1970; else empty."""
    first, last = int(times[0]), int(times[-1])
    if not (_SECONDS[0] <= min(first, last) and max(first, last) <= _SECONDS[1]):
        return ""
    return (
        f"its timestamps look like seconds: {first} would be {iso(first)} in milliseconds, "
        f"and is {iso(first * 1000)} in seconds"
    )


def check_spacing(columns: Candles, timeframe: str, label: str) -> None:
    """Check that most candles are as far apart as the timeframe says; gaps are no fault.

    Raises:
        CandleError: they are candles of another timeframe.
    """
    step = usual_step(columns.times) if len(columns) > 2 else None
    if step is None or fits_timeframe(step, timeframe):
        return
    advice = f"Give candles of {timeframe}, or change the timeframe"
    if fits_timeframe(step * 1000, timeframe):
        advice = "Its integers look like seconds: write milliseconds, or ISO 8601"
    raise CandleError(
        f"{label}: its candles are {in_words(step)} apart, the timeframe is {timeframe}", advice
    )


def pass_columns(columns: Candles) -> bool:
    """Says whether machine code, where it is at hand, finds nothing wrong."""
    if not is_loaded(len(columns)):
        return False
    from Backtest.compiled.candle_pass import are_sound

    arrays = (getattr(columns, field.name) for field in fields(columns))
    return bool(are_sound(*(np.ascontiguousarray(array) for array in arrays)))


def _first_malformed(columns: Candles) -> int | None:
    """Finds the first row whose numbers cannot be a candle, looked for block by block."""
    for first in range(0, len(columns), BLOCK_ROWS):
        part = slice(first, first + BLOCK_ROWS)
        o, h, lo, c, v = (getattr(columns, name)[part] for name in COLUMNS)
        # Written so that NaN fails every comparison.
        sound = lo <= np.minimum(o, c)
        sound &= np.maximum(o, c) <= h
        sound &= lo > 0.0
        sound &= h < np.inf
        sound &= v >= 0.0
        sound &= v < np.inf
        if not sound.all():
            return first + int(np.argmin(sound))
    return None


def _first_out_of_order(times: NDArray[np.int64], symbols: Sequence[str] | None) -> int | None:
    """Finds the first row whose moment is not after its predecessor's, within its symbol."""
    if symbols is None:
        falls = np.flatnonzero(times[1:] <= times[:-1])
        return int(falls[0]) + 1 if len(falls) else None
    last: dict[str, int] = {}
    for row, (moment, symbol) in enumerate(zip(times.tolist(), symbols, strict=True)):
        if symbol in last and moment <= last[symbol]:
            return row
        last[symbol] = moment
    return None


def columns_of(frame: pd.DataFrame) -> Candles:
    """Take a tidy frame apart into plain columns."""
    import pandas as pd

    index = pd.DatetimeIndex(frame["timestamp"])
    stamps = index.asi8
    times = _quick_ms(stamps) if index.unit == "us" else None
    if times is None:
        if len(stamps) and stamps.min() == MISSING:
            raise _at(int(np.argmin(stamps)), "the timestamp is missing")
        each = MOMENTS_A_MS.get(index.unit)
        if each is None:
            times = index.as_unit("ms").asi8
        else:
            times = stamps if each == 1 else stamps // each
    return Candles(
        times=times,
        **{name: np.ascontiguousarray(frame[name], dtype=np.float64) for name in COLUMNS},
    )


def _quick_ms(stamps: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Microseconds as milliseconds by machine code, if it is at hand and none is out of reach."""
    if not is_loaded(len(stamps)):
        return None
    from Backtest.compiled.candle_pass import us_to_ms

    times = np.empty(len(stamps), np.int64)
    return times if us_to_ms(np.ascontiguousarray(stamps), times) else None


def _at(row: int, fault: str, hint: str = "") -> CandleError:
    """Gives a fault with its row, and what to do about it."""
    advice = hint or "Mend or remove the candle; the run stops at bad data"
    return CandleError(f"row {row} (counting from 0): {fault}", advice, row)
