"""How far long work is: a bar on a terminal, plain lines elsewhere, nothing in the first second.

The work is not slowed: it counts as it always does, and a thread looks at its count now and then.
"""

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO

SILENT_S = 1.0
BAR_EVERY_S = 0.2
LINE_EVERY_S = 5.0
WIDTH = 30


class Progress:
    """Shows the stage of some work on stderr while the block runs."""

    def __init__(self, stream: TextIO | None = None, silent_s: float = SILENT_S) -> None:
        """Say where to show it, and after how long at the earliest."""
        self._stream = stream or sys.stderr
        self._is_terminal = self._stream.isatty()
        self._silent_s = silent_s
        self._now: tuple[str, int, Callable[[], int] | None] = ("", 0, None)  # replaced as one
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True)
        self._shown = False

    def stage(self, name: str, total: int = 0, count: Callable[[], int] | None = None) -> None:
        """Begin a stage; with a total and a way to ask for the count, its share is shown."""
        self._now = (name, total, count)

    def say(self, line: str) -> None:
        """Show a line of its own at once."""
        self._clear()
        self._stream.write(f"{line}\n")
        self._stream.flush()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()
        self._clear()

    def _show(self) -> None:
        every_s = BAR_EVERY_S if self._is_terminal else LINE_EVERY_S
        start = time.monotonic()
        wait_s = self._silent_s
        while not self._ended.wait(wait_s):
            wait_s = every_s
            text = self.text(time.monotonic() - start)
            end = "\r" if self._is_terminal else "\n"
            self._stream.write(f"\x1b[K{text}{end}" if self._is_terminal else f"{text}{end}")
            self._stream.flush()
            self._shown = True

    def text(self, passed_s: float) -> str:
        """What is shown now."""
        stage, total, count = self._now
        if count is None or total <= 0:
            return f"{stage} ({passed_s:.0f} s)"
        done = min(count(), total)
        share = done / total
        told = f"{stage}: {done:,} of {total:,} candles, {share:.0%}"
        if not self._is_terminal:
            return told
        full = round(share * WIDTH)
        return f"[{'#' * full}{'.' * (WIDTH - full)}] {told}"

    def _clear(self) -> None:
        """Take the bar off the terminal, so that what follows stands alone."""
        if self._is_terminal and self._shown:
            self._stream.write("\x1b[K")
            self._stream.flush()
