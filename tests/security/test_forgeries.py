"""Forged evidence is believed on no road: `verify`, tag, `.2`, branch, pull request."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.errors import SafetyStop
from bot.forge.port import PullState, open_forge
from bot.git.proposal import BranchTaken, TagTaken
from bot.git.repository import open_repository
from sandbox_runner.port import open_sandbox
from tests.bot.git.worlds import World, quiet_environment
from tests.chance import EVERY_ATTACK
from tests.e2e.lines import checked, run
from tests.remembered import Remembering
from tests.security.delivered import deliver, plant, set_back
from tests.security.forger import Forgery, git, read_case, seal, write_tag
from tests.security.forgeries import FORGERIES

BRANCH = "ai/generated/dip/strategy"
# A sample of every kind for the roads that end in the same comparison.
SAMPLE = FORGERIES[::6]
FIRST = FORGERIES[:: 1 if EVERY_ATTACK else 3]


def test_there_are_many_and_each_is_another() -> None:
    assert len(FORGERIES) >= 60
    assert len({forgery.name for forgery in FORGERIES}) == len(FORGERIES)


@pytest.fixture(scope="module")
def sandbox(memory: Path) -> Remembering:
    return Remembering(memory, open_sandbox())


@pytest.fixture(scope="module")
def delivered(
    tmp_path_factory: pytest.TempPathFactory, sandbox: Remembering
) -> Iterator[tuple[World, str, Path]]:
    """An honest run: its repository, its tag and a copy of its pull request."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in quiet_environment().items():
            patch.setenv(name, value)
        yield deliver(tmp_path_factory.mktemp("forged"), sandbox)


@pytest.fixture
def place(delivered: tuple[World, str, Path], monkeypatch: pytest.MonkeyPatch) -> tuple[World, str]:
    """The repository as if nothing had been delivered."""
    for name, value in quiet_environment().items():
        monkeypatch.setenv(name, value)
    world, tag, _ = delivered
    set_back(world, tag)
    return world, tag


def names(forgery: Forgery) -> str:
    return forgery.name.replace(" ", "-")


@pytest.mark.parametrize("forgery", FORGERIES, ids=names)
def test_verify_does_not_say_that_it_holds(
    forgery: Forgery, place: tuple[World, str], sandbox: Remembering
) -> None:
    world, tag = place
    case, commit = forgery.make(world.work, tag)
    made = write_tag(world.work, case, commit, tag)
    git(world.work, "update-ref", f"refs/tags/{tag}", made)
    found = checked(world.work, tag, sandbox)
    assert found.outcome in forgery.verified_as, found.findings[-1]
    if found.outcome != "holds":
        assert found.exit_code == (4 if found.outcome == "cannot-check" else 1)
        wrong = [each for each in found.findings if each.outcome == found.outcome]
        assert wrong[0].detail


@pytest.mark.parametrize("forgery", FIRST, ids=names)
def test_a_forged_tag_that_is_first_stops_the_run(
    forgery: Forgery, place: tuple[World, str], sandbox: Remembering
) -> None:
    world, tag = place
    commit = plant(world, tag, forgery)
    refs = {name: oid for name, oid in world.refs().items() if name.startswith("there:")}
    with pytest.raises(TagTaken) as stop:
        run(world, sandbox)
    assert stop.value.exit_code == 5
    assert commit[:12] in stop.value.message
    assert "is not what this contract gives: " in stop.value.message
    assert stop.value.message.isprintable()
    assert refs.items() <= world.refs().items()
    assert f"there:refs/heads/{BRANCH}" not in world.refs()
    assert open_forge("local", open_repository(world.work)).pulls() == ()


@pytest.mark.parametrize("forgery", SAMPLE, ids=names)
def test_a_forged_second_candidate_is_not_regenerated_into_ours(
    forgery: Forgery, place: tuple[World, str], sandbox: Remembering
) -> None:
    world, tag = place
    first = run(world, sandbox)
    commit = plant(world, tag, forgery, f"{tag}.2")
    with pytest.raises(TagTaken):
        run(world, sandbox)
    with pytest.raises(TagTaken) as stop:
        run(world, sandbox, regenerate=True)
    assert commit[:12] in stop.value.message
    (pull,) = open_forge("local", open_repository(world.work)).pulls()
    assert (pull.draft.tag, pull.draft.head) == (tag, first.commit)
    assert world.refs()[f"there:refs/heads/{BRANCH}"] == first.commit


@pytest.mark.parametrize("forgery", SAMPLE[:3], ids=names)
def test_a_forged_branch_that_is_first_is_left_alone(
    forgery: Forgery, place: tuple[World, str], sandbox: Remembering
) -> None:
    world, tag = place
    _, commit = forgery.make(world.work, tag)
    git(world.work, "push", "-q", str(world.remote), f"+{commit}:refs/heads/{BRANCH}")
    git(world.work, "update-ref", "-d", f"refs/tags/{tag}")
    with pytest.raises(BranchTaken):
        run(world, sandbox)
    assert world.refs()[f"there:refs/heads/{BRANCH}"] == commit


@pytest.mark.parametrize("forgery", SAMPLE[:3], ids=names)
@pytest.mark.parametrize("with_tag", [True, False])
@pytest.mark.parametrize("state", [PullState.OPEN, PullState.MERGED])
def test_a_forged_pull_request_that_is_first_shows_nothing_forged_afterwards(
    forgery: Forgery,
    with_tag: bool,
    state: PullState,
    place: tuple[World, str],
    delivered: tuple[World, str, Path],
    sandbox: Remembering,
) -> None:
    """One that is merged by its own words names a commit that the base has."""
    world, tag = place
    commit = plant(world, tag, forgery)
    head = git(world.work, "rev-parse", "main").decode().strip()
    head = head if state is PullState.MERGED else commit
    pulls = world.work / ".git/stratwright/forge/pulls"
    shutil.copytree(delivered[2], pulls)
    record = json.loads((pulls / "1.json").read_text())
    record["draft"] |= {"head": head, "body": "all is well"}
    record["state"] = state.value
    (pulls / "1.json").write_text(json.dumps(record))
    if with_tag:
        with pytest.raises(TagTaken):
            run(world, sandbox)
        return
    git(world.remote, "update-ref", "-d", f"refs/tags/{tag}")
    result = run(world, sandbox)
    shown = open_forge("local", open_repository(world.work)).get(result.pull_request or 0)
    assert result.status == "proposed"
    assert shown.state is PullState.OPEN
    assert shown.draft.head == result.commit != commit
    assert "all is well" not in shown.draft.body
    assert checked(world.work, result.tag, sandbox).outcome == "holds"


@pytest.mark.parametrize("state", [PullState.OPEN, PullState.MERGED])
def test_a_forged_pull_request_beside_an_honest_tag_is_set_right(
    state: PullState, place: tuple[World, str], sandbox: Remembering
) -> None:
    world, _ = place
    first = run(world, sandbox)
    path = world.work / f".git/stratwright/forge/pulls/{first.pull_request}.json"
    record = json.loads(path.read_text())
    record["draft"] |= {"head": git(world.work, "rev-parse", "main").decode().strip()}
    record["draft"] |= {"body": "all is well"}
    record["state"] = state.value
    path.write_text(json.dumps(record))
    again = run(world, sandbox)
    shown = open_forge("local", open_repository(world.work)).get(again.pull_request or 0)
    assert (shown.state, shown.draft.head) == (PullState.OPEN, first.commit)
    assert "all is well" not in shown.draft.body


def test_honest_evidence_holds_and_is_gone_on_with_whoever_made_it(
    place: tuple[World, str], sandbox: Remembering
) -> None:
    """The same bytes by another person, on the same base: as a run that died left them."""
    world, tag = place
    case = read_case(world.work, tag)
    commit = seal(world.work, case)
    made = write_tag(world.work, case, commit, tag)
    git(world.work, "push", "-q", str(world.remote), f"+{made}:refs/tags/{tag}")
    git(world.work, "update-ref", "-d", f"refs/tags/{tag}")
    result = run(world, sandbox)
    assert (result.status, result.commit) == ("proposed", commit)
    assert run(world, sandbox).status == "unchanged"
    assert checked(world.work, tag, sandbox).outcome == "holds"


def test_an_honest_second_candidate_is_gone_on_with(
    place: tuple[World, str], sandbox: Remembering
) -> None:
    world, tag = place
    first = run(world, sandbox)
    open_forge("local", open_repository(world.work)).close(first.pull_request or 0)
    second = run(world, sandbox, regenerate=True)
    case = read_case(world.work, second.tag)
    assert second.tag == f"{tag}.2"
    assert checked(world.work, second.tag, sandbox).outcome == "holds"
    assert seal(world.work, replace(case))
    assert run(world, sandbox).status == "unchanged"


def test_a_tag_stops_the_run_as_a_safety_stop() -> None:
    assert issubclass(TagTaken, SafetyStop)
