"""Kill -9 at every boundary and at any moment: the next run ends where it would have ended."""

import json
import random
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from tests.bot.git.worlds import World, sh
from tests.e2e.conftest import copy_world
from tests.e2e.lines import (
    STEPS,
    delivered,
    line_world,
    open_shop,
    run,
    start,
)
from tests.remembered import Remembering


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A repository before its first run."""
    return line_world(tmp_path_factory.mktemp("begun"))


def fresh(begun: World, folder: Path) -> World:
    world = copy_world(begun, folder)
    sh(world.work, "remote", "set-url", "origin", str(world.remote))
    return world


def ended(world: World, result: dict[str, Any]) -> dict[str, Any]:
    """What must be the same, killed or not."""
    pulls = sorted(world.work.glob(".git/stratwright/forge/pulls/*.json"))
    told = [json.loads(pull.read_text("utf-8")) for pull in pulls]
    return {
        "refs": delivered(world),
        "tree": sh(world.work, "rev-parse", f"{result['commit']}^{{tree}}"),
        "gates": json.loads(
            sh(world.work, "show", f"{result['commit']}:artifacts/dip/strategy/gates.json")
        ),
        "pulls": [{**pull, "created": "", "updated": ""} for pull in told],
        "names": [result[key] for key in ("correlation_id", "branch", "tag", "commit")],
        "left": [path.name for path in world.left_behind()],
        "begun": sorted(world.work.glob(".git/stratwright/begun/*")),
    }


@pytest.fixture(scope="module")
def calm(begun: World, tmp_path_factory: pytest.TempPathFactory, memory: Path) -> dict[str, Any]:
    """How it ends without a kill."""
    world = fresh(begun, tmp_path_factory.mktemp("calm") / "it")
    result = start(world, memory).end()
    assert result is not None
    assert result["status"] == "proposed"
    return ended(world, result)


@pytest.mark.parametrize("step", STEPS)
def test_killed_at_a_boundary_the_next_run_ends_as_without_the_kill(
    step: str, begun: World, calm: dict[str, Any], tmp_path: Path, memory: Path
) -> None:
    world = fresh(begun, tmp_path / "killed")
    checkout = sh(world.work, "status", "--porcelain")
    assert start(world, memory, die_at=step).end() is None
    result = start(world, memory).end()
    assert result is not None
    assert ended(world, result) == calm
    assert sh(world.work, "status", "--porcelain") == checkout
    again = start(world, memory).end()
    assert again is not None
    assert again["status"] == "unchanged"


@pytest.mark.parametrize("step", ["pushed", "refs", "committed"])
def test_a_regeneration_that_was_killed_goes_on_under_its_own_number(
    step: str, proposed: World, sandbox: Remembering, memory: Path
) -> None:
    first = run(proposed, sandbox)
    open_shop(proposed, sandbox).forge.close(1)
    assert start(proposed, memory, die_at=step, regenerate=True).end() is None
    result = start(proposed, memory, regenerate=True).end()
    assert result is not None
    assert result["tag"] == f"{first.tag}.2"
    pull = open_shop(proposed, sandbox).forge.get(1)
    assert (pull.draft.tag, pull.draft.head) == (result["tag"], result["commit"])


def test_killed_while_it_refuses_it_refuses_again(world: World, memory: Path) -> None:
    path = world.work / "contracts/dip.yaml"
    path.write_text(path.read_text("utf-8") + "acceptance: {min_trades: 100000}\n", "utf-8")
    before = world.refs()
    assert start(world, memory, die_at="refused").end() is None
    result = start(world, memory).end()
    assert result is not None
    assert result["status"] == "blocked"
    assert world.refs() == before
    assert world.left_behind() == []


def test_killed_at_any_moment_it_still_ends_well(
    begun: World, calm: dict[str, Any], tmp_path: Path, memory: Path
) -> None:
    """Eight moments of one run after the other, then one that is left to finish."""
    world = fresh(begun, tmp_path / "killed")
    chance = random.Random(20)
    started = time.monotonic()
    result = start(fresh(begun, tmp_path / "timed"), memory).end()
    whole_s = time.monotonic() - started
    assert result is not None
    for _ in range(8):
        child = start(world, memory)
        time.sleep(chance.uniform(0.1, 1.1) * whole_s)
        child.kill()
        child.end()
    result = start(world, memory).end()
    assert result is not None
    assert ended(world, result) == calm
    sh(world.work, "fsck", "--strict")
    shutil.rmtree(tmp_path / "timed")


def test_killed_while_the_sandbox_works_nothing_is_left_running(
    begun: World, calm: dict[str, Any], tmp_path: Path, memory: Path
) -> None:
    world = fresh(begun, tmp_path / "killed")
    child = start(world, None)
    guests: dict[int, str] = {}
    deadline = time.monotonic() + 60
    while not any("sandbox_runner.harness.ask_strategy" in words for words in guests.values()):
        assert time.monotonic() < deadline, "no job was seen at work"
        time.sleep(0.05)
        guests = descendants(child.process.pid)
    child.kill()
    assert child.end() is None
    deadline = time.monotonic() + 10
    while left := [pid for pid, words in guests.items() if command_line(pid) == words != ""]:
        assert time.monotonic() < deadline, f"{left} still run"
        time.sleep(0.05)
    result = start(world, memory).end()
    assert result is not None
    assert ended(world, result) == calm


def descendants(root: int) -> dict[int, str]:
    """The processes below one, and what they run."""
    found: dict[int, str] = {}
    waiting = [root]
    while waiting:
        for task in Path("/proc").glob(f"{waiting.pop()}/task/*/children"):
            try:
                children = [int(child) for child in task.read_text("ascii").split()]
            except OSError:
                continue
            waiting += children
            found |= {child: command_line(child) for child in children}
    return found


def command_line(pid: int) -> str:
    try:
        return Path("/proc", str(pid), "cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""
