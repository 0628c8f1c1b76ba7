"""Records of what happens to a commit: checks, statuses, deployments and runs of Actions."""

from dataclasses import dataclass, field

from tests.doubles.github.accounts import Account, App
from tests.doubles.github.messages import Json


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
    branch_names: list[str] = field(default_factory=list)
    admins_bypass: bool = True
    teams: list[str] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)


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
    again_by: Account | None = None
