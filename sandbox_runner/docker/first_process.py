"""Turns a container's first process into the keeper of one job: starts it, ends it, brings it out.

It runs inside the container, as the same user as the job. Nothing rests on its honesty: all it can
forge are the job's own outputs, which the job may forge anyway. It is there because /out is a
tmpfs that dies with the container: the job must be dead and the container alive when /out is read.
Nobody inside can kill process 1, and it is not dumpable, so the job cannot reach its memory.

Its input is one line, a mark that the job never sees; the next byte, or the end of the input (which
is also what the owner's death looks like), ends the job. Its answer comes after the mark, when
nothing but itself is alive: for each output `number taken|refused length`, a newline, the bytes.

Every job waits for it, so it imports as little as it can.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import ctypes
import marshal
import os
import select
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from sandbox_runner.inner_layout import Plan

_SET_DUMPABLE = 4
_SIGKILL = 9
_ORPHANS_MS = 100  # dead orphans count as processes until they are buried
_STOPPED = 137


def main() -> NoReturn:
    """Keep one job."""
    plan = marshal.loads(bytes.fromhex(sys.argv[1]))  # noqa: S302 - from the trusted side
    # Process 1 is deaf to every signal that it does not ask for, and Python asks for this one.
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)
    mark = _read_line()
    child = os.fork()
    if child == 0:
        _become(plan)
    code = _wait(child)
    _end_all()
    _answer(mark, plan)
    os._exit(code)


def _read_line() -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            os._exit(_STOPPED)
        line += byte
    return line[:-1]


def _become(plan: Plan) -> NoReturn:
    os.setsid()
    os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
    os.closerange(3, 256)
    os.chdir(plan["working_folder"])
    try:
        os.execve(plan["command"][0], plan["command"], plan["environment"])  # noqa: S606
    except OSError as error:
        os.write(2, f"{plan['command'][0]}: {error.strerror}\n".encode())
        os._exit(127)


def _wait(child: int) -> int:
    """Gives the job's exit code, 128 + n for signal n; also when the trusted side says stop."""
    poll = select.poll()
    poll.register(0, select.POLLIN | select.POLLHUP)
    poll.register(os.pidfd_open(child), select.POLLIN)
    while True:
        if 0 in [descriptor for descriptor, _ in poll.poll(_ORPHANS_MS)]:
            return _STOPPED
        pid = -1
        while pid != 0:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == child:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code


def _end_all() -> None:
    """Kill everything but ourselves; a fork that the first blow misses gets the next one."""
    while True:
        try:  # noqa: SIM105 - contextlib would be one more import
            os.kill(-1, _SIGKILL)
        except ProcessLookupError:
            pass
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _answer(mark: bytes, plan: Plan) -> None:
    _write(mark)
    if not plan["collect"]:
        return
    from sandbox_runner.outputs import collect

    folder = os.open(plan["out"], os.O_RDONLY | os.O_DIRECTORY)
    left = plan["limit"]
    for number, name in enumerate(plan["collect"]):
        collected = collect(folder, (name,), left)
        if name in collected.taken:
            word, content = "taken", collected.taken[name]
            left -= len(content)
        else:
            word, content = "refused", collected.refused[name].encode()
        _write(f"{number} {word} {len(content)}\n".encode())
        _write(content)


def _write(content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(1, view) :]
