"""A worker as its server sees it: started, and alive for as long as the kernel keeps its lock."""

import fcntl
import os
from pathlib import Path

from bot.server.settings import ServerSettings


def lock_path(state: Path, name: str) -> Path:
    """The lock of a worker."""
    return state / "workers" / f"{name}.lock"


def hold_lock(state: Path, name: str) -> int:
    """Take a worker's lock until the process ends."""
    path = lock_path(state, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def is_alive(state: Path, name: str) -> bool:
    """Whether a worker lives: the kernel knows."""
    try:
        descriptor = os.open(lock_path(state, name), os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    lock_path(state, name).unlink(missing_ok=True)
    return False


def work(settings: ServerSettings, name: str) -> None:
    """Be a worker; what the line needs is loaded in its process, never in the server's."""
    from bot.server.worker import run

    run(settings, name)
