"""Turns a sandbox into the list of its leaks, by trying to break out of it from inside.

Versions and settings say what should hold; this says what does. `find_leaks` and `try_isolation`
run outside and know what to look for, `main` runs inside and reports what it could reach.
"""

import ctypes
import json
import os
import resource
import signal
import socket
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sandbox_runner.port import PYTHON, RUNNER_UID, Job, Outcome, Sandbox

_REPORT = "probe.json"
_PROCESSES = 8
_CLONE_NEWUSER = 0x10000000
_SUSPECTS = ("/etc/passwd", "/etc/shadow", "/etc/hostname", "/home", "/root", "/var", "/run")
_GRACE_S = 2.0
# What the first trial looks at, in the order of the table, and what it tries.
_FIRST = {
    "identity": "user 10001, no capabilities, system calls filtered",
    "network": "no interface, the host's loopback does not answer",
    "host files": "none visible, nothing but /out, /tmp and /dev/shm can be written to",
    "environment": "nothing of the caller's",
    "pids": "only its own processes visible, their number limited",
}
_HOG = "kept = bytearray(b'x') * 400_000_000; print(len(kept))"
_SPILL = """
import os
for folder in ("/out", "/tmp", "/dev/shm"):
    written = 0
    try:
        with open(folder + "/spill", "wb", buffering=0) as file:
            for _ in range(64):
                written += file.write(bytes(1 << 18))
    except OSError:
        pass
    print(written)
"""
_PEEK = """
from pathlib import Path
from sandbox_runner.harness.blind import blind, landlock_version
if landlock_version():
    blind(Path("/packages"))
    for attempt in (lambda: open("/job/kept"), lambda: open("/tmp/note", "w")):
        try:
            attempt()
            break
        except PermissionError:
            continue
    else:
        print("closed")
"""
_NO_LANDLOCK = "no Landlock in this kernel: runs go one by one, and could read the job's candles"


@dataclass(frozen=True)
class Attempt:
    """Holds one way out that was tried."""

    name: str
    held: bool
    detail: str  # what was found to hold, or what leaked
    needed: bool = True  # whether nothing may run here without it


def find_leaks(sandbox: Sandbox) -> list[str]:
    """Finds what a guest could reach that it should not; empty when the sandbox holds.

    One short job; the bombs are left to `try_isolation`.

    Raises:
        SandboxUnavailable: it could not be set up at all.
    """
    return [attempt.detail for attempt in _look_around(sandbox) if not attempt.held]


def try_isolation(sandbox: Sandbox) -> tuple[Attempt, ...]:
    """Everything that the sandbox claims, tried: what it shows, and three bombs.

    Raises:
        SandboxUnavailable: it could not be set up at all.
    """
    bombs = (_memory(sandbox), _disk(sandbox), _time(sandbox))
    return (*_look_around(sandbox), *bombs, _runs(sandbox))


def _look_around(sandbox: Sandbox) -> list[Attempt]:
    with socket.create_server(("127.0.0.1", 0)) as listener, tempfile.NamedTemporaryFile() as bait:
        host = {
            "port": listener.getsockname()[1],
            "bait": bait.name,
            "network": _namespace("net"),
            "pids": _namespace("pid"),
            "users": _namespace("user") if _has_own_users(sandbox) else "",
            "files": {path: _identity_of(path) for path in _SUSPECTS if os.path.exists(path)},
        }
        job = Job(
            command=(PYTHON, "-m", "sandbox_runner.probe"),
            files={"host.json": json.dumps(host).encode()},
            collect=(_REPORT,),
            timeout_s=20,
            processes=_PROCESSES,
            file_limit_mb=1,
        )
        outcome = sandbox.run(job)
    if _REPORT not in outcome.outputs:
        words = outcome.stderr.decode("utf-8", "replace").strip()[-300:]
        told = f"its trial run gave no answer (exit code {outcome.exit_code}; {words})"
        return [Attempt("trial", False, told)]
    # Our own code wrote it and nothing else ran there, so this report can be believed.
    leaks = json.loads(outcome.outputs[_REPORT])
    return [
        Attempt(name, not leaks[name], "; ".join(leaks[name]) or held)
        for name, held in _FIRST.items()
    ]


def _has_own_users(sandbox: Sandbox) -> bool:
    """An engine maps users only if it was told to; there the runner is a user of the host's."""
    from sandbox_runner.docker.docker_engine import DockerSandbox

    return not isinstance(sandbox, DockerSandbox)


def _memory(sandbox: Sandbox) -> Attempt:
    outcome = _bomb(sandbox, _HOG)
    held = outcome.exit_code != 0 and not outcome.stdout and not outcome.timed_out
    told = "400 MB with a limit of 96 MB: " + ("refused" if held else "given")
    return Attempt("memory", held, told)


def _disk(sandbox: Sandbox) -> Attempt:
    outcome = _bomb(sandbox, _SPILL)
    written = [int(word) for word in outcome.stdout.split() if word.isdigit()]
    held = len(written) == 3 and max(written) <= 1 << 20
    told = "16 MB with a limit of 1 MB: " + ("refused" if held else f"written ({written})")
    return Attempt("disk", held, told)


def _time(sandbox: Sandbox) -> Attempt:
    outcome = _bomb(sandbox, "while True: pass", timeout_s=1.0)
    held = outcome.timed_out and outcome.seconds < 1.0 + _GRACE_S
    return Attempt("time", held, f"an endless loop with a limit of 1 s: {outcome.seconds:.1f} s")


def _runs(sandbox: Sandbox) -> Attempt:
    """Says whether the runs of one job are closed to each other, as `blind.py` says."""
    outcome = sandbox.run(Job((PYTHON, "-c", _PEEK), {"kept": b"x"}, timeout_s=20.0))
    held = outcome.stdout == b"closed\n"
    told = "the files of other runs: closed by Landlock" if held else _NO_LANDLOCK
    return Attempt("runs", held, told, needed=False)


def _bomb(sandbox: Sandbox, code: str, timeout_s: float = 10.0) -> Outcome:
    job = Job((PYTHON, "-c", code), {}, timeout_s=timeout_s, memory_mb=96, file_limit_mb=1)
    return sandbox.run(job)


def main() -> None:
    """Try everything and write down what worked."""
    host = json.loads(Path("/job/host.json").read_text("utf-8"))
    leaks = {
        "identity": _identity(),
        "network": _network(host),
        "host files": _files(host["bait"], host["files"]),
        "environment": _environment(),
        "pids": [*_processes(host), *_limits()],
    }
    Path("/out", _REPORT).write_text(json.dumps(leaks), "utf-8")


def _namespace(kind: str) -> str:
    return os.readlink(f"/proc/self/ns/{kind}")


def _identity() -> list[str]:
    leaks = []
    if (os.getuid(), os.geteuid(), os.getgid(), os.getegid()) != (RUNNER_UID,) * 4:
        leaks.append(f"the code runs as user {os.getuid()}, not {RUNNER_UID}")
    status = dict(
        line.split(":", 1) for line in Path("/proc/self/status").read_text("ascii").splitlines()
    )
    held = [name for name in ("CapInh", "CapPrm", "CapEff", "CapAmb") if int(status[name], 16)]
    if held:
        leaks.append(f"the code has capabilities ({', '.join(held)})")
    if status["NoNewPrivs"].strip() != "1":
        leaks.append("the code could gain privileges")
    if status["Seccomp"].strip() != "2":
        leaks.append("no filter of system calls is in force")
    if ctypes.CDLL(None).unshare(_CLONE_NEWUSER) == 0:
        leaks.append("the code can make user namespaces")
    return leaks


def _environment() -> list[str]:
    allowed = {"PATH", "HOME", "TMPDIR", "LANG", "LC_CTYPE", "TZ", "PWD"}
    foreign = [
        name
        for name in os.environ
        if name not in allowed and not name.startswith("PYTHON") and "_NUM_THREADS" not in name
    ]
    return [f"the code sees the caller's environment ({foreign[0]})"] if foreign else []


def _network(host: dict[str, object]) -> list[str]:
    leaks = []
    if _namespace("net") == host["network"]:
        leaks.append("the network is the host's")
    interfaces = [name for _, name in socket.if_nameindex()] if _can_ask() else []
    if set(interfaces) - {"lo"}:
        leaks.append(f"there are network interfaces ({', '.join(interfaces)})")
    try:
        with socket.create_connection(("127.0.0.1", int(str(host["port"]))), timeout=1):
            leaks.append("the host's loopback answers")
    except OSError:
        pass
    return leaks


def _can_ask() -> bool:
    try:
        socket.if_nameindex()
    except OSError:
        return False
    return True


def _identity_of(path: str) -> list[int]:
    """Tells what stays the same wherever a file is mounted."""
    status = os.stat(path)
    return [status.st_dev, status.st_ino]


def _files(bait: str, known: dict[str, list[int]]) -> list[str]:
    leaks = []
    if os.path.exists(bait):
        leaks.append("the host's temporary files are visible")
    seen = [
        path
        for path, identity in known.items()
        if os.path.exists(path) and _identity_of(path) == identity
    ]
    if os.path.isdir("/sys") and os.listdir("/sys"):
        seen.append("/sys")
    if seen:
        leaks.append(f"the host's files are visible ({', '.join(seen)})")
    for folder in (
        "/",
        "/job",
        "/packages",
        "/packages/sandbox_runner",
        "/usr/lib",
        "/dev",
        os.path.dirname(os.path.realpath(sys.executable)),
        sys.prefix,
    ):
        if os.path.exists(folder) and _writable(folder):
            leaks.append(f"{folder} can be written to")
    return leaks


def _writable(folder: str) -> bool:
    try:
        with open(os.path.join(folder, "probe"), "xb"):
            return True
    except OSError:
        return False


def _processes(host: dict[str, object]) -> list[str]:
    leaks = []
    if _namespace("pid") == host["pids"]:
        leaks.append("the process ids are the host's")
    if _namespace("user") == host["users"]:
        leaks.append("the user namespace is the host's")
    visible = [name for name in os.listdir("/proc") if name.isdigit()]
    if len(visible) > 3:
        leaks.append(f"{len(visible)} processes are visible")
    return leaks


def _limits() -> list[str]:
    leaks = []
    for name in ("RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_CPU", "RLIMIT_AS"):
        if resource.getrlimit(getattr(resource, name))[1] == resource.RLIM_INFINITY:
            leaks.append(f"{name} is not set")
    children: list[int] = []
    try:
        while len(children) <= _PROCESSES:
            child = os.fork()
            if child == 0:
                signal.pause()
            children.append(child)
    except OSError:
        pass
    else:
        leaks.append("the number of processes is not limited")
    for child in children:
        os.kill(child, 9)
        os.waitpid(child, 0)
    return leaks


if __name__ == "__main__":
    main()
