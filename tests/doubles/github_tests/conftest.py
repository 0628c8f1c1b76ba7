"""A repository with a real clone, and ways to ask the server: PyGithub, or plain HTTP."""

import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import github
import jwt
import pytest
import requests
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.doubles.github import GitHubServer, HostedRepository
from tests.doubles.github.accounts import App, Installation

NAME = "owner/name"
ALL = dict.fromkeys(
    ("actions", "checks", "contents", "deployments", "issues", "pull_requests", "statuses"), "write"
)


@dataclass
class Clone:
    """A working copy whose origin is the server's bare repository."""

    folder: Path

    def git(self, *arguments: str) -> str:
        person = ("-c", "user.name=Test", "-c", "user.email=test@example.com")
        done = subprocess.run(
            ["git", *person, *arguments],
            cwd=self.folder,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    def push(self, branch: str, files: dict[str, str], base: str = "main") -> str:
        """Commit files on a branch cut from base (or on the branch itself) and push it."""
        known = self.git("branch", "--list", branch)
        self.git("checkout", "-q", *([branch] if known else ["-b", branch, base]))
        for path, text in files.items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_text(text)
        self.git("add", "-A")
        self.git("commit", "-qm", f"change {', '.join(files)}")
        self.git("push", "-q", "origin", branch)
        return self.git("rev-parse", "HEAD")


@dataclass
class Answered:
    """A plain HTTP answer."""

    status: int
    body: Any
    headers: Any


@dataclass
class Asker:
    """Plain HTTP with a token, for what PyGithub hides."""

    url: str
    token: str = ""
    session: requests.Session = field(default_factory=requests.Session)

    def __call__(
        self, method: str, path: str, body: Any = None, timeout: float = 30, **headers: str
    ) -> Answered:
        head = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            head["Authorization"] = f"Bearer {self.token}"
        url = path if path.startswith("http") else f"{self.url}{path}"
        got = self.session.request(method, url, json=body, headers=head, timeout=timeout)
        return Answered(got.status_code, got.json() if got.content else None, got.headers)


@pytest.fixture(scope="session")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bare repository with one commit and its clone, made once and copied for each test."""
    folder = tmp_path_factory.mktemp("seed")
    (folder / "clone").mkdir()
    work = Clone(folder / "clone")
    work.git("init", "-q", "--bare", "-b", "main", "../origin.git")
    work.git("init", "-q", "-b", "main")
    work.git("remote", "add", "origin", "../origin.git")
    (work.folder / "README.md").write_text("# Hello\n")
    work.git("add", "-A")
    work.git("commit", "-qm", "first")
    work.git("push", "-q", "origin", "main")
    return folder


@pytest.fixture
def clone(seed: Path, tmp_path: Path) -> Clone:
    shutil.copytree(seed, tmp_path, dirs_exist_ok=True)
    return Clone(tmp_path / "clone")


@pytest.fixture
def repo(hub: GitHubServer, clone: Clone, tmp_path: Path) -> HostedRepository:
    made = hub.create_repository(NAME, bare=tmp_path / "origin.git")
    made.settings.can_approve_pull_request_reviews = True
    hub.add_user("alice", id=1001)
    made.set_permission("alice", "write")
    return made


@pytest.fixture
def token(hub: GitHubServer, repo: HostedRepository) -> str:
    return hub.token_for("github-actions[bot]", permissions=ALL, repository=NAME)


@pytest.fixture
def ask(hub: GitHubServer, token: str) -> Iterator[Asker]:
    asker = Asker(hub.url, token)
    yield asker
    asker.session.close()


@pytest.fixture
def ask_as(hub: GitHubServer, repo: HostedRepository) -> Iterator[Any]:
    """Plain HTTP as somebody: a login with all that the person may do, or a token's value."""
    made: list[Asker] = []

    def as_whom(login: str = "", *, value: str = "", **permissions: str) -> Asker:
        token = value or (hub.token_for(login, permissions or None) if login else "")
        made.append(Asker(hub.url, token))
        return made[-1]

    yield as_whom
    for asker in made:
        asker.session.close()


@pytest.fixture
def gh(hub: GitHubServer, token: str) -> Iterator[github.Github]:
    client = github.Github(
        base_url=hub.url,
        auth=github.Auth.Token(token),
        retry=0,
        timeout=30,
        seconds_between_requests=0,
        seconds_between_writes=0,
    )
    yield client
    client.close()


@pytest.fixture
def home(gh: github.Github) -> Any:
    return gh.get_repo(NAME)


@dataclass
class InstalledApp:
    """A GitHub App with its key, let into the repository."""

    app: App
    installation: Installation
    key: Any

    def jwt(self, key: Any = None, **claims: Any) -> str:
        now = int(time.time())
        body = {"iss": str(self.app.id), "iat": now - 60, "exp": now + 540, **claims}
        return jwt.encode(body, key or self.key, algorithm="RS256")


@pytest.fixture(scope="session")
def key() -> Any:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture
def app(hub: GitHubServer, repo: HostedRepository, key: Any) -> InstalledApp:
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    made = hub.create_app("stratwright-app", public.decode())
    let_in = hub.install(made, [NAME], {"issues": "write", "contents": "read"})
    return InstalledApp(made, let_in, key)
