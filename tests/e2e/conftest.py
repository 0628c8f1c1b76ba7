"""One sandbox with a memory for all tests of the line, and a Git that nobody configured."""

import os
import shutil
from pathlib import Path

import pytest

from sandbox_runner.port import open_sandbox
from tests.bot.git.worlds import World
from tests.e2e.lines import Remembering, line_world, run


@pytest.fixture(autouse=True)
def _plain_git(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")


@pytest.fixture(scope="session")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.getbasetemp()
    # The workers of one test run have neighbouring folders and share what they heard.
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "heard"


@pytest.fixture(scope="session")
def sandbox(memory: Path) -> Remembering:
    return Remembering(memory, open_sandbox())


@pytest.fixture
def world(tmp_path: Path) -> World:
    return line_world(tmp_path)


@pytest.fixture
def proposed(tmp_path: Path, sandbox: Remembering) -> World:
    """A repository whose contract was delivered."""
    world = line_world(tmp_path)
    assert run(world, sandbox).status == "proposed"
    return world


def copy_world(world: World, folder: Path) -> World:
    shutil.copytree(world.work.parent, folder, symlinks=True)
    return World(folder / world.work.name, folder / world.remote.name)
