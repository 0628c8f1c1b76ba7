"""A GitHub on loopback: HTTP in, GitHub's JSON out, every exchange recorded.

from tests.doubles.github import GitHubServer

with GitHubServer() as hub:
    repo = hub.create_repository("owner/name", bare=path_to_a_bare_repository)
    hub.add_user("alice", id=1001)
    repo.set_permission("alice", "write")
    token = hub.token_for("github-actions[bot]", permissions={"contents": "write"},
                          repository="owner/name")
    github.Github(base_url=hub.url, auth=github.Auth.Token(token), retry=0,
                  seconds_between_requests=0, seconds_between_writes=0)
    hub.faults.add(match="POST /repos/*/pulls", kind="timeout_after")
    hub.requests[-1].status
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.doubles.github.access import ACTIONS_SLUG
from tests.doubles.github.accounts import Account, App, Installation, Token
from tests.doubles.github.faults import Faults
from tests.doubles.github.git_store import GitStore
from tests.doubles.github.hosted import HostedRepository
from tests.doubles.github.limits import Limits
from tests.doubles.github.listener import Listener
from tests.doubles.github.messages import Exchange
from tests.doubles.github.service import Service
from tests.doubles.github.state import Repository, Settings, State

_ACTIONS_APP_ID = 15368
_ACTIONS_BOT_ID = 41898282
# GitHub's own default labels, with their colours.
_LABELS = {"bug": "d73a4a", "documentation": "0075ca", "enhancement": "a2eeef"}


class GitHubServer:
    """A GitHub for tests. Use it as a context manager; it listens on 127.0.0.1 until the end.

    Attributes:
        url: the API's base address, for `base_url` and `GITHUB_API_URL`.
        requests: what was asked and answered so far, oldest first.
        faults: what shall go wrong.
        limits: how many requests a token has.
    """

    def __init__(
        self,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        web: str = "https://github.com",
    ) -> None:
        self.faults = Faults()
        self.limits = Limits()
        self._listener = Listener()
        self.url = self._listener.url
        self.state = State(self.url, web, now)
        self._service = Service(self.state, self.faults, self.limits)
        self._lock = self._service.lock
        self.requests: list[Exchange] = self._service.exchanges
        actions = self.add_user(f"{ACTIONS_SLUG}[bot]", id=_ACTIONS_BOT_ID, kind="Bot")
        github = self.add_user("github", id=9919, kind="Organization")
        self._actions = App(_ACTIONS_APP_ID, ACTIONS_SLUG, github)
        self.state.apps[_ACTIONS_APP_ID] = self._actions
        assert actions.login == self._actions.login

    def __enter__(self) -> Self:
        self._listener.start(self._service.serve)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening and let go of held connections."""
        self._listener.stop()

    def rename(self, login: str, to: str) -> None:
        """Give an account another login; the old one is free for others."""
        with self._lock:
            account = self.state.accounts.pop(login.lower())
            self.state.accounts[to.lower()] = Account(to, account.id, account.kind)
            for home in self.state.repositories.values():
                role = home.roles.pop(login.lower(), None)
                if role:
                    home.roles[to.lower()] = role

    def add_user(
        self,
        login: str,
        id: int | None = None,  # noqa: A002
        kind: str = "User",
        mail: str = "",
    ) -> Account:
        """Add somebody; asking again for the same login gives the same account."""
        with self._lock:
            if mail:
                self.state.mails[mail.lower()] = login.lower()
            known = self.state.accounts.get(login.lower())
            if known is not None and id in (None, known.id):
                return known
            account = Account(login, id if id is not None else self.state.next_id(), kind)
            self.state.accounts[login.lower()] = account
            return account

    def create_repository(
        self,
        full_name: str,
        bare: Path | str,
        default_branch: str = "main",
        private: bool = False,
        settings: Settings | None = None,
        fork_of: str = "",
    ) -> HostedRepository:
        """Put a bare repository on the server; pushes to its folder and the API agree.

        Args:
            full_name: owner/name; an owner that is not known yet is added.
            bare: the repository's folder.
            default_branch: as named in the bare repository.
            private: whether strangers see it.
            settings: what its owner has set; GitHub's defaults otherwise.
            fork_of: the full name of the repository that this is a fork of.
        """
        owner, _, name = full_name.partition("/")
        with self._lock:
            repository = Repository(
                id=self.state.next_id(),
                owner=self.add_user(owner),
                name=name,
                git=GitStore(Path(bare)),
                default_branch=default_branch,
                private=private,
                created=self.state.time(),
                settings=settings or Settings(),
                fork_of=fork_of,
            )
            self.state.repositories[full_name.lower()] = repository
            hosted = HostedRepository(self.state, repository, self._lock)
            for label, color in _LABELS.items():
                hosted.add_label(label, color)
            return hosted

    def repository(self, full_name: str) -> HostedRepository:
        """A repository that was created before."""
        known = self.state.repositories[full_name.lower()]
        return HostedRepository(self.state, known, self._lock)

    def token_for(
        self,
        login: str,
        permissions: Mapping[str, str] | None = None,
        repository: str | None = None,
    ) -> str:
        """Make a token.

        Args:
            login: whose; `github-actions[bot]` makes what a workflow run gets as GITHUB_TOKEN.
            permissions: names as in the API, `pull_requests` and not `pull-requests`; without
                them a person's token may do all that the person may.
            repository: the only repository it is good for.
        """
        with self._lock:
            account = self.add_user(login, kind="Bot" if login.endswith("[bot]") else "User")
            app = next((each for each in self.state.apps.values() if each.login == login), None)
            kind = "ghs" if app else "ghp"
            token = Token(
                value=f"{kind}_test{self.state.next_id()}",
                account=account,
                permissions=dict(permissions or {}) if permissions or app else None,
                repositories=frozenset({repository}) if repository else None,
                app=app,
            )
            self.state.tokens[token.value] = token
            return token.value

    def create_app(self, slug: str, public_key: str, owner: str = "github") -> App:
        """Register a GitHub App with the public half of its key, as PEM."""
        with self._lock:
            app = App(self.state.next_id(), slug, self.add_user(owner), public_key)
            self.state.apps[app.id] = app
            self.add_user(app.login, kind="Bot")
            return app

    def install(
        self, app: App, repositories: list[str], permissions: Mapping[str, str]
    ) -> Installation:
        """Let an App into repositories of one owner."""
        with self._lock:
            owner = self.state.repositories[repositories[0].lower()].owner
            known = list(repositories)
            made = Installation(
                self.state.next_id(), app, owner, known, dict(permissions), self.state.time()
            )
            self.state.installations[made.id] = made
            return made

    def use_up(self, token: str, remaining: int = 0, reset_in_s: float = 3600) -> None:
        """Leave a token so many requests until its hour is over."""
        reset = self.state.now() + timedelta(seconds=reset_in_s)
        self.limits.set_remaining(self.state.tokens[token], remaining, reset.timestamp())
