"""Turns a job into an outcome with a Docker container, made for it and removed after it.

The engine must share this machine's files, as a local one does: code goes in by read-only mounts.
"""

import os
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sandbox_runner.docker.container import Description, describe_container
from sandbox_runner.docker.container_stream import Conversation, converse
from sandbox_runner.docker.staging import staged
from sandbox_runner.image import BUILD_COMMAND, Engine, find_image, read_recipe
from sandbox_runner.port import MEBIBYTE, Job, Outcome, SandboxUnavailable

OWNER_LABEL = "stratwright.owner"
DEADLINE_LABEL = "stratwright.deadline"
CPUS_VARIABLE = "STRATWRIGHT_DOCKER_CPUS"
# The share that SECURITY.md names. Jobs run side by side, so a whole examination uses more.
CPUS = 0.5
_DEFAULT_HOST = "unix:///var/run/docker.sock"
_ANSWER_S = 30.0  # for one request; starting a container takes 0.3 s
_DEATH_S = 10.0  # from the kill of a container until the engine knows
_LEFT_S = 120.0  # after its time-out a container whose owner is unknown counts as left behind
_ENGINE_HINT = (
    "Start the engine (sudo systemctl start docker) and see that you may use it (docker info), or "
    "name another in DOCKER_HOST, or use the namespace sandbox."
)


@dataclass(frozen=True)
class DockerSandbox:
    """Runs jobs on one engine, with one image and one share of the processors each."""

    host: str
    image: str  # by id: a name could be moved to another image
    engine_version: str
    api_version: str
    cpus: float = CPUS

    @property
    def name(self) -> str:
        """Tells which engine."""
        return f"docker (engine {self.engine_version})"

    def run(self, job: Job) -> Outcome:
        """Run the job in a container of its own; see the port."""
        with (
            connected(self.host, self.api_version) as engine,
            staged(job) as places,
        ):
            description = describe_container(job, self.image, places, _labels(job), self.cpus)
            with _container(engine, description) as container:
                return _run(engine, container, job)


def open_docker(host: str | None = None) -> DockerSandbox:
    """Opens the engine's sandbox, as its trial run shows.

    Raises:
        SandboxUnavailable: no engine, no image, or it does not isolate.
    """
    answer = _try(host or engine_host(), _cpus())
    if isinstance(answer, SandboxUnavailable):
        raise SandboxUnavailable(answer.message, answer.hint)
    return answer


def engine_host() -> str:
    """Tells where the engine is expected."""
    return os.environ.get("DOCKER_HOST") or _DEFAULT_HOST


def engine_may_answer() -> bool:
    """Says whether to ask: without a socket there is no engine, and no SDK is loaded."""
    host = engine_host()
    return not host.startswith("unix://") or Path(host.removeprefix("unix://")).exists()


@cache
def _try(host: str, cpus: float) -> DockerSandbox | SandboxUnavailable:
    """Gives the sandbox, or why not; asked once per process, because the answer costs a run."""
    from sandbox_runner.probe import find_leaks

    try:
        with connected(host) as engine:
            version = engine.version()
            recipe = read_recipe()
            image = find_image(engine, recipe)
            if image is None:
                return SandboxUnavailable(
                    f"The Docker engine at {host} has no image {recipe.tag}, which is made for "
                    "the versions installed here.",
                    f"Build it: {BUILD_COMMAND} (without registries: {BUILD_COMMAND} --offline)",
                )
            sweep(engine)
        numbers = str(version["Version"]), str(engine.api_version)
        sandbox = DockerSandbox(host, image, *numbers, cpus)
        leaks = find_leaks(sandbox)
    except SandboxUnavailable as error:
        return error
    if leaks:
        return SandboxUnavailable(
            f"The Docker engine at {host} does not isolate: {'; '.join(leaks)}.",
            "Use the namespace sandbox, or an engine on this machine with its default runtime.",
        )
    return sandbox


def _cpus() -> float:
    words = os.environ.get(CPUS_VARIABLE, "")
    try:
        cpus = float(words) if words else CPUS
    except ValueError:
        cpus = 0.0
    if not 0.01 <= cpus <= 1024:
        raise SandboxUnavailable(
            f"{CPUS_VARIABLE} is {words!r}, which is no number of processors.",
            f"Set it to a number such as 2, or unset it for {CPUS}.",
        )
    return cpus


@contextmanager
def connected(
    host: str | None = None, api_version: str = "auto", timeout_s: float = _ANSWER_S
) -> Iterator[Engine]:
    """docker's APIClient; whatever goes wrong with the engine meanwhile is told in our words.

    Raises:
        SandboxUnavailable: the SDK is missing, or the engine does not answer, or refuses.
    """
    try:
        import docker
        import requests
    except ImportError as error:
        raise SandboxUnavailable(
            "The Docker sandbox needs the docker package, which is not installed.",
            "pip install '.[docker]' in a checkout",
        ) from error
    place = host or engine_host()
    _knock(place)
    try:
        client = docker.APIClient(base_url=place, version=api_version, timeout=timeout_s)
        try:
            yield client
        finally:
            client.close()
    except docker.errors.ImageNotFound as error:
        raise SandboxUnavailable(
            f"The sandbox's image is gone from the engine: {_words(error)}.",
            f"Build it again: {BUILD_COMMAND}",
        ) from error
    except docker.errors.APIError as error:
        raise SandboxUnavailable(
            f"The Docker engine at {place} refused: {_words(error)}.", _hint(error)
        ) from error
    except (
        docker.errors.DockerException,
        requests.exceptions.RequestException,
        ConnectionError,
        TimeoutError,
    ) as error:
        raise SandboxUnavailable(
            f"The Docker engine at {place} does not answer: {_words(error)}.", _ENGINE_HINT
        ) from error


def _knock(place: str) -> None:
    """A local engine that is not there is told at once, in the system's words."""
    if not place.startswith("unix://"):
        return
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_ANSWER_S)
        try:
            connection.connect(place.removeprefix("unix://"))
        except OSError as error:
            raise SandboxUnavailable(
                f"The Docker engine at {place} does not answer: {error.strerror or error}.",
                _ENGINE_HINT,
            ) from error


def _words(error: Exception) -> str:
    text = str(getattr(error, "explanation", None) or error)
    return " ".join(text.split())[-300:].rstrip(".")


def _hint(error: Exception) -> str:
    if "no space left" in str(error):
        return "The engine's disk is full; docker system df shows what fills it."
    return _ENGINE_HINT


def sweep(engine: Engine) -> None:
    """Remove the containers of owners that died before they could."""
    for container in engine.containers(all=True, filters={"label": OWNER_LABEL}):
        if _left_behind(container["Labels"]):
            _remove(engine, container["Id"])


def _left_behind(labels: dict[str, str]) -> bool:
    machine, _, owner = labels.get(OWNER_LABEL, "").rpartition("/")
    if machine == _machine():
        pid, _, started = owner.partition("-")
        return _started(pid) != started
    # An owner whose processes cannot be seen from here; its time tells.
    deadline = labels.get(DEADLINE_LABEL, "")
    return not deadline.isdigit() or time.time() > int(deadline) + _LEFT_S


def _labels(job: Job) -> dict[str, str]:
    pid = str(os.getpid())
    return {
        OWNER_LABEL: f"{_machine()}/{pid}-{_started(pid)}",
        DEADLINE_LABEL: str(int(time.time() + job.timeout_s)),
    }


def _machine() -> str:
    """This boot of this machine and its processes, as a container would have others."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    return f"{boot}/{os.readlink('/proc/self/ns/pid')}"


def _started(pid: str) -> str:
    """Tells when a process began, which tells it from a later one with the same number."""
    try:
        return Path("/proc", pid, "stat").read_text("utf-8").rpartition(")")[2].split()[19]
    except OSError:
        return ""


@contextmanager
def _container(engine: Engine, description: Description) -> Iterator[str]:
    container = str(engine.create_container_from_config(description)["Id"])
    try:
        yield container
    finally:
        _remove(engine, container)


def _remove(engine: Engine, container: str) -> None:
    """Kill it and take it away; if the engine cannot, the next start's sweep will."""
    with _forgiven():
        engine.remove_container(container, force=True, v=True)


@contextmanager
def _forgiven() -> Iterator[None]:
    """Lets a request fail; an engine that is gone shows in the next one."""
    import docker
    import requests

    with suppress(docker.errors.DockerException, requests.exceptions.RequestException):
        yield


def _run(engine: Engine, container: str, job: Job) -> Outcome:
    mark = secrets.token_hex(32).encode()
    with _attached(engine, container) as connection:
        since = time.time()
        engine.start(container)
        started = time.monotonic()
        connection.sendall(mark + b"\n")
        talk = Conversation(
            connection=connection,
            mark=mark,
            collect=job.collect,
            collect_limit=job.file_limit_mb * MEBIBYTE,
            output_limit=job.output_limit,
            deadline=started + job.timeout_s,
            out_of_memory=lambda: _memory_ran_out(engine, container, since),
            kill=lambda: _kill(engine, container),
        )
        try:
            end = converse(talk)
        except TimeoutError as error:
            raise SandboxUnavailable(f"The Docker engine failed: {error}.", _ENGINE_HINT) from error
        _kill(engine, container)
    code = int(engine.wait(container, timeout=_DEATH_S)["StatusCode"])
    memory = engine.inspect_container(container)["State"]["OOMKilled"] is True
    if not (end.answered or end.captured.reason or memory):
        raise SandboxUnavailable(
            "The job's container was ended from outside, or the engine was stopped.",
            "Run it again; if nobody stopped it, the engine's log says what did.",
        )
    return end.captured.outcome(code, memory, end.collected, time.monotonic() - started)


@contextmanager
def _attached(engine: Engine, container: str) -> Iterator[socket.socket]:
    """Gives the container's three streams, before it has any: no byte of them is missed."""
    wrapped = engine.attach_socket(
        container, params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
    )
    # For a local engine the SDK wraps a socket in a file; its own methods have no time limit.
    connection: socket.socket = getattr(wrapped, "_sock", wrapped)
    connection.settimeout(_ANSWER_S)
    try:
        yield connection
    finally:
        # The response first: it flushes a file that the others would have closed.
        response = getattr(wrapped, "_response", None)
        for open_end in (response, wrapped, connection):
            if open_end is not None:
                open_end.close()


def _memory_ran_out(engine: Engine, container: str, since: float) -> bool:
    """Says whether the kernel has killed one of its processes; its state tells it only later."""
    events = engine.events(
        since=f"{since:.6f}",
        until=f"{time.time():.6f}",
        filters={"container": container, "event": "oom"},
        decode=True,
    )
    return any(True for _ in events)


def _kill(engine: Engine, container: str) -> None:
    """SIGKILL for process 1, and with it for every other; a dead container is dead already."""
    with _forgiven():
        engine.kill(container, "SIGKILL")
