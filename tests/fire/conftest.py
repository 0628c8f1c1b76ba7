"""One server for the tests of a file, which shorten Git's pauses while they run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fire.matrices import Worker


@pytest.fixture(scope="module")
def worker(memory: Path) -> Iterator[Worker]:
    made = Worker(memory)
    yield made
    made.close()
