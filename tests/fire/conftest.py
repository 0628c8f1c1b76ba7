"""One server for all tests of a worker; what the sandbox answered is shared by all workers."""

import os
from collections.abc import Iterator

import pytest

from tests.fire.matrices import Worker


@pytest.fixture(scope="session")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    made = Worker(shared / "fire-heard")
    yield made
    made.close()
