"""Turns a running sandbox into what it printed and why it ended, within fixed time and memory."""

import os
import selectors
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from sandbox_runner.outputs import Collected
from sandbox_runner.port import Outcome

# After so many times the limit a flood is no accident and the job is ended, so that reading it
# cannot keep the trusted side busy until the time-out.
FLOOD_FACTOR = 16
_CHUNK = 1 << 16


@dataclass
class Stream:
    """Holds what one stream printed, kept up to a limit."""

    limit: int
    kept: bytearray = field(default_factory=bytearray)
    seen: int = 0

    def take(self, data: bytes | bytearray) -> None:
        """Keeps what still fits."""
        self.seen += len(data)
        self.kept += data[: max(0, self.limit - len(self.kept))]

    @property
    def floods(self) -> bool:
        """Says whether so much came that the job is to be ended."""
        return self.seen > FLOOD_FACTOR * self.limit


@dataclass(frozen=True)
class Captured:
    """Holds both streams, and what made the sandbox end the job: time, memory, flood or nothing."""

    stdout: Stream
    stderr: Stream
    reason: str

    def outcome(self, code: int, out_of_memory: bool, got: Collected, seconds: float) -> Outcome:
        """Puts together what came out of the job."""
        out_of_memory = out_of_memory or self.reason == "memory"
        return Outcome(
            exit_code=None if self.reason or out_of_memory else code,
            timed_out=self.reason == "time",
            out_of_memory=out_of_memory,
            stdout=bytes(self.stdout.kept),
            stderr=bytes(self.stderr.kept),
            truncated=any(one.seen > len(one.kept) for one in (self.stdout, self.stderr)),
            outputs=got.taken,
            refused=got.refused,
            seconds=seconds,
        )


@dataclass(frozen=True)
class Limits:
    """Says when to stop listening: a clock, a size, and a question that is asked now and then."""

    deadline: float  # on time.monotonic()
    output_limit: int
    memory_exceeded: Callable[[], bool]
    memory_interval_s: float = 0.05


def capture(
    stdout: int, stderr: int, ended: int, kill: Callable[[], None], limits: Limits
) -> Captured:
    """Read until `ended` (a pidfd) says that everything is dead, killing at the first broken limit.

    The streams alone do not say when a job is over: a process can close them and live on, or
    hand them to a child. Only the death of the whole tree counts.
    """
    streams = {number: Stream(limits.output_limit) for number in (stdout, stderr)}
    reason = ""
    with selectors.DefaultSelector() as selector:
        for descriptor in (*streams, ended):
            os.set_blocking(descriptor, False)
            selector.register(descriptor, selectors.EVENT_READ)
        while True:
            ready = {key.fd for key, _ in selector.select(_patience(limits, reason))}
            for descriptor in ready & streams.keys():
                if not _take(descriptor, streams[descriptor]):
                    selector.unregister(descriptor)
            if ended in ready:
                break
            if not reason and (reason := _broken(limits, streams)):
                kill()
    for descriptor, stream in streams.items():
        _drain(descriptor, stream)
    return Captured(streams[stdout], streams[stderr], reason)


def _patience(limits: Limits, reason: str) -> float:
    if reason:
        return 0.1
    return min(max(0.0, limits.deadline - time.monotonic()), limits.memory_interval_s)


def _broken(limits: Limits, streams: dict[int, Stream]) -> str:
    if time.monotonic() >= limits.deadline:
        return "time"
    if any(stream.floods for stream in streams.values()):
        return "flood"
    return "memory" if limits.memory_exceeded() else ""


def _take(descriptor: int, stream: Stream) -> bool:
    """Read one chunk, keep what fits; False at the end of the stream."""
    try:
        chunk = os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return True
    stream.take(chunk)
    return bool(chunk)


def _drain(descriptor: int, stream: Stream) -> None:
    """Take what still lies in the pipe; the writers are dead, so this ends."""
    before = -1
    while stream.seen != before:
        before = stream.seen
        _take(descriptor, stream)
