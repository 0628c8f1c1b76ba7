"""Turns a mount plan into the whole file system of a sandbox, where bubblewrap is not there.

Runs as the first process of fresh namespaces that util-linux's unshare has made. The recipe is
bubblewrap's: an empty tmpfs becomes the root, the old root hangs below it while the binds are
made, and is let go at the end.
"""

from __future__ import annotations

import ctypes
import os

_RDONLY, _NOSUID, _NODEV, _NOEXEC, _REMOUNT, _BIND, _REC, _PRIVATE = (
    *(1, 2, 4, 8, 32, 4096, 16384, 1 << 18),
)
_DETACH = 2
_SYS_MOUNT_SETATTR, _SYS_PIVOT_ROOT = 442, {"x86_64": 155, "aarch64": 41}
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_DEVICES = ("full", "null", "random", "urandom", "zero")
_libc = ctypes.CDLL(None, use_errno=True)


def build_root(
    binds: list[tuple[str, str]],
    links: list[tuple[str, str]],
    files: list[tuple[int, str]],
    folders: dict[str, int],
    sealed: str,
) -> None:
    """Make this file system the only one that this process and its children see.

    Args:
        binds: host path and inner path of what is shown read-only.
        links: inner path and target.
        files: open file and inner path, copied into the sealed folder.
        folders: writable folders in memory, and their sizes in bytes.
        sealed: the folder of the files, read-only once they are there.
    """
    base = "/tmp"  # noqa: S108 - any folder will do: it is covered only inside this mount namespace
    _mount("none", "/", "", _REC | _PRIVATE)
    _mount("tmpfs", base, "tmpfs", _NOSUID | _NODEV, "mode=0755,size=64m")
    os.mkdir(f"{base}/new")
    os.mkdir(f"{base}/old")
    _pivot(base, f"{base}/old")
    os.chdir("/")
    _mount("tmpfs", "/new", "tmpfs", _NOSUID | _NODEV, "mode=0755,size=1m")
    # First, because Python itself may lie below /tmp and must then be bound on top of it.
    _in_memory({path: size for path, size in folders.items() if not path.startswith("/dev/")})
    for source, target in binds:
        _bind("/old" + source, "/new" + target)
    for path, target in links:
        os.makedirs(os.path.dirname("/new" + path), exist_ok=True)
        os.symlink(target, "/new" + path)
    _fill(files, sealed)
    _devices()
    _in_memory({path: size for path, size in folders.items() if path.startswith("/dev/")})
    os.makedirs("/new/proc")
    _mount("proc", "/new/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
    _read_only("/new/dev", recursive=False)
    _read_only("/new", recursive=False)
    _enter("/new")


def _in_memory(folders: dict[str, int]) -> None:
    """Mount writable folders of these sizes."""
    for folder, size in folders.items():
        os.makedirs("/new" + folder, exist_ok=True)
        _mount("tmpfs", "/new" + folder, "tmpfs", _NOSUID | _NODEV, f"mode=1777,size={size}")


def _fill(files: list[tuple[int, str]], sealed: str) -> None:
    os.mkdir("/new" + sealed)
    _mount("tmpfs", "/new" + sealed, "tmpfs", _NOSUID | _NODEV, "mode=0755")
    for descriptor, path in files:
        os.makedirs(os.path.dirname("/new" + path), exist_ok=True)
        with open(descriptor, "rb") as source, open("/new" + path, "xb") as target:
            while chunk := source.read(1 << 20):
                target.write(chunk)
    _read_only("/new" + sealed, recursive=False)


def _devices() -> None:
    os.mkdir("/new/dev")
    _mount("tmpfs", "/new/dev", "tmpfs", _NOSUID, "mode=0755,size=64k")
    for name in _DEVICES:
        with open(f"/new/dev/{name}", "xb"):
            pass
        _mount(f"/old/dev/{name}", f"/new/dev/{name}", "", _BIND)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{number}", f"/new/dev/{name}")
    os.symlink("/proc/self/fd", "/new/dev/fd")
    os.mkdir("/new/dev/shm")


def _bind(source: str, target: str) -> None:
    """Bind, then close for writing with everything mounted below it."""
    # Links on the way are resolved against the old root, or they would leave it.
    source = _resolve(source)
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "xb"):
            pass
    _mount(source, target, "", _BIND | _REC)
    _read_only(target, recursive=True)


def _resolve(path: str) -> str:
    resolved = "/old"
    parts = path.removeprefix("/old").split("/")[::-1]
    for _ in range(1000):
        if not parts:
            return resolved
        part = parts.pop()
        if part in ("", "."):
            continue
        if part == "..":
            resolved = os.path.dirname(resolved) if resolved != "/old" else resolved
        elif os.path.islink(f"{resolved}/{part}"):
            link = os.readlink(f"{resolved}/{part}")
            resolved = "/old" if link.startswith("/") else resolved
            parts += link.split("/")[::-1]
        else:
            resolved = f"{resolved}/{part}"
    raise OSError(f"too many links on the way to {path.removeprefix('/old')}")


def _enter(root: str) -> None:
    os.chdir("/old")
    # The old root is let go before the new one is entered: nothing of it has a name any more.
    _check(_libc.umount2(b"/old", _DETACH), "let go of the host's file system")
    os.chdir(root)
    _pivot(".", ".")
    _check(_libc.umount2(b".", _DETACH), "let go of the setup's file system")
    os.chdir("/")


def _read_only(path: str, recursive: bool) -> None:
    attributes = (ctypes.c_uint64 * 4)(_RDONLY | _NOSUID, 0, 0, 0)
    flags = _AT_RECURSIVE if recursive else 0
    result = _libc.syscall(
        _SYS_MOUNT_SETATTR, _AT_FDCWD, path.encode(), flags, attributes, ctypes.sizeof(attributes)
    )
    _check(result, f"make {path} read-only (Linux 5.12 or newer is needed)")


def _pivot(new: str, old: str) -> None:
    number = _SYS_PIVOT_ROOT[os.uname().machine]
    _check(_libc.syscall(number, new.encode(), old.encode()), f"make {new} the root")


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    data = options.encode() or None
    result = _libc.mount(source.encode(), target.encode(), kind.encode(), flags, data)
    _check(result, f"mount {source} on {target}")


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"could not {what}: {os.strerror(number)}")
