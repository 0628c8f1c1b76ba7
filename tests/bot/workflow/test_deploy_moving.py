"""The head moves at each call between check and signature."""

from pathlib import Path

from bot.approval.chain import BRANCH
from tests.bot.git.worlds import TASK
from tests.bot.workflow.deploys import Scene, make_scene, proposed
from tests.bot.workflow.hub import NAME, git
from tests.chance import EVERY_ATTACK
from tests.doubles.github import GitHubServer
from tests.doubles.github.messages import Request
from tests.fire.bench import WiredWorld


def wired(scene: Scene) -> Scene:
    """The same world, whose Git goes over the server too, so that its calls are counted."""
    world = scene.world
    git(world.clone, "remote", "set-url", "origin", f"{world.hub.url}/{NAME}.git")
    scene.world = WiredWorld(world.hub, world.hosted, world.bare, world.clone)
    return scene


def test_whenever_the_head_moves_no_record_is_of_bytes_that_nobody_approved(
    tmp_path: Path, hub: GitHubServer
) -> None:
    """By the number of the call at which it moves; it moves right before that is answered."""
    scene = make_scene(tmp_path, hub)
    other = proposed(scene, "two")
    wired(scene)
    branch = f"refs/heads/{TASK.branch}"
    git(scene.world.bare, "update-ref", branch, scene.head)
    git(scene.world.clone, "update-ref", "-d", branch)
    event = scene.commented(scene.approval())
    calls, at = [0], [-1]

    def count(request: Request) -> bool:
        calls[0] += 1
        if calls[0] == at[0]:
            git(scene.world.bare, "update-ref", branch, other.head)
        return False

    def attempt(number: int) -> int:
        """Let it move at a call; gives how many records there are."""
        calls[0], at[0] = 0, number
        git(scene.world.bare, "update-ref", branch, scene.head)
        for folder in (scene.world.bare, scene.world.clone):
            git(folder, "update-ref", "-d", f"refs/heads/{BRANCH}")
        for ref in (f"refs/remotes/origin/{BRANCH}", branch):
            git(scene.world.clone, "update-ref", "-d", ref)
        for path in (scene.world.clone / ".git/stratwright/approvals").glob("*"):
            path.unlink()
        scene.world.hosted.record.deployments.clear()
        ran = scene.run(*event)
        found = [entry.record.commit for entry in scene.records]
        assert found in ([], [scene.head]), ran.log
        assert ran.codes.get("deploy", 1) == 0 or not found or "moved" in ran.log + ran.summary
        return len(found)

    hub.faults.add(match=count)
    assert attempt(0) == 1
    whole = calls[0]
    assert whole > 60
    found = [attempt(number) for number in range(1, whole, 1 if EVERY_ATTACK else 7)]
    # Moves before the last look publish nothing; those after it come too late for the record.
    assert ({*found}, found) == ({0, 1}, sorted(found)), whole
