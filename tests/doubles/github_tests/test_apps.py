"""GitHub Apps: a JWT for a token, a token for what was granted."""

import time
from datetime import timedelta
from typing import Any

import github
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.doubles.github import GitHubServer, HostedRepository

HOME = "/repos/owner/name"


def test_pygithub_gets_an_installation_token_and_works_with_it(
    hub: GitHubServer, repo: HostedRepository, app: Any
) -> None:
    pem = app.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    auth = github.Auth.AppAuth(app.app.id, pem).get_installation_auth(app.installation.id)
    client = github.Github(
        base_url=hub.url, auth=auth, retry=0, seconds_between_requests=0, seconds_between_writes=0
    )
    issue = client.get_repo("owner/name").create_issue("By an App")
    assert (issue.user.login, issue.user.type) == ("stratwright-app[bot]", "Bot")
    client.close()


def test_an_app_is_not_held_back_by_the_switch_for_actions(
    hub: GitHubServer, repo: HostedRepository, clone: Any, app: Any, ask_as: Any
) -> None:
    repo.settings.can_approve_pull_request_reviews = False
    clone.push("topic", {"a.txt": "a"})
    token = hub.token_for(app.app.login, {"pull_requests": "write"}, "owner/name")
    body = {"title": "t", "head": "topic", "base": "main"}
    assert ask_as(value=token)("POST", f"{HOME}/pulls", body).status == 201


def test_a_token_has_no_more_than_was_granted(app: Any, ask_as: Any) -> None:
    boss, path = ask_as(value=app.jwt()), f"/app/installations/{app.installation.id}/access_tokens"
    assert boss("POST", path, {"permissions": {"contents": "write"}}).status == 422
    assert boss("POST", path, {"repositories": ["other"]}).status == 422
    less = boss("POST", path, {"permissions": {"issues": "read"}}).body
    bot = ask_as(value=less["token"])
    assert bot("GET", f"{HOME}/issues").status == 200
    assert bot("POST", f"{HOME}/issues", {"title": "t"}).status == 403


def test_a_token_ends_after_an_hour(hub: GitHubServer, app: Any, ask_as: Any) -> None:
    path = f"/app/installations/{app.installation.id}/access_tokens"
    bot = ask_as(value=ask_as(value=app.jwt())("POST", path).body["token"])
    assert bot("GET", HOME).status == 200
    later = hub.state.now() + timedelta(hours=1)
    hub.state.now = lambda: later
    assert bot("GET", HOME).status == 401


@pytest.mark.parametrize("wrong", ["key", "issuer", "old", "long", "none"])
def test_a_wrong_statement_is_refused(app: Any, ask_as: Any, wrong: str) -> None:
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    now = int(time.time())
    made = {
        "key": lambda: app.jwt(other),
        "issuer": lambda: app.jwt(iss="99"),
        "old": lambda: app.jwt(exp=now - 1),
        "long": lambda: app.jwt(exp=now + 3600),
        "none": lambda: "",
    }[wrong]()
    assert ask_as(value=made)("GET", "/app").status == 401


def test_another_app_does_not_see_the_installation(
    hub: GitHubServer, app: Any, key: Any, ask_as: Any
) -> None:
    stranger = hub.create_app("other", app.app.public_key)
    value = app.jwt(iss=str(stranger.id))
    assert ask_as(value=value)("GET", f"/app/installations/{app.installation.id}").status == 404
