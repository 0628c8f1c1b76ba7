"""What the server remembers: accounts, repositories and what hangs on them. Plain records."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Literal

from bot.testing.git_store import GitStore
from bot.testing.messages import Json, not_found

Role = Literal["admin", "maintain", "write", "triage", "read", "none"]
ROLES: tuple[Role, ...] = ("none", "read", "triage", "write", "maintain", "admin")


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


@dataclass
class Review:
    """Somebody's word on a pull request at one commit."""

    id: int
    author: Account
    body: str
    state: str
    commit: str
    submitted: str


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
    reviewers: list[Account] = field(default_factory=list)
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
class CheckRun:
    """A check on a commit, with the fields that its App gave it."""

    id: int
    suite: int
    app: App
    name: str
    head_sha: str
    status: str = "queued"
    conclusion: str | None = None
    started: str | None = None
    completed: str | None = None
    details_url: str | None = None
    external_id: str = ""
    output: Json = field(default_factory=dict)
    annotations: list[Json] = field(default_factory=list)


@dataclass
class CheckSuite:
    """All checks of one App on one commit."""

    id: int
    app: App
    head_sha: str
    created: str


@dataclass
class Status:
    """A commit status; the newest of a context counts."""

    id: int
    sha: str
    state: str
    context: str
    description: str | None
    target_url: str | None
    creator: Account
    created: str


@dataclass
class DeploymentStatus:
    """How a deployment goes."""

    id: int
    state: str
    creator: Account
    description: str
    environment: str
    environment_url: str
    log_url: str
    created: str
    app: App | None = None


@dataclass
class Deployment:
    """Something sent to an environment."""

    id: int
    sha: str
    ref: str
    task: str
    environment: str
    creator: Account
    payload: Json | str
    description: str | None
    created: str
    transient: bool = False
    production: bool = False
    app: App | None = None
    statuses: list[DeploymentStatus] = field(default_factory=list)


@dataclass
class Environment:
    """A place to deploy to, and what protects it."""

    id: int
    name: str
    created: str
    updated: str
    wait_timer: int = 0
    reviewers: list[Account] = field(default_factory=list)
    prevent_self_review: bool = False
    branch_policy: dict[str, bool] | None = None


@dataclass
class Approval:
    """A reviewer's word on a waiting run."""

    state: str
    comment: str
    user: Account
    environments: list[str]


@dataclass
class WorkflowRun:
    """A run of Actions; `waiting` names the environments it waits for."""

    id: int
    number: int
    workflow: str
    event: str
    head_branch: str
    head_sha: str
    actor: Account
    created: str
    status: str = "in_progress"
    conclusion: str | None = None
    waiting: list[str] = field(default_factory=list)
    approvals: list[Approval] = field(default_factory=list)


@dataclass
class Settings:
    """What a repository's owner clicks together. The defaults are GitHub's."""

    actions_enabled: bool = True
    allowed_actions: str = "all"
    default_workflow_permissions: str = "read"
    can_approve_pull_request_reviews: bool = False
    required_reviewers_available: bool | None = None
    """Whether the plan has required reviewers; None: on public repositories only."""
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
    settings: Settings = field(default_factory=Settings)
    roles: dict[str, Role] = field(default_factory=dict)
    labels: dict[str, Label] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    comments: dict[int, Comment] = field(default_factory=dict)
    suites: dict[int, CheckSuite] = field(default_factory=dict)
    checks: dict[int, CheckRun] = field(default_factory=dict)
    statuses: list[Status] = field(default_factory=list)
    deployments: dict[int, Deployment] = field(default_factory=dict)
    environments: dict[str, Environment] = field(default_factory=dict)
    runs: dict[int, WorkflowRun] = field(default_factory=dict)
    protected: set[str] = field(default_factory=set)
    dispatches: list[Json] = field(default_factory=list)
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
    repositories: dict[str, Repository] = field(default_factory=dict)
    apps: dict[int, App] = field(default_factory=dict)
    installations: dict[int, Installation] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    ids: "count[int]" = field(default_factory=lambda: count(1_000_001))

    def next_id(self) -> int:
        """An id that nothing else has."""
        return next(self.ids)

    def time(self) -> str:
        """Now, to the second, as GitHub writes it."""
        return self.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def account(self, login: str) -> Account:
        """Somebody by login, in any case of letters; refused if unknown."""
        found = self.accounts.get(login.lower())
        if found is None:
            raise not_found()
        return found
