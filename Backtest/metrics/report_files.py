"""Writes a run's trades.csv, equity_curve.csv and summary.json, each whole or not at all."""

import csv
import io
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path

from Backtest.metrics.curves import drawdowns
from Backtest.positions import Trade
from Backtest.times import iso
from Backtest.trading_types import Report

TRADE_COLUMNS = tuple(column.name for column in fields(Trade))[:14]  # up to `forced`
EQUITY_COLUMNS = ("timestamp", "equity", "cash", "drawdown")


def write_report(
    out_dir: str | Path,
    trades: Sequence[Trade],
    curve: Sequence[tuple[int, float, float]],
    report: Report,
) -> dict[str, str]:
    """Write the three files.

    Returns:
        Their paths: trades, equity_curve, summary.
    """
    folder = Path(out_dir)
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "trades": ("trades.csv", trades_csv(trades)),
        "equity_curve": ("equity_curve.csv", equity_csv(curve, report["capital"])),
        "summary": ("summary.json", summary_json(report)),
    }
    for name, text in texts.values():
        write_whole(folder / name, text)
    return {key: str(folder / name) for key, (name, _) in texts.items()}


def trades_csv(trades: Sequence[Trade]) -> str:
    """Writes one line a trade, in the order given."""
    return _csv(TRADE_COLUMNS, (_trade_cells(trade) for trade in trades))


def equity_csv(
    curve: Sequence[tuple[int, float, float]], capital: float, kept: Sequence[int] | None = None
) -> str:
    """Writes one line a moment, or each of the kept ones, with the fall from the highest equity."""
    falls = drawdowns([equity for _, equity, _ in curve], capital).tolist()
    rows = ((*curve[row], falls[row]) for row in (range(len(curve)) if kept is None else kept))
    cells = ((iso(time), *map(repr, numbers)) for time, *numbers in rows)
    return _csv(EQUITY_COLUMNS, cells)


def summary_json(report: Report) -> str:
    """Gives the report as strict JSON: NaN and infinities are a bug here, not a value."""
    return json.dumps(report, indent=2, sort_keys=True, allow_nan=False) + "\n"


def write_whole(path: Path, text: str) -> None:
    """Replace a file in one step, so that a reader never sees half of it."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _trade_cells(trade: Trade) -> tuple[str, ...]:
    """Gives a trade's cells; floats in their shortest exact form, moments in ISO 8601."""
    cells = []
    for column in TRADE_COLUMNS:
        value = getattr(trade, column)
        if column.endswith("_time"):
            cells.append(iso(value))
        elif isinstance(value, bool):
            cells.append("true" if value else "false")
        else:
            cells.append(repr(value) if isinstance(value, float) else str(value))
    return tuple(cells)


def _csv(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lay out lines ending in a newline alone, the same on every system."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()
