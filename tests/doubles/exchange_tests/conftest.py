from collections.abc import Iterator

import pytest

from tests.doubles.exchange.client import Running


@pytest.fixture
def exchange() -> Iterator[Running]:
    """A flat market that broke out; its clock stands until it is driven."""
    found = Running("--breakout")
    try:
        yield found
    finally:
        found.close()
