"""What all tests share: profiles of chance, marks by need, one memory of the sandbox."""

import os
import time
from pathlib import Path

import pytest

import tests.chance  # noqa: F401 - registers the profiles before any test is read

# A whole line or a whole server for each test: for `make test`, not for `make quick`.
LINES = ("tests/e2e", "tests/fire", "tests/security", "tests/bot/server", "tests/bot/workflow")
SECONDS = "STRATWRIGHT_TEST_SECONDS"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is told by a test's place or by its parameter, and skip what cannot be had here."""
    for item in items:
        if item.nodeid.startswith(LINES):
            item.add_marker("line")
        callspec = getattr(item, "callspec", None)
        if callspec and any(isinstance(v, str) and v == "docker" for v in callspec.params.values()):
            item.add_marker("docker")
    wanting = [item for item in items if item.get_closest_marker("freqtrade")]
    if wanting:
        from bot.gates.freqtrade.installation import VARIABLE, find_freqtrade

        if find_freqtrade() is None:
            why = f"needs Freqtrade: `make freqtrade`, or {VARIABLE}=<environment with it>"
            for item in wanting:
                item.add_marker(pytest.mark.skip(reason=why))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """`make quick` ends in time: what has not begun by then is left to `make test`."""
    until = os.environ.get(SECONDS)
    if until and time.time() > float(until):
        pytest.skip("the minute is over; `make test` runs the rest")


@pytest.fixture(scope="session")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what the sandbox has answered in this test run."""
    base = tmp_path_factory.getbasetemp()
    # The workers of one test run have neighbouring folders.
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "heard"
    os.environ["STRATWRIGHT_TEST_HEARD"] = str(folder)
    return folder


@pytest.fixture
def heard(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The product's own sandbox remembers, in this process."""
    from tests.remembered import remembering

    monkeypatch.setattr("bot.workshop.open_sandbox", remembering())
