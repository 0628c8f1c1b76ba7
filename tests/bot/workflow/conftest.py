"""The repository that an event is about."""

from pathlib import Path

import pytest

from tests.bot.workflow.hub import World, make_world
from tests.doubles.github import GitHubServer


@pytest.fixture(autouse=True)
def _asked_once(heard: None) -> None:
    """The gates of the same candidate run once in all these tests."""


@pytest.fixture
def world(tmp_path: Path, hub: GitHubServer) -> World:
    """Its workflows may open pull requests."""
    made = make_world(tmp_path, hub)
    made.hosted.settings.can_approve_pull_request_reviews = True
    return made
