"""Fixtures: a GitHub for one test; GitHub's description judges all that passes over it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doubles.github import GitHubServer
from tests.doubles.github.description import Description, read_description

_OCTOKIT = Path(__file__).parents[3] / "build/npm/node_modules/@octokit"


@pytest.fixture(autouse=True)
def _plain_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives every test a Git without the configuration of whoever runs it."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")


@pytest.fixture(scope="session")
def github_description() -> Description:
    """GitHub's description of its own API."""
    return read_description(_OCTOKIT / "openapi/generated/api.github.com.json")


@pytest.fixture(scope="session")
def webhook_examples() -> Path:
    """A list of events as GitHub sends them: name, description, examples."""
    return _OCTOKIT / "webhooks-examples/api.github.com/index.json"


@pytest.fixture
def hub(github_description: Description) -> Iterator[GitHubServer]:
    """A server that fails the test if GitHub would not have said what it said."""
    with GitHubServer() as server:
        yield server
    problems = [p for exchange in server.requests for p in github_description.problems(exchange)]
    assert not problems, "\n".join(problems)
