"""A process that takes deliveries from the queue, one after another, until it is asked to stop.

It holds a lock for as long as it lives: that is its lease on what it works on. It ends with its
parent, so a server that was killed leaves nothing that works on.
"""

import logging
import multiprocessing
import os
import random
import signal
import sqlite3
import threading
import time
from collections.abc import Callable

from bot.errors import InputError, StratwrightError
from bot.forge.github.api import Forbidden
from bot.forge.reasons import Reason, reason_of
from bot.logs import set_up
from bot.redaction import redact
from bot.server.handler import Stopping, WorkerTools, handle
from bot.server.lease import hold_lock
from bot.server.queue import Claim, Queue
from bot.server.settings import ServerSettings, hide_secrets
from bot.server.tally import observe
from bot.server.tokens import NotInstalled

MOST_S = 2 * 3600.0
_MOST_WORLD = 12
_MOST_FORBIDDEN = 3
_MOST_BUGS = 3
_FIRST_WAIT_S = 15.0
_LONGEST_BACKOFF_S = 1800.0
_LOOK_S = 0.2
_log = logging.getLogger(__name__)


def run(settings: ServerSettings, name: str) -> None:
    """The whole life of a worker."""
    set_up()
    hide_secrets()
    stop = threading.Event()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's Ctrl-C is for the parent
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    hold_lock(settings.state, name)
    queue = Queue(settings.state)
    tools = WorkerTools(settings, lambda line: _log.info(redact(line)))
    while not stop.is_set():
        try:
            claim = queue.claim(name)
        except sqlite3.Error as error:
            _log.warning("the queue does not answer", extra={"error": str(error)})
            claim = None
        if claim is None:
            stop.wait(_LOOK_S)
        else:
            work_on(claim, queue, tools, stop.is_set)
    queue.close()


def work_on(claim: Claim, queue: Queue, tools: WorkerTools, stopping: Callable[[], bool]) -> None:
    """Handle a delivery and note what became of it."""
    about = {"delivery": claim.delivery.id, "repository": claim.delivery.repository}
    watchdog = threading.Timer(MOST_S, _give_up, (about,))
    watchdog.daemon = True
    watchdog.start()
    start = time.monotonic()
    try:
        done = handle(claim, tools, stopping)
    except Stopping:
        _note(lambda: queue.release(claim), stopping)
        _log.info("put back: the server stops", extra=about)
        return
    except StratwrightError as error:
        failure = error
        _note(lambda: _failed(claim, queue, failure, about), stopping)
    except Exception as error:
        _log.exception("a bug", extra=about)
        bug = StratwrightError(f"{type(error).__name__}: {error}")
        _note(lambda: _failed(claim, queue, bug, about), stopping)
    else:
        _note(lambda: queue.finish(claim, done.outcome, done.detail), stopping)
        _log.info("done", extra={**about, "outcome": done.outcome, "detail": done.detail})
    finally:
        watchdog.cancel()
    taken = observe("work", time.monotonic() - start)
    _note(lambda: queue.count(taken), stopping)


def _note(act: Callable[[], None], stopping: Callable[[], bool]) -> None:
    """Write to the queue, again and again while its disk is full; what was done is done."""
    while True:
        try:
            return act()
        except sqlite3.Error as error:
            _log.warning("the queue cannot be written", extra={"error": str(error)})
            if stopping():
                return None
            time.sleep(1.0)


def _failed(claim: Claim, queue: Queue, error: StratwrightError, about: dict[str, str]) -> None:
    """Try again later where that can help, else set it aside."""
    detail = redact(f"{error.message} {error.hint}".strip())
    reason = Reason.NOT_INSTALLED if isinstance(error, NotInstalled) else reason_of(error)
    extra = {**about, "reason": reason.value, "detail": detail, "attempts": claim.attempts}
    if claim.attempts >= most_attempts(error):
        queue.set_aside(claim, reason, detail)
        _log.error("set aside", extra=extra)
        return
    wait = max(float(getattr(error, "wait_s", 0.0)), backoff_s(claim.attempts))
    queue.retry(claim, wait, reason, detail)
    _log.warning("will be tried again", extra={**extra, "wait_s": round(wait, 1)})


def most_attempts(error: StratwrightError) -> int:
    """How often a delivery with this error is begun; three hours of an outage are sat out."""
    if isinstance(error, InputError):
        return 1
    if isinstance(error, Forbidden):
        return _MOST_FORBIDDEN
    most = {
        Reason.WORLD_FAILED: _MOST_WORLD,
        Reason.RATE_LIMIT: _MOST_WORLD,
        Reason.BUG: _MOST_BUGS,
    }
    return most.get(reason_of(error), 1)


def backoff_s(attempts: int) -> float:
    """Twice as long each time, and never the same for two."""
    wait = min(_FIRST_WAIT_S * 2.0 ** (attempts - 1), _LONGEST_BACKOFF_S)
    return wait * random.uniform(0.8, 1.2)  # noqa: S311 - spreads load, hides nothing


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _give_up(about: dict[str, str]) -> None:
    """Nothing takes that long: die, and let the next worker begin anew."""
    _log.error("a delivery took too long; this worker ends", extra=about)
    os._exit(1)
