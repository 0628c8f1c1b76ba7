"""`doctor --serve`: what is missing, as a stranger reads it."""

from collections.abc import Mapping

import pytest

from bot.health.machine import Finding
from bot.health.server import examine_server
from tests.bot.server.service import SECRET, Service


def found(environment: Mapping[str, str]) -> dict[str, Finding]:
    return {finding.name: finding for finding in examine_server(environment)}


def test_a_sound_server_is_sound_but_for_what_the_app_lacks(service: Service) -> None:
    findings = found(service.environment)
    assert findings["serve settings"].well
    assert findings["app"].detail == "stratwright-app[bot]"
    # The App of this GitHub was given nothing on its page: all of it is named.
    assert findings["app permissions"].detail == (
        "lacks write to checks, contents, issues, pull_requests"
    )
    assert findings["app events"].detail == "not subscribed to push, issues, issue_comment"
    assert (findings["app installed"].well, findings["app installed"].detail) == (
        True,
        "in 1 account",
    )


@pytest.mark.parametrize(
    ("changes", "name", "words"),
    [
        ({"STRATWRIGHT_APP_ID": ""}, "serve settings", "STRATWRIGHT_APP_ID is not set"),
        ({"STRATWRIGHT_WEBHOOK_SECRET": "x"}, "serve settings", "shorter"),
        ({"STRATWRIGHT_APP_ID": "99"}, "app", "does not accept"),
        ({"GITHUB_API_URL": "http://127.0.0.1:9"}, "app", "did not answer"),
    ],
)
def test_what_is_missing_is_told(
    service: Service, changes: dict[str, str], name: str, words: str
) -> None:
    findings = found({**service.environment, **changes})
    assert not findings[name].well
    assert words in findings[name].detail
    assert SECRET not in repr(findings)
