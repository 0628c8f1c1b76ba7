"""Verdicts to a table for a terminal: plain columns that read the same without colour."""

import textwrap
import unicodedata
from collections.abc import Collection, Sequence

from bot.report.inert import one_line
from bot.report.story import Judged

WIDTH = 100
LONGEST_REASON = 2000


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
