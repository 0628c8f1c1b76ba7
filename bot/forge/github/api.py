"""Requests to GitHub's REST API: patient where GitHub is only away, never repeated blindly.

A read may be tried again at will. A write that got no clear answer may have taken effect, so it is
looked for before it is tried again, and looked for after it was taken: `ensure` is the only way to
change anything.

What was read before is asked for with its ETag: where nothing has changed, GitHub answers 304, and
that does not count against the hour's requests.
"""

import copy
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import quote

from github import Auth, Github
from github.GithubException import GithubException
from requests.exceptions import RequestException

from adapters.clock import Clock
from bot.clock import MACHINE_CLOCK
from bot.errors import RateLimited, WorldError
from bot.forge.port import RequestsLeft
from bot.redaction import inert, redact

Found = TypeVar("Found")
Row = dict[str, Any]  # what GitHub says of one thing, as JSON has it

ATTEMPTS = 5
LOOKS = 4
LONGEST_WAIT_S = 120.0
_PER_PAGE = 100
_MOST_PAGES = 200
_MOST_KEPT = 100
_UNCOUNTED = ("/rate_limit", "/graphql")  # the latter has a limit of its own


class ApiError(WorldError):
    """GitHub said no, or nothing."""

    def __init__(self, message: str, hint: str = "", status: int = 0) -> None:
        super().__init__(message, hint)
        self.status = status
        # GitHub's clock when it answered, in seconds; None without an answer.
        self.server_time: float | None = None
        self.wait_s = 0.0  # how long a limit asks to wait


class Forbidden(ApiError):
    """The token may not do this."""


class Missing(ApiError):
    """There is no such thing, or the token may not see it."""


class Unprocessable(ApiError):
    """GitHub understood and refused."""


class Passing(ApiError):
    """GitHub is away or busy; a write may or may not have taken effect."""


class Limited(ApiError, RateLimited):
    """The requests of this hour are used up, or too few for what is to do."""


class GitHubApi:
    """One repository on one GitHub."""

    def __init__(
        self,
        repository: str,
        token: str,
        base_url: str = "https://api.github.com",
        *,
        as_app: bool = False,
        pace: float = 1.0,
        sleep: Callable[[float], None] = time.sleep,
        clock: Clock = MACHINE_CLOCK,
    ) -> None:
        self.repository = repository  # `owner/name`
        self.calls = 0  # how many requests were made
        self.counted = 0  # how many of them count against the hour's requests
        self._kept: OrderedDict[str, tuple[str, object]] = OrderedDict()
        self._token = token
        self._pace = pace
        self._sleep = sleep
        self._clock = clock
        # No retries inside: PyGithub would repeat a POST that may have taken effect.
        self._github = Github(
            base_url=base_url,
            auth=Auth.AppAuthToken(token) if as_app else Auth.Token(token),
            retry=None,
            timeout=30,
            user_agent="stratwright",
            seconds_between_requests=0,
            seconds_between_writes=pace,
            lazy=True,
        )

    def get(self, path: str, **parameters: str | int) -> Any:
        """Read, again after a pause while GitHub is away."""
        return self.patiently(lambda: self.call("GET", path, parameters=parameters))

    def pages(self, path: str, **parameters: str | int) -> Iterator[Any]:
        """Read a list page by page."""
        for page in range(1, _MOST_PAGES + 1):
            rows = self.get(path, **{"per_page": _PER_PAGE, **parameters, "page": page})
            yield from rows
            if len(rows) < int(parameters.get("per_page", _PER_PAGE)):
                return

    def write(self, verb: str, path: str, body: Mapping[str, object]) -> Any:
        """Change something, once; only `ensure` calls this with a way to look."""
        return self.call(verb, path, body=body)

    def ensure(
        self,
        what: str,
        look: Callable[[], Found | None],
        write: Callable[[], object],
        *,
        looked: bool = False,
        harmless: Callable[[], bool] = lambda: False,
    ) -> Found:
        """Bring something about that may be there already, and see it there.

        Args:
            what: for the complaint.
            look: gives the thing as it should be, or None.
            write: makes it so.
            looked: whether somebody has looked a moment ago and it was not there.
            harmless: whether writing once more only edits what is there, as after another
                run's edit came between ours and the look.

        Raises:
            ApiError: GitHub refused, or stayed away.
        """
        found = None if looked else self._look_first(look)
        for attempt in range(ATTEMPTS):
            if found is not None:
                return found
            taken = True
            try:
                write()
            except Passing as error:
                if attempt == ATTEMPTS - 1:
                    raise
                taken = False
                self._pause(error, attempt)
            found = self._look_again(look)
            if found is None and taken and (attempt == ATTEMPTS - 1 or not harmless()):
                message = f"GitHub took {what} but does not show it"
                raise ApiError(message, "Run again: it looks first and repeats nothing.")
        raise ApiError(f"GitHub did not take {what}", "Run again: it looks first.")

    def spent(self, contracts: int = 0) -> str:
        """How many requests were made, in a sentence; with how many a contract took."""
        each = f", {self.counted / contracts:.1f} a contract" if contracts else ""
        return (
            f"{self.calls} requests to GitHub's API, of which {self.counted} count "
            f"against the hour's limit{each}."
        )

    def viewer(self) -> str:
        """Under which name the token acts; empty where GitHub does not say.

        By GraphQL: the REST API does not tell it to a workflow's token or an App's.
        """
        try:
            viewer = self.graphql("{viewer{login}}").get("viewer") or {}
        except (Forbidden, Missing, Unprocessable):
            return ""
        return str(viewer.get("login") or "")

    def graphql(self, query: str, **variables: object) -> Row:
        """Ask what the REST API does not tell; gives the data, nothing where GitHub refuses."""
        address, body = self._github.requester.graphql_url, {"query": query}
        asked = {**body, "variables": variables} if variables else body
        found = self.patiently(lambda: self.call("POST", address, body=asked))
        return (found or {}).get("data") or {}

    def leave_room(self, calls: int) -> RequestsLeft | None:
        """Stop before work begins that the hour's requests would not last for.

        Asking does not count. A server without limits has no answer, and that is one.

        Returns:
            What is left of the hour; None where there is no limit.

        Raises:
            Limited: fewer are left, with the time at which there are more.
        """
        try:
            core = self.get("/rate_limit")["resources"]["core"]
        except (Missing, Forbidden):
            return None
        left, wait = int(core["remaining"]), float(core["reset"]) - self._clock.now().timestamp()
        at = time.strftime("%H:%M UTC", time.gmtime(self._clock.now().timestamp() + wait))
        if left >= calls or wait <= 0:
            return RequestsLeft(left, at)
        limited = Limited(
            f"GitHub's rate limit has {left} requests left until {at}; "
            f"one contract may take {calls}, so nothing was begun",
            f"Run again after {at}; it goes on where it stopped.",
        )
        limited.wait_s = wait
        raise limited

    def patiently(self, read: Callable[[], Found]) -> Found:
        """Read again after a pause while GitHub is away."""
        for attempt in range(ATTEMPTS - 1):
            try:
                return read()
            except Passing as error:
                self._pause(error, attempt)
        return read()

    def call(
        self,
        verb: str,
        path: str,
        parameters: Mapping[str, str | int] | None = None,
        body: Mapping[str, object] | None = None,
    ) -> Any:
        """One request; `path` is below the repository unless it starts with / or is an address."""
        below = not path.startswith(("/", "http"))
        address = f"/repos/{self.repository}/{path}".rstrip("/") if below else path
        name = f"{address} {sorted((parameters or {}).items())}" if verb == "GET" else ""
        tag, known = self._kept.get(name, ("", None))
        self.calls += 1
        self.counted += not address.endswith(_UNCOUNTED)
        try:
            headers, data = self._github.requester.requestJsonAndCheck(
                verb,
                address,
                parameters=dict(parameters) if parameters else None,
                headers={"If-None-Match": tag} if tag else None,
                input=dict(body) if body is not None else None,
            )
        except GithubException as error:
            translated = self._translate(verb, path, error)
            translated.server_time = _server_time(error)
            raise translated from None
        except RequestException as error:
            reason = self._clean(type(error).__name__)
            raise Passing(f"GitHub did not answer to {verb} {path}: {reason}", _LATER) from None
        if tag and data is None:  # 304: as it was
            self.counted -= 1
            self._kept.move_to_end(name)
            return copy.deepcopy(known)
        if name:
            self._keep(name, str(headers.get("etag") or ""), data)
        return data

    def _keep(self, name: str, tag: str, data: object) -> None:
        """Remember what was read, with the mark to ask by; the oldest goes first."""
        self._kept.pop(name, None)
        if tag:
            self._kept[name] = (tag, copy.deepcopy(data))
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)

    def _look_first(self, look: Callable[[], Found | None]) -> Found | None:
        """What was made a moment ago may not be there yet for those who ask about it."""
        for turn in range(LOOKS - 1):
            try:
                return self.patiently(look)
            except Missing:
                self._sleep(self._pace * 0.5 * 2**turn)
        return self.patiently(look)

    def _look_again(self, look: Callable[[], Found | None]) -> Found | None:
        """GitHub may show a change only after a moment."""
        for turn in range(LOOKS):
            try:
                found = self.patiently(look)
            except Missing:
                found = None
            if found is not None:
                return found
            self._sleep(self._pace * 0.5 * 2**turn)
        return None

    def _pause(self, error: Passing, attempt: int) -> None:
        wait = error.wait_s or self._pace * 2**attempt
        if wait > LONGEST_WAIT_S:
            at = time.strftime("%H:%M UTC", time.gmtime(self._clock.now().timestamp() + wait))
            message = f"GitHub's rate limit is used up until {at}"
            if error.status >= 500:
                message = f"GitHub is away and asks to be left alone until {at}"
            hint = f"Run again after {at}; it goes on where it stopped."
            kind = ApiError if error.status >= 500 else Limited
            limited = kind(message, hint, error.status)
            limited.wait_s = wait
            raise limited
        self._sleep(wait)

    def _translate(self, verb: str, path: str, error: GithubException) -> ApiError:
        headers = {key.lower(): value for key, value in (error.headers or {}).items()}
        said = error.data.get("message", "") if isinstance(error.data, dict) else str(error.data)
        details = error.data.get("errors", "") if isinstance(error.data, dict) else ""
        words = self._clean(f"{said} {_first_detail(details)}".strip())
        message = f"GitHub answered {error.status} to {verb} {path}: {words or 'no reason given'}"
        wait = self._wait(error.status, headers, words)
        if wait is not None or error.status >= 500 or error.status in (408, 409):
            passing = Passing(message, _LATER, error.status)
            passing.wait_s = wait or 0.0
            return passing
        if error.status == 401:
            return Forbidden(message, "Give a token that is valid: GITHUB_TOKEN.", 401)
        if error.status == 403:
            return Forbidden(message, "Run: stratwright doctor --github", 403)
        if error.status in (404, 410):
            return Missing(message, _GONE, 404)
        return Unprocessable(message, _REFUSED, error.status)

    def _wait(self, status: int, headers: Mapping[str, str], words: str) -> float | None:
        """How long an answer asks to wait; None if it is no limit and says nothing."""
        if status not in (403, 429) and status < 500:
            return None
        if re.fullmatch(r"[0-9]{1,6}", headers.get("retry-after", "")):
            return float(headers["retry-after"]) * min(self._pace, 1.0)
        if status >= 500:
            return None
        if headers.get("x-ratelimit-remaining") == "0":
            reset = headers.get("x-ratelimit-reset", "")
            return (
                max(1.0, float(reset) - self._clock.now().timestamp())
                if reset.isdecimal()
                else 60.0
            )
        limited = "secondary rate limit" in words or "rate limit exceeded" in words.lower()
        return 60.0 * min(self._pace, 1.0) if status == 429 or limited else None

    def _clean(self, text: str) -> str:
        """GitHub's words, short, on one line, without the token."""
        return inert(redact(" ".join(text.split())[:300], [self._token]))


_LATER = "Run again later; it goes on where it stopped."
_GONE = "Check the repository's name and the token's rights; if both are right, run again."
_REFUSED = "Run again: it looks first. If GitHub still refuses, see what the token may do."


def _server_time(error: GithubException) -> float | None:
    headers = {key.lower(): value for key, value in (error.headers or {}).items()}
    try:
        return parsedate_to_datetime(headers["date"]).timestamp()
    except (KeyError, ValueError):
        return None


def _first_detail(errors: object) -> str:
    first = errors[0] if isinstance(errors, list) and errors else ""
    return str(first.get("message", "")) if isinstance(first, dict) else str(first)


def segment(text: str) -> str:
    """A text as one part of a path."""
    return quote(text, safe="")
