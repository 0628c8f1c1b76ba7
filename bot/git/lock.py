"""One run at a time for each task: a lock that the kernel lets go of when its holder dies."""

import contextlib
import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bot.errors import WorldError

_PAUSE_S = 0.05
_threads: dict[str, threading.RLock] = {}
_depth: dict[str, int] = {}
_guard = threading.Lock()


@contextlib.contextmanager
def hold(
    path: Path, what: str, timeout_s: float, on_wait: Callable[[str], None] | None = None
) -> Iterator[None]:
    """Hold a lock; entering again from the same thread is fine.

    flock belongs to the open file: a killed process has let go before its parent hears of it, and
    children never inherit it. The file is removed on the way out, so none is left behind.

    Raises:
        WorldError: if another holds it for longer than timeout_s.
    """
    key = str(path)
    with _guard:
        turn = _threads.setdefault(key, threading.RLock())
    deadline = time.monotonic() + timeout_s
    if not turn.acquire(blocking=False):
        _tell(on_wait, what)
        if not turn.acquire(timeout=timeout_s):
            raise _busy(what, timeout_s)
    try:
        if _depth.get(key):
            yield
            return
        descriptor = _acquire(path, what, deadline, timeout_s, on_wait)
        _depth[key] = 1
        try:
            yield
        finally:
            _depth[key] = 0
            # Removed while held: whoever opened it before sees that the name is gone and retries.
            with contextlib.suppress(OSError):
                path.unlink()
            os.close(descriptor)
    finally:
        turn.release()


def _acquire(
    path: Path,
    what: str,
    deadline: float,
    timeout_s: float,
    on_wait: Callable[[str], None] | None,
) -> int:
    told = False
    while True:
        descriptor = _try(path)
        if descriptor is not None:
            return descriptor
        if time.monotonic() > deadline:
            raise _busy(what, timeout_s)
        if not told:
            _tell(on_wait, what)
            told = True
        time.sleep(_PAUSE_S)


def _try(path: Path) -> int | None:
    """Lock the file that stands at the path now; None if another holds it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        message = f"cannot write {path}: {error.strerror}"
        raise WorldError(message, "Check the disk and the permissions under .git.") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_ino == path.stat().st_ino:
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(descriptor)
    return None


def _tell(on_wait: Callable[[str], None] | None, what: str) -> None:
    if on_wait:
        on_wait(f"waiting for another run of {what}")


def _busy(what: str, timeout_s: float) -> WorldError:
    message = f"another run of {what} has not ended within {timeout_s:g} s"
    return WorldError(message, "Wait for it, or stop it, and run again.")
