"""Turns a process of the sandbox into one that sees Python, one folder, and no other run.

Every run of a job is a process of its own, but they share a sandbox: its /tmp, its /proc, and /job
with all candles of all runs. A strategy with a way to files could read the bars that were cut off,
or leave a note for the next run. Landlock, by which a process lays down its own rights, closes
this: afterwards the process and its children read libraries and their own folder, write to
nothing but /dev/null, see no other process in /proc and can signal none (Linux 6.12).

Where the kernel has no Landlock (before 5.13, or switched off) the runs go one at a time
and the harness empties what can be written to in between; `stratwright doctor` says so.
"""

import ctypes
import os
import shutil
import stat
import sys
from contextlib import suppress
from pathlib import Path

from sandbox_runner.port import JOB_FOLDER, WRITABLE

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446  # the same on every processor
_VERSION, _PATH_BENEATH = 1, 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE
# What each version of the interface can forbid: names moved between folders came with 2, cutting
# files off with 3, devices' commands with 5; 6 adds signals and sockets to other processes.
_HANDLED = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_SCOPED = 3
_CLOSED = (JOB_FOLDER, "/proc", "/dev", "/sys", *WRITABLE)
_DEVICES = ("null", "zero", "full", "random", "urandom")
_libc = ctypes.CDLL(None, use_errno=True)


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("ports", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def landlock_version() -> int:
    """Gives the kernel's version of Landlock, 0 if it has none."""
    return max(0, int(_libc.syscall(_CREATE, None, 0, _VERSION)))


def blind(folder: Path) -> None:
    """Give up every file but libraries and `folder`, and every other process.

    Raises:
        OSError: the kernel refused.
    """
    version = landlock_version()
    handled = _HANDLED[max(known for known in _HANDLED if known <= version)]
    rights = _Ruleset(handled, 0, _SCOPED if version >= 6 else 0)
    size = ctypes.sizeof(rights) if version >= 6 else 8
    rules = _call(_CREATE, ctypes.byref(rights), size, 0)
    try:
        for path in (*_libraries(), str(folder), "/proc/self"):
            _allow(rules, path, _READ)
        for name in _DEVICES:
            _allow(rules, f"/dev/{name}", _READ_FILE | _WRITE_FILE)
        _call(_RESTRICT, rules, 0)
    finally:
        os.close(rules)


def sweep() -> None:
    """Empty every place that a run can write to."""
    for place in WRITABLE:
        for entry in list(os.scandir(place)):
            with suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    os.unlink(entry.path)


def _libraries() -> list[str]:
    roots = [f"/{name}" for name in os.listdir("/") if f"/{name}" not in _CLOSED]
    # Python itself may lie below /tmp.
    return [*roots, sys.prefix, sys.base_prefix, sys.exec_prefix]


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # not there, so there is nothing to see
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= _FILE_RIGHTS
        rule = _Beneath(rights, place)
        _call(_ADD_RULE, rules, _PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(place)


def _call(number: int, *arguments: object) -> int:
    result = int(_libc.syscall(number, *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"Landlock refused: {os.strerror(code)}")
    return result
