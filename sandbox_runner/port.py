"""Turns a job for untrusted code into its outcome, whichever sandbox runs it: the port.

What comes out of a sandbox is data of unknown honesty. The code inside can write any file, print
anything and exit with any code; an `Outcome` says what arrived, never that it is true.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

# As the first word of a command: the interpreter that the provider offers inside.
PYTHON = "python"
JOB_FOLDER = "/job"
OUT_FOLDER = "/out"
# The only place of our own code inside; see `inner_layout.py`.
PACKAGES_FOLDER = "/packages"
SHARED_FOLDER = "/shared"
RUNNER_UID = 10001
MEBIBYTE = 1024 * 1024
# The folders that a job can write to, all of them in memory.
WRITABLE = ("/tmp", OUT_FOLDER, "/dev/shm")  # noqa: S108 - the sandbox's own
KINDS = ("auto", "docker", "namespace", "bubblewrap", "util-linux")


class SandboxUnavailable(Exception):
    """Nothing here can isolate, or the sandbox itself failed; the job did not run to its end."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def _usual(name: str) -> Any:
    """The limit of RULE-004; the pages are outside, where jobs are made."""
    from sandbox_runner.rules import LIMITS

    return LIMITS[name]


@dataclass(frozen=True)
class Limits:
    """Holds what each job in the sandbox may use."""

    time_s: float = field(default_factory=partial(_usual, "time_s"))
    memory_mb: int = field(default_factory=partial(_usual, "memory_mb"))


@dataclass(frozen=True)
class Job:
    """Holds one command for the inside, with everything that it may see and use.

    A job names no provider, so that the same value can go to a container, to a
    namespace, or to a warm process that has imported the libraries and forks for every job.
    """

    command: tuple[str, ...]
    files: Mapping[str, bytes]  # path below /job -> bytes; read-only inside
    collect: tuple[str, ...] = ()  # paths below /out that are read back
    shared: Mapping[str, Path] = field(default_factory=dict)  # name below /shared -> host folder
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = field(default_factory=partial(_usual, "time_s"))
    memory_mb: int = field(default_factory=partial(_usual, "memory_mb"))
    processes: int = field(default_factory=partial(_usual, "processes"))
    # Bytes kept of stdout, and as many of stderr.
    output_limit: int = field(default_factory=partial(_usual, "output_bytes"))
    # One file, and all of /out together.
    file_limit_mb: int = field(default_factory=partial(_usual, "file_mb"))
    hash_seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what no provider could run; the mistake is the caller's, so it is a ValueError."""
        if not self.command:
            raise ValueError("a job needs a command")
        for path in (*self.files, *self.collect, *self.shared):
            _require_inner_path(path)
        for path in self.files:
            if any(other != path and other.startswith(path + "/") for other in self.files):
                raise ValueError(f"{path!r} cannot be both a file and a folder")
        for name in ("timeout_s", "memory_mb", "processes", "output_limit", "file_limit_mb"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive, not {getattr(self, name)!r}")
        if not 0 <= self.hash_seed <= 4294967295:
            raise ValueError(f"hash_seed must be within 0..4294967295, not {self.hash_seed}")


@dataclass(frozen=True)
class Outcome:
    """Holds what came out; `exit_code` is None where the sandbox ended the job, 128 + signal."""

    exit_code: int | None
    timed_out: bool
    out_of_memory: bool  # True only where the sandbox knows; a MemoryError inside is not known
    stdout: bytes
    stderr: bytes
    truncated: bool  # more was printed than output_limit; a real flood also ends the job
    outputs: Mapping[str, bytes]
    refused: Mapping[str, str]  # outputs that were asked for and not taken, with the reason
    seconds: float


class Sandbox(Protocol):
    """Runs untrusted code in a place that it cannot leave."""

    @property
    def name(self) -> str:
        """Tells what the user reads: `docker (engine 28.2)`, `namespace (bubblewrap)`."""

    def run(self, job: Job) -> Outcome:
        """Run the job to its end or its limits; nothing of it is left running.

        Raises:
            SandboxUnavailable: the sandbox could not be made or broke down.
        """


def open_sandbox(kind: str = "auto") -> Sandbox:
    """Opens the sandbox of this machine, proven to isolate by a trial run (once per process).

    Args:
        kind: `auto` (Docker if an engine answers and has the image, else namespace), `docker`,
            `namespace` (bubblewrap, else util-linux), `bubblewrap` or `util-linux`.

    Raises:
        SandboxUnavailable: it does not isolate here; the message says what failed.
        ValueError: there is no sandbox of that kind.
    """
    if kind not in KINDS:
        raise ValueError(f"no sandbox is called {kind!r}; known: {', '.join(KINDS)}")
    if kind in ("auto", "docker"):
        from sandbox_runner.docker.docker_engine import engine_may_answer, open_docker

        if kind == "docker":
            return open_docker()
        if engine_may_answer():
            # Its reason is not lost: `--sandbox docker` and `doctor --sandbox docker` tell it.
            with suppress(SandboxUnavailable):
                return open_docker()
    from sandbox_runner.namespace.namespace_sandbox import open_namespace

    return open_namespace("any" if kind in ("auto", "namespace") else kind)


def _require_inner_path(path: str) -> None:
    parts = path.split("/")
    if "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"{path!r} is not a plain relative path")
