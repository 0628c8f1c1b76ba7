"""The whole bridge on this machine: Redis, exchange, Freqtrade."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.adapter.loopback import Loopback
from tests.redis_server import PROGRAM, WHY


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Loopback]:
    """Redis and exchange run; Freqtrade is started by the test."""
    if PROGRAM is None:
        pytest.skip(WHY)
    environment = os.environ["STRATWRIGHT_FREQTRADE"]
    found = Loopback(tmp_path, Path(environment))
    try:
        found.start_redis()
        found.start_exchange()
        yield found
    finally:
        found.close()
