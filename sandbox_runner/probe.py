"""Turns a sandbox into the list of its leaks, by trying to break out of it from inside.

Versions and settings say what should hold; this says what does. `find_leaks` runs outside and
knows what to look for, `main` runs inside and reports what it could reach.
"""

import ctypes
import json
import os
import resource
import signal
import socket
import sys
import tempfile
from pathlib import Path

from sandbox_runner.port import PYTHON, RUNNER_UID, Job, Sandbox

_REPORT = "probe.json"
_PROCESSES = 8
_CLONE_NEWUSER = 0x10000000


def find_leaks(sandbox: Sandbox) -> list[str]:
    """What a guest could reach that it should not; empty when the sandbox holds.

    Raises:
        SandboxUnavailable: it could not be set up at all.
    """
    with socket.create_server(("127.0.0.1", 0)) as listener, tempfile.NamedTemporaryFile() as bait:
        host = {
            "port": listener.getsockname()[1],
            "bait": bait.name,
            "network": _namespace("net"),
            "pids": _namespace("pid"),
            "users": _namespace("user"),
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
        return [f"its trial run gave no answer (exit code {outcome.exit_code}; {words})"]
    # Our own code wrote it and nothing else ran there, so this report can be believed.
    return [str(leak) for leak in json.loads(outcome.outputs[_REPORT])]


def main() -> None:
    """Try everything and write down what worked."""
    host = json.loads(Path("/job/host.json").read_text("utf-8"))
    leaks = [
        *_identity(),
        *_network(host),
        *_files(host["bait"]),
        *_processes(host),
        *_limits(),
    ]
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
    allowed = {"PATH", "HOME", "TMPDIR", "LANG", "LC_CTYPE", "TZ", "PWD"}
    foreign = [
        name
        for name in os.environ
        if name not in allowed and not name.startswith("PYTHON") and "_NUM_THREADS" not in name
    ]
    if foreign:
        leaks.append(f"the code sees the caller's environment ({foreign[0]})")
    return leaks


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


def _files(bait: str) -> list[str]:
    leaks = []
    if os.path.exists(bait):
        leaks.append("the host's temporary files are visible")
    seen = [
        path
        for path in ("/etc/passwd", "/etc/hostname", "/home", "/sys", "/var", "/run")
        if os.path.exists(path)
    ]
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
    for name in ("RLIMIT_NPROC", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_CPU", "RLIMIT_AS"):
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
