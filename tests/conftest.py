"""Loads the profiles of hypothesis, and gives all tests of a run one memory of the sandbox."""

import os
from pathlib import Path

import pytest

import tests.chance  # noqa: F401 - registers the profiles before any test is read


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
