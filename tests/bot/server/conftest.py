from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bot.server.service import Service, make_service
from tests.doubles.github import GitHubServer


@pytest.fixture
def service(tmp_path: Path, hub: GitHubServer) -> Iterator[Service]:
    """Not started yet."""
    made = make_service(tmp_path, hub)
    yield made
    made.close()
