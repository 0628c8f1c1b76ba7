"""Bad days on demand: which request fails, how, and how often."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal, get_args

from tests.doubles.github.messages import Answer, Refusal, Request

Kind = Literal["status", "reset", "timeout_before", "timeout_after", "secondary_limit", "stale"]
Match = str | Callable[[Request], bool]

SECONDARY = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again. "
    "If you reach out to GitHub Support for help, please include the request ID."
)
_MESSAGES = {
    404: "Not Found",
    409: "Git Repository is empty.",
    422: "Validation Failed",
    500: "Server Error",
    502: "Server Error",
    503: "Service Unavailable",
}


@dataclass
class Fault:
    """One failure that waits for its request.

    Attributes:
        match: a glob over `METHOD /path` ("POST /repos/*/pulls"), or a function of the request.
        kind: what happens:
            status: an error answer, the request is not carried out;
            reset: the connection breaks, before the request is carried out or after (see `after`);
            timeout_before, timeout_after: no answer ever, the request not carried out or done;
            secondary_limit: 403 with Retry-After;
            stale: a read shows the world as it was before the last write.
        times: how many requests it hits.
        skip: how many matching requests it lets pass first.
        status: for kind status.
        message: for kind status; GitHub's usual words otherwise.
        retry_after_s: for kind secondary_limit.
        seconds: how long a time-out holds the line if the client does not hang up before.
        after: for kind reset and status, whether the request is carried out all the same.
        headers: for kind status, what the answer carries besides, as Retry-After.
    """

    match: Match
    kind: Kind
    times: int = 1
    skip: int = 0
    status: int = 500
    message: str = ""
    retry_after_s: int = 1
    seconds: float = 30.0
    after: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    hits: int = 0

    @property
    def spares(self) -> bool:
        """Whether the request is carried out although the client hears of a failure, or nothing."""
        return self.kind == "timeout_after" or (self.kind in ("reset", "status") and self.after)

    @property
    def answer(self) -> Answer:
        """What the client is told, if it is told something."""
        if self.kind == "secondary_limit":
            headers = {"Retry-After": str(self.retry_after_s)}
            return Refusal(403, SECONDARY, headers=headers).answer
        words = self.message or _MESSAGES.get(self.status, "Error")
        return Refusal(self.status, words, headers=dict(self.headers)).answer

    def wants(self, request: Request) -> bool:
        """Whether the request is of the kind it waits for."""
        if self.kind == "stale" and not request.reads:
            return False
        if callable(self.match):
            return self.match(request)
        line = f"{request.method} {request.path}"
        return fnmatchcase(line, self.match) or fnmatchcase(line, f"{self.match}/")


@dataclass
class Faults:
    """The failures that wait. Adding and clearing is safe while requests are served."""

    waiting: list[Fault] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(
        self,
        match: Match = "*",
        kind: Kind = "status",
        *,
        times: int = 1,
        skip: int = 0,
        status: int = 500,
        message: str = "",
        retry_after_s: int = 1,
        seconds: float = 30.0,
        after: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> Fault:
        """Let matching requests fail; see Fault for what the arguments mean.

        Raises:
            ValueError: if there is no such kind.
        """
        if kind not in get_args(Kind):
            raise ValueError(f"there is no fault {kind!r}; kinds are {', '.join(get_args(Kind))}")
        fault = Fault(
            *(match, kind, times, skip, status, message, retry_after_s, seconds, after),
            headers=headers or {},
        )
        with self._lock:
            self.waiting.append(fault)
        return fault

    def clear(self) -> None:
        """Let everything work again."""
        with self._lock:
            self.waiting.clear()

    def take(self, request: Request) -> Fault | None:
        """The fault that hits this request, used up once."""
        with self._lock:
            for fault in [each for each in self.waiting if each.wants(request)]:
                if fault.skip:
                    fault.skip -= 1
                elif fault.hits < fault.times:
                    fault.hits += 1
                    return fault
        return None

    @property
    def stale_ahead(self) -> bool:
        """Whether a stale read may come, so that the state before each write has to be kept."""
        with self._lock:
            return any(each.kind == "stale" and each.hits < each.times for each in self.waiting)
