from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.testing import GitHubServer
from tests.bot.server.service import Service, make_service


@pytest.fixture
def service(tmp_path: Path, hub: GitHubServer) -> Iterator[Service]:
    """Not started yet."""
    made = make_service(tmp_path, hub)
    yield made
    made.close()
