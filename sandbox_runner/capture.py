"""Turns a running sandbox into what it printed and why it ended, within fixed time and memory."""

import os
import selectors
import time
from collections.abc import Callable
from dataclasses import dataclass

# After so many times the limit a flood is no accident and the job is ended, so that reading it
# cannot keep the trusted side busy until the time-out.
FLOOD_FACTOR = 16
_CHUNK = 1 << 16


@dataclass(frozen=True)
class Captured:
    """Both streams up to their limit, and what made the sandbox end the job, if it did."""

    stdout: bytes
    stderr: bytes
    truncated: bool
    timed_out: bool
    out_of_memory: bool
    flooded: bool

    @property
    def killed(self) -> bool:
        """Whether the job did not end by itself."""
        return self.timed_out or self.out_of_memory or self.flooded


@dataclass
class _Stream:
    kept: bytearray
    seen: int = 0


@dataclass(frozen=True)
class Limits:
    """When to stop listening: a clock, a size, and a question that is asked now and then."""

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
    streams = {stdout: _Stream(bytearray()), stderr: _Stream(bytearray())}
    reason = ""
    with selectors.DefaultSelector() as selector:
        for descriptor in (*streams, ended):
            os.set_blocking(descriptor, False)
            selector.register(descriptor, selectors.EVENT_READ)
        while True:
            ready = {key.fd for key, _ in selector.select(_patience(limits, reason))}
            for descriptor in ready & streams.keys():
                if not _take(descriptor, streams[descriptor], limits.output_limit):
                    selector.unregister(descriptor)
            if ended in ready:
                break
            if not reason and (reason := _broken(limits, streams)):
                kill()
    for descriptor, stream in streams.items():
        _drain(descriptor, stream, limits.output_limit)
    return Captured(
        stdout=bytes(streams[stdout].kept),
        stderr=bytes(streams[stderr].kept),
        truncated=any(stream.seen > len(stream.kept) for stream in streams.values()),
        timed_out=reason == "time",
        out_of_memory=reason == "memory",
        flooded=reason == "flood",
    )


def _patience(limits: Limits, reason: str) -> float:
    if reason:
        return 0.1
    return min(max(0.0, limits.deadline - time.monotonic()), limits.memory_interval_s)


def _broken(limits: Limits, streams: dict[int, _Stream]) -> str:
    if time.monotonic() >= limits.deadline:
        return "time"
    if any(stream.seen > FLOOD_FACTOR * limits.output_limit for stream in streams.values()):
        return "flood"
    return "memory" if limits.memory_exceeded() else ""


def _take(descriptor: int, stream: _Stream, limit: int) -> bool:
    """Read one chunk, keep what fits; False at the end of the stream."""
    try:
        chunk = os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return True
    stream.seen += len(chunk)
    stream.kept += chunk[: max(0, limit - len(stream.kept))]
    return bool(chunk)


def _drain(descriptor: int, stream: _Stream, limit: int) -> None:
    """Take what still lies in the pipe; the writers are dead, so this ends."""
    before = -1
    while stream.seen != before:
        before = stream.seen
        _take(descriptor, stream, limit)
