"""The deploy workflow under act: from a proven pull request to a signed record, or to none."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.approval.sshsig import verify
from bot.settings import DEPLOY_WORKFLOW
from bot.workflow.starter import deploy_text
from tests.bot.approval.keys import Key
from tests.bot.workflow.deploys import SETTINGS, Scene
from tests.bot.workflow.hub import HOUSE, World, git, make_world, push
from tests.bot.workflow.line import run_event
from tests.doubles.github import GitHubServer
from tests.doubles.github.description import Description, read_description
from tests.e2e.ready import ready_command
from tests.e2e.under_act import ACTION, Ran, run_under_act

pytestmark = pytest.mark.act
DESCRIPTION = "build/npm/node_modules/@octokit/openapi/generated/api.github.com.json"
CONTRACT = (HOUSE / "contracts/oversold_dip.yaml").read_text()
CONTRACT = CONTRACT.replace("targets: [adapter, freqtrade]", "targets: [adapter]")
KEY = Key("deploy@paper")


@pytest.fixture(scope="module")
def description() -> Description:
    return read_description(HOUSE / DESCRIPTION)


@pytest.fixture(scope="module")
def caller() -> Iterator[str]:
    with ready_command() as program:
        yield program


@pytest.fixture
def world(tmp_path: Path, heard: None, memory: Path, description: Description) -> Iterator[World]:
    with GitHubServer() as hub:
        made = make_world(tmp_path, hub)
        made.hosted.settings.can_approve_pull_request_reviews = True
        yield made
    assert not [problem for each in hub.requests for problem in description.problems(each)]


def proposed(world: World) -> Scene:
    """A proven contract, proposed by the line itself; Bob may approve it."""
    world.hub.state.mails["somebody@example.com"] = "alice"
    world.hub.add_user("bob", id=3001)
    world.hosted.set_permission("bob", "write")
    world.hosted.add_environment("paper", branches=("main",))
    files: dict[str, str | bytes | None] = {
        "contracts/dip.yaml": CONTRACT,
        "stratwright.yml": SETTINGS,
        DEPLOY_WORKFLOW: deploy_text(ACTION),
    }
    ran = run_event(world, "push", push(*world.commit(files)))
    assert set(ran.codes.values()) == {0}
    world.fetch()
    git(world.clone, "fetch", "-q", str(world.bare), "+refs/tags/*:refs/tags/*")
    head = git(world.bare, "rev-parse", "ai/generated/oversold-dip/strategy")
    return Scene(world, "", head)


def under_act(scene: Scene, event: tuple[str, dict[str, object]], folder: Path, caller: str) -> Ran:
    world, (name, payload) = scene.world, event
    head = git(world.bare, "rev-parse", "main")
    run = world.hosted.add_run(DEPLOY_WORKFLOW, head, name, "bob")
    secrets = {"STRATWRIGHT_DEPLOY_PRIVATE_KEY": KEY.pem}
    text = deploy_text(ACTION)
    return run_under_act(
        world, name, payload, folder, caller, text=text, run=run.id, secrets=secrets
    )


def test_an_approval_becomes_a_record_and_a_halt_ends_it(
    world: World, tmp_path: Path, caller: str
) -> None:
    scene = proposed(world)
    ran = under_act(scene, scene.commented(scene.approval()), tmp_path / "act", caller)
    assert ran.code == 0, ran.log[-4000:]
    assert ran.seen == ["deploy", "gate", "verify"]
    (entry,) = scene.records
    assert verify(entry.signature, entry.record.data) == KEY.blob
    assert (entry.record.commit, entry.record.approvers) == (scene.head, ("github:3001",))
    assert scene.states() == ["success"]
    assert KEY.pem.splitlines()[1] not in ran.log
    halt = scene.commented(scene.say("/stratwright halt", "alice"))
    ran = under_act(scene, halt, tmp_path / "halt", caller)
    assert (ran.code, ran.seen) == (0, ["gate", "stop"]), ran.log[-4000:]
    assert scene.states() == ["inactive"]


def test_without_an_approval_nothing_is_signed(world: World, tmp_path: Path, caller: str) -> None:
    scene = proposed(world)
    ran = under_act(scene, scene.commented(scene.approval("alice")), tmp_path / "act", caller)
    assert ran.code != 0
    assert ran.seen == ["answer", "gate"], ran.log[-4000:]
    assert "`self-approval`" in scene.told
    assert scene.records == []


def test_a_proposal_says_that_it_is_not_approved_yet_and_what_would_trade_where(
    world: World,
) -> None:
    scene = proposed(world)
    assert "Not approved yet: oversold-dip/strategy" in scene.told
    assert f"`/stratwright approve {scene.head}`" in scene.told
    assert "| `paper` | `trader-1` | `main` | `1000 USDT` | `paper` |" in scene.told
    assert "Last approved for live: nothing of this task yet." in scene.told
