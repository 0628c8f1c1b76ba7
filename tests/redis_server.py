"""Starts real redis-servers for tests, each on its own socket; skips where there is no program."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import RedisError

PROGRAM = shutil.which("redis-server")
WHY = "needs redis-server: apt-get install redis-server"


class RedisServer:
    """One server in a folder; it can be killed and started again with what it had saved."""

    def __init__(self, folder: Path, *options: str, url: str = "") -> None:
        self.folder = folder
        self.socket = folder / "redis.sock"
        self.url = url or f"unix://{self.socket}"
        self.options = options
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> "RedisServer":
        assert PROGRAM is not None
        listen = () if "--tls-port" in self.options else ("--port", "0")
        self._process = subprocess.Popen(
            [
                *(PROGRAM, *listen, "--unixsocket", str(self.socket), "--unixsocketperm", "700"),
                *("--save", "", "--appendonly", "yes", "--appendfsync", "always"),
                *("--dir", str(self.folder), "--loglevel", "warning", *self.options),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while not self._answers():
            assert self._process.poll() is None, "redis-server did not start"
            time.sleep(0.02)
        return self

    def _answers(self) -> bool:
        try:
            with Redis(unix_socket_path=str(self.socket)) as client:
                return bool(client.ping())
        except RedisError as error:
            return "auth" in str(error).lower()

    def kill(self) -> None:
        """Ends it as a power cut would."""
        if self._process:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def client(self) -> "Redis":
        return Redis(unix_socket_path=str(self.socket), decode_responses=True)


def start_redis(*options: str, url: str = "") -> Generator[RedisServer]:
    """Gives a running server, and removes it afterwards."""
    if PROGRAM is None:
        pytest.skip(WHY)
    # A socket's path has 107 characters at most: not pytest's own folder.
    folder = Path(tempfile.mkdtemp(prefix="sw-redis-", dir="/tmp"))
    server = RedisServer(folder, *options, url=url)
    try:
        yield server.start()
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def redis_server() -> Iterator[RedisServer]:
    yield from start_redis()


@pytest.fixture
def redis_url(redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a server, as the programs find it."""
    monkeypatch.setitem(os.environ, "REDIS_URL", redis_server.url)
    return redis_server.url
