from pathlib import Path

import pytest

from bot.approval.host import VARIABLE
from bot.health.approval import examine_approval
from tests.bot.approval.worlds import make_floor


def test_it_says_which_gate_is_in_force(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    floor = make_floor(tmp_path, remote=False)
    monkeypatch.setenv(VARIABLE, str(floor.home / "nothing.yml"))
    nothing = examine_approval(floor.world.work)
    assert (nothing.well, nothing.needed) == (False, False)
    assert "docs/approval.md" in nothing.hint
    monkeypatch.setenv(VARIABLE, str(floor.home / "approval.yml"))
    found = examine_approval(floor.world.work)
    assert found.well
    assert "trader-1 (paper)" in found.detail
    assert "2 may sign, live needs 1 or more" in found.detail
    floor.host_file("policy: {live: {people: 3}}\n", environment="live")
    few = examine_approval(floor.world.work)
    assert (few.well, few.hint) == (False, "Only 2 of 3 are in allowed_signers.")
    (floor.home / "approval.yml").chmod(0o666)
    assert "written by others" in examine_approval(floor.world.work).detail
