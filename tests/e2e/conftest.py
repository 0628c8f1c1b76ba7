"""One sandbox for all tests of the line, and a Git that nobody configured."""

import os
import shutil
from pathlib import Path

import pytest

from sandbox_runner.port import open_sandbox
from tests.bot.git.worlds import World
from tests.e2e.lines import line_world, run
from tests.remembered import Remembering
from tests.templates import copy_template


@pytest.fixture(autouse=True)
def _plain_git(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")


@pytest.fixture(scope="session")
def sandbox(memory: Path) -> Remembering:
    return Remembering(memory, open_sandbox())


@pytest.fixture
def world(tmp_path: Path) -> World:
    return line_world(tmp_path)


@pytest.fixture
def proposed(tmp_path: Path, sandbox: Remembering) -> World:
    """A repository whose contract was delivered: the line ran once, the rest are copies."""

    def deliver(folder: Path) -> None:
        assert run(line_world(folder), sandbox).status == "proposed"

    copy_template(tmp_path, ("proposed",), deliver)
    return World(tmp_path / "work", tmp_path / "remote.git")


def copy_world(world: World, folder: Path) -> World:
    shutil.copytree(world.work.parent, folder, symlinks=True)
    return World(folder / world.work.name, folder / world.remote.name)
