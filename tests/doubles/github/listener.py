"""The socket: HTTP on loopback to requests, outcomes to bytes, silence or a broken connection."""

import gzip
import json
import select
import socket
import struct
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.doubles.github.messages import Answer, Refusal, Request
from tests.doubles.github.service import Outcome

_MAX_BODY = 40_000_000
_LOOK_S = 0.05


class Listener:
    """A thread for each connection on a free port of 127.0.0.1."""

    def __init__(self) -> None:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread: threading.Thread | None = None

    def start(self, serve: Callable[[Request], Outcome]) -> None:
        """Begin to answer."""
        self._server.serve = serve
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_LOOK_S,), daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop answering and close what is open."""
        self._server.stopping.set()
        if self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._thread = None
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.stopping = threading.Event()
        self.serve: Callable[[Request], Outcome] = lambda _: Outcome(None)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no error here: the faults make clients do so."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "GitHub.com"
    # Without these two, header and body leave in two packets and each answer takes 40 ms.
    wbufsize = -1
    disable_nagle_algorithm = True
    server: _Server

    def _handle(self) -> None:
        try:
            request = self._read()
        except Refusal as refusal:
            self._write(refusal.answer)
            return
        outcome = self.server.serve(request)
        if outcome.answer is None:
            self._break(outcome.hold_s)
        else:
            self._write(outcome.answer)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _handle  # noqa: N815

    def _read(self) -> Request:
        parts = urlsplit(self.path)
        data = self._read_body()
        headers = {name.lower(): value for name, value in self.headers.items()}
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        body: Any = data
        if not headers.get("content-type", "").startswith("application/x-git-"):
            try:
                body = json.loads(data) if data else None
            except ValueError:
                raise Refusal(400, "Problems parsing JSON") from None
        path = parts.path.rstrip("/") or "/"
        return Request(self.command, path, query, headers, body)

    def _read_body(self) -> bytes:
        """The body, whole: Git sends large ones in chunks and wordy ones compressed."""
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            data = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            length = int(self.headers.get("Content-Length") or 0)
            if length > _MAX_BODY:
                raise Refusal(413, "Payload too large")
            data = self.rfile.read(length)
        return gzip.decompress(data) if self.headers.get("Content-Encoding") == "gzip" else data

    def _write(self, answer: Answer) -> None:
        data = answer.body if isinstance(answer.body, bytes) else b""
        self.send_response_only(answer.status)
        if "Date" not in answer.headers:
            self.send_header("Date", self.date_time_string())
        if answer.body is not None and not isinstance(answer.body, bytes):
            data = json.dumps(answer.body).encode()
            self.send_header("Content-Type", "application/json; charset=utf-8")
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.status not in (204, 304):
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _break(self, hold_s: float) -> None:
        """Say nothing until the client gives up, then reset the connection."""
        self.close_connection = True
        until = time.monotonic() + hold_s
        while time.monotonic() < until and not self.server.stopping.is_set():
            readable, _, _ = select.select([self.connection], [], [], _LOOK_S)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                return
        # Lingering for no time turns the close into a reset.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def log_message(self, *arguments: Any) -> None:
        """The exchanges are the log."""
