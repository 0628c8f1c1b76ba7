"""Turns the process tree of a sandbox into the memory it holds, where no control group counts it.

A process limit cannot see that sixty-four processes each take their share; this adds them up from
outside. It is a sampler, so a burst between two looks can pass: each process is limited as well.
"""

import os
from contextlib import suppress
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")


def pid_of(pidfd: int) -> int:
    """Gives the process id behind a pidfd, -1 when it is dead."""
    for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text("ascii").splitlines():
        if line.startswith("Pid:"):
            return int(line.split()[1])
    return -1


def exceeds(root: int, limit: int) -> bool:
    """Says whether a process and all below it hold more than `limit` bytes."""
    tree = _tree(root)
    if sum(_resident(pid) for pid in tree) <= limit:
        return False
    # Pages that a fork shares were counted once per process above; the dear figure divides them.
    return sum(_proportional(pid) for pid in tree) > limit


def _tree(root: int) -> list[int]:
    tree = [root]
    for pid in tree:  # grows while it is walked
        with suppress(OSError):
            for task in os.listdir(f"/proc/{pid}/task"):
                children = Path(f"/proc/{pid}/task/{task}/children").read_text("ascii")
                tree.extend(int(child) for child in children.split())
    return tree


def _resident(pid: int) -> int:
    with suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * _PAGE
    return 0


def _proportional(pid: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0
