"""GitHub's patience: the hourly rate limit of each token, and the secondary limit on writing."""

import math
from collections import deque
from dataclasses import dataclass, field

from tests.doubles.github.accounts import Token
from tests.doubles.github.faults import SECONDARY
from tests.doubles.github.messages import Json, Refusal, Request

ACTIONS = "github-actions[bot]"
_HOUR_S = 3600
_MINUTE_S = 60


@dataclass
class Window:
    """An hour's worth of requests."""

    limit: int
    reset: int
    used: int = 0

    @property
    def remaining(self) -> int:
        """How many are left."""
        return max(0, self.limit - self.used)

    @property
    def json(self) -> Json:
        """As the API has it."""
        return {
            "limit": self.limit,
            "used": self.used,
            "remaining": self.remaining,
            "reset": self.reset,
        }

    @property
    def headers(self) -> dict[str, str]:
        """As every answer carries it."""
        head = {
            f"X-RateLimit-{name.capitalize()}": str(number) for name, number in self.json.items()
        }
        return {**head, "X-RateLimit-Resource": "core"}


@dataclass
class Limits:
    """Counts per person, and for GITHUB_TOKEN per repository, whichever job it was made for.

    Attributes:
        per_hour: requests an hour for a person or an App.
        per_hour_in_actions: requests an hour for all jobs of a repository together.
        writes_per_minute: writes after which the secondary limit answers; None: never.
    """

    per_hour: int = 5000
    per_hour_in_actions: int = 1000
    writes_per_minute: int | None = None
    _windows: dict[str, Window] = field(default_factory=dict)
    _writes: dict[str, deque[float]] = field(default_factory=dict)

    def window(self, token: Token | None, now: float) -> Window:
        """The running hour of a token."""
        name, limit = self._whose(token)
        window = self._windows.get(name)
        if window is None or window.reset <= now:
            window = self._windows[name] = Window(limit, int(now) + _HOUR_S)
        return window

    def set_remaining(self, token: Token, remaining: int, reset: float) -> None:
        """Say how much a token has left, and until when (seconds since 1970)."""
        name, limit = self._whose(token)
        window = Window(max(limit, remaining), math.ceil(reset))
        window.used = window.limit - remaining
        self._windows[name] = window

    def _whose(self, token: Token | None) -> tuple[str, int]:
        """Who shares a count, and how much there is; jobs count for their repository."""
        if token is None:
            return "", 60
        if token.account.login == ACTIONS and token.repositories:
            return f"actions of {' '.join(sorted(token.repositories))}", self.per_hour_in_actions
        return token.value, self.per_hour

    def check(self, token: Token | None, request: Request, now: float) -> None:
        """Refuse a request if a limit is used up; writes count towards the secondary limit.

        Raises:
            Refusal: 403, with Retry-After for the secondary limit.
        """
        if self.window(token, now).remaining == 0:
            whose = f"user ID {token.account.id}" if token else "127.0.0.1"
            if token and token.installation:
                whose = f"installation ID {token.installation.id}"
            raise Refusal(403, f"API rate limit exceeded for {whose}.")
        if not request.reads:
            self._spend_write(token, now)

    def _spend_write(self, token: Token | None, now: float) -> None:
        if self.writes_per_minute is None:
            return
        writes = self._writes.setdefault(token.value if token else "", deque())
        while writes and writes[0] <= now - _MINUTE_S:
            writes.popleft()
        if len(writes) >= self.writes_per_minute:
            wait = max(1, int(writes[0] + _MINUTE_S - now + 1))
            raise Refusal(403, SECONDARY, headers={"Retry-After": str(wait)})
        writes.append(now)
