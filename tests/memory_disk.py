"""A disk in memory for what tests write: Git waits for a real one at every object."""

import os
import shutil
from pathlib import Path

_ROOM = 2**31
_PLACE = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it


def memory_disk() -> Path | None:
    """Where thousands of small repositories cost no disk; None if this machine has no room.

    Not for interpreters and what else the sandbox shows inside: it has a /dev of its own.
    """
    roomy = _PLACE.is_dir() and shutil.disk_usage(_PLACE).free > _ROOM
    return _PLACE if roomy and os.access(_PLACE, os.W_OK) else None
