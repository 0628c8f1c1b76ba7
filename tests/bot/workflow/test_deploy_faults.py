"""Faults at the calls of the deploy jobs: the next run ends with one record."""

from pathlib import Path

import pytest

from tests.bot.workflow.deploys import Scene, make_scene
from tests.doubles.github import GitHubServer
from tests.doubles.github.faults import Kind

WRITES = {
    "the deployment": "POST /repos/*/deployments",
    "its status": "POST /repos/*/deployments/*/statuses",
    "the comment": "POST /repos/*/issues/*/comments",
}
READS = {
    "the run": "GET /repos/*/actions/runs/*",
    "the environment": "GET /repos/*/environments/*",
    "the reviews": "GET /repos/*/pulls/*/reviews",
    "the comments": "GET /repos/*/issues/*/comments",
    "a permission": "GET /repos/*/collaborators/*/permission",
}


@pytest.fixture
def scene(tmp_path: Path, hub: GitHubServer) -> Scene:
    return make_scene(tmp_path, hub)


def ends_with_one_record(scene: Scene) -> None:
    assert len(scene.records) == 1
    assert scene.records[0].record.commit == scene.head
    assert scene.states() == ["success"]
    assert "Approved for paper" in scene.told


@pytest.mark.parametrize("kind", ["status", "reset", "timeout_after"])
@pytest.mark.parametrize("call", WRITES)
def test_after_a_write_that_failed_or_whose_answer_was_lost_there_is_one_of_each(
    call: str, kind: Kind, scene: Scene
) -> None:
    event = scene.commented(scene.approval())
    scene.world.hub.faults.add(match=WRITES[call], kind=kind, seconds=0.02)
    scene.run(*event)
    assert any(each.fault for each in scene.world.hub.requests)
    scene.world.hub.faults.clear()
    assert scene.run(*event).codes == {"gate": 0, "deploy": 0}
    ends_with_one_record(scene)


@pytest.mark.parametrize("call", READS)
def test_where_github_stays_away_nothing_is_signed_and_the_next_run_is_whole(
    call: str, scene: Scene
) -> None:
    event = scene.commented(scene.approval())
    scene.world.hub.faults.add(match=READS[call], kind="status", times=1000)
    ran = scene.run(*event)
    assert 4 in ran.codes.values(), ran.log
    assert scene.records == []
    scene.world.hub.faults.clear()
    assert scene.run(*event).codes == {"gate": 0, "deploy": 0}
    ends_with_one_record(scene)


def test_a_job_that_dies_after_the_record_was_published_is_gone_on_with(scene: Scene) -> None:
    event = scene.commented(scene.approval())
    scene.world.hub.faults.add(match="POST /repos/*/deployments", kind="status", times=1000)
    assert scene.run(*event).codes == {"gate": 0, "deploy": 4}
    assert (len(scene.records), scene.states()) == (1, [])
    scene.world.hub.faults.clear()
    assert scene.run(*event).codes == {"gate": 0, "deploy": 0}
    ends_with_one_record(scene)
