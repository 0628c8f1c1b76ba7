"""Turns the first process of a sandbox into the job's command, with every right laid down.

It runs inside, before any untrusted code: it mounts (only where bubblewrap did not), gives up
root, capabilities, system calls and limits, hands the trusted side an open /out and a handle
on the sandbox's first process, and becomes the command.

Every job pays for its start, so it imports as little as it can: `_socket` for `socket` saves 5 ms,
and `typing` is for the type checker alone.
"""

from __future__ import annotations

import _socket
import ctypes
import os
import resource
import sys

from sandbox_runner.namespace.syscalls import install_filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from sandbox_runner.inner_layout import Plan

_CLONE_NEWUSER = 0x10000000
_SET_PDEATHSIG, _SET_DUMPABLE, _CAPBSET_DROP, _SET_NO_NEW_PRIVS = 1, 4, 24, 38
_LAST_CAPABILITY = 40
_SIGKILL = 9
_CAPABILITY_VERSION = 0x20080522
_libc = ctypes.CDLL(None, use_errno=True)

# Exit code of a sandbox that could not be set up. The trusted side does not rely on it: without
# the hand-over of /out the job counts as never started.
SETUP_FAILED = 125


def main(plan: Plan) -> NoReturn:
    """Follow the plan of `launch.py` and become the command."""
    try:
        _set_up(plan)
    except Exception as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
        os._exit(SETUP_FAILED)
    if plan["mounts"] is not None and (child := os.fork()):
        _reap(child)
    _limit(plan["limits"])
    os.execve(plan["command"][0], plan["command"], plan["environment"])  # noqa: S606


def _set_up(plan: Plan) -> None:
    if plan["mounts"] is not None:
        from sandbox_runner.namespace.mounts import build_root

        build_root(**plan["mounts"])
        _socket.sethostname("sandbox")
    if plan["give_up_root"]:
        _become(plan["uid"])
    if plan["own_user_namespace"]:
        _enter_user_namespace(plan["uid"])
    _drop_capabilities()
    _prctl(_SET_NO_NEW_PRIVS, 1)
    os.chdir(plan["working_folder"])
    if plan["mounts"] is not None:
        # A change of identity takes the death signal away that unshare had asked for.
        _prctl(_SET_PDEATHSIG, _SIGKILL)
    install_filter()
    _hand_over(plan["channel"], plan["out"])


def _become(uid: int) -> None:
    """Becomes a real unprivileged user: the kernel does not count root's processes."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    _prctl(_SET_DUMPABLE, 1)  # or /proc/self would belong to root, and the maps with it


def _enter_user_namespace(uid: int) -> None:
    """Enters a namespace that knows a single user and lets nobody make another one."""
    outer_uid, outer_gid = os.getuid(), os.getgid()
    _check(_libc.unshare(_CLONE_NEWUSER), "make a user namespace")
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{uid} {outer_uid} 1")
    _write("/proc/self/gid_map", f"{uid} {outer_gid} 1")
    _write("/proc/sys/user/max_user_namespaces", "0")


def _drop_capabilities() -> None:
    for capability in range(_LAST_CAPABILITY + 1):
        # Without the right to drop them there are none to be gained either: no_new_privs follows.
        _libc.prctl(_CAPBSET_DROP, capability, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    _check(_libc.capset(header, (ctypes.c_uint32 * 6)()), "drop all capabilities")


def _hand_over(channel: int, out: str) -> None:
    """Send an open /out and a handle on process 1; when that is dead, so is all the rest."""
    folder = os.open(out, os.O_RDONLY | os.O_DIRECTORY)
    first = os.pidfd_open(1)
    sender = _socket.socket(fileno=channel)
    handles = b"".join(handle.to_bytes(4, sys.byteorder) for handle in (folder, first))
    sender.sendmsg([b"ready"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, handles)])
    sender.close()
    os.close(folder)
    os.close(first)


def _limit(limits: dict[str, int]) -> None:
    for name, value in limits.items():
        resource.setrlimit(getattr(resource, name), (value, value))


def _reap(child: int) -> NoReturn:
    """Be the sandbox's process 1: bury the dead, and end everything when the command ends."""
    # Its memory still holds the plan, and the job has the same user.
    _prctl(_SET_DUMPABLE, 0)
    for descriptor in (0, 1, 2):
        os.close(descriptor)
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def _prctl(option: int, value: int) -> None:
    _check(_libc.prctl(option, value, 0, 0, 0), f"set process option {option}")


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"could not {what}: {os.strerror(number)}")
