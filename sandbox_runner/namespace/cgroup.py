"""Turns memory and process limits into a control group of the job's own, where one can be made.

Root usually can; an ordinary user can where systemd has delegated a subtree. The group is made
below our own (version 1) or beside it (version 2, where a group with processes has no children
with limits), so every limit that already holds for us holds for the job too.
"""

import os
import secrets
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_MEBIBYTE = 1024 * 1024
_PREFIX = "stratwright-"
_TRIED: dict[Path, bool] = {}  # group -> whether a process of ours may enter one below it


@dataclass(frozen=True)
class Membership:
    """Describes a hierarchy that we are part of: its controllers, our folder, whether it is v2."""

    controllers: frozenset[str]
    folder: Path
    unified: bool


@dataclass(frozen=True)
class ControlGroup:
    """Holds the folders that limit one job; a process enters by its id into `entrances`."""

    folders: tuple[Path, ...]

    @property
    def entrances(self) -> tuple[Path, ...]:
        """Gives the files that take a process id."""
        return tuple(folder / "cgroup.procs" for folder in self.folders)

    def killed_for_memory(self) -> bool:
        """Says whether the kernel has killed a member because the group was full."""
        for folder in self.folders:
            for name in ("memory.events", "memory.oom_control"):
                with suppress(OSError):
                    if _counter((folder / name).read_text("ascii"), "oom_kill") > 0:
                        return True
        return False

    def remove(self) -> None:
        """Take the folders away; the kernel needs a moment after the last member's death."""
        for folder in self.folders:
            for _ in range(100):
                try:
                    folder.rmdir()
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.01)
                else:
                    break


def make_group(memory_mb: int, processes: int) -> ControlGroup | None:
    """Makes a group with both limits, or None where memory cannot be limited this way."""
    made: list[Path] = []
    name = f"{_PREFIX}{os.getpid()}-{secrets.token_hex(8)}"
    memory_limited = False
    memberships = read_memberships()
    _sweep(memberships)
    for membership in memberships:
        limits = _limits(membership, memory_mb, processes)
        folder = _parent(membership) / name
        if limits and _make(folder, limits):
            made.append(folder)
            memory_limited = memory_limited or "memory" in membership.controllers
    group = ControlGroup(tuple(made))
    if memory_limited:
        return group
    group.remove()
    return None


def read_memberships(proc: Path = Path("/proc/self")) -> list[Membership]:
    """Tells where we stand in each mounted hierarchy that limits memory or processes."""
    mounts = _mounted((proc / "mountinfo").read_text("utf-8").splitlines())
    found = []
    for line in (proc / "cgroup").read_text("utf-8").splitlines():
        _, names, path = line.split(":", 2)
        unified = names == ""
        for options, root, point in mounts:
            if (options is None) != unified or (options and not set(names.split(",")) <= options):
                continue
            folder = point / os.path.relpath(path, root)
            controllers = _available(folder) if unified else frozenset(names.split(","))
            found.append(Membership(controllers & {"memory", "pids"}, folder, unified))
            break
    return [membership for membership in found if membership.controllers]


def _sweep(memberships: Iterable[Membership]) -> None:
    """Remove what a killed process could not: empty groups whose maker is gone."""
    for membership in memberships:
        with suppress(OSError):
            for folder in _parent(membership).glob(f"{_PREFIX}*"):
                maker = folder.name.removeprefix(_PREFIX).partition("-")[0]
                if not Path("/proc", maker).exists():
                    with suppress(OSError):
                        folder.rmdir()


def _mounted(lines: Iterable[str]) -> list[tuple[frozenset[str] | None, str, Path]]:
    """Control group mounts: version 1's options (None for version 2), root, mount point."""
    mounts: list[tuple[frozenset[str] | None, str, Path]] = []
    for line in lines:
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        root, point = before.split(" ")[3:5]
        if kind == "cgroup2":
            mounts.append((None, root, Path(point)))
        elif kind == "cgroup":
            mounts.append((frozenset(options.split(",")), root, Path(point)))
    return mounts


def _available(folder: Path) -> frozenset[str]:
    """Gives the controllers that a sibling of our version 2 group would have."""
    with suppress(OSError):
        return frozenset((folder.parent / "cgroup.subtree_control").read_text("ascii").split())
    return frozenset()


def _parent(membership: Membership) -> Path:
    return membership.folder.parent if membership.unified else membership.folder


def _limits(membership: Membership, memory_mb: int, processes: int) -> list[tuple[str, str, bool]]:
    """File, value, and whether the file must be there (swap accounting often is not)."""
    memory = str(memory_mb * _MEBIBYTE)
    limits: list[tuple[str, str, bool]] = []
    if "memory" in membership.controllers and membership.unified:
        limits += [("memory.max", memory, True), ("memory.swap.max", "0", False)]
        limits += [("memory.oom.group", "1", False)]
    elif "memory" in membership.controllers:
        limits += [("memory.limit_in_bytes", memory, True)]
        limits += [("memory.memsw.limit_in_bytes", memory, False)]
    if "pids" in membership.controllers:
        limits += [("pids.max", str(processes), True)]
    return limits


def _make(folder: Path, limits: list[tuple[str, str, bool]]) -> bool:
    try:
        folder.mkdir()
    except OSError:
        return False
    for file, value, needed in limits:
        try:
            (folder / file).write_text(value, "ascii")
        except OSError:
            if needed:
                folder.rmdir()
                return False
    # Entering must work as well: a user may own a folder and still not be let in, because version
    # 2 asks for a right on the group above both. Only a process that tries can tell.
    if not _lets_in(folder):
        with suppress(OSError):
            folder.rmdir()
        return False
    return True


def _lets_in(folder: Path) -> bool:
    parent = folder.parent
    if parent not in _TRIED:
        enter = ["/bin/sh", "-c", 'echo $$ > "$1"', "sh", str(folder / "cgroup.procs")]
        tried = subprocess.run(enter, check=False, capture_output=True)  # noqa: S603 - our own words
        _TRIED[parent] = tried.returncode == 0
    return _TRIED[parent]


def _counter(text: str, name: str) -> int:
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        if key == name and value.isdigit():
            return int(value)
    return 0
