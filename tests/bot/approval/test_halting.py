"""Anybody can stop; only a new approval starts again."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from bot.approval.admission import admit
from bot.approval.halting import Told, halt, tell
from bot.approval.host_state import HostState
from bot.bus.port import APPROVALS, EventName, open_bus
from tests.bot.approval.worlds import CAT, Floor, make_floor, propose
from tests.bot.git.worlds import TASK, World, sh

SCOPE = str(TASK)


def stop_by(floor: Floor, way: str) -> None:
    desk = floor.desk()
    if way == "command":
        assert halt(desk, SCOPE, "dan", "odd fills") == (
            Told("host"),
            Told("bus"),
            Told("branch"),
        )
    elif way == "branch":
        # Of another machine: neither this host's memory nor its bus know of it.
        sh(floor.home, "clone", "-q", str(floor.world.remote), "far")
        far = Floor(World(floor.home / "far", floor.world.remote), floor.home, floor.clock)
        elsewhere = replace(far.desk(), state=HostState(floor.home / "elsewhere"))
        assert halt(elsewhere, "*", "dan", "all")[2] == Told("branch")
    elif way == "file":
        (desk.state.folder / "HALT").write_text("")
    else:
        tell(desk, EventName.HALTED, SCOPE, {"reason": "odd fills"})


@pytest.mark.parametrize("way", ["command", "branch", "file", "bus"])
def test_a_halt_is_obeyed_unsigned_and_only_a_new_approval_starts_again(
    tmp_path: Path, way: str
) -> None:
    floor = make_floor(tmp_path)
    tag = propose(floor)
    floor.approve(tag)
    floor.clock.pass_by(minutes=1)
    stop_by(floor, way)
    floor.clock.pass_by(minutes=1)

    def codes() -> set[str]:
        found = admit(floor.desk().look(tag).facts, tag, "paper")
        return {refusal.code for refusal in found.refusals}

    assert codes() == {"halted"}
    if way == "file":
        (floor.desk().state.folder / "HALT").unlink()
        assert codes() == {"halted"}
        floor.clock.pass_by(minutes=1)
    floor.approve(tag, CAT)
    assert codes() == set()


def test_a_halt_works_where_the_remote_the_host_file_and_the_words_are_bad(tmp_path: Path) -> None:
    floor = make_floor(tmp_path)
    (floor.home / "approval.yml").unlink()
    sh(floor.world.work, "remote", "set-url", "origin", str(tmp_path / "gone"))
    host, bus, branch = halt(floor.desk(), "*", "d\u00e4n", "line\nend \x1b[31m" * 90)
    assert (host.trouble, bus.trouble) == ("", "")
    assert "is not there" in branch.trouble
    # An entry here alone would be another history as soon as somebody else writes one.
    assert floor.desk().chain(alone=True).entries == ()
    sh(floor.world.work, "remote", "set-url", "origin", str(floor.world.remote))
    stop_by(floor, "branch")
    assert halt(floor.desk(), "*", "dan", "again")[2] == Told("branch")
    listed = sh(floor.world.remote, "ls-tree", "--name-only", "stratwright/approvals")
    assert listed.split() == ["00000001.json", "00000002.json"]


def test_halts_and_looks_of_several_programs_at_once_are_all_heard(tmp_path: Path) -> None:
    floor = make_floor(tmp_path)
    desks = [replace(floor.desk(), state=HostState(tmp_path / str(n))) for n in range(3)]
    with ThreadPoolExecutor(3) as pool:
        told = [*pool.map(lambda desk: halt(desk, "*", "dan", "now")[2], desks)]
    assert told == [Told("branch")] * 3
    assert len(floor.desk().chain().entries) == 3


def test_a_place_that_fails_oddly_keeps_no_other_from_being_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor = make_floor(tmp_path, remote=False)
    (tmp_path / "host/state/repository/halts.jsonl").mkdir(parents=True)
    monkeypatch.setattr("bot.approval.halting.tell", lambda *_: Path("/nowhere/x").read_bytes())
    host, bus, branch = halt(floor.desk(), "*", "x" * 199 + " y", "why")
    assert host.trouble
    assert "FileNotFoundError" in bus.trouble
    assert branch == Told("branch")


def test_what_decides_is_told_on_the_channel_of_approvals(tmp_path: Path) -> None:
    floor = make_floor(tmp_path, remote=False)
    desk = floor.desk()
    halt(desk, SCOPE, "dan", "why")
    (event,) = open_bus(desk.repository.folder).read(APPROVALS)
    assert (event.name, event.workflow, event.data["reason"]) == ("HALTED", TASK.workflow, "why")
    named = ("APPROVAL_GRANTED", "DEPLOYED", "HALTED", "ROLLED_BACK")
    assert {name for name in EventName if name.channel == APPROVALS} == set(named)
