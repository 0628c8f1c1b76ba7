"""From a pull request over approvals on GitHub to a signed record and a deployment."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.approval.chain import Halt, Rollback
from bot.approval.sshsig import verify
from tests.bot.workflow.deploys import BOB, CAT, KEY, Scene, make_scene, proposed
from tests.bot.workflow.hub import git, push
from tests.doubles.github import GitHubServer
from tests.doubles.github.delivery import WorkflowRun


@pytest.fixture
def scene(tmp_path: Path, hub: GitHubServer) -> Scene:
    return make_scene(tmp_path, hub)


def approve(scene: Scene, who: str = "bob", place: str = "paper") -> Callable[[WorkflowRun], None]:
    return lambda run: scene.world.hosted.approve_run(run, place, who)


def merge(scene: Scene) -> tuple[str, str]:
    """Merges the pull request as a person does; gives the default branch before and after."""
    world = scene.world
    before = git(world.bare, "rev-parse", "main")
    git(world.bare, "update-ref", "refs/heads/main", scene.head)
    issue = world.hosted.record.issues[scene.number]
    assert issue.pull is not None
    issue.pull.head_sha = scene.head
    issue.state, issue.pull.merged = "closed", world.hub.state.time()
    issue.pull.merge_commit = scene.head
    return before, scene.head


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
    assert "Last approved for live: nothing of this task yet." in scene.told
    assert KEY.pem.splitlines()[1] not in ran.log + ran.summary + scene.told


def test_a_review_of_the_head_lets_a_run_started_by_hand_through(scene: Scene) -> None:
    scene.world.hosted.review(1, "bob")
    ran = scene.run(*scene.dispatched())
    assert ran.codes == {"gate": 0, "deploy": 0}, ran.log
    (entry,) = scene.records
    assert entry.record.approvers == (f"github:{BOB}",)
    assert entry.record.requester == "github:1001"


def test_a_reviewer_of_the_environment_approves_the_run_that_waits(scene: Scene) -> None:
    scene.world.hosted.add_environment("paper", ["cat"], branches=("main",))
    ran = scene.run(*scene.dispatched(), approve=approve(scene, "cat"))
    assert ran.codes == {"gate": 0, "deploy": 0}, ran.log
    assert "GitHub asks a reviewer first" in ran.summary
    assert scene.records[0].record.approvers == (f"github:{CAT}",)


def test_a_team_counts_where_nobody_goes_around_it(scene: Scene) -> None:
    place = scene.world.hosted.add_environment("paper", branches=("main",))
    place.teams, place.admins_bypass = ["risk"], False
    ran = scene.run(*scene.dispatched(), approve=approve(scene))
    assert ran.codes["deploy"] == 0, ran.log


def test_a_member_of_a_team_who_could_not_go_around_it_counts_as_a_person(scene: Scene) -> None:
    scene.world.hosted.add_environment("paper", branches=("main",)).teams = ["risk"]
    ran = scene.run(*scene.dispatched(), approve=approve(scene))
    assert ran.codes["deploy"] == 0, ran.log
    assert scene.records[0].record.approvers == (f"github:{BOB}",)


def test_a_merge_deploys_where_the_settings_say_so(scene: Scene) -> None:
    text = (scene.world.clone / "stratwright.yml").read_text() + "  on_merge: paper\n"
    scene.world.commit({"stratwright.yml": text})
    scene = proposed(scene, "two")
    scene.world.hosted.review(1, "bob")
    ran = scene.run("push", push(*merge(scene)))
    assert ran.codes == {"gate": 0, "deploy": 0}, ran.log
    assert scene.records[0].record.commit == scene.head


def test_a_merge_asks_for_nothing_unless_the_settings_say_so(scene: Scene) -> None:
    scene.world.hosted.review(1, "bob")
    ran = scene.run("push", push(*merge(scene)))
    assert (ran.codes, ran.outputs) == ({"gate": 0}, {"todo": ""})
    assert "[no-deployment]" in ran.log


def test_live_is_attested_and_waits_for_the_signatures_of_people(scene: Scene) -> None:
    scene.world.hosted.review(1, "bob")
    ran = scene.run(*scene.dispatched(environment="live"))
    assert ran.codes == {"gate": 0, "deploy": 0}, ran.log
    assert scene.states("live") == ["success"]
    assert "not in force yet" in scene.told
    assert f"--token {scene.records[0].record.token}" in scene.told
    first = scene.tag
    scene = proposed(scene, "two")
    scene.run(*scene.commented(scene.approval()))
    assert f"Last approved for live: `{first}`" in scene.told
    assert "it cannot be replayed here" in scene.told


def test_the_same_request_again_gives_no_second_record(scene: Scene) -> None:
    event = scene.commented(scene.approval())
    first = scene.run(*event)
    again = scene.run(*event)
    assert (first.codes, again.codes) == ({"gate": 0, "deploy": 0},) * 2, again.log
    assert len(scene.records) == 1
    assert scene.states() == ["success"]


def test_a_later_approval_takes_the_place_of_the_one_it_names(scene: Scene) -> None:
    scene.run(*scene.commented(scene.approval()))
    token = scene.records[0].record.token
    scene = proposed(scene, "two")
    scene.world.hosted.review(1, "bob")
    refused = scene.run(*scene.dispatched())
    assert "[locked]" in refused.log
    ran = scene.run(*scene.dispatched(replace=token))
    assert ran.codes["deploy"] == 0, ran.log
    assert scene.records[1].record.replaces == scene.records[0].record.digest
    assert scene.states() == ["inactive", "success"]


def test_a_halt_waits_for_nobody_and_ends_the_deployment(scene: Scene) -> None:
    scene.run(*scene.commented(scene.approval()))
    ran = scene.run(*scene.commented(scene.say("/stratwright halt", "alice")))
    assert ran.codes == {"gate": 0, "stop": 0}, ran.log
    assert isinstance(scene.chain.entries[-1], Halt)
    assert scene.states() == ["inactive"]
    assert "Halted: " in scene.told


def test_the_same_halt_again_stops_nothing_that_was_approved_since(scene: Scene) -> None:
    event = scene.commented(scene.say("/stratwright halt", "alice"))
    assert scene.run(*event).codes == {"gate": 0, "stop": 0}
    assert scene.run(*event).codes == {"gate": 0, "stop": 0}
    assert len(scene.chain.entries) == 1


def test_rollback_takes_its_six_steps_on_github(scene: Scene) -> None:
    scene.run(*scene.commented(scene.approval()))
    first, token = scene.tag, scene.records[0].record.token
    scene = proposed(scene, "two")
    scene.world.hosted.review(1, "bob")
    scene.run(*scene.dispatched(replace=token))
    event = scene.commented(scene.say("/stratwright rollback", "alice"))
    for _ in range(2):  # the second time nothing more is written
        ran = scene.run(*event)
        assert ran.codes == {"gate": 0, "stop": 0, "answer": 0}, ran.log
        assert ran.outputs["subject"].split()[0] == first
    kinds = [type(entry).__name__ for entry in scene.chain.entries]
    assert kinds == ["Approval", "Approval", "Halt", "Rollback"]
    entry = scene.chain.entries[-1]
    assert isinstance(entry, Rollback)
    assert (entry.left, entry.back_to) == (scene.tag, first)
    issues = [each for each in scene.world.hosted.record.issues.values() if each.pull is None]
    assert [each.title for each in issues] == ["Incident: oversold-dip/strategy was halted"]
    assert issues[0].body is not None
    assert scene.tag in issues[0].body
    for number, step in enumerate(
        ("stop", "incident report", "previous tag", "branch todo", "test again", "new approval"), 1
    ):
        assert f"{number}. {step}: " in scene.told
    assert "not done" not in scene.told
    assert scene.states() == ["inactive", "inactive"]


def test_the_way_back_is_deployed_by_a_new_approval_of_the_older_tag(scene: Scene) -> None:
    older = scene
    scene = proposed(scene, "two")
    older.world.hosted.add_environment("paper", ["cat"], branches=("main",))
    given = {"tag": older.tag, "commit": older.head}
    refused = scene.run(*scene.dispatched(**given))
    assert "[new-commit]" in refused.log
    ran = scene.run(*scene.dispatched(**given, older="true"), approve=approve(scene, "cat"))
    assert ran.codes["deploy"] == 0, ran.log
    record = scene.records[0].record
    assert (record.commit, record.head) == (older.head, scene.head)


def test_a_refused_comment_is_answered_with_every_reason(scene: Scene) -> None:
    ran = scene.run(*scene.commented(scene.approval("alice")))
    assert ran.codes == {"gate": 0, "answer": 1}
    assert "`self-approval`" in scene.told
    assert "`too-few-approvers` 0 of 1" in scene.told
    assert (scene.records, scene.states()) == ([], [])


def test_a_command_that_is_none_of_the_deploy_workflows_is_left_to_the_other(scene: Scene) -> None:
    ran = scene.run(*scene.commented(scene.say("/stratwright retry", "alice")))
    assert (ran.codes, ran.outputs) == ({"gate": 0}, {"todo": ""})


def test_a_rollback_halts_by_itself_where_the_job_before_died(scene: Scene) -> None:
    scene.run(*scene.commented(scene.approval()))
    event = scene.commented(scene.say("/stratwright rollback", "alice"))
    ran = scene.run(*event, only=("gate", "answer"))
    assert "stop" not in ran.codes
    assert isinstance(scene.chain.entries[-1], Halt)
    assert "1. stop: host, bus and branch are told" in scene.told
    assert scene.run(*event).codes["stop"] == 0
    assert [type(entry).__name__ for entry in scene.chain.entries] == ["Approval", "Halt"]
    assert scene.states() == ["inactive"]
