"""Who can make namespaces, who cannot, and what becomes of a sandbox whose owner dies."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox_runner.namespace import namespace_sandbox as namespace
from sandbox_runner.port import SandboxUnavailable, open_sandbox
from sandbox_runner.probe import find_leaks

HOUSE = Path(__file__).resolve().parents[3]
OPEN = "from sandbox_runner.port import open_sandbox; print(open_sandbox({kind!r}).name)"
# Inside a private mount namespace: make these folders reachable for everybody, then be nobody.
AS_NOBODY = r"""
set -euo pipefail
hold=$1; closed=$2; shift 2
paths=()
while [[ "$1" != -- ]]; do paths+=("$1"); shift; done
shift
if [[ -n "$closed" ]]; then
  for i in "${!paths[@]}"; do mkdir -p "$hold/$i"; mount --bind "${paths[$i]}" "$hold/$i"; done
  IFS=: read -ra covers <<< "$closed"
  for cover in "${covers[@]}"; do mount -t tmpfs -o mode=755 tmpfs "$cover"; done
  umask 022
  for i in "${!paths[@]}"; do mkdir -p "${paths[$i]}"; mount --bind "$hold/$i" "${paths[$i]}"; done
fi
exec setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@"
"""


def closed_ancestors(paths: list[Path]) -> list[str]:
    """The outermost folders on the way that other users may not pass."""
    found = []
    for path in paths:
        for folder in reversed(path.parents):
            if not folder.stat().st_mode & 0o001:
                found.append(str(folder))
                break
    return sorted(set(found))


def as_nobody(command: list[str], tmp_path: Path) -> subprocess.CompletedProcess[str]:
    paths = sorted({Path(sys.base_prefix), Path(sys.prefix), HOUSE, tmp_path})
    closed = closed_ancestors(paths)
    needed = [path for path in paths if any(path.is_relative_to(folder) for folder in closed)]
    hold = Path("/tmp", f"stratwright-hold-{os.getpid()}")  # noqa: S108
    hold.mkdir()
    try:
        return subprocess.run(
            ["unshare", "--mount", "bash", "-c", AS_NOBODY, "bash", str(hold), ":".join(closed)]
            + [str(path) for path in needed]
            + ["--", *command],
            cwd=HOUSE,
            env={**os.environ, "HOME": str(tmp_path), "TMPDIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        for folder in hold.iterdir():
            folder.rmdir()
        hold.rmdir()


def test_an_ordinary_user_has_the_same_sandbox(tmp_path: Path) -> None:
    tests = ["isol", "memory", "fork", "disk", "orphans", "reach", "written", "calls", "flood"]
    chosen = " or ".join([*tests, "ordinary_work", "exit_code", "hash", "three_folders"])
    chosen = f"({chosen}) and not docker"  # who may use an engine is up to the engine
    if os.geteuid() != 0:
        assert open_sandbox("namespace").name.startswith("namespace")
        return  # then the conformance suite itself was run by an ordinary user
    tmp_path.chmod(0o777)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    command += ["tests/sandbox_runner/test_conformance.py", "-k", chosen]
    done = as_nobody([*command, f"--basetemp={tmp_path}/base"], tmp_path)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert "skipped" not in done.stdout


@pytest.mark.parametrize("kind", ["bubblewrap", "util-linux"])
def test_the_trial_run_finds_no_leak(kind: str) -> None:
    assert find_leaks(open_sandbox(kind)) == []


def test_the_trial_run_finds_leaks_where_nothing_isolates() -> None:
    # The inside of the trial, run here, must see that it is not inside.
    code = "from sandbox_runner import probe; print(len(probe._identity()))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=HOUSE, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) >= 2


@pytest.mark.parametrize("kind", ["auto", "bubblewrap", "util-linux"])
def test_without_the_tools_it_refuses_and_says_which(
    kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    namespace._try.cache_clear()
    try:
        with pytest.raises(SandboxUnavailable) as caught:
            open_sandbox(kind)
    finally:
        namespace._try.cache_clear()
    assert "is not installed" in caught.value.message
    assert "apt-get install bubblewrap" in caught.value.hint


@pytest.mark.parametrize("kind", ["bubblewrap", "util-linux"])
def test_where_namespaces_are_forbidden_it_refuses_with_the_reason(kind: str) -> None:
    settings = ("max_user_namespaces", "max_pid_namespaces")
    forbid = "; ".join(f"echo 0 > /proc/sys/user/{setting}" for setting in settings)
    code = OPEN.format(kind=kind)
    done = subprocess.run(
        [
            *("unshare", "--user", "--map-root-user", "sh", "-c", f'{forbid}; exec "$@"', "sh"),
            *(sys.executable, "-c", code),
        ],
        cwd=HOUSE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "SandboxUnavailable: No sandbox works here." in done.stderr
    assert "could not be set up" in done.stderr


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(ValueError, match="no sandbox is called 'chroot'"):
        open_sandbox("chroot")


@pytest.mark.parametrize("kind", ["bubblewrap", "util-linux"])
def test_the_sandbox_dies_with_its_owner(kind: str) -> None:
    mark = f"owner-{os.getpid()}-{time.monotonic_ns()}"
    code = (
        "from sandbox_runner.port import Job, open_sandbox\n"
        f"sandbox = open_sandbox({kind!r})\n"
        "print('open', flush=True)\n"
        f"sandbox.run(Job(('python', '-c', 'import time; time.sleep(1000)', {mark!r}), {{}}))\n"
    )
    owner = subprocess.Popen([sys.executable, "-c", code], cwd=HOUSE, stdout=subprocess.PIPE)
    assert owner.stdout is not None
    owner.stdout.readline()
    wait_until(lambda: guests(mark) > 0)
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    wait_until(lambda: guests(mark) == 0)


def guests(mark: str) -> int:
    """Processes that run the marked program; not its owner, whose command line holds it too."""
    count = 0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                arguments = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            count += mark.encode() in arguments
    return count


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
