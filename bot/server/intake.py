"""Deliveries of many requests to few writes: whatever waits is put on the disk together.

A disk takes some milliseconds to be sure. Whoever arrives meanwhile shares the next write, so a
burst costs few of them, and nobody is told "accepted" before the disk has it.
"""

import asyncio
import contextlib
import logging
import queue
import sqlite3
import threading
from concurrent.futures import Future
from pathlib import Path

from bot.errors import WorldError
from bot.server.deliveries import Delivery
from bot.server.queue import Added, Queue

_TOGETHER = 64
_TIDY_BYTES = 4_000_000
_PATIENCE_S = 9.0  # GitHub hangs up after ten
_log = logging.getLogger(__name__)
_Waiting = tuple[Delivery, "Future[Added]"]


class QueueUnavailable(WorldError):
    """The disk did not take a delivery, or not in time."""


class Intake:
    """The only writer of new deliveries, a thread."""

    def __init__(self, folder: Path) -> None:
        self._queue = Queue(folder, tidies=False)
        self._untidy = 0
        self._waiting: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="intake", daemon=True)
        self._thread.start()

    async def take(self, delivery: Delivery) -> Added:
        """Put a delivery on the disk.

        Raises:
            QueueUnavailable: it is not there.
        """
        future: Future[Added] = Future()
        self._waiting.put((delivery, future))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), _PATIENCE_S)
        except TimeoutError:
            raise QueueUnavailable("the disk takes too long") from None

    def close(self) -> None:
        """Write what waits, then end."""
        self._waiting.put(None)
        self._thread.join()
        self._queue.close()

    def _run(self) -> None:
        while (first := self._waiting.get()) is not None:
            together, last = self._gather(first)
            self._write(together)
            self._tidy(sum(len(delivery.body) for delivery, _ in together))
            if last:
                return

    def _tidy(self, written: int) -> None:
        """Bring the WAL into the file now and then, after everybody was answered.

        Only the writer itself can do it so that the WAL starts over: another thread would always
        find frames that came meanwhile, and the WAL would grow for as long as the load lasts.
        """
        self._untidy += written
        if self._untidy >= _TIDY_BYTES:
            self._untidy = 0
            with contextlib.suppress(sqlite3.Error):
                self._queue.tidy()

    def _gather(self, first: _Waiting) -> tuple[list[_Waiting], bool]:
        """What waits by now, and whether it is the last."""
        together = [first]
        while len(together) < _TOGETHER:
            try:
                following = self._waiting.get_nowait()
            except queue.Empty:
                break
            if following is None:
                return together, True
            together.append(following)
        return together, False

    def _write(self, together: list[_Waiting]) -> None:
        # One that nobody waits for any more was answered with a failure: it must not be done.
        wanted = [each for each in together if each[1].set_running_or_notify_cancel()]
        try:
            added = self._queue.add([delivery for delivery, _ in wanted])
        except Exception as error:  # whatever it is: without this thread nothing is accepted again
            if not isinstance(error, sqlite3.Error | WorldError):
                _log.exception("a bug")
            for _, future in wanted:
                future.set_exception(QueueUnavailable(f"the queue cannot be written: {error}"))
            return
        for (_, future), state in zip(wanted, added, strict=True):
            future.set_result(state)
