"""Turns a job into the description of its container, as Docker's API takes it.

The list is the whole of what a container gets: nothing here comes from the engine's configuration.
"""

import marshal
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sandbox_runner.docker import first_process
from sandbox_runner.inner_layout import command_of, environment_of, limits_of
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

# A part of what Docker's API takes.
Description = dict[str, Any]
_PYTHON_INSIDE = "/usr/local/bin/python"
_PROFILE = Path(__file__).resolve().parent / "seccomp.json"
# Empty files cost no space of a tmpfs; the number of files is limited as well.
_FILES = 65536
# Docker's own list, and three more: nothing of the host's hardware is a guest's business, and a
# message queue is a way to memory that is not counted.
_MASKED = (
    *("/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys"),
    *("/proc/latency_stats", "/proc/sched_debug", "/proc/scsi", "/proc/timer_list"),
    *("/proc/timer_stats", "/sys", "/dev/mqueue"),
)
_READ_ONLY = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")


@dataclass(frozen=True)
class Places:
    """Holds the host's folders that a container sees, all of them read-only."""

    job: Path
    packages: Path


def describe_container(
    job: Job, image: str, places: Places, labels: dict[str, str], cpus: float
) -> Description:
    """Gives the body of POST /containers/create."""
    return {
        "Image": image,
        "User": f"{RUNNER_UID}:{RUNNER_UID}",
        "Cmd": _command(job),
        "Env": ["PATH=/usr/local/bin"],
        "WorkingDir": JOB_FOLDER,
        "Hostname": "sandbox",
        "NetworkDisabled": True,
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "OpenStdin": True,
        # The owner's death closes the connection, and with it the input of process 1.
        "StdinOnce": True,
        "Tty": False,
        "Labels": labels,
        "HostConfig": _host_config(job, places, cpus),
    }


def _host_config(job: Job, places: Places, cpus: float) -> Description:
    memory = job.memory_mb * MEBIBYTE
    return {
        "NetworkMode": "none",
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges", f"seccomp={_profile()}"],
        # Process 1 is one of them, the job another.
        "PidsLimit": max(2, job.processes),
        "Memory": memory,
        "MemorySwap": memory,
        "NanoCpus": round(cpus * 1_000_000_000),
        "IpcMode": "none",
        "CgroupnsMode": "private",
        "LogConfig": {"Type": "none", "Config": {}},
        "RestartPolicy": {"Name": "no"},
        # No nproc: the kernel counts it per user, over all containers together.
        "Ulimits": [{"Name": n, "Soft": v, "Hard": v} for n, v in limits_of(job).items()],
        "Tmpfs": _writable(job),
        "Mounts": _mounts(job, places),
        "MaskedPaths": list(_MASKED),
        "ReadonlyPaths": list(_READ_ONLY),
    }


def _command(job: Job) -> list[str]:
    """Gives the arguments of the image's entry point, `python -u`."""
    plan = {
        "working_folder": JOB_FOLDER,
        "out": OUT_FOLDER,
        "collect": list(job.collect),
        "limit": job.file_limit_mb * MEBIBYTE,
        "command": command_of(job, _PYTHON_INSIDE),
        "environment": environment_of(job, _PYTHON_INSIDE),
    }
    start = (
        f"import sys; sys.path.insert(0, {PACKAGES_FOLDER!r}); "
        f"from {first_process.__name__} import main; main()"
    )
    return ["-I", "-S", "-B", "-c", start, marshal.dumps(plan).hex()]


def _writable(job: Job) -> dict[str, str]:
    size = job.file_limit_mb * MEBIBYTE
    options = f"rw,nosuid,nodev,noexec,size={size},nr_inodes={_FILES},mode=1777"
    return dict.fromkeys(WRITABLE, options)


def _mounts(job: Job, places: Places) -> list[Description]:
    folders = {JOB_FOLDER: places.job, PACKAGES_FOLDER: places.packages}
    folders |= {f"{SHARED_FOLDER}/{name}": path.resolve() for name, path in job.shared.items()}
    return [
        {
            "Type": "bind",
            "Source": str(source),
            "Target": target,
            "ReadOnly": True,
            "BindOptions": {"Propagation": "rprivate", "NonRecursive": True},
        }
        for target, source in folders.items()
    ]


@cache
def _profile() -> str:
    return _PROFILE.read_text("utf-8")
