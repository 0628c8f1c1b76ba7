"""Verdicts to a table for a terminal: plain columns that read the same without colour."""

import math
import textwrap
import unicodedata
from collections.abc import Collection, Sequence

from bot.report.figure_table import figure_at
from bot.report.figures import Summary, decimal, number, percent
from bot.report.inert import one_line
from bot.report.story import Judged

WIDTH = 80
BARS = "▁▂▃▄▅▆▇█"
LONGEST_REASON = 2000


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as they need; the last one takes what is left of the line, on more lines."""
    lines = [header, *rows]
    shown = [[one_line(cell, LONGEST_REASON) for cell in line[:-1]] for line in lines]
    wide = [max(_columns(line[place]) for line in shown) for place in range(len(header) - 1)]
    text = []
    for line, cells in zip(lines, shown, strict=True):
        start = "".join(_padded(cell, size) + "  " for cell, size in zip(cells, wide, strict=True))
        room = max(WIDTH - _columns(start), 30)
        parts = [one_line(part, LONGEST_REASON) for part in line[-1].split("\n")]
        told = [more for part in parts for more in textwrap.wrap(part, room)] or [""]
        text += [f"{start}{told[0]}", *(" " * _columns(start) + more for more in told[1:])]
    return "".join(f"{line.rstrip()}\n" for line in text)


def figure_table(summary: Summary) -> str:
    """The figures that traders look at first, two beside each other; empty without a backtest."""
    if not number(summary.get("bars")):
        return ""
    asked = [
        ("profit", decimal(summary.get("total_pnl"), sign=True)),
        ("trades won", percent(figure_at(summary, "win_rate"))),
        ("return", percent(summary.get("return"), sign=True)),
        ("best trade", decimal(summary.get("best_trade"), sign=True)),
        ("a year", percent(summary.get("annual_return"), sign=True)),
        ("worst trade", decimal(summary.get("worst_trade"), sign=True)),
        ("deepest fall", percent(summary.get("max_drawdown"))),
        ("profit factor", decimal(summary.get("profit_factor"))),
        ("Sharpe", decimal(summary.get("sharpe"))),
        ("in the market", percent(summary.get("exposure"))),
        ("Sortino", decimal(summary.get("sortino"))),
        ("costs", decimal(summary.get("costs"))),
    ]
    cells = [f"{name:<14}{value:>12}" for name, value in asked]
    pairs = zip(cells[::2], cells[1::2], strict=True)
    return "".join(f"{one}      {other}\n" for one, other in pairs)


def equity_line(curve: bytes) -> str:
    """The equity of a curve's file as one line of small bars; empty if there is none."""
    values = []
    for row in curve.decode("utf-8", "replace").splitlines()[1:]:
        try:
            values.append(float(row.split(",")[1]))
        except (IndexError, ValueError):
            return ""
    if len(values) < 2 or not all(map(math.isfinite, values)):
        return ""
    wide = WIDTH - len("equity  ")
    picked = [values[place * (len(values) - 1) // (wide - 1)] for place in range(wide)]
    low, span = min(picked), (max(picked) - min(picked)) or 1.0
    return "equity  " + "".join(BARS[int((value - low) / span * 7.999)] for value in picked)


def gate_table(verdicts: Sequence[Judged], remembered: Collection[str] = ()) -> str:
    """One line a gate, the reason and the next step below those that failed, a line of count.

    A gate that did not run because of another one's failure has its reason on its own line.

    Args:
        verdicts: what the gates said.
        remembered: the gates whose tools were not run again, since nothing has changed.
    """
    if not verdicts:
        return "No gate has run, so nothing is proven.\n"
    names = [one_line(verdict.name, 30) for verdict in verdicts]
    figures = [
        one_line(verdict.reason if _is_unrun(verdict) else verdict.figure, LONGEST_REASON)
        for verdict in verdicts
    ]
    wide = max(4, *(_columns(name) for name in names))
    lines = [f"{_padded('gate', wide)}  result  figure"]
    for verdict, name, figure in zip(verdicts, names, figures, strict=True):
        passed = verdict.passed is True
        known = "  (remembered)" if verdict.name in remembered else ""
        result = "pass" if passed else "FAIL"
        start = f"{_padded(name, wide)}  {result}    "
        told = textwrap.wrap(f"{figure}{known}", WIDTH - _columns(start)) or [""]
        lines += [
            f"{start}{told[0]}".rstrip(),
            *(" " * _columns(start) + more for more in told[1:]),
        ]
        if not passed and not _is_unrun(verdict):
            lines += _told(verdict, wide + 2)
    lines.append(_count(verdicts, names))
    if remembered:
        lines.append("remembered: same files and tools as before, not run again; --fresh runs all")
    return "\n".join(lines) + "\n"


def _is_unrun(verdict: Judged) -> bool:
    """Tell whether the gate only says that another gate's failure kept it from running."""
    return verdict.passed is not True and verdict.reason.startswith("not run: ")


def _told(verdict: Judged, indent: int) -> list[str]:
    parts = [
        ("why", verdict.reason or "The gate gave no reason."),
        ("where", verdict.where),
        ("next", verdict.next_step),
    ]
    lines: list[str] = []
    for word, text in parts:
        if text:
            shown = one_line(text, LONGEST_REASON)
            start = " " * indent + f"{word + ':':<7}"
            lines += textwrap.wrap(
                shown, WIDTH, initial_indent=start, subsequent_indent=" " * len(start)
            )
    return lines


def _count(verdicts: Sequence[Judged], names: Sequence[str]) -> str:
    failed = [n for n, verdict in zip(names, verdicts, strict=True) if verdict.passed is not True]
    total = len(verdicts)
    line = f"{total - len(failed)} of {total} gates passed"
    return f"{line}; failed: {', '.join(failed)}" if failed else line


def _padded(text: str, wide: int) -> str:
    return text + " " * (wide - _columns(text))


def _columns(text: str) -> int:
    """How many columns of a terminal a text takes; ideographs take two, accents none."""
    return sum(
        0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF")
        for char in text
    )
