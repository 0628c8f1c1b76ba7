"""Append-only files of lines that several programs write at once: whole lines or nothing."""

import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bot.errors import WorldError

_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


@dataclass(frozen=True)
class Line:
    """A whole line, without its end, and the place in the file behind it."""

    data: bytes
    end: int


def append_line(path: Path, line: bytes, *, keep: int = 0, limit: int = 0) -> None:
    """Append one line, in one write, under a lock that dies with its holder.

    A torn line that a crash left is closed first, so that it spoils nothing but itself. If the
    disk takes only a part of the line, the part is taken back.

    Args:
        path: the file; folders are made.
        line: without its end; must not contain one.
        keep: how many full files to keep beside it, as `.1` (newest) and on.
        limit: bytes from which on the file counts as full; 0 for no limit.

    Raises:
        WorldError: if the disk does not take it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = _open_locked(path)
        try:
            if limit and os.fstat(descriptor).st_size >= limit:
                _turn_over(path, keep)
                os.close(descriptor)
                descriptor = _open_locked(path)
            _write(descriptor, line.replace(b"\n", b" ") + b"\n")
        finally:
            os.close(descriptor)
    except OSError as error:
        message = f"cannot append to {path}: {error.strerror}"
        raise WorldError(message, "Check the disk and the permissions of the file.") from None


def read_lines(path: Path, start: int = 0) -> Iterator[Line]:
    """Read the whole lines from a place on; a last line without its end is still being written."""
    try:
        with path.open("rb") as file:
            file.seek(start)
            for data in file:
                if not data.endswith(b"\n"):
                    return
                start += len(data)
                yield Line(data[:-1], start)
    except FileNotFoundError:
        return


def _open_locked(path: Path) -> int:
    """Lock the file that stands at the path now; another program may just have turned it over."""
    while True:
        descriptor = os.open(path, _FLAGS, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.fstat(descriptor).st_ino == path.stat().st_ino:
                return descriptor
        except FileNotFoundError:
            pass
        os.close(descriptor)


def _write(descriptor: int, data: bytes) -> None:
    size = os.fstat(descriptor).st_size
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        data = b"\n" + data
    try:
        complete = os.write(descriptor, data) == len(data)
    except OSError:
        os.ftruncate(descriptor, size)
        raise
    if not complete:
        os.ftruncate(descriptor, size)
        raise OSError(0, "the disk took only a part of the line")


def _turn_over(path: Path, keep: int) -> None:
    """Move the full file aside; once it has moved, another program may have begun the next."""
    if keep == 0:
        path.unlink(missing_ok=True)
    for number in range(keep, 0, -1):
        older = path.with_name(f"{path.name}.{number}")
        newer = path.with_name(f"{path.name}.{number - 1}") if number > 1 else path
        if newer.exists():
            newer.replace(older)
