"""Keeps the two logs, decisions and results, as CSV files with one row for each decision."""

import csv
import fcntl
import io
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bot.errors import WorldError
from integration.schema.signal import TradingSignal

DECISIONS = "decision_logs/decision_log.csv"
RESULTS = "decision_logs/trade_results.csv"
DECISION_COLUMNS = (
    *("decision_id", "timestamp", "symbol", "side", "entry_price"),
    *("stop", "tp1", "tp2", "confidence"),
)
RESULT_COLUMNS = ("decision_id", "exit_price", "pnl_r_multiple")


def append_decision(signal: TradingSignal, path: str | Path = DECISIONS) -> None:
    """Writes a decision down; one that is there already is not written again."""
    row = (
        signal.decision_id,
        signal.timestamp.isoformat(),
        signal.symbol,
        signal.side,
        signal.entry.get("price", ""),
        signal.risk.initial_stop,
        signal.tp1,
        signal.tp2,
        signal.confidence,
    )
    _append(Path(path), DECISION_COLUMNS, row)


def prepare_decisions(path: str | Path = DECISIONS) -> None:
    """Makes sure that a decision can be written down, before it is published.

    Raises:
        WorldError: the log cannot be written, or is another file.
    """
    _append(Path(path), DECISION_COLUMNS, ())


def append_trade_result(
    decision_id: str, exit_price: float, pnl_r: float, path: str | Path = RESULTS
) -> None:
    """Writes a closed trade down; one that is there already is not written again.

    Raises:
        WorldError: the log cannot be written, or a value is no number.
    """
    if not (math.isfinite(exit_price) and math.isfinite(pnl_r)):
        raise WorldError(f"the result of {decision_id} is no number", "Nothing is written.")
    _append(Path(path), RESULT_COLUMNS, (decision_id, exit_price, pnl_r))


def logged(path: str | Path) -> set[str]:
    """Gives the decision ids of a log; of a log that is not there, none."""
    try:
        text = Path(path).read_text()
    except FileNotFoundError:
        return set()
    return _ids(text)


def _append(path: Path, columns: Sequence[str], row: Sequence[object]) -> None:
    with _locked(path) as handle:
        text = _whole_lines(handle)
        header = _line(columns)
        if text and not text.startswith(header):
            raise WorldError(f"{path} has other columns", f"Its first line has to be {header!r}.")
        new = bool(row) and str(row[0]) not in _ids(text)
        if new or not text:
            data = (("" if text else header) + (_line(row) if new else "")).encode()
            while data:
                data = data[os.write(handle, data) :]
            os.fsync(handle)


def _whole_lines(handle: int) -> str:
    """Reads a log, and removes a last line that a crash tore."""
    size = os.fstat(handle).st_size
    data = os.pread(handle, size, 0)
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < size:
        os.ftruncate(handle, len(whole))
    return whole.decode(errors="replace")


def _ids(text: str) -> set[str]:
    return {row[0] for row in csv.reader(io.StringIO(text)) if row}


def _line(values: Iterable[object]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(values)
    return out.getvalue()


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """Opens a log for one writer alone."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield handle
        finally:
            os.close(handle)
    except OSError as error:
        raise WorldError(f"{path} cannot be written: {error.strerror}", "Mend it.") from None
