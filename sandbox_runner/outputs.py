"""Turns a folder that hostile code has filled into bytes, refusing all that is not a plain file.

Every step of a path is opened without following links, so no link can lead the reader out of the
folder; nothing is opened for longer than it takes to see what it is. Call it only after every
process that can write there is dead.
"""

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a FIFO that nobody writes to would wait for ever.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(frozen=True)
class Collected:
    """Files that were taken, and those that were not, with the reason."""

    taken: dict[str, bytes]
    refused: dict[str, str]


class _Refused(Exception):
    """This entry is not taken; the text says why."""


def collect(folder: int, names: Iterable[str], limit: int) -> Collected:
    """Read the named regular files below an open folder, `limit` bytes for all of them together."""
    taken: dict[str, bytes] = {}
    refused: dict[str, str] = {}
    left = limit
    for name in names:
        try:
            taken[name] = _read(folder, name, left)
        except _Refused as reason:
            refused[name] = str(reason)
        else:
            left -= len(taken[name])
    return Collected(taken, refused)


def _read(folder: int, name: str, limit: int) -> bytes:
    *parents, last = name.split("/")
    current = os.dup(folder)
    try:
        for parent in parents:
            inner = _open(parent, _FOLDER, current)
            os.close(current)
            current = inner
        file = _open(last, _FILE, current)
    finally:
        os.close(current)
    try:
        return _read_regular(file, limit)
    finally:
        os.close(file)


def _open(name: str, flags: int, folder: int) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except FileNotFoundError:
        raise _Refused("it was not written") from None
    except OSError as error:
        raise _Refused(f"it is not a plain file ({error.strerror})") from None


def _read_regular(file: int, limit: int) -> bytes:
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode):
        raise _Refused("it is not a plain file")
    if status.st_size > limit:
        raise _Refused(f"it has {status.st_size} bytes, {limit} are allowed")
    content = b""
    # One byte more than allowed is asked for, so that a lying size cannot pass the limit.
    while len(content) <= limit and (more := os.read(file, min(1 << 20, limit + 1 - len(content)))):
        content += more
    if len(content) > limit:
        raise _Refused(f"it has more than {limit} bytes")
    return content
