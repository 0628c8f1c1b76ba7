"""A branch beside the line grows by every entry that was said to be written."""

from pathlib import Path

import pytest

from bot.git.remote import StaleView
from bot.git.repository import open_repository
from tests.bot.git.worlds import make_world, sh

NAME = "stratwright/approvals"


@pytest.mark.parametrize("remote", [True, False])
def test_the_same_words_in_the_same_second_are_two_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, remote: bool
) -> None:
    world = make_world(tmp_path, remote=remote)
    first = open_repository(world.work, to_write=False).side_branch(NAME)
    other = world.work
    if remote:
        sh(tmp_path, "clone", "-q", str(world.remote), "other")
        other = tmp_path / "other"
    second = open_repository(other, to_write=False).side_branch(NAME)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_DATE", "1794916800 +0000")
    written = first.append("1.json", b"halt", "halt 1", "")
    with pytest.raises(StaleView):
        second.append("1.json", b"halt", "halt 1", "")
    assert second.tip() == written
    again = second.append("2.json", b"halt", "halt 2", written)
    assert second.files(again) == {"1.json": b"halt", "2.json": b"halt"}
