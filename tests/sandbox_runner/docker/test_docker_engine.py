"""Who gets a Docker sandbox, what is left when somebody dies, and what a broken engine means."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox_runner.docker.docker_engine import (
    DEADLINE_LABEL,
    OWNER_LABEL,
    DockerSandbox,
    connected,
    engine_host,
    open_docker,
    sweep,
)
from sandbox_runner.port import Job, SandboxUnavailable, open_sandbox
from sandbox_runner.probe import try_isolation

HOUSE = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.docker
OPEN = "from sandbox_runner.port import open_sandbox; print(open_sandbox({kind!r}).name)"
PASSING = "def test_good() -> None:\n    assert True\n"


@pytest.fixture(scope="module")
def host() -> str:
    """An engine with the image; the test run may have one of its own."""
    place = os.environ.get("STRATWRIGHT_TEST_ENGINE") or engine_host()
    try:
        open_docker(place)
    except SandboxUnavailable as error:
        pytest.skip(f"docker: {error.message}")
    return place


@pytest.fixture(scope="module")
def docker(host: str) -> DockerSandbox:
    return open_docker(host)


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=HOUSE,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def run_in_sandbox(
    folder: Path, *more: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    (folder / "dip.py").write_text("LIMIT = 30\n")
    (folder / "test_dip.py").write_text(PASSING)
    command = [sys.executable, str(HOUSE / "sandbox_runner/run_in_sandbox.py")]
    command += ["--strategy", "dip.py", "--tests", "test_dip.py", "--timeout", "60"]
    return subprocess.run(
        [*command, "--sandbox", "docker", *more],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def wait_until(condition: Callable[[], bool], patience_s: float = 15) -> None:
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


# --- who gets it


def test_everything_that_it_claims_holds_when_tried(docker: DockerSandbox) -> None:
    attempts = try_isolation(docker)
    names = ["identity", "network", "host files", "environment", "pids", "memory", "disk", "time"]
    names.append("runs")
    assert [attempt.name for attempt in attempts] == names
    assert [attempt for attempt in attempts if attempt.needed and not attempt.held] == []


def test_auto_takes_the_engine_that_has_the_image(host: str) -> None:
    assert python(OPEN.format(kind="auto"), DOCKER_HOST=host).stdout.startswith("docker (engine ")


def test_auto_takes_namespaces_where_no_engine_is(tmp_path: Path) -> None:
    done = python(OPEN.format(kind="auto"), DOCKER_HOST=f"unix://{tmp_path}/none.sock")
    assert done.stdout.startswith("namespace ("), done.stderr


def test_auto_takes_namespaces_where_an_engine_does_not_answer(tmp_path: Path) -> None:
    (tmp_path / "dead.sock").touch()
    done = python(OPEN.format(kind="auto"), DOCKER_HOST=f"unix://{tmp_path}/dead.sock")
    assert done.stdout.startswith("namespace ("), done.stderr


def test_without_an_engine_docker_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SandboxUnavailable) as caught:
        open_docker(f"unix://{tmp_path}/none.sock")
    assert "does not answer" in caught.value.message
    assert "systemctl start docker" in caught.value.hint


def test_without_an_engine_the_command_exits_with_4(tmp_path: Path) -> None:
    done = run_in_sandbox(tmp_path, DOCKER_HOST=f"unix://{tmp_path}/none.sock")
    assert done.returncode == 4, done.stdout + done.stderr
    assert "does not answer" in done.stderr
    assert not (tmp_path / "artifacts").exists()


def test_nothing_is_loaded_of_the_sdk_until_docker_is_used() -> None:
    code = "import sys, sandbox_runner.docker.docker_engine; print('docker' in sys.modules)"
    assert python(code).stdout == "False\n"


def test_a_share_of_processors_that_is_no_number_is_refused(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRATWRIGHT_DOCKER_CPUS", "many")
    with pytest.raises(SandboxUnavailable, match="STRATWRIGHT_DOCKER_CPUS is 'many'"):
        open_docker(host)


def test_a_test_run_of_the_command_line_works(host: str, tmp_path: Path) -> None:
    done = run_in_sandbox(tmp_path, "--json", DOCKER_HOST=host)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["passed"] is True


# --- nobody is left behind


def test_a_container_dies_with_its_owner_and_is_swept_by_the_next(host: str) -> None:
    mark = f"owner-{os.getpid()}-{time.monotonic_ns()}"
    code = (
        "from sandbox_runner.docker.docker_engine import open_docker\n"
        "from sandbox_runner.port import Job\n"
        f"sandbox = open_docker({host!r})\n"
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
    with connected(host) as engine:
        sweep(engine)
        assert owned_by(engine, owner.pid) == []


def guests(mark: str) -> int:
    count = 0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                count += mark.encode() in (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
    return count


def owned_by(engine: Any, pid: int) -> list[str]:
    found = engine.containers(all=True, filters={"label": OWNER_LABEL})
    return [box["Id"] for box in found if f"/{pid}-" in box["Labels"][OWNER_LABEL]]


@pytest.mark.parametrize(
    ("owner", "seconds_left", "left"),
    [
        ("another-boot/pid:[1]/17-1", -10_000, False),
        ("another-boot/pid:[1]/17-1", 10_000, True),
        ("nonsense", -10_000, False),
    ],
)
def test_another_machine_s_container_is_swept_only_after_its_time(
    docker: DockerSandbox, owner: str, seconds_left: int, left: bool
) -> None:
    labels = {OWNER_LABEL: owner, DEADLINE_LABEL: str(int(time.time()) + seconds_left)}
    with connected(docker.host) as engine:
        made = engine.create_container_from_config({"Image": docker.image, "Labels": labels})["Id"]
        try:
            sweep(engine)
            there = [box["Id"] for box in engine.containers(all=True)]
            assert (made in there) is left
        finally:
            if left:
                engine.remove_container(made, force=True)


def test_a_folder_of_a_dead_owner_is_removed(docker: DockerSandbox, tmp_path: Path) -> None:
    import tempfile

    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left = Path(tempfile.gettempdir(), f"stratwright-job-{dead.pid}-0")
    (left / "job").mkdir(parents=True)
    docker.run(Job(("python", "-c", "pass"), {}))
    assert not left.exists()


# --- a job against its keeper


def test_the_job_cannot_reach_or_end_its_keeper(docker: DockerSandbox) -> None:
    code = """
import os, resource, signal
told = []
for number in (9, 15, 19, 2):
    os.kill(1, number)
for path in ("/proc/1/mem", "/proc/1/environ", "/proc/1/fd/0", "/proc/1/fd/1"):
    try:
        open(path, "rb").read(1)
        told.append(path)
    except OSError:
        pass
try:
    resource.prlimit(1, resource.RLIMIT_CPU, (0, 0))
    told.append("limits")
except (OSError, PermissionError):
    pass
open("/out/told", "w").write(repr(told))
"""
    outcome = docker.run(Job(("python", "-c", code), {}, collect=("told",), timeout_s=20))
    assert outcome.outputs == {"told": b"[]"}, outcome.stderr
    assert outcome.exit_code == 0


def test_a_missing_program_is_the_job_s_fault(docker: DockerSandbox) -> None:
    outcome = docker.run(Job(("/no/such/program",), {}))
    assert outcome.exit_code == 127
    assert b"/no/such/program" in outcome.stderr


def test_a_container_that_is_ended_by_others_is_no_verdict(host: str) -> None:
    code = (
        "import os\n"
        "from sandbox_runner.docker.docker_engine import open_docker\n"
        "from sandbox_runner.port import Job, SandboxUnavailable\n"
        f"sandbox = open_docker({host!r})\n"
        "print('open', flush=True)\n"
        "try:\n"
        "    sandbox.run(Job(('python', '-c', 'import time; time.sleep(1000)'), {}))\n"
        "except SandboxUnavailable as error:\n"
        "    print(error.message)\n"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", code], cwd=HOUSE, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    owner.stdout.readline()
    with connected(host) as engine:
        wait_until(lambda: running(engine, owner.pid) != [])
        engine.kill(running(engine, owner.pid)[0])
        told, _ = owner.communicate(timeout=30)
        assert "ended from outside" in told
        assert owned_by(engine, owner.pid) == []


def running(engine: Any, pid: int) -> list[str]:
    found = engine.containers(filters={"label": OWNER_LABEL})
    return [box["Id"] for box in found if f"/{pid}-" in box["Labels"][OWNER_LABEL]]


# --- a broken engine: one of our own, small, without the image


BROKEN = r"""
import json, os, signal, subprocess, sys, tempfile, threading, time
from pathlib import Path
from sandbox_runner.docker.base_image import write_base
from sandbox_runner.docker.docker_engine import DockerSandbox, connected, open_docker
from sandbox_runner.port import Job, SandboxUnavailable

host = os.environ["STRATWRIGHT_TEST_ENGINE"]
place = Path(host.removeprefix("unix://")).parent
told = {}

def attempt(name, act):
    started = time.monotonic()
    try:
        told[name] = ["no error", repr(act()), 0]
    except SandboxUnavailable as error:
        told[name] = [error.message, error.hint, time.monotonic() - started]

attempt("no image", lambda: open_docker(host))
command = [sys.executable, "sandbox_runner/run_in_sandbox.py", "--strategy", sys.argv[1],
           "--tests", sys.argv[2], "--sandbox", "docker", "--out", sys.argv[3]]
environment = {**os.environ, "DOCKER_HOST": host}
told["no image, command"] = subprocess.run(command, env=environment, capture_output=True).returncode

with connected(host, timeout_s=300) as engine:
    with tempfile.NamedTemporaryFile() as archive:
        write_base(archive, [])
        archive.flush()
        changes = ["ENV PATH=/usr/local/bin", 'ENTRYPOINT ["python", "-u"]']
        engine.import_image_from_file(archive.name, "small", "latest", changes=changes)
    image = engine.images("small")[0]["Id"]
    sandbox = DockerSandbox(host, image, "", engine.api_version)
told["works"] = sandbox.run(Job(("python", "-c", "print(1)"), {})).stdout.decode()

filler = Path(sys.argv[5], "filling")
with open(filler, "wb", buffering=0) as filling:
    for size in (1 << 20, 1 << 12, 1):
        try:
            while True:
                filling.write(bytes(size))
        except OSError:
            pass
attempt("engine's disk full", lambda: sandbox.run(Job(("python", "-c", "print(1)"), {"a": b"x"})))
filler.unlink()
told["works again"] = sandbox.run(Job(("python", "-c", "print(1)"), {})).stdout.decode()

engine_pid = int((place / "engine.pid").read_text())
def stop():
    time.sleep(1.5)
    os.kill(engine_pid, signal.SIGTERM)
threading.Thread(target=stop).start()
sleep = Job(("python", "-c", "import time; time.sleep(1000)", "half-way-" + sys.argv[4]), {})
attempt("stopped half-way", lambda: sandbox.run(sleep))
attempt("stopped", lambda: sandbox.run(sleep))
left = Path(tempfile.gettempdir()).glob(f"stratwright-job-{os.getpid()}-*")
told["folders"] = [folder.name for folder in left]
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a small engine of our own told: without image, with a full disk, stopped half-way."""
    if os.geteuid() != 0 or not any(
        Path(folder, "dockerd").exists() for folder in os.environ["PATH"].split(":")
    ):
        pytest.skip("an engine of our own needs root and dockerd")
    folder = tmp_path_factory.mktemp("broken")
    (folder / "dip.py").write_text("LIMIT = 30\n")
    (folder / "test_dip.py").write_text(PASSING)
    small = folder / "disk"
    small.mkdir()
    script = (
        'mount -t tmpfs -o size=400m tmpfs "$1"; disk=$1; shift\n'
        f'TMPDIR=$disk exec bash tools/with_docker.sh env TMPDIR={folder} "$@"\n'
    )
    done = subprocess.run(
        [
            *("unshare", "--mount", "bash", "-c", script, "bash", str(small)),
            *(sys.executable, "-c", BROKEN, str(folder / "dip.py"), str(folder / "test_dip.py")),
            *(str(folder / "artifacts"), str(os.getpid()), str(small)),
        ],
        cwd=HOUSE,
        env={**os.environ, "PYTHONPATH": str(HOUSE)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    told["report written"] = (folder / "artifacts").exists()
    return told


def test_a_missing_image_is_refused_with_the_command_that_builds_it(broken: dict[str, Any]) -> None:
    message, hint, _ = broken["no image"]
    assert "has no image stratwright-sandbox:" in message
    assert "python -m sandbox_runner.image" in hint
    assert broken["no image, command"] == 4
    assert broken["report written"] is False


def test_a_full_disk_of_the_engine_is_told_and_passes(broken: dict[str, Any]) -> None:
    message, hint, _ = broken["engine's disk full"]
    assert "no space left on device" in message
    assert "disk is full" in hint
    assert (broken["works"], broken["works again"]) == ("1\n", "1\n")


def test_an_engine_stopped_half_way_is_told_within_seconds(broken: dict[str, Any]) -> None:
    for name in ("stopped half-way", "stopped"):
        message, hint, _ = broken[name]
        assert "engine" in message, broken[name]
        assert hint
    assert broken["stopped half-way"][2] < 15
    assert broken["folders"] == []
    assert guests(f"half-way-{os.getpid()}") == 0


def test_a_full_disk_of_ours_is_told(host: str, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    code = (
        "import sys, tempfile\n"
        "from sandbox_runner.docker.docker_engine import open_docker\n"
        "from sandbox_runner.port import Job, SandboxUnavailable\n"
        f"sandbox = open_docker({host!r})\n"
        f"tempfile.tempdir = {str(small)!r}\n"
        "try:\n"
        "    sandbox.run(Job(('python', '-c', 'pass'), {'big': bytes(9_000_000)}))\n"
        "except SandboxUnavailable as error:\n"
        "    import os\n"
        "    print(error.message, error.hint, os.listdir(tempfile.tempdir))\n"
    )
    script = 'mount -t tmpfs -o size=4m tmpfs "$1"; shift; exec "$@"'
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    command = ["unshare", *user, "--mount", "bash", "-c", script, "bash", str(small)]
    done = subprocess.run(
        [*command, sys.executable, "-c", code],
        cwd=HOUSE,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "No space left on device" in done.stdout
    assert done.stdout.rstrip().endswith("TMPDIR. []")


def test_kinds_are_named() -> None:
    with pytest.raises(ValueError, match="known: auto, docker, namespace"):
        open_sandbox("vm")
