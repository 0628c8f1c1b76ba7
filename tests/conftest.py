"""What all tests share: profiles of chance, marks by need, one memory of the sandbox.

The longest files come first, so that no worker is left alone with one of them at the end.
"""

import os
import time
from pathlib import Path

import pytest

import tests.chance  # noqa: F401 - registers the profiles before any test is read

# The bus of the tests is files, unless a test starts a Redis of its own.
os.environ.pop("REDIS_URL", None)

# A whole line or a whole server for each test: for `make test`, not for `make quick`.
LINES = (
    *("tests/e2e", "tests/fire", "tests/security", "tests/bot/server", "tests/bot/workflow"),
    "tests/tools/test_hostile_corpus.py",
)
# Beside these, files that take as long: a mutant or a place elsewhere is a run in the sandbox.
EARLY = (
    *LINES,
    *("tests/bot/gates/foreign", "tests/bot/gates/mutation", "tests/bot/gates/test_elsewhere.py"),
    *("tests/bot/coder/template", "tests/freqtrade"),
)
SECONDS = "STRATWRIGHT_TEST_SECONDS"
# Tests with these marks take seconds each; by how long a file of them takes.
LONG = ("act", "docker", "line", "freqtrade")


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
    _longest_first(items)


def _longest_first(items: list[pytest.Item]) -> None:
    ranks: dict[str, int] = {}
    for item in items:
        file = item.nodeid.partition("::")[0]
        marks = {mark.name for mark in item.iter_markers()}
        if file.startswith(EARLY):
            marks.add("line")
        rank = next((number for number, name in enumerate(LONG) if name in marks), len(LONG))
        ranks[file] = min(rank, ranks.get(file, rank))
    items.sort(key=lambda item: ranks[item.nodeid.partition("::")[0]])  # stable: files stay whole


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """`make quick` ends in time: what has not begun by then is left to `make test`."""
    until = os.environ.get(SECONDS)
    if until and time.time() > float(until):
        pytest.skip("the minute is over; `make test` runs the rest")


@pytest.fixture(scope="session")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what the sandbox has answered and the gates have said in this test run."""
    from tests.remembered import remember_examinations

    base = tmp_path_factory.getbasetemp()
    # The workers of one test run have neighbouring folders.
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "heard"
    os.environ["STRATWRIGHT_TEST_HEARD"] = str(folder)
    remember_examinations(folder)
    return folder


@pytest.fixture
def heard(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The product's own sandbox remembers, in this process."""
    from tests.remembered import remembering

    monkeypatch.setattr("bot.workshop.open_sandbox", remembering())
