"""Whoever may push can make a tag, and edit a pull request: neither is believed by its name."""

import pytest

from bot.git.identity import TaskName
from tests.bot.workflow.hub import World, git, push
from tests.bot.workflow.line import run_event
from tests.bot.workflow.proposals import DIP, forge_of, name_of

TASK = TaskName("oversold-dip", "strategy")


def push_strange_tag(world: World, name: str) -> str:
    """A commit of a stranger's own under the name that the bot would give to its next tag."""
    git(world.clone, "checkout", "-q", "--detach")
    place = world.clone / "Backtest/codes/oversold_dip.py"
    place.parent.mkdir(parents=True)
    place.write_text("raise SystemExit\n")
    git(world.clone, "add", "--all")
    git(world.clone, "commit", "-q", "-m", "theirs")
    theirs = git(world.clone, "rev-parse", "HEAD")
    git(world.clone, "tag", "-a", "-m", "theirs", TASK.tag(name))
    git(world.clone, "push", "-q", str(world.bare), f"refs/tags/{TASK.tag(name)}")
    git(world.clone, "tag", "-d", TASK.tag(name))
    git(world.clone, "checkout", "-q", "main")
    return theirs


def test_a_strangers_tag_stops_the_run_and_is_attested_by_nothing(world: World) -> None:
    before, after = world.commit({"contracts/dip.yaml": DIP})
    theirs = push_strange_tag(world, name_of(world, "contracts/dip.yaml"))
    ran = run_event(world, "push", push(before, after))
    assert 5 in ran.codes.values()
    assert "is not what this contract gives" in ran.summary
    forge = forge_of(world)
    assert forge.pulls() == ()
    assert forge.checks.read(theirs) is None
    assert not world.branches


def test_a_strangers_tag_with_a_forged_pull_request_gets_no_green_check(world: World) -> None:
    before, after = world.commit({"contracts/dip.yaml": DIP})
    ran = run_event(world, "push", push(before, after))
    (pull,) = forge_of(world).pulls()
    # The tag is replaced by one on another commit; the pull request still tells of it.
    tag = pull.draft.tag
    git(world.bare, "update-ref", "-d", f"refs/tags/{tag}")
    git(world.clone, "tag", "-d", tag)
    theirs = push_strange_tag(world, pull.draft.correlation_id)
    ran = run_event(world, "push", push(before, after), run=101)
    assert 5 in ran.codes.values()
    assert forge_of(world).checks.read(theirs) is None


@pytest.mark.parametrize("body", ["somebody deleted the text", None])
def test_closed_stays_closed_whatever_its_text_says(world: World, body: str | None) -> None:
    before, after = world.commit({"contracts/dip.yaml": DIP})
    run_event(world, "push", push(before, after))
    forge = forge_of(world)
    (pull,) = forge.pulls()
    changes = {"state": "closed"} | ({"body": body} if body else {})
    forge.api.write("PATCH", f"pulls/{pull.number}", changes)
    ran = run_event(world, "push", push(before, after), run=101)
    assert set(ran.codes.values()) == {0}
    assert [each.number for each in forge.pulls()] == [pull.number]
