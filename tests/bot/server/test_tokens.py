"""Installation tokens: for one repository, kept while they are good, by whatever clock."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from pydantic import SecretStr

from bot.forge.github.api import Missing, Passing
from bot.server.tokens import KEEP_S, NotInstalled, Tokens
from tests.bot.server.service import GRANTED, PEM, Service
from tests.bot.workflow.hub import NAME
from tests.doubles.github import GitHubServer


@pytest.fixture
def make(service: Service) -> Callable[..., Tokens]:
    def tokens(**more: Any) -> Tokens:
        given = {"app": str(service.app), "key": SecretStr(PEM), "pace": 0.0, **more}
        return Tokens(given.pop("app"), given.pop("key"), service.hub.url, **given)

    return tokens


def made(hub: GitHubServer) -> int:
    return sum(each.path.endswith("/access_tokens") for each in hub.requests)


def test_a_token_is_for_one_repository_and_kept_until_shortly_before_its_end(
    service: Service, make: Callable[..., Tokens]
) -> None:
    clock = [0.0]
    tokens = make(monotonic=lambda: clock[0])
    first = tokens.token(NAME, service.installation)
    held = service.hub.state.tokens[first.get_secret_value()]
    assert held.repositories == frozenset({NAME})
    assert set(held.permissions or {}) == {"checks", "contents", "issues", "pull_requests"}
    clock[0] = KEEP_S - 1
    assert tokens.token(NAME.upper(), service.installation) == first
    assert made(service.hub) == 1
    clock[0] = KEEP_S + 1
    assert tokens.token(NAME, service.installation) != first
    tokens.forget(NAME)
    tokens.token(NAME, service.installation)
    assert made(service.hub) == 3
    assert KEEP_S < 3600


def test_the_installation_is_asked_for_where_the_event_does_not_say_it(
    service: Service, make: Callable[..., Tokens]
) -> None:
    token = make().token(NAME)
    assert service.hub.state.tokens[token.get_secret_value()].installation is not None


def test_the_app_s_name_and_number_sign_its_commits(
    service: Service, make: Callable[..., Tokens]
) -> None:
    tokens = make()
    writer = tokens.writer(tokens.token(NAME, service.installation))
    number = service.hub.state.account("stratwright-app[bot]").id
    assert writer.login == "stratwright-app[bot]"
    assert writer.email == f"{number}+stratwright-app[bot]@users.noreply.github.com"


@pytest.mark.parametrize("hours", [-48, -1, 1, 48])
def test_a_wrong_clock_is_put_right_by_github_s(
    service: Service, make: Callable[..., Tokens], hours: int
) -> None:
    service.hub.state.now = lambda: datetime.now(UTC) + timedelta(hours=hours)
    tokens = make()
    assert tokens.token(NAME, service.installation)
    assert [each.status for each in service.hub.requests if "access" in each.path] == [401, 201]
    tokens.forget(NAME)
    tokens.token(NAME, service.installation)
    assert service.hub.requests[-1].status == 201
    assert made(service.hub) == 3


def test_a_wrong_key_is_told_and_not_tried_for_ever(
    service: Service, make: Callable[..., Tokens]
) -> None:
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    with pytest.raises(NotInstalled, match="does not accept") as told:
        make(key=SecretStr(pem)).token(NAME, service.installation)
    assert "STRATWRIGHT_APP_ID" in told.value.hint
    assert len(service.hub.requests) <= 2


def test_a_repository_without_the_app_is_told(
    service: Service, make: Callable[..., Tokens]
) -> None:
    with pytest.raises(NotInstalled, match="acme/other"):
        make().token("acme/other", service.installation)
    service.hub.state.installations.clear()
    with pytest.raises(NotInstalled, match="no token for"):
        make().token(NAME, service.installation)
    with pytest.raises((NotInstalled, Missing)):
        make().token(NAME)


def test_github_that_is_away_is_asked_again_and_then_told(
    service: Service, make: Callable[..., Tokens]
) -> None:
    service.hub.faults.add(match="POST */access_tokens", kind="status", status=502, times=2)
    assert make().token(NAME, service.installation)
    service.hub.faults.add(match="POST */access_tokens", kind="status", status=502, times=99)
    with pytest.raises(Passing):
        make().token(NAME, service.installation)


def test_no_text_of_tokens_shows_a_secret(
    service: Service, make: Callable[..., Tokens], tmp_path: Path
) -> None:
    tokens = make()
    token = tokens.token(NAME, service.installation)
    assert token.get_secret_value() not in repr(token) + repr(vars(tokens))
    assert "PRIVATE KEY" not in repr(vars(tokens))


def test_an_installation_of_another_account_gives_no_token(
    service: Service, make: Callable[..., Tokens], tmp_path: Path
) -> None:
    """It has a repository of the same name, and GitHub is asked by the name alone."""
    hub = service.hub
    hub.create_repository("mallory/strategies", bare=service.world.bare)
    app = next(each for each in hub.state.apps.values() if each.id == service.app)
    theirs = hub.install(app, ["mallory/strategies"], GRANTED)
    tokens = make()
    with pytest.raises(NotInstalled, match="is not of acme/strategies"):
        tokens.token(NAME, theirs.id)
    # And the right one is not kept from working by it.
    held = hub.state.tokens[tokens.token(NAME, service.installation).get_secret_value()]
    assert held.repositories == frozenset({NAME})
