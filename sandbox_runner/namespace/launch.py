"""Turns a job into the command line that makes its namespaces, for each of the two tools."""

import marshal
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox_runner.inner_layout import (
    HOUSE,
    Layout,
    Plan,
    candidate_links,
    command_of,
    environment_of,
    limits_of,
)
from sandbox_runner.namespace import confine
from sandbox_runner.port import (
    JOB_FOLDER,
    MEBIBYTE,
    OUT_FOLDER,
    PACKAGES_FOLDER,
    RUNNER_UID,
    SHARED_FOLDER,
    WRITABLE,
    Job,
)


@dataclass(frozen=True)
class Tool:
    """Holds a program, or a few, that make namespaces, and whether it is root who calls them."""

    name: str
    paths: tuple[str, ...]
    root: bool


@dataclass(frozen=True)
class Launch:
    """Holds what a command line is made of."""

    job: Job
    layout: Layout
    files: Mapping[str, int]  # path below /job -> open file
    channel: int
    memory_counted: bool
    # Makes bytes an open file: every process inside can read a command line, and host paths stand
    # in neither of the two things that are handed over so.
    hold: Callable[[bytes], int]

    @property
    def binds(self) -> list[tuple[str, str]]:
        """Gives the layout of every job, and the folders that this one shares with the host."""
        shared = self.job.shared.items()
        own = [(str(folder.resolve()), f"{SHARED_FOLDER}/{name}") for name, folder in shared]
        return [*self.layout.binds, *own]

    @property
    def links(self) -> list[tuple[str, str]]:
        """Gives the system's links, and the places of the candidate among our packages."""
        return [*self.layout.links, *candidate_links()]

    @property
    def writable(self) -> dict[str, int]:
        """Gives the folders that the job can write to, all of them in memory, and their sizes."""
        size = self.job.file_limit_mb * MEBIBYTE
        return dict.fromkeys(WRITABLE, size)


def bubblewrap_command(tool: Tool, launch: Launch) -> list[str]:
    """Bubblewrap makes namespaces and mounts.

    For an ordinary user it also makes the user namespace. Root needs none to mount, and mapped
    into one it would still be root to the kernel, which never counts root's processes: so
    the identity is changed inside, to a real unprivileged one, in a namespace of its own.
    """
    command = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    command += ["--unshare-cgroup-try", "--new-session", "--die-with-parent"]
    command += ["--hostname", "sandbox"]
    if tool.root:
        for capability in ("CAP_SETUID", "CAP_SETGID"):
            command += ["--cap-add", capability]
    else:
        uid = str(RUNNER_UID)
        command += ["--unshare-user", "--disable-userns", "--uid", uid, "--gid", uid]
    # First, because Python itself may lie below /tmp and must then be bound on top of it.
    for folder, size in launch.writable.items():
        if not folder.startswith("/dev/"):
            command += ["--perms", "1777", "--size", str(size), "--tmpfs", folder]
    # Folders that bubblewrap makes on the way to a target are closed to all but their owner.
    for folder in _folders_above(target for _, target in launch.binds):
        command += ["--perms", "0755", "--dir", folder]
    for source, target in launch.binds:
        command += ["--ro-bind", source, target]
    for path, target in launch.links:
        command += ["--symlink", target, path]
    command += ["--perms", "0755", "--tmpfs", JOB_FOLDER]
    for folder in _folders_above(f"{JOB_FOLDER}/{path}" for path in launch.files):
        command += ["--perms", "0755", "--dir", folder]
    for path, descriptor in launch.files.items():
        command += ["--perms", "0444", "--file", str(descriptor), f"{JOB_FOLDER}/{path}"]
    command += ["--remount-ro", JOB_FOLDER, "--proc", "/proc", "--dev", "/dev"]
    for folder, size in launch.writable.items():
        if folder.startswith("/dev/"):
            command += ["--perms", "1777", "--size", str(size), "--tmpfs", folder]
    command += ["--remount-ro", "/dev", "--remount-ro", "/"]
    plan = _plan(launch) | {
        "mounts": None,
        "give_up_root": tool.root,
        "own_user_namespace": tool.root,
    }
    arguments = launch.hold(b"".join(word.encode() + b"\0" for word in command))
    start = _confine(launch, PACKAGES_FOLDER, plan)
    return [tool.paths[0], "--args", str(arguments), "--", *start]


def util_linux_command(tool: Tool, launch: Launch) -> list[str]:
    """Unshare makes the namespaces; the mounts are made inside, by `mounts.py`.

    `setpriv --pdeathsig` ends unshare with us, `--kill-child` ends the sandbox with unshare.
    """
    unshare, setpriv = tool.paths
    command = [setpriv, "--pdeathsig", "KILL", "--", unshare, "--mount", "--pid", "--net", "--ipc"]
    command += ["--uts", "--cgroup", "--fork", "--kill-child=SIGKILL"]
    if not tool.root:
        command += ["--user", "--map-root-user"]
    mounts = {
        "binds": launch.binds,
        "links": launch.links,
        "files": [(number, f"{JOB_FOLDER}/{path}") for path, number in launch.files.items()],
        "folders": launch.writable,
        "sealed": JOB_FOLDER,
    }
    plan = _plan(launch) | {
        "mounts": mounts,
        "give_up_root": tool.root,
        "own_user_namespace": True,
    }
    return [*command, "--", *_confine(launch, str(HOUSE), plan)]


def _folders_above(paths: Iterable[str]) -> list[str]:
    return sorted({str(above) for path in paths for above in Path(path).parents} - {"/"})


def _confine(launch: Launch, packages: str, plan: Plan) -> list[str]:
    """Gives the first step inside; imported, not run as a script, so that it is compiled once."""
    start = (
        "import marshal, sys; plan = marshal.load(open(int(sys.argv[1]), 'rb')); "
        f"sys.path.insert(0, plan['packages']); from {confine.__name__} import main; main(plan)"
    )
    held = launch.hold(marshal.dumps(plan | {"packages": packages}))
    return [launch.layout.python, "-I", "-S", "-B", "-c", start, str(held)]


def _plan(launch: Launch) -> Plan:
    job = launch.job
    return {
        "uid": RUNNER_UID,
        "working_folder": JOB_FOLDER,
        "out": OUT_FOLDER,
        "channel": launch.channel,
        "limits": _limits(job, launch.memory_counted),
        "command": command_of(job, launch.layout.python),
        "environment": environment_of(job, launch.layout.python),
    }


def _limits(job: Job, memory_counted: bool) -> dict[str, int]:
    limits = {f"RLIMIT_{name.upper()}": value for name, value in limits_of(job).items()}
    limits["RLIMIT_NPROC"] = job.processes + 1  # the tool's process 1 counts as well
    if not memory_counted:
        limits["RLIMIT_DATA"] = job.memory_mb * MEBIBYTE
    return limits
