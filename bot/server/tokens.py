"""An App's key to tokens for one repository each, kept until shortly before they end.

How old a token is, is measured by the monotonic clock: a wall clock that is wrong or set neither
keeps a dead token nor throws a good one away. GitHub's own clock dates the signed statements
where ours is off.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jwt
from pydantic import SecretStr

from adapters.clock import Clock
from bot.clock import MACHINE_CLOCK
from bot.errors import InputError
from bot.forge.github.api import (
    ApiError,
    Forbidden,
    GitHubApi,
    Missing,
    Row,
    Unprocessable,
    segment,
)
from bot.workflow.context import Writer

# GitHub gives tokens for an hour and takes statements of ten minutes at most.
KEEP_S = 45 * 60.0
_STATEMENT_S = 540
_BACKDATED_S = 60
PERMISSIONS = {
    "checks": "write",
    "contents": "write",
    "issues": "write",
    "pull_requests": "write",
}
DEPLOYS = {"deployments": "write"}
"""What the App needs beside, where the server has a key that signs approvals."""


class NotInstalled(InputError):
    """The App may not work in a repository."""


@dataclass(frozen=True)
class _Kept:
    token: SecretStr
    until: float


class Tokens:
    """The tokens of one App."""

    def __init__(
        self,
        app: str,
        key: SecretStr,
        api_url: str,
        *,
        pace: float = 1.0,
        more: Mapping[str, str] | None = None,
        clock: Clock = MACHINE_CLOCK,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._key = key
        self._api_url = api_url
        self._pace = pace
        self._more = dict(more or {})
        self._clock = clock
        self._monotonic = monotonic
        self._skew_s = 0.0
        self._kept: dict[tuple[str, int], _Kept] = {}
        self._writer: Writer | None = None
        self._turn = threading.Lock()

    def token(self, repository: str, installation: int = 0) -> SecretStr:
        """A token that may do in a repository what the line needs, and nothing anywhere else.

        Raises:
            NotInstalled: the App is not there, or was not given a permission.
            ApiError: GitHub did not answer.
        """
        # A repository that moves to another account is another installation's.
        key = (repository.casefold(), installation)
        with self._turn:
            kept = self._kept.get(key)
            if kept is not None and self._monotonic() < kept.until:
                return kept.token
            asked = self._monotonic()
            made = self._make(repository, installation or self._installation(repository))
            self._kept[key] = _Kept(made, asked + KEEP_S)
            return made

    def forget(self, repository: str) -> None:
        """Throw a token away that GitHub did not take."""
        with self._turn:
            for key in [key for key in self._kept if key[0] == repository.casefold()]:
                del self._kept[key]

    def writer(self, token: SecretStr) -> Writer:
        """Under which name the App writes."""
        if self._writer is None:
            slug = str(self._as_app("GET", "/app")["slug"])
            login = f"{slug}[bot]"
            api = GitHubApi("", token.get_secret_value(), self._api_url, pace=self._pace)
            number = int(api.get(f"/users/{segment(login)}")["id"])
            self._writer = Writer(login, f"{number}+{login}@users.noreply.github.com")
        return self._writer

    def describe(self) -> tuple[Row, int]:
        """The App as GitHub has it, and in how many accounts it is installed (100 at most)."""
        app = self._as_app("GET", "/app")
        return app, len(self._as_app("GET", "/app/installations?per_page=100"))

    def _make(self, repository: str, installation: int) -> SecretStr:
        permissions = {**PERMISSIONS, **self._more}
        body = {"repositories": [repository.partition("/")[2]], "permissions": permissions}
        path = f"/app/installations/{installation}/access_tokens"
        try:
            made = self._as_app("POST", path, body)
        except (Missing, Unprocessable) as error:
            wanted = ", ".join(f"{name}: {level}" for name, level in permissions.items())
            hint = f"Install the App there and grant it {wanted}; then deliver the event again."
            raise NotInstalled(f"no token for {repository}: {error.message}", hint) from None
        # GitHub takes the name alone: another account may have a repository of the same name.
        lent = {str(row.get("full_name", "")).casefold() for row in made.get("repositories") or ()}
        if lent and lent != {repository.casefold()}:
            hint = "The event names an installation that is not the repository's; deliver it again."
            raise NotInstalled(f"installation {installation} is not of {repository}", hint)
        return SecretStr(str(made["token"]))

    def _installation(self, repository: str) -> int:
        """Where the event does not say it: a webhook of a repository, not of the App."""
        try:
            return int(self._as_app("GET", f"/repos/{repository}/installation")["id"])
        except Missing:
            hint = "Install it from the App's page; then deliver the event again."
            raise NotInstalled(f"the App is not installed in {repository}", hint) from None

    def _as_app(self, verb: str, path: str, body: Row | None = None) -> Any:
        """Ask as the App itself; once more by GitHub's clock where ours is off."""
        try:
            return self._ask(verb, path, body)
        except Forbidden as error:
            if error.status != 401 or error.server_time is None:
                raise
            skew = error.server_time - self._clock.now().timestamp()
            if abs(skew - self._skew_s) < _BACKDATED_S / 2:
                raise _not_believed(error) from None
            self._skew_s = skew
            return self._ask(verb, path, body)

    def _ask(self, verb: str, path: str, body: Row | None) -> Any:
        api = GitHubApi("", self._statement(), self._api_url, as_app=True, pace=self._pace)
        # A token that was made and lost on the way back ends by itself, so asking twice is safe.
        return api.patiently(lambda: api.call(verb, path, body=body))

    def _statement(self) -> str:
        """Who we are, signed; dated back a little, as GitHub advises."""
        now = int(self._clock.now().timestamp() + self._skew_s)
        claims = {"iss": self._app, "iat": now - _BACKDATED_S, "exp": now + _STATEMENT_S}
        return jwt.encode(claims, self._key.get_secret_value(), algorithm="RS256")


def _not_believed(error: ApiError) -> NotInstalled:
    hint = "Compare STRATWRIGHT_APP_ID and the private key with the App's page."
    return NotInstalled(f"GitHub does not accept that we are the App: {error.message}", hint)
