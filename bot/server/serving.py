"""Settings to a running server: the receiver in this process, each worker in one of its own."""

import asyncio
import contextlib
import fcntl
import logging
import multiprocessing
import os
import shutil
import signal
import socket
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.context import SpawnProcess
from pathlib import Path

import uvicorn

from bot.errors import InputError, WorldError
from bot.logs import set_up
from bot.server.app import MOST_ARRIVING, Receiver, make_app
from bot.server.intake import Intake
from bot.server.lease import is_alive, work
from bot.server.queue import Queue
from bot.server.settings import ServerSettings, hide_secrets

_LOOK_S = 0.25
_FORGET_S = 3600.0
_RESTART_S = 1.0
_MOST_CRASHES = 5
_log = logging.getLogger(__name__)


@dataclass
class WorkerProcesses:
    """The workers: started, missed when they die, and asked to go at the end."""

    settings: ServerSettings
    size: int
    _alive: dict[str, SpawnProcess] = field(default_factory=dict)
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Take back what an earlier server left, start everybody, and look after them."""
        queue = Queue(self.settings.state)
        self._recover(queue)
        for _ in range(self.size):
            self._start_one()
        self._thread = threading.Thread(target=self._watch, args=(queue,), name="processes")
        self._thread.start()

    @property
    def living(self) -> int:
        """How many work."""
        return sum(each.is_alive() for each in list(self._alive.values()))

    def stop(self, grace_s: float) -> None:
        """Let everybody finish or put back what they hold; who does not go is killed."""
        self._stop.set()
        if self._thread:
            self._thread.join()
        for each in self._alive.values():
            each.terminate()
        deadline = time.monotonic() + grace_s
        for each in self._alive.values():
            each.join(max(0.0, deadline - time.monotonic()))
            if each.is_alive():
                _log.warning("a worker did not end in time; its delivery is begun anew later")
                each.kill()
                each.join()
        queue = Queue(self.settings.state)
        # Killing them was our own doing, so it does not count against their deliveries.
        queue.recover(self._is_alive)
        queue.close()

    def _watch(self, queue: Queue) -> None:
        forgot = time.monotonic()
        while not self._stop.wait(_LOOK_S):
            dead = [name for name, each in self._alive.items() if not each.is_alive()]
            for name in dead:
                _log.error("a worker died", extra={"exit": self._alive.pop(name).exitcode})
                self._stop.wait(_RESTART_S)
                self._start_one()
            # Also workers of an earlier server, which was killed, may only now be gone.
            self._recover(queue)
            if time.monotonic() - forgot > _FORGET_S:
                forgot = time.monotonic()
                with contextlib.suppress(sqlite3.Error):
                    queue.forget()
        queue.close()

    def _recover(self, queue: Queue) -> None:
        try:
            lost = queue.recover(self._is_alive, _MOST_CRASHES)
        except sqlite3.Error as error:
            _log.warning("the queue cannot be written", extra={"error": str(error)})
            return
        for delivery in lost:
            _log.warning("taken back from a dead worker", extra={"delivery": delivery})

    def _is_alive(self, name: str) -> bool:
        return is_alive(self.settings.state, name)

    def _start_one(self) -> None:
        name = uuid.uuid4().hex[:12]  # in a container every server has the same process number
        spawn = multiprocessing.get_context("spawn")
        each = spawn.Process(target=work, args=(self.settings, name), name=name)
        each.start()
        self._alive[name] = each


def serve(
    settings: ServerSettings,
    host: str,
    port: int,
    workers: int,
    grace_s: float,
    say: Callable[[str], None],
) -> None:
    """Serve until SIGTERM or SIGINT.

    Raises:
        InputError: the address is taken, or another server uses the folder.
    """
    set_up()
    hide_secrets()
    with _sole_server(settings.state):
        listening = _listen(host, port)
        shutil.rmtree(settings.state / "scratch", ignore_errors=True)
        processes = WorkerProcesses(settings, workers)
        queue = Queue(settings.state)
        queue.examine()
        intake = Intake(settings.state)
        receiver = Receiver(settings, intake, queue, lambda: processes.living, workers)
        processes.start()
        try:
            say(f"listening on http://{host}:{listening.getsockname()[1]}/webhook")
            asyncio.run(_run(receiver, listening))
        finally:
            processes.stop(grace_s)
            intake.close()
            queue.close()
    say("stopped")


async def _run(receiver: Receiver, listening: socket.socket) -> None:
    config = uvicorn.Config(
        make_app(receiver),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=2 * MOST_ARRIVING,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=10,
    )
    server = _Server(config)
    loop = asyncio.get_running_loop()

    def end() -> None:
        receiver.stopping = True
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)
    await server.serve(sockets=[listening])


class _Server(uvicorn.Server):
    """uvicorn, with the signals left to us: it would raise them again before we are done."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.contextmanager
def _sole_server(state: Path) -> Iterator[None]:
    """One server for each folder; the kernel lets go when it dies."""
    try:
        state.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(state / "server.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        message = f"{state} cannot be written: {error.strerror}"
        raise WorldError(message, "Name another folder: --state DIR.") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        message = f"another stratwright serve uses {state}"
        raise InputError(message, "Stop it, or name another folder: --state DIR.") from None
    try:
        yield
    finally:
        os.close(descriptor)


def _listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=1024
        )
    except OSError as error:
        message = f"cannot listen on {host}:{port}: {error.strerror}"
        raise InputError(message, "Name another --host or --port.") from None
