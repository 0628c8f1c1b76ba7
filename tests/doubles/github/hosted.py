"""A repository from the test's side: what a person would click together on its pages."""

import threading
from collections.abc import Sequence

from tests.doubles.github.accounts import Account
from tests.doubles.github.delivery import Approval, Environment, WorkflowRun
from tests.doubles.github.git_store import GitStore
from tests.doubles.github.state import (
    ROLES,
    Comment,
    Issue,
    Label,
    Repository,
    Review,
    Role,
    Settings,
    State,
)


class HostedRepository:
    """One repository on the server. `record` is all that the server keeps of it."""

    def __init__(self, state: State, record: Repository, lock: threading.RLock) -> None:
        self._state = state
        self._lock = lock
        self.record = record

    @property
    def full_name(self) -> str:
        """owner/name."""
        return self.record.full_name

    @property
    def settings(self) -> Settings:
        """What its owner has set; to be changed freely."""
        return self.record.settings

    @property
    def git(self) -> GitStore:
        """Its bare repository."""
        return self.record.git

    def set_permission(self, login: str, role: Role) -> None:
        """Give somebody a role, or take it away with `none`.

        Raises:
            ValueError: if there is no such role.
        """
        if role not in ROLES:
            raise ValueError(f"there is no role {role!r}; roles are {', '.join(ROLES)}")
        with self._lock:
            self._account(login)
            self.record.roles[login.lower()] = role

    def add_label(self, name: str, color: str = "ededed", description: str | None = None) -> Label:
        """Add a label."""
        with self._lock:
            label = Label(self._state.next_id(), name, color, description)
            self.record.labels[name.lower()] = label
            return label

    def open_issue(
        self, title: str, body: str = "", author: str = "", labels: Sequence[str] = ()
    ) -> Issue:
        """Open an issue as a person would in the browser."""
        with self._lock:
            at = self._state.time()
            number = self.record.next_number()
            who = self._account(author or self.record.owner.login)
            issue = Issue(self._state.next_id(), number, title, body, who, at, at, list(labels))
            self.record.issues[number] = issue
            for label in labels:
                if label.lower() not in self.record.labels:
                    self.add_label(label)
            return issue

    def say(self, number: int, body: str, author: str = "") -> Comment:
        """Comment on an issue or a pull request as a person would."""
        with self._lock:
            at = self._state.time()
            who = self._account(author or self.record.owner.login)
            comment = Comment(self._state.next_id(), number, who, body, at, at)
            self.record.comments[comment.id] = comment
            return comment

    def protect(self, branch: str) -> None:
        """Protect a branch."""
        with self._lock:
            self.record.protected.add(branch)

    def add_environment(
        self,
        name: str,
        reviewers: Sequence[str] = (),
        prevent_self_review: bool = False,
        branches: Sequence[str] = (),
    ) -> Environment:
        """Make an environment, whatever the plan; reviewers are logins, branches may deploy."""
        with self._lock:
            at = self._state.time()
            people = [self._account(login) for login in reviewers]
            made = Environment(self._state.next_id(), name, at, at, 0, people, prevent_self_review)
            if branches:
                policy = {"protected_branches": False, "custom_branch_policies": True}
                made.branch_policy, made.branch_names = policy, list(branches)
            self.record.environments[name] = made
            return made

    def review(self, number: int, author: str, state: str = "APPROVED", commit: str = "") -> Review:
        """Review a pull request as a person would in the browser, at its head or another commit."""
        with self._lock:
            pull = self.record.issues[number].pull
            if pull is None:
                raise ValueError(f"#{number} is an issue")
            head = commit or self.record.git.ref(f"refs/heads/{pull.head}") or pull.head_sha
            who, at = self._account(author), self._state.time()
            made = Review(self._state.next_id(), who, "", state, head, at)
            pull.reviews.append(made)
            return made

    def approve_run(
        self, run: WorkflowRun, environment: str, author: str, state: str = "approved"
    ) -> None:
        """Let a waiting run go on, as a reviewer does, or an administrator around them."""
        with self._lock:
            run.approvals.append(Approval(state, "", self._account(author), [environment]))
            run.waiting = [name for name in run.waiting if name != environment]
            run.status = "waiting" if run.waiting else "in_progress"

    def add_run(
        self,
        workflow: str,
        head_sha: str,
        event: str = "workflow_dispatch",
        actor: str = "",
        environments: Sequence[str] = (),
    ) -> WorkflowRun:
        """Let a workflow run; it waits for those of its environments that have reviewers.

        Args:
            workflow: the file's path, as `.github/workflows/live.yml`.
            head_sha: the commit it runs on.
            event: what started it.
            actor: who did; the owner if nobody is named.
            environments: what its jobs want to deploy to.
        """
        with self._lock:
            known = self.record.environments
            waiting = [name for name in environments if name in known and known[name].reviewers]
            run = WorkflowRun(
                id=self._state.next_id(),
                number=len(self.record.runs) + 1,
                workflow=workflow,
                event=event,
                head_branch=self.record.default_branch,
                head_sha=head_sha,
                actor=self._account(actor or self.record.owner.login),
                created=self._state.time(),
                status="waiting" if waiting else "in_progress",
                waiting=waiting,
            )
            self.record.runs[run.id] = run
            return run

    def _account(self, login: str) -> Account:
        known = self._state.accounts.get(login.lower())
        if known is None:
            raise ValueError(
                f"there is no account {login!r}; add it first: hub.add_user({login!r})"
            )
        return known
