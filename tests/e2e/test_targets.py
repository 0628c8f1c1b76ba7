"""One contract, two targets: both are delivered where both are proven, and one where one is."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from bot.errors import WorldError
from bot.forge.port import open_forge
from bot.gates.freqtrade.installation import VARIABLE, find_freqtrade
from bot.git.repository import open_repository
from bot.pipeline import Result
from bot.proof.targets import NOT_DELIVERED
from tests.bot.git.worlds import World, commit_file, sh
from tests.e2e.forgery import files_of
from tests.e2e.lines import checked, contract_text, line_world, run, stratwright
from tests.freqtrade.freqtrade_environment import needs_freqtrade
from tests.remembered import Remembering

FREQTRADE = "Backtest/freqtrade/QuickDip.py"
BOTH = "[adapter, freqtrade]"


def asking(folder: Path, targets: str = BOTH) -> World:
    """A repository whose contract asks for some targets."""
    world = line_world(folder)
    text = contract_text().replace("targets: [adapter]", f"targets: {targets}")
    commit_file(world.work, "contracts/dip.yaml", text)
    sh(world.work, "push", "-q", "origin", "main")
    return world


def body(world: World, result: Result) -> str:
    assert result.pull_request is not None
    return open_forge("local", open_repository(world.work)).get(result.pull_request).draft.body


def outcome(world: World, tag: str, sandbox: Remembering) -> str:
    return checked(world.work, tag, sandbox, freqtrade=find_freqtrade()).outcome


@pytest.fixture
def lesser(tmp_path: Path, sandbox: Remembering) -> tuple[World, Result]:
    """Delivered where there is no Freqtrade."""
    world = asking(tmp_path)
    return world, run(world, sandbox)


def test_without_freqtrade_its_file_is_not_proposed_and_that_is_said(
    lesser: tuple[World, Result], sandbox: Remembering
) -> None:
    world, result = lesser
    assert result.status == "proposed"
    assert NOT_DELIVERED in result.note
    assert FREQTRADE not in files_of(world.work, result.commit)
    gates = json.loads(sh(world.work, "show", f"{result.commit}:{result.artifacts}/gates.json"))
    assert gates["notes"] == [NOT_DELIVERED]
    # The file was written all the same, and read by the gates that need no Freqtrade.
    figures = {gate["name"]: gate["figure"] for gate in gates["gates"]}
    assert "freqtrade-parity" not in figures
    assert figures["mypy"].startswith("3 files")
    text = body(world, result)
    assert "freqtrade: not delivered, Freqtrade 2026.9 is not installed here" in text
    assert FREQTRADE not in text
    assert outcome(world, result.tag, sandbox) == "holds"


def test_without_freqtrade_running_twice_changes_nothing(
    lesser: tuple[World, Result], sandbox: Remembering
) -> None:
    world, result = lesser
    again = run(world, sandbox)
    assert (again.status, again.tag) == ("unchanged", result.tag)
    assert NOT_DELIVERED in again.note


@needs_freqtrade
def test_a_machine_with_freqtrade_proposes_both(
    lesser: tuple[World, Result], sandbox: Remembering
) -> None:
    world, first = lesser
    packages = find_freqtrade()
    result = run(world, sandbox, freqtrade=packages)
    assert result.status == "proposed"
    assert result.note == ""
    assert result.correlation_id != first.correlation_id
    assert result.pull_request == first.pull_request
    assert FREQTRADE in files_of(world.work, result.commit)
    parity = next(gate for gate in result.gates if gate.name == "freqtrade-parity")
    assert parity.passed
    text = body(world, result)
    assert FREQTRADE in text
    assert parity.figure in text
    assert "not delivered" not in text
    assert outcome(world, result.tag, sandbox) == "holds"
    assert outcome(world, first.tag, sandbox) == "holds"
    # A machine that can prove less does not take it back, and does not say that it holds.
    with pytest.raises(WorldError, match="cannot be checked here"):
        run(world, sandbox)
    assert run(world, sandbox, freqtrade=packages).status == "unchanged"


def test_who_asks_for_freqtrade_alone_gets_it_or_nothing(
    tmp_path: Path, sandbox: Remembering
) -> None:
    world = asking(tmp_path, "[freqtrade]")
    with pytest.raises(WorldError, match="not installed here"):
        run(world, sandbox)
    assert not [name for name in world.refs() if "/ai/" in name]


@pytest.mark.skipif(
    find_spec("freqtrade") is not None, reason="Freqtrade is installed beside us, not elsewhere"
)
@pytest.mark.parametrize("by", ["flag", "setting"])
def test_who_requires_all_targets_is_stopped(tmp_path: Path, by: str) -> None:
    world = asking(tmp_path)
    arguments = ["run", "contracts/dip.yaml", "--json"]
    if by == "flag":
        arguments.append("--require-targets")
    else:
        commit_file(world.work, "stratwright.yml", "require_targets: true\n")
        sh(world.work, "push", "-q", "origin", "main")
    done = stratwright(world.work, *arguments, **{VARIABLE: ""})
    assert done.returncode == 4, done.stderr
    assert "not installed here" in done.stdout + done.stderr
