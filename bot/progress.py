"""How far long work is: a bar on a terminal, plain lines elsewhere, nothing in the first second.

The work is not slowed: it counts as it always does, and a thread looks at its count now and then.
"""

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

SILENT_S = 1.0
BAR_EVERY_S = 0.2
LINE_EVERY_S = 5.0
SURE_AFTER_S = 1.0  # of a stage, before its speed says anything


@dataclass(frozen=True)
class Stage:
    """Holds what is done now: its name, how many of what there are, and a way to count them."""

    name: str
    total: int = 0
    count: Callable[[], int] | None = None
    unit: str = "candles"
    start: float = field(default_factory=time.monotonic)

    @property
    def done(self) -> int:
        """How many are done."""
        return min(self.count(), self.total) if self.count is not None else 0

    def told(self, now: float) -> str:
        """How far it is, in words."""
        if self.count is None or self.total <= 0:
            return f"({now - self.start:.0f} s)"
        share, passed_s = self.done / self.total, now - self.start
        words = f"{self.done:,} of {self.total:,} {self.unit}, {share:.0%}"
        if 0 < share < 1 and passed_s >= SURE_AFTER_S:
            words += f", about {in_seconds(passed_s / share - passed_s)} left"
        return words


def in_seconds(span_s: float) -> str:
    """A span of time as people say it: 8 s, 3 min, 2.5 h."""
    if span_s < 90:
        return f"{max(span_s, 1):.0f} s"
    return f"{span_s / 60:.0f} min" if span_s < 5400 else f"{span_s / 3600:.1f} h"


class Counter:
    """Keeps a count that the work sets and a Progress reads."""

    def __init__(self) -> None:
        """Begin at 0."""
        self._count = 0

    def set(self, count: int) -> None:
        """Keep how many are done."""
        self._count = count

    def read(self) -> int:
        """Give how many are done."""
        return self._count


class Progress:
    """Shows the stage of some work on stderr while the block runs; one block after another."""

    def __init__(
        self, stream: TextIO | None = None, silent_s: float = SILENT_S, *, quiet: bool = False
    ) -> None:
        """Say where to show it, and after how long at the earliest; quiet shows nothing at all."""
        self._stream = stream or sys.stderr
        self._is_terminal = self._stream.isatty()
        self._silent_s = silent_s
        self._quiet = quiet
        self._now = Stage("")
        self._parts = [0, 0]  # done, expected
        self._bar: Bar | None = None

    def stage(
        self,
        name: str,
        total: int = 0,
        count: Callable[[], int] | None = None,
        unit: str = "candles",
    ) -> None:
        """Begin a stage; with a total and a way to ask for the count, its share is shown."""
        self._now = Stage(name, total, count, unit)

    def expect(self, parts: int) -> None:
        """Learn of more parts to come, each of which ends with `part`."""
        self._parts[1] += parts
        self._now = Stage(self._now.name, self._parts[1], lambda: self._parts[0], "parts")

    def part(self, line: str) -> None:
        """Count a part that has ended: its line is a plain one, or the words beside the bar."""
        self._parts[0] += 1
        if self._is_terminal:
            # The line begins with whose part it is; beside a bar there is no room for it.
            words, start = line.rpartition(": ")[2], self._now.start
            self._now = Stage(words, self._parts[1], lambda: self._parts[0], "parts", start)
        else:
            self.say(line)

    def say(self, line: str) -> None:
        """Show a line of its own at once."""
        if self._quiet:
            return
        if self._bar is not None:
            self._bar.console.print(line, highlight=False, markup=False, soft_wrap=True)
        else:
            self._stream.write(f"{line}\n")
            self._stream.flush()

    def __enter__(self) -> Self:
        self._parts = [0, 0]
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True)
        if not self._quiet:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        if not self._quiet:
            self._thread.join()

    def _show(self) -> None:
        if self._ended.wait(self._silent_s):
            return
        if self._is_terminal:
            self._show_bar()
            return
        while True:
            # Parts say their own lines as they end.
            if self._now.unit != "parts" and self._now.name:
                self.say(self.text())
            if self._ended.wait(LINE_EVERY_S):
                return

    def _show_bar(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

        columns = (
            SpinnerColumn("line"),
            TextColumn("{task.description}", markup=False),
            BarColumn(16),
            TextColumn("{task.fields[told]}", markup=False),
        )
        with Progress(
            *columns, console=Console(file=self._stream), transient=True, auto_refresh=False
        ) as bar:
            task = bar.add_task("", told="")
            self._bar = bar
            while True:
                stage = self._now
                told = stage.told(time.monotonic())
                total = stage.total if stage.count is not None and stage.total > 0 else None
                bar.update(
                    task, description=stage.name[:40], total=total, completed=stage.done, told=told
                )
                bar.refresh()
                if self._ended.wait(BAR_EVERY_S):
                    break
            self._bar = None

    def text(self) -> str:
        """What a plain line says now."""
        told = self._now.told(time.monotonic())
        return f"{self._now.name}: {told}" if self._now.total else f"{self._now.name} {told}"
