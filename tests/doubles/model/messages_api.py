"""Serves `POST /v1/messages` on loopback, streaming what a script says, and keeps what it was sent.

A step of a script is given the request's body and says what happens. The server checks requests
as strictly as the tests need: a key, a model, turns that alternate, a schema for the answer.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-ant-test-0123456789abcdef"
Body = dict[str, Any]
Step = Callable[["Exchange"], None]
USAGE = {"input_tokens": 1200, "output_tokens": 80}


@dataclass
class Exchange:
    """One request, and the ways to answer it."""

    handler: BaseHTTPRequestHandler
    body: Body
    closing: threading.Event

    def status(self, code: int, kind: str, message: str, **headers: str) -> None:
        data = json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()
        self.handler.send_response(code)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.send_header("content-length", str(len(data)))
        self.handler.end_headers()
        self.handler.wfile.write(data)

    def begin(self) -> None:
        self.handler.send_response(200)
        self.handler.send_header("content-type", "text/event-stream")
        self.handler.send_header("connection", "close")
        self.handler.end_headers()

    def event(self, name: str, data: Body) -> None:
        text = f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n"
        self.handler.wfile.write(text.encode())
        self.handler.wfile.flush()

    def open_message(self, usage: Body) -> None:
        self.begin()
        message = {
            "id": "msg_1", "type": "message", "role": "assistant", "model": self.body["model"],
            "content": [], "stop_reason": None, "stop_sequence": None,
            "usage": {**usage, "output_tokens": 1},
        }  # fmt: skip
        self.event("message_start", {"message": message})
        block = {"type": "text", "text": ""}
        self.event("content_block_start", {"index": 0, "content_block": block})

    def chunk(self, text: str) -> None:
        delta = {"type": "text_delta", "text": text}
        self.event("content_block_delta", {"index": 0, "delta": delta})

    def close_message(self, stop_reason: str, usage: Body) -> None:
        self.event("content_block_stop", {"index": 0})
        delta = {"stop_reason": stop_reason, "stop_sequence": None}
        self.event("message_delta", {"delta": delta, "usage": {**usage}})
        self.event("message_stop", {})


def says(text: str, stop_reason: str = "end_turn", **usage: int) -> Step:
    """Stream a text, in chunks."""

    def step(exchange: Exchange) -> None:
        used = {**USAGE, **usage}
        exchange.open_message(used)
        for start in range(0, len(text), 11):
            exchange.chunk(text[start : start + 11])
        exchange.close_message(stop_reason, used)

    return step


def answers(expression: str, *assumptions: str, cannot: str = "", **usage: int) -> Step:
    """Stream an answer of the form that was asked for."""
    given = {"expression": expression, "assumptions": list(assumptions), "cannot": cannot}
    return says(json.dumps(given), "end_turn", **usage)


def uses(*calls: tuple[str, Body], text: str = "", stop: str = "", **usage: int) -> Step:
    """Stream calls of tools, behind a text."""

    def step(exchange: Exchange) -> None:
        used = {**USAGE, **usage}
        exchange.open_message(used)
        exchange.chunk(text or "Next.")
        exchange.event("content_block_stop", {"index": 0})
        for number, (name, args) in enumerate(calls, 1):
            block = {"type": "tool_use", "id": f"toolu_{id(exchange)}_{number}", "name": name}
            begun = {"index": number, "content_block": {**block, "input": {}}}
            exchange.event("content_block_start", begun)
            delta = {"type": "input_json_delta", "partial_json": json.dumps(args)}
            exchange.event("content_block_delta", {"index": number, "delta": delta})
            exchange.event("content_block_stop", {"index": number})
        stopped = stop or ("tool_use" if calls else "end_turn")
        ended = {"stop_reason": stopped, "stop_sequence": None}
        exchange.event("message_delta", {"delta": ended, "usage": used})
        exchange.event("message_stop", {})

    return step


def fails(code: int, kind: str = "api_error", **headers: str) -> Step:
    """Answer with a status, at once and without a wait."""
    return lambda exchange: exchange.status(code, kind, "no", **{"retry_after": "0", **headers})


def hangs(exchange: Exchange) -> None:
    """Take the request and never answer; the thread ends with the server."""
    exchange.closing.wait()


def cuts(exchange: Exchange) -> None:
    """Begin an answer and close the connection in its middle."""
    exchange.open_message(USAGE)
    exchange.chunk('{"expression": "rsi <')
    exchange.handler.close_connection = True


def garbles(exchange: Exchange) -> None:
    """Answer with a stream that is none."""
    exchange.begin()
    exchange.handler.wfile.write(b"event: message_start\ndata: {not json\n\n")
    exchange.handler.close_connection = True


@dataclass
class MessagesApi:
    """What runs: where it is, what it was asked, what it says next."""

    url: str
    script: list[Step]
    otherwise: Step | None
    asked: list[Body] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next_step(self, body: Body) -> Step:
        with self.lock:
            self.asked.append(body)
            if self.script:
                return self.script.pop(0)
        assert self.otherwise is not None, "the script is at its end"
        return self.otherwise


@contextmanager
def serving(script: Sequence[Step] = (), otherwise: Step | None = None) -> Iterator[MessagesApi]:
    """Run the server; it answers by the script, then by `otherwise`."""
    closing = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        wbufsize = -1
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            exchange = Exchange(self, body, closing)
            wrong = complaint(self.path, dict(self.headers), body)
            if wrong:
                exchange.status(400, "invalid_request_error", wrong)
                return
            api.next_step(body)(exchange)

        def log_message(self, *arguments: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    api = MessagesApi(f"http://127.0.0.1:{server.server_port}", list(script), otherwise)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield api
    finally:
        closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def unanswered(messages: list[Body]) -> str:
    """What the real service says of calls without results, and of results without calls."""
    for said, told in zip(messages[1::2], messages[2::2], strict=True):
        asked = [part["id"] for part in said["content"] if part["type"] == "tool_use"]
        got = [part["tool_use_id"] for part in told["content"] if part["type"] == "tool_result"]
        if asked != got:
            return "`tool_use` ids were found without `tool_result` blocks immediately after"
    empty = [part for m in messages for part in m["content"] if not part.get("text", "x").strip()]
    return "text content blocks must be non-empty" if empty else ""


def complaint(path: str, headers: dict[str, str], body: Body) -> str:
    """What the real service would refuse."""
    named = {name.lower(): value for name, value in headers.items()}
    roles = [turn["role"] for turn in body.get("messages", [])]
    if path != "/v1/messages" or body.get("stream") is not True:
        return "only streams of messages are served"
    shown = (named.get("x-api-key"), named.get("authorization"))
    if shown not in ((KEY, None), (None, f"Bearer {KEY}")) or "anthropic-version" not in named:
        return "no key"
    if roles != [("user", "assistant")[number % 2] for number in range(len(roles))] or not roles:
        return "turns must alternate, the user's first"
    writes = isinstance(body.get("system"), list)  # a coder that writes files, by its tools
    if not writes and body.get("output_config", {}).get("format", {}).get("type") != "json_schema":
        return "no schema"
    if writes and (wrong := unanswered(body["messages"])):
        return wrong
    if "temperature" in body and re.match("claude-[a-z]+-5", body["model"]):
        return "`temperature` is deprecated for this model"
    return ""
