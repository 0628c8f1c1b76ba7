"""A real Git client clones, fetches and pushes over HTTP, under the same tokens and faults."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.github import GitHubServer, HostedRepository


def git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    person = ("-c", "user.name=Test", "-c", "user.email=test@example.com")
    quiet = ("-c", "credential.helper=", "-c", "core.askPass=true")
    return subprocess.run(
        ["git", *person, *quiet, *arguments], cwd=folder, capture_output=True, text=True, timeout=60
    )


@pytest.fixture
def address(hub: GitHubServer, repo: HostedRepository, token: str) -> str:
    return hub.url.replace("://", f"://x-access-token:{token}@") + "/owner/name.git"


@pytest.fixture
def work(tmp_path: Path, address: str) -> Path:
    folder = tmp_path / "work"
    done = git(tmp_path, "clone", "-q", address, str(folder))
    assert done.returncode == 0, done.stderr
    return folder


def commit(work: Path, path: str, text: str) -> str:
    (work / path).parent.mkdir(parents=True, exist_ok=True)
    (work / path).write_text(text)
    git(work, "add", "-A")
    git(work, "commit", "-qm", f"change {path}")
    return git(work, "rev-parse", "HEAD").stdout.strip()


def test_a_push_is_seen_by_the_api(work: Path, repo: HostedRepository) -> None:
    sha = commit(work, "a.txt", "a\n")
    assert git(work, "push", "-q", "origin", "HEAD:refs/heads/topic").returncode == 0
    assert repo.git.ref("refs/heads/topic") == sha


def test_a_large_push_comes_in_chunks(work: Path, repo: HostedRepository) -> None:
    import random

    chance = random.Random(1)
    sha = commit(work, "big.txt", "".join(chance.choices("abcdefghijklmnop", k=4_000_000)))
    done = git(work, "push", "-q", "origin", "HEAD:refs/heads/big")
    assert done.returncode == 0, done.stderr
    assert repo.git.ref("refs/heads/big") == sha


def test_nobody_may_fetch_what_is_public_and_not_push(
    hub: GitHubServer, work: Path, tmp_path: Path
) -> None:
    plain = f"{hub.url}/owner/name.git"
    assert git(tmp_path, "clone", "-q", plain, "public").returncode == 0
    commit(work, "a.txt", "a\n")
    refused = git(work, "push", "-q", plain, "HEAD:refs/heads/topic")
    assert refused.returncode != 0


def test_a_token_that_may_only_read_cannot_push(
    hub: GitHubServer, repo: HostedRepository, work: Path
) -> None:
    token = hub.token_for("github-actions[bot]", {"contents": "read"}, "owner/name")
    address = hub.url.replace("://", f"://x-access-token:{token}@") + "/owner/name.git"
    commit(work, "a.txt", "a\n")
    refused = git(work, "push", "-q", address, "HEAD:refs/heads/topic")
    assert "403" in refused.stderr
    repo.record.private = True
    other = hub.token_for("github-actions[bot]", {"contents": "write"}, "owner/other")
    hidden = git(work, "ls-remote", address.replace(token, other))
    assert "not found" in hidden.stderr


def test_a_push_with_a_workflow_file_is_refused_as_a_whole(
    hub: GitHubServer, repo: HostedRepository, work: Path
) -> None:
    git(work, "checkout", "-qb", "plain")
    commit(work, "a.txt", "a\n")
    git(work, "checkout", "-qb", "other")
    commit(work, ".github/workflows/x.yml", "on: push\n")
    refused = git(work, "push", "origin", "plain", "other")
    assert "without `workflows` permission" in refused.stderr
    assert "`.github/workflows/x.yml`" in refused.stderr
    assert set(repo.git.refs("refs/heads/")) == {"refs/heads/main"}
    assert git(work, "push", "-q", "origin", "plain").returncode == 0


def test_a_protected_branch_takes_no_push(repo: HostedRepository, work: Path) -> None:
    repo.protect("main")
    commit(work, "a.txt", "a\n")
    refused = git(work, "push", "origin", "HEAD:main")
    assert "GH006: Protected branch update failed" in refused.stderr
    assert git(work, "push", "-q", "origin", "HEAD:topic").returncode == 0


@pytest.mark.parametrize(
    ("kind", "done"), [("status", False), ("reset", False), ("timeout_after", True)]
)
def test_faults_hit_pushes_too(
    hub: GitHubServer, repo: HostedRepository, work: Path, kind: Any, done: bool
) -> None:
    commit(work, "a.txt", "a\n")
    # A connection that breaks after it was used before is tried once more by Git's curl itself.
    times = 2 if kind == "reset" else 1
    match = "POST *git-receive-pack"
    hub.faults.add(match=match, kind=kind, times=times, seconds=0.2, status=502)
    assert git(work, "push", "-q", "origin", "HEAD:topic").returncode != 0
    assert ("refs/heads/topic" in repo.git.refs()) is done
    assert git(work, "push", "-q", "origin", "HEAD:topic").returncode == 0
