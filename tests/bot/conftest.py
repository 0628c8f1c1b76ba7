"""Every test of the bot meets a Git without the configuration of whoever runs it.

Tests that need a GitHub take `hub`: all that passes over it is held against GitHub's description.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.testing import GitHubServer
from bot.testing.description import Description, read_description

_OCTOKIT = Path(__file__).parents[2] / "build/npm/node_modules/@octokit"


@pytest.fixture(autouse=True)
def _plain_git(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")


@pytest.fixture(scope="session")
def github_description() -> Description:
    return read_description(_OCTOKIT / "openapi/generated/api.github.com.json")


@pytest.fixture(scope="session")
def webhook_examples() -> Path:
    """A list of events as GitHub sends them: name, description, examples."""
    return _OCTOKIT / "webhooks-examples/api.github.com/index.json"


@pytest.fixture
def hub(github_description: Description) -> Iterator[GitHubServer]:
    with GitHubServer() as server:
        yield server
    problems = [p for exchange in server.requests for p in github_description.problems(exchange)]
    assert not problems, "\n".join(problems)
