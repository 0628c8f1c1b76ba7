"""A repository that was opened to look: it finds what was delivered and changes no ref."""

from pathlib import Path

import pytest

from bot.errors import SafetyStop
from bot.git.repository import open_repository
from tests.bot.git.worlds import TASK, draft, identify, make_world, sh


def test_looking_finds_a_delivery_and_finishes_nothing(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    writer = world.open()
    done = writer.propose(draft(writer))
    sh(world.work, "push", "-q", "origin", f":refs/heads/{TASK.branch}")
    seen = world.refs()
    looker = open_repository(world.work, may_push=False)
    assert looker.delivered(TASK, identify("one")) == done.tag
    assert looker.commit_of(f"refs/tags/{done.tag}") == done.commit
    assert world.refs() == seen
    with pytest.raises(SafetyStop):
        looker.propose(draft(looker, "two"))
    assert world.refs() == seen
    writer.propose(draft(writer), compared=done.commit)
    assert world.refs() != seen


def test_grafts_and_replacements_change_no_history(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    tip = sh(world.work, "rev-parse", "HEAD").strip()
    tree = sh(world.work, "rev-parse", "HEAD^{tree}").strip()
    strange = sh(world.work, "commit-tree", tree, "-m", "of nobody").strip()
    git_dir = world.work / ".git"
    (git_dir / "info").mkdir(exist_ok=True)
    (git_dir / "info/grafts").write_text(f"{tip} {strange}\n", encoding="ascii")
    looker = open_repository(world.work, may_push=False)
    assert not looker.is_in(strange, tip)
    sh(world.work, "replace", "--force", tip, strange)
    assert looker.is_in(tip, tip)
    assert not looker.is_in(strange, tip)
