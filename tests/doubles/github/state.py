"""What the server remembers: accounts, repositories and what hangs on them. Plain records."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from tests.doubles.github.accounts import Account, App, Installation, Token
from tests.doubles.github.delivery import (
    CheckRun,
    CheckSuite,
    Deployment,
    Environment,
    Status,
    WorkflowRun,
)
from tests.doubles.github.git_store import GitStore
from tests.doubles.github.messages import not_found

Role = Literal["admin", "maintain", "write", "triage", "read", "none"]
ROLES: tuple[Role, ...] = ("none", "read", "triage", "write", "maintain", "admin")


@dataclass
class Label:
    """A label of a repository."""

    id: int
    name: str
    color: str = "ededed"
    description: str | None = None


@dataclass
class Comment:
    """Something said under an issue or a pull request."""

    id: int
    number: int
    author: Account
    body: str
    created: str
    updated: str
    app: App | None = None
    edited: str | None = None


@dataclass
class CommitComment:
    """Something said about a commit."""

    id: int
    sha: str
    author: Account
    body: str
    created: str
    updated: str


@dataclass
class Review:
    """Somebody's word on a pull request at one commit."""

    id: int
    author: Account
    body: str
    state: str
    commit: str
    submitted: str
    edited: str | None = None


@dataclass
class Pull:
    """What makes an issue a pull request."""

    head: str
    base: str
    head_sha: str
    base_sha: str
    draft: bool = False
    head_repository: str = ""
    merged: str | None = None
    merged_by: Account | None = None
    merge_commit: str | None = None
    reviews: list[Review] = field(default_factory=list)


@dataclass
class Issue:
    """An issue, or a pull request: they share one row of numbers."""

    id: int
    number: int
    title: str
    body: str | None
    author: Account
    created: str
    updated: str
    labels: list[str] = field(default_factory=list)
    assignees: list[Account] = field(default_factory=list)
    state: str = "open"
    state_reason: str | None = None
    closed: str | None = None
    closed_by: Account | None = None
    locked: bool = False
    app: App | None = None
    pull: Pull | None = None


@dataclass
class Settings:
    """What a repository's owner clicks together. The defaults are GitHub's."""

    default_workflow_permissions: str = "read"
    can_approve_pull_request_reviews: bool = False
    drafts_available: bool | None = None
    """Whether the plan has draft pull requests; None: on public repositories only."""


@dataclass
class Repository:
    """A repository: a bare Git repository, and what GitHub keeps beside it."""

    id: int
    owner: Account
    name: str
    git: GitStore
    default_branch: str
    private: bool
    created: str
    fork_of: str = ""
    settings: Settings = field(default_factory=Settings)
    roles: dict[str, Role] = field(default_factory=dict)
    labels: dict[str, Label] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    comments: dict[int, Comment] = field(default_factory=dict)
    commit_comments: dict[int, CommitComment] = field(default_factory=dict)
    suites: dict[int, CheckSuite] = field(default_factory=dict)
    checks: dict[int, CheckRun] = field(default_factory=dict)
    statuses: list[Status] = field(default_factory=list)
    deployments: dict[int, Deployment] = field(default_factory=dict)
    environments: dict[str, Environment] = field(default_factory=dict)
    runs: dict[int, WorkflowRun] = field(default_factory=dict)
    protected: set[str] = field(default_factory=set)
    last_number: int = 0

    @property
    def full_name(self) -> str:
        """owner/name."""
        return f"{self.owner.login}/{self.name}"

    def next_number(self) -> int:
        """The number of the next issue or pull request."""
        self.last_number += 1
        return self.last_number

    def role(self, account: Account) -> Role:
        """What somebody may do here; a public repository can be read by all."""
        if account.login == self.owner.login:
            return "admin"
        role = self.roles.get(account.login.lower(), "none")
        return "read" if role == "none" and not self.private else role

    def offers(self, feature: bool | None) -> bool:
        """Whether the plan has a feature, which by default only public repositories have."""
        return not self.private if feature is None else feature

    def pulls(self) -> Iterator[Issue]:
        """All pull requests, oldest first."""
        return (issue for _, issue in sorted(self.issues.items()) if issue.pull)


@dataclass
class State:
    """Everything. A copy of it is the world at one moment."""

    url: str
    web: str
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    accounts: dict[str, Account] = field(default_factory=dict)
    mails: dict[str, str] = field(default_factory=dict)
    repositories: dict[str, Repository] = field(default_factory=dict)
    apps: dict[int, App] = field(default_factory=dict)
    installations: dict[int, Installation] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    last_id: int = 1_000_000

    def next_id(self) -> int:
        """An id that nothing else has."""
        self.last_id += 1
        return self.last_id

    def time(self) -> str:
        """Now, to the second, as GitHub writes it."""
        return self.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def account_of(self, mail: str) -> Account | None:
        """Whose commits a mail address makes; None if no account has it."""
        number, plus, _ = mail.removesuffix("@users.noreply.github.com").partition("+")
        for account in self.accounts.values():
            if plus and number == str(account.id):
                return account
        return self.accounts.get(self.mails.get(mail.lower(), ""))

    def account(self, login: str) -> Account:
        """Somebody by login, in any case of letters; refused if unknown."""
        found = self.accounts.get(login.lower())
        if found is None:
            raise not_found()
        return found
