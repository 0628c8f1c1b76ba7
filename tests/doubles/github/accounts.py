"""Records of who there is: accounts, Apps, where they are installed, and tokens."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Account:
    """Somebody with a login: a person, a bot or an organisation."""

    login: str
    id: int
    kind: str = "User"


@dataclass(frozen=True)
class App:
    """A GitHub App; github-actions is one."""

    id: int
    slug: str
    owner: Account
    public_key: str = ""

    @property
    def login(self) -> str:
        """Under which it writes."""
        return f"{self.slug}[bot]"


@dataclass
class Installation:
    """An App that was let into repositories."""

    id: int
    app: App
    account: Account
    repositories: list[str]
    permissions: dict[str, str]
    created: str


@dataclass
class Token:
    """What a request may do. Without permissions of its own it may do what its user may."""

    value: str
    account: Account
    permissions: dict[str, str] | None = None
    repositories: frozenset[str] | None = None
    app: App | None = None
    installation: Installation | None = None
    expires: datetime | None = None
