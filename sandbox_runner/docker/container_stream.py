"""Turns a container's multiplexed output into what the job printed and the outputs it left.

Docker sends both streams over one connection in frames; after the job's end its keeper (see
`first_process.py`) adds a mark to the standard output and then the outputs. All of it is data of
unknown honesty: sizes, numbers and words are checked here, whatever the inside has checked.
"""

import re
import select
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from sandbox_runner.capture import Captured, Stream
from sandbox_runner.outputs import Collected

_CHUNK = 1 << 16
_HEADER = re.compile(rb"(\d{1,6}) (taken|refused) (\d{1,12})\n")
_HEADER_LENGTH = 64
_REASON_LENGTH = 200
_STDOUT, _STDERR = 1, 2
_LOST = "the container ended before it could be read"


@dataclass(frozen=True)
class Conversation:
    """Holds what the reader needs to know about a running container."""

    connection: socket.socket
    mark: bytes  # comes before the outputs and is known to the keeper alone
    collect: tuple[str, ...]
    collect_limit: int  # bytes, all outputs together
    output_limit: int  # bytes kept of each stream
    deadline: float  # on time.monotonic()
    out_of_memory: Callable[[], bool]
    kill: Callable[[], None]
    poll_s: float = 0.25
    farewell_s: float = 1.0  # from the order to stop until the kill
    death_s: float = 20.0  # from the kill to the end of the connection


@dataclass(frozen=True)
class Conclusion:
    """Tells how a container ended. Unanswered and not by us: somebody else has ended it."""

    captured: Captured
    collected: Collected
    answered: bool


@dataclass
class _Demultiplexer:
    """Frames to streams: 1 byte which, 3 zero, 4 length, then the bytes."""

    stdout: "_MarkedStream"
    stderr: Stream
    header: bytearray = field(default_factory=bytearray)
    left: int = 0

    def feed(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            if self.left == 0:
                needed = 8 - len(self.header)
                self.header += view[:needed]
                view = view[needed:]
                if len(self.header) < 8:
                    return
                self.left = int.from_bytes(self.header[4:8], "big")
            part = bytes(view[: self.left])
            view = view[len(part) :]
            self.left -= len(part)
            if self.header[0] == _STDOUT:
                self.stdout.take(part)
            elif self.header[0] == _STDERR:
                self.stderr.take(part)
            if self.left == 0:
                self.header.clear()


@dataclass
class _MarkedStream:
    """Reads the standard output: the job's until the mark, the keeper's after it."""

    mark: bytes
    stream: Stream
    answer_limit: int
    waiting: bytearray = field(default_factory=bytearray)
    answer: bytearray | None = None

    def take(self, data: bytes) -> None:
        if self.answer is None:
            self.waiting += data
            start = self.waiting.find(self.mark)
            # The end of what came so far may be the beginning of the mark.
            sure = start if start >= 0 else max(0, len(self.waiting) - len(self.mark) + 1)
            self.stream.take(self.waiting[:sure])
            del self.waiting[:sure]
            if start < 0:
                return
            self.answer = self.waiting[len(self.mark) :]
            self.waiting = bytearray()
        else:
            self.answer += data
        # One byte too many is enough to see that there are too many.
        del self.answer[self.answer_limit + 1 :]

    def end(self) -> None:
        self.stream.take(self.waiting)
        self.waiting = bytearray()


def converse(talk: Conversation) -> Conclusion:
    """Read until the container is dead, ending the job at the first broken limit.

    The end of a job is ordered from here, and if the container is not dead a second later it is
    killed from here: the inside has no say in either.

    Raises:
        TimeoutError: not even the engine could end it.
    """
    limit = talk.collect_limit + len(talk.collect) * (_HEADER_LENGTH + _REASON_LENGTH)
    stdout = _MarkedStream(talk.mark, Stream(talk.output_limit), limit)
    stderr = Stream(talk.output_limit)
    frames = _Demultiplexer(stdout, stderr)
    reason, kill_at, asked = "", float("inf"), time.monotonic()
    killing: threading.Thread | None = None
    while True:
        if select.select([talk.connection], [], [], _patience(talk, reason, kill_at))[0]:
            data = _receive(talk.connection)
            if not data:
                break
            frames.feed(data)
        now = time.monotonic()
        if not reason and stdout.answer is None:
            reason = _broken(talk, now, (stdout.stream, stderr))
            if not reason and now - asked >= talk.poll_s:
                reason, asked = "memory" if talk.out_of_memory() else "", now
            if reason:
                kill_at = now + (talk.farewell_s if talk.collect else 0.0)
                _order_stop(talk)
        if killing is None and now >= min(kill_at, talk.deadline + talk.farewell_s):
            # Beside the reading: an engine answers a kill only when all output has been taken.
            killing = threading.Thread(target=talk.kill)
            killing.start()
            kill_at = now + talk.death_s
        elif killing is not None and now >= kill_at:
            raise TimeoutError("the container was killed and did not end")
    if killing is not None:
        killing.join()
    stdout.end()
    captured = Captured(stdout.stream, stderr, reason)
    collected = read_answer(stdout.answer, talk.collect, talk.collect_limit)
    return Conclusion(captured, collected, stdout.answer is not None)


def read_answer(answer: bytes | bytearray | None, names: tuple[str, ...], limit: int) -> Collected:
    """Reads the keeper's answer, believed only where it is exactly what it should be."""
    taken: dict[str, bytes] = {}
    refused = dict.fromkeys(names, _LOST)
    rest = bytes(answer or b"")
    for number, name in enumerate(names):
        header = _HEADER.match(rest)
        if header is None or int(header[1]) != number:
            break
        length, start = int(header[3]), header.end()
        content = rest[start : start + length]
        if len(content) < length:
            break
        rest = rest[start + length :]
        if header[2] == b"refused":
            refused[name] = _plain(content)
        elif length > limit - sum(map(len, taken.values())):
            refused[name] = f"it has {length} bytes, {limit} are allowed for all outputs"
        else:
            taken[name] = content
            del refused[name]
    return Collected(taken, refused)


def _plain(words: bytes) -> str:
    """Words from the inside, short and without control characters."""
    text = words[:_REASON_LENGTH].decode("ascii", "replace")
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _patience(talk: Conversation, reason: str, kill_at: float) -> float:
    next_step = min(kill_at, talk.deadline if not reason else kill_at)
    return min(max(0.0, next_step - time.monotonic()), talk.poll_s)


def _broken(talk: Conversation, now: float, streams: tuple[Stream, Stream]) -> str:
    if now >= talk.deadline:
        return "time"
    return "flood" if any(stream.floods for stream in streams) else ""


def _order_stop(talk: Conversation) -> None:
    if talk.collect:
        with suppress(OSError):
            talk.connection.send(b"!")


def _receive(connection: socket.socket) -> bytes:
    try:
        return connection.recv(_CHUNK)
    except OSError:
        return b""
