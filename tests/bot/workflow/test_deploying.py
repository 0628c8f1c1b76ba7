"""From a pull request over approvals on GitHub to a signed record and a deployment."""

from pathlib import Path

import pytest

from bot.approval.sshsig import verify
from tests.bot.workflow.deploys import BOB, KEY, Scene, make_scene
from tests.doubles.github import GitHubServer


@pytest.fixture
def scene(tmp_path: Path, hub: GitHubServer) -> Scene:
    return make_scene(tmp_path, hub)


def test_a_comment_of_a_person_with_write_permission_becomes_a_signed_record(scene: Scene) -> None:
    ran = scene.run(*scene.commented(scene.approval()))
    assert ran.codes == {"gate": 0, "deploy": 0}, ran.log + ran.summary
    (entry,) = scene.records
    record = entry.record
    assert verify(entry.signature, record.data) == KEY.blob
    assert (record.tag, record.commit, record.head) == (scene.tag, scene.head, scene.head)
    assert record.approvers == (f"github:{BOB}",)
    assert (record.mode, record.environment, record.host) == ("paper", "paper", "trader-1")
    assert scene.states() == ["success"]
    assert "Approved for paper" in scene.told
    assert KEY.pem.splitlines()[1] not in ran.log + ran.summary + scene.told
