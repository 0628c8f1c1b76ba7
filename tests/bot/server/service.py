"""A real server process, an App on a GitHub of our own, and deliveries as GitHub sends them."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from bot.server.deliveries import sign
from tests.bot.workflow.hub import HOUSE, NAME, World, make_world
from tests.doubles.github import GitHubServer

SECRET = "correct horse battery staple"  # noqa: S105 - of the tests
GRANTED = {"checks": "write", "contents": "write", "issues": "write", "pull_requests": "write"}
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PEM = KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
PUBLIC = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


@dataclass
class Answer:
    """What the server said."""

    status: int
    text: str

    @property
    def word(self) -> str:
        return str(json.loads(self.text)["status"])

    @property
    def reason(self) -> str:
        return str(json.loads(self.text).get("reason", ""))


@dataclass
class Service:
    """`stratwright serve` as a process; `start` again after `kill` continues with its state."""

    hub: GitHubServer
    world: World
    app: int
    installation: int
    state: Path
    arguments: tuple[str, ...] = ("--workers", "1")
    program: tuple[str, ...] = ("-m", "bot.cli")
    more: dict[str, str] = field(default_factory=dict)
    wrapper: tuple[str, ...] = ()
    port: int = 0
    process: "subprocess.Popen[str] | None" = None
    log: list[str] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "PYTHONPATH": str(HOUSE),
            "STRATWRIGHT_WEBHOOK_SECRET": SECRET,
            "STRATWRIGHT_APP_ID": str(self.app),
            "STRATWRIGHT_APP_PRIVATE_KEY": PEM,
            "GITHUB_API_URL": self.hub.url,
            "GITHUB_SERVER_URL": self.hub.url,
            "STRATWRIGHT_PACE": "0",
            **self.more,
        }

    def start(self) -> None:
        """Start it, in a process group of its own, and wait until it listens."""
        command = [*self.wrapper, sys.executable, *self.program, "serve", "--port", "0"]
        process = subprocess.Popen(
            [*command, "--state", str(self.state), *self.arguments],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            cwd=HOUSE,
        )
        self.process, self.port = process, 0
        threading.Thread(target=self._read, args=(process,), daemon=True).start()
        wait_for(lambda: self.port or process.poll() is not None, "the server to listen")
        assert self.port, "\n".join(self.log)

    def _read(self, process: "subprocess.Popen[str]") -> None:
        assert process.stderr is not None
        for line in process.stderr:
            self.log.append(line.rstrip())
            found = re.search(r"listening on http://127\.0\.0\.1:(\d+)/webhook", line)
            if found:
                self.port = int(found[1])
        process.stderr.close()

    def kill(self) -> None:
        """kill -9 of the server; its workers have to notice themselves."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)

    def stop(self) -> int:
        """SIGTERM; gives the exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def close(self) -> None:
        """End it, whatever state it is in."""
        if self.process is not None and self.process.poll() is None:
            try:
                self.stop()
            finally:
                self.process.kill()
                self.process.wait()

    def ask(self, method: str, path: str, body: bytes | None = None, headers: Any = None) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, headers or {})
            got = connection.getresponse()
            return Answer(got.status, got.read().decode())
        finally:
            connection.close()

    def deliver(
        self, event: str, payload: dict[str, Any], delivery: str = "", **changes: str
    ) -> Answer:
        """Send an event, signed; headers can be changed."""
        given = {**payload, "installation": {"id": self.installation}}
        body = json.dumps(given).encode()
        return self.ask("POST", "/webhook", body, {**headers(event, body, delivery), **changes})

    def figures(self, *names: str) -> list[float]:
        """Metrics' values of one moment, each summed over its labels."""
        text = self.ask("GET", "/metrics").text
        rows = [rf"^stratwright_{name}(?:{{.*}})? (\S+)$" for name in names]
        return [sum(map(float, re.findall(row, text, re.MULTILINE))) for row in rows]

    def figure(self, name: str) -> float:
        return self.figures(name)[0]

    @property
    def idle(self) -> bool:
        """Asked at once: between two questions a lease can become a place in the queue."""
        return self.figures("queue_depth", "queue_leased") == [0, 0]

    def settle(self, seconds: float = 120) -> None:
        """Wait until the queue is empty."""
        wait_for(lambda: self.idle, "the queue to be empty", seconds, lambda: self.log[-30:])


def headers(event: str, body: bytes, delivery: str = "", secret: str = SECRET) -> dict[str, str]:
    return {
        "Content-Type": "application/json",
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": delivery or str(uuid.uuid4()),
        "X-Hub-Signature-256": sign(body, secret.encode()),
    }


def wait_for(
    holds: Callable[[], object],
    what: str,
    seconds: float = 60,
    explain: Callable[[], object] = lambda: "",
) -> None:
    """Look until something holds; a bound on patience, not a measurement."""
    deadline, pause_s = time.monotonic() + seconds, 0.02
    while not holds():
        assert time.monotonic() < deadline, f"waited in vain for {what}: {explain()}"
        time.sleep(pause_s)
        pause_s = min(0.3, 1.5 * pause_s)  # looking takes the server's time


def make_service(folder: Path, hub: GitHubServer, world: World | None = None) -> Service:
    """An App that is installed in a repository, and a server for it, not yet started."""
    world = world or make_world(folder, hub)
    app = hub.create_app("stratwright-app", PUBLIC)
    let_in = hub.install(app, [NAME], GRANTED)
    return Service(hub, world, app.id, let_in.id, folder / "state")
