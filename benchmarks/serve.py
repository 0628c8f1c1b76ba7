"""Measures how soon `stratwright serve` answers 100 deliveries a second.

Every delivery is a real push payload that is signed, comes over a connection of its own and has to
be on the disk before it is answered. It is sent when its time has come, whether or not earlier ones
were answered, and its time counts from then. The limit is 100 ms for the 99th percentile.

Seconds depend on the machine and on who else uses it, so the same is measured, in turns, of a bare
server: the same program and the same framework with an endpoint that only reads the body.

    python -m benchmarks.serve [FOLDER ON THE DISK TO MEASURE]
"""

import asyncio
import gzip
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.server.deliveries import sign

SECRET = "of the benchmark, for nothing else"  # noqa: S105
EXAMPLES = Path("tests/fixtures/webhook_examples.json.gz")
RATE = 100
ROUND_S = 8.0
ROUNDS = 3
LIMIT_S = 0.1
_BARE = """
import socket, sys, uvicorn
from fastapi import FastAPI, Request, Response

app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)


@app.post("/webhook")
async def webhook(request: Request) -> Response:
    await request.body()
    return Response("{}", 202)


listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
address = f"http://127.0.0.1:{listening.getsockname()[1]}/webhook"
print(f"listening on {address}", file=sys.stderr, flush=True)
config = uvicorn.Config(app, log_config=None, access_log=False)
uvicorn.Server(config).run(sockets=[listening])
"""


@dataclass
class Measured:
    """Seconds from when a delivery was due until its answer, and the statuses."""

    seconds: list[float]
    statuses: list[int]

    def at(self, share: float) -> float:
        """A quantile."""
        return sorted(self.seconds)[min(len(self.seconds) - 1, int(len(self.seconds) * share))]


def payload() -> bytes:
    """A push to a default branch, as GitHub sends it."""
    kinds = json.loads(gzip.decompress(EXAMPLES.read_bytes()))
    pushes = next(kind["examples"] for kind in kinds if kind["name"] == "push")
    found = next(each for each in pushes if each["ref"].startswith("refs/heads/"))
    found["ref"] = f"refs/heads/{found['repository']['default_branch']}"
    found["deleted"] = False
    return json.dumps(found).encode()


def request(body: bytes) -> bytes:
    """One delivery as it goes over the wire."""
    lines = (
        "POST /webhook HTTP/1.1",
        "Host: localhost",
        "Connection: close",
        "Content-Type: application/json",
        "X-GitHub-Event: push",
        f"X-GitHub-Delivery: {uuid.uuid4()}",
        f"X-Hub-Signature-256: {sign(body, SECRET.encode())}",
        f"Content-Length: {len(body)}",
    )
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


async def send(port: int, data: bytes, due: float, into: Measured) -> None:
    """Deliver one at its time."""
    await asyncio.sleep(max(0.0, due - time.perf_counter()))
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    status = await reader.readline()
    await reader.read()
    into.seconds.append(time.perf_counter() - due)
    into.statuses.append(int(status.split()[1]))
    writer.close()


async def load(port: int, body: bytes, seconds: float) -> Measured:
    """Deliver at the rate for a while."""
    wanted = [request(body) for _ in range(int(RATE * seconds))]
    into, start = Measured([], []), time.perf_counter() + 0.1
    await asyncio.gather(
        *(send(port, data, start + n / RATE, into) for n, data in enumerate(wanted))
    )
    return into


@contextmanager
def running(command: Sequence[str], environment: dict[str, str]) -> Iterator[int]:
    """A server in a process of its own; gives its port."""
    process = subprocess.Popen(
        command, env={**os.environ, **environment}, stderr=subprocess.PIPE, text=True
    )
    if process.stderr is None:
        raise SystemExit("bench: the server has no standard error")
    try:
        for line in process.stderr:
            if found := re.search(r"listening on http://127\.0\.0\.1:(\d+)/", line):
                yield int(found[1])
                return
        raise SystemExit("bench: the server did not start")
    finally:
        process.terminate()
        process.stderr.close()
        process.wait(60)


def private_key() -> str:
    """A key that no App has."""
    from cryptography.hazmat.primitives.asymmetric import rsa
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
    )

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def measure(disk: Path) -> tuple[Measured, Measured]:
    """Both servers in turns, the queue on a disk; gives ours and the bare one."""
    ours, bare, body = Measured([], []), Measured([], []), payload()
    with tempfile.TemporaryDirectory(dir=disk) as state:
        serve = [sys.executable, "-m", "bot.cli", "serve", "--port", "0", "--state", state]
        settings = {
            "STRATWRIGHT_WEBHOOK_SECRET": SECRET,
            "STRATWRIGHT_APP_ID": "1",
            "STRATWRIGHT_APP_PRIVATE_KEY": private_key(),
            # A GitHub that is away: the worker tries, fails and goes on to the next.
            "GITHUB_API_URL": "http://127.0.0.1:9",
            "GITHUB_SERVER_URL": "http://127.0.0.1:9",
        }
        with (
            running([*serve, "--workers", "1"], settings) as port,
            running([sys.executable, "-c", _BARE], {}) as bare_port,
        ):
            for each in (port, bare_port):
                asyncio.run(load(each, body, 1.0))
            for _ in range(ROUNDS):
                for into, each in ((ours, port), (bare, bare_port)):
                    got = asyncio.run(load(each, body, ROUND_S))
                    into.seconds += got.seconds
                    into.statuses += got.statuses
    return ours, bare


@contextmanager
def probing(disk: Path) -> Iterator[list[float]]:
    """Meanwhile, 20 times a second: what the disk alone takes to be sure of 8 kB."""
    seconds: list[float] = []
    stop = threading.Event()

    def probe() -> None:
        with tempfile.TemporaryFile(dir=disk) as file:
            while not stop.wait(0.05):
                start = time.perf_counter()
                file.write(b"x" * 8000)
                file.flush()
                os.fdatasync(file.fileno())
                seconds.append(time.perf_counter() - start)

    thread = threading.Thread(target=probe)
    thread.start()
    try:
        yield seconds
    finally:
        stop.set()
        thread.join()


def main() -> None:
    """Print the figures; exit 1 if one delivery was not accepted or the limit is missed."""
    disk = Path(sys.argv[1] if sys.argv[1:] else "build").resolve()
    disk.mkdir(parents=True, exist_ok=True)
    with probing(disk) as syncs:
        ours, bare = measure(disk)
    rate = f"{RATE}/s for {ROUNDS} x {ROUND_S:g} s, {len(payload()) / 1000:.1f} kB each"
    print(f"stratwright serve, {rate}, two servers in turns")
    print(f"{'server':<28}{'accepted':>10}{'p50, ms':>9}{'p99, ms':>9}{'max, ms':>9}")
    disk_alone = Measured(syncs, [])
    rows = (
        ("the disk alone, 8 kB synced", disk_alone),
        ("reads the body only", bare),
        ("stratwright serve", ours),
    )
    for name, each in rows:
        times = (each.at(0.5), each.at(0.99), max(each.seconds))
        shown = "".join(f"{value * 1000:>9.1f}" for value in times)
        print(f"{name:<28}{each.statuses.count(202) or '':>10}{shown}")
    ratios = [ours.at(share) / bare.at(share) for share in (0.5, 0.99)]
    mean = statistics.mean(ours.seconds) / statistics.mean(bare.seconds)
    print(f"x bare: p50 {ratios[0]:.1f}, p99 {ratios[1]:.1f}, mean {mean:.1f}; ", end="")
    print(f"limit: p99 {LIMIT_S * 1000:.0f} ms")
    if set(ours.statuses) != {202} or ours.at(0.99) > LIMIT_S:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
