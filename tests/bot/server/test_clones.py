"""Clones: what a runner's checkout is, however the last one ended."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.errors import InputError, WorldError
from bot.forge.github.opening import git_credentials
from bot.server.clones import Clones
from bot.server.tokens import Tokens
from tests.bot.server.service import PEM, Service
from tests.bot.workflow.hub import NAME, git


@pytest.fixture
def clones(service: Service, tmp_path: Path) -> Clones:
    return Clones(tmp_path / "clones", service.hub.url)


@pytest.fixture
def credentials(service: Service) -> dict[str, str]:
    service.world.hosted.record.private = True
    tokens = Tokens(str(service.app), SecretStr(PEM), service.hub.url, pace=0.0)
    token = tokens.token(NAME, service.installation).get_secret_value()
    return git_credentials({"GITHUB_TOKEN": token, "GITHUB_SERVER_URL": service.hub.url})


def test_a_clone_follows_its_remote_and_keeps_nothing_else(
    service: Service, clones: Clones, credentials: dict[str, str]
) -> None:
    place = clones.prepare(NAME, "main", credentials)
    assert (place / "README.md").read_text() == "Strategies.\n"
    git(service.world.bare, "tag", "old", "main")
    git(service.world.bare, "branch", "topic", "main")
    clones.prepare(NAME, "main", credentials)
    git(place, "branch", "ai/generated/a/b", "HEAD")
    (place / "left.txt").write_text("left behind")
    (place / "README.md").write_text("changed")
    git(service.world.bare, "tag", "-d", "old")
    git(service.world.bare, "branch", "-D", "topic")
    _, after = service.world.commit({"README.md": "Newer.\n"})
    assert clones.prepare(NAME.upper(), "main", credentials) == place
    assert git(place, "rev-parse", "HEAD") == after
    assert (place / "README.md").read_text() == "Newer.\n"
    assert not (place / "left.txt").exists()
    refs = git(place, "for-each-ref", "--format=%(refname)").split()
    assert refs == ["refs/remotes/origin/HEAD", "refs/remotes/origin/main"]


def test_no_credentials_stay_in_a_clone(
    service: Service, clones: Clones, credentials: dict[str, str]
) -> None:
    place = clones.prepare(NAME, "main", credentials)
    secret = credentials["GIT_CONFIG_VALUE_0"].split()[-1].encode()
    kept = [path for path in place.rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if secret in path.read_bytes()]


@pytest.mark.parametrize("wound", ["HEAD", "config", "objects", "index", "index.lock", "packed"])
def test_a_broken_clone_is_mended_or_made_anew(
    clones: Clones, credentials: dict[str, str], wound: str
) -> None:
    place = clones.prepare(NAME, "main", credentials)
    if wound == "objects":
        for path in (place / ".git/objects").rglob("*"):
            if path.is_file():
                path.chmod(0o600)
                path.write_bytes(b"")
    elif wound == "packed":
        (place / ".git/packed-refs").write_text("nonsense\n")
    else:
        (place / ".git" / wound).write_bytes(b"\0\0")
    for fresh in (False, False, True):
        try:
            clones.prepare(NAME, "main", credentials, fresh=fresh)
        except WorldError:
            # The worker tries again, and every third time from nothing.
            assert not fresh
            continue
        break
    assert (place / "README.md").read_text() == "Strategies.\n"


def test_a_branch_or_repository_that_is_not_there_is_told(
    clones: Clones, credentials: dict[str, str]
) -> None:
    with pytest.raises(InputError, match="has no branch"):
        clones.prepare(NAME, "nowhere", credentials)
    with pytest.raises(WorldError, match=r"not there|not found"):
        clones.prepare("acme/other", "main", credentials)
    for name in ("../other", "a", "acme/../x"):
        with pytest.raises(InputError, match="not a repository"):
            clones.prepare(name, "main", credentials)
