"""HTTP to the queue: a delivery is checked, put on the disk and answered; nothing is done here."""

import asyncio
import json
import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from fastapi import FastAPI, Request, Response
from starlette.requests import ClientDisconnect

from bot.errors import WorldError
from bot.forge.reasons import Ignored, Reason
from bot.server.deliveries import (
    MOST_BYTES,
    Delivery,
    Envelope,
    http_status,
    is_signed,
    read_delivery,
    read_headers,
)
from bot.server.intake import Intake, QueueUnavailable
from bot.server.queue import Added, Queue
from bot.server.settings import ServerSettings
from bot.server.tally import Figures, metrics_text

WEBHOOK = "/webhook"
# Strangers can make us hold bodies until their signature is checked: so many bytes at once.
MOST_HELD = 8 * MOST_BYTES
# So many at once; the server itself, which gives no reason, refuses twice as many connections.
MOST_ARRIVING = 500
_BODY_S = 8.0
_SMALL = 256_000
_log = logging.getLogger(__name__)


@dataclass
class Receiver:
    """What the endpoints share."""

    settings: ServerSettings
    intake: Intake
    queue: Queue  # to look into, by turns; only the intake adds to it
    workers: Callable[[], int]  # how many live now
    wanted: int  # how many should
    figures: Figures = field(default_factory=Figures)
    held: int = 0
    arriving: int = 0
    turn: threading.Lock = field(default_factory=threading.Lock)
    stopping: bool = False

    async def receive(self, request: Request) -> Delivery | Ignored:
        """Read a request, strictly."""
        envelope = read_headers(request.headers)
        if isinstance(envelope, Ignored):
            return envelope
        if self.arriving >= MOST_ARRIVING:
            return Ignored(Reason.BUSY)
        body = bytearray()
        self.arriving += 1
        try:
            async with asyncio.timeout(_BODY_S):
                async for chunk in request.stream():
                    body += chunk
                    self.held += len(chunk)
                    if len(body) > MOST_BYTES:
                        return Ignored(Reason.TOO_LARGE)
                    if self.held > MOST_HELD:
                        return Ignored(Reason.BUSY)
            data = bytes(body)
            if len(data) <= _SMALL:
                return self._open(envelope, data)
            return await asyncio.to_thread(self._open, envelope, data)
        except TimeoutError:
            return Ignored(Reason.TOO_SLOW)
        finally:
            self.arriving -= 1
            self.held -= len(body)

    def _open(self, envelope: Envelope, body: bytes) -> Delivery | Ignored:
        secrets = [secret.get_secret_value() for secret in self.settings.secrets]
        if not is_signed(body, envelope.signature, secrets):
            return Ignored(Reason.WRONG_SIGNATURE)
        return read_delivery(envelope, body)

    async def take(self, found: Delivery | Ignored) -> tuple[str, Response]:
        """Queue a delivery; gives the name to count it under, and the answer."""
        if isinstance(found, Ignored):
            return _refused(found)
        try:
            added = await self.intake.take(found)
        except QueueUnavailable as error:
            _log.error("a delivery was not accepted", extra={"error": error.message})
            return _refused(Ignored(Reason.NO_QUEUE))
        if added is Added.DUPLICATE:
            return "duplicate", _answer(200, "duplicate", Ignored(Reason.DUPLICATE))
        return "accepted", _answer(202, "accepted")

    def ready(self) -> str:
        """Why deliveries should go elsewhere; empty if they may come."""
        if self.stopping:
            return "the server stops"
        if self.workers() < self.wanted:
            return f"{self.workers()} of {self.wanted} workers run"
        try:
            with self.turn:
                self.queue.check()
        except (sqlite3.Error, WorldError) as error:
            return f"the queue cannot be written: {error}"
        return ""


def make_app(receiver: Receiver) -> FastAPI:
    """The endpoints: webhook, healthz, readyz, metrics; no pages of documentation."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)

    @app.post(WEBHOOK)
    async def webhook(request: Request) -> Response:
        start = time.perf_counter()
        try:
            name, answer = await receiver.take(await receiver.receive(request))
        except ClientDisconnect:
            return Response(status_code=400)
        receiver.figures.add(name, time.perf_counter() - start)
        return answer

    @app.get("/healthz")
    async def healthz() -> Response:
        return Response("ok\n", media_type="text/plain")

    @app.get("/readyz")
    def readyz() -> Response:
        problem = receiver.ready()
        return Response(f"{problem or 'ready'}\n", 503 if problem else 200, media_type="text/plain")

    @app.get("/metrics")
    def metrics() -> Response:
        with receiver.turn:
            census = receiver.queue.census()
        text = metrics_text(receiver.figures, census, receiver.workers())
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    @app.exception_handler(404)
    @app.exception_handler(405)
    async def elsewhere(request: Request, error: Exception) -> Response:
        return _answer(getattr(error, "status_code", 404), "refused", Ignored(Reason.NOWHERE))

    @app.exception_handler(Exception)
    async def bug(request: Request, error: Exception) -> Response:
        receiver.figures.add(f"refused:{Reason.BUG}", 0.0)
        return _answer(500, "refused", Ignored(Reason.BUG))

    return app


def _refused(ignored: Ignored) -> tuple[str, Response]:
    status = http_status(ignored.reason)
    if status < 400:
        return "ignored", _answer(status, "ignored", ignored)
    answer = _answer(status, "refused", ignored)
    if status == 503:
        answer.headers["Retry-After"] = "60"
    return f"refused:{ignored.reason}", answer


def _answer(status: int, word: str, about: Ignored | None = None) -> Response:
    said = {"reason": about.reason.value, "message": str(about)} if about else {}
    return Response(
        json.dumps({"status": word, **said}) + "\n", status, media_type="application/json"
    )
