"""Turns a job into an outcome with Linux namespaces: bubblewrap, else util-linux's unshare.

No file touches the host's disk: the job's files travel in memory, /out is a small tmpfs whose open
handle outlives the sandbox, and the handle on the sandbox's first process says when all is dead.
"""

import math
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sandbox_runner.capture import Limits, capture
from sandbox_runner.inner_layout import Layout, read_layout
from sandbox_runner.namespace import memory_watch
from sandbox_runner.namespace.cgroup import ControlGroup, make_group
from sandbox_runner.namespace.launch import Launch, Tool, bubblewrap_command, util_linux_command
from sandbox_runner.outputs import collect
from sandbox_runner.port import MEBIBYTE, RUNNER_UID, Job, Outcome, SandboxUnavailable

_SETUP_S = 20.0  # a set-up takes 20 ms; a machine on its knees gets a thousand times as much
_HINT = (
    "Install bubblewrap (apt-get install bubblewrap) and let ordinary users make user namespaces: "
    "sysctl user.max_user_namespaces must not be 0, kernel.unprivileged_userns_clone must not be "
    "0, kernel.apparmor_restrict_unprivileged_userns must not be 1; a container needs "
    "--security-opt seccomp=unconfined --security-opt systempaths=unconfined."
)


@dataclass(frozen=True)
class NamespaceSandbox:
    """Runs jobs in namespaces made by one tool, with the layout of this interpreter."""

    tool: Tool
    layout: Layout
    control_group: Callable[[int, int], ControlGroup | None] = make_group

    @property
    def name(self) -> str:
        """Tells which tool makes the namespaces."""
        return f"namespace ({self.tool.name})"

    def run(self, job: Job) -> Outcome:
        """Run the job in fresh namespaces; see the port."""
        started = time.monotonic()
        with ExitStack() as stack:
            files = stack.enter_context(_in_memory(job))
            group = stack.enter_context(_grouped(self.control_group, job))
            sandbox = stack.enter_context(_start(self.tool, self.layout, job, files, group))
            limits = Limits(
                deadline=started + job.timeout_s,
                output_limit=job.output_limit,
                memory_exceeded=group.killed_for_memory if group else _watch(sandbox.first, job),
            )
            captured = capture(sandbox.stdout, sandbox.stderr, sandbox.first, sandbox.kill, limits)
            code = sandbox.process.wait()
            collected = collect(sandbox.out, job.collect, job.file_limit_mb * MEBIBYTE)
            code = code if code >= 0 else 128 - code
            full = group is not None and group.killed_for_memory()
            return captured.outcome(code, full, collected, time.monotonic() - started)


@dataclass(frozen=True)
class _Running:
    process: subprocess.Popen[bytes]
    stdout: int
    stderr: int
    out: int
    first: int

    def kill(self) -> None:
        """End everything: with process 1 of a namespace the kernel kills all the others."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.first, signal.SIGKILL)


def open_namespace(which: str) -> NamespaceSandbox:
    """Opens bubblewrap, util-linux or the first of `any` that isolates here by its trial run.

    Raises:
        SandboxUnavailable: none does.
    """
    names = ("bubblewrap", "util-linux") if which == "any" else (which,)
    failures = []
    for name in names:
        answer = _try(name)
        if isinstance(answer, NamespaceSandbox):
            return answer
        failures.append(f"{name}: {answer}")
    raise SandboxUnavailable("No sandbox works here. " + " ".join(failures), _HINT)


@cache
def _try(name: str) -> NamespaceSandbox | str:
    """Gives the sandbox, or why not; asked once per process, because the answer costs a run."""
    from sandbox_runner.probe import find_leaks

    if os.name != "posix" or not hasattr(os, "pidfd_open"):
        return "it needs Linux."
    tool = find_tool(name)
    if isinstance(tool, str):
        return tool
    try:
        sandbox = NamespaceSandbox(tool, read_layout())
        leaks = find_leaks(sandbox)
    except SandboxUnavailable as error:
        return error.message
    return "It does not isolate: " + "; ".join(leaks) + "." if leaks else sandbox


def find_tool(name: str) -> Tool | str:
    """Finds the programs of a tool on this machine, or a sentence about what is missing."""
    needed = {"bubblewrap": ("bwrap",), "util-linux": ("unshare", "setpriv")}[name]
    # The caller's PATH is trusted: it is the user's own.
    found = [shutil.which(program) for program in needed]
    missing = [program for program, path in zip(needed, found, strict=True) if path is None]
    if missing:
        return f"the program {missing[0]} is not installed."
    paths = tuple(path for path in found if path is not None)
    return Tool(name, paths, root=os.geteuid() == 0 and _maps_runner())


def _maps_runner() -> bool:
    """Says whether root here can become the runner: root of a small user namespace cannot."""
    for line in Path("/proc/self/uid_map").read_text("ascii").splitlines():
        first, _, count = map(int, line.split())
        if first <= RUNNER_UID < first + count:
            return True
    return False


@contextmanager
def _in_memory(job: Job) -> Iterator[dict[str, int]]:
    """Each file of the job as an open file without a name, ready to be read from its start."""
    with ExitStack() as stack:
        yield {path: _held(stack, content) for path, content in job.files.items()}


def _held(stack: ExitStack, content: bytes) -> int:
    descriptor = os.memfd_create("job", os.MFD_CLOEXEC)
    stack.callback(os.close, descriptor)
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


@contextmanager
def _grouped(
    make: Callable[[int, int], ControlGroup | None], job: Job
) -> Iterator[ControlGroup | None]:
    # The job's own files lie in memory too and are no fault of the job.
    given = math.ceil(sum(len(content) for content in job.files.values()) / MEBIBYTE)
    # Two more processes: the tool's own, outside and inside.
    group = make(job.memory_mb + given, job.processes + 2)
    try:
        yield group
    finally:
        if group:
            group.remove()


@contextmanager
def _start(
    tool: Tool, layout: Layout, job: Job, files: dict[str, int], group: ControlGroup | None
) -> Iterator[_Running]:
    ours, theirs = socket.socketpair()
    with ours, theirs, ExitStack() as stack:
        held: list[int] = []

        def hold(content: bytes) -> int:
            held.append(_held(stack, content))
            return held[-1]

        launch = Launch(job, layout, files, theirs.fileno(), group is not None, hold)
        build = bubblewrap_command if tool.name == "bubblewrap" else util_linux_command
        command = build(tool, launch)
        process = _popen(_inside_group(command, group), (theirs.fileno(), *files.values(), *held))
        stack.callback(_end, process)
        theirs.close()
        out, first = _receive(ours, process)
        stack.callback(os.close, out)
        stack.callback(os.close, first)
        assert process.stdout is not None  # noqa: S101 - Popen was asked for pipes
        assert process.stderr is not None  # noqa: S101
        running = _Running(process, process.stdout.fileno(), process.stderr.fileno(), out, first)
        stack.callback(running.kill)
        yield running


def _inside_group(command: list[str], group: ControlGroup | None) -> list[str]:
    """Let the first process enter the group before anything else, so that nothing is outside."""
    if group is None:
        return command
    enter = 'while [ "$1" != -- ]; do echo $$ > "$1" || exit 125; shift; done; shift; exec "$@"'
    entrances = [str(entrance) for entrance in group.entrances]
    return ["/bin/sh", "-c", enter, "sh", *entrances, "--", *command]


def _popen(command: list[str], descriptors: tuple[int, ...]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603 - the command is built from a job by us
            command,
            env={},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=descriptors,
            start_new_session=True,
        )
    except OSError as error:
        raise SandboxUnavailable(f"The sandbox could not be started: {error}.", _HINT) from error


def _receive(channel: socket.socket, process: subprocess.Popen[bytes]) -> tuple[int, int]:
    """Gives the open /out and the handle on process 1, which only a finished set-up sends."""
    channel.settimeout(_SETUP_S)
    try:
        message, descriptors, _, _ = socket.recv_fds(channel, 16, 2)
    except TimeoutError:
        process.kill()
        message, descriptors = b"", []
    except ConnectionError:
        message, descriptors = b"", []
    if message == b"ready" and len(descriptors) == 2:
        return descriptors[0], descriptors[1]
    for descriptor in descriptors:
        os.close(descriptor)
    _, complaint = process.communicate()
    words = complaint.decode("utf-8", "replace").strip()[-500:] or "no answer"
    raise SandboxUnavailable(f"The sandbox could not be set up: {words}.", _HINT)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _watch(first: int, job: Job) -> Callable[[], bool]:
    root = memory_watch.pid_of(first)
    return lambda: memory_watch.exceeds(root, job.memory_mb * MEBIBYTE)
