"""A proven tag is approved at a terminal, halted and rolled back, by the commands themselves."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.approval.desk import Desk
from bot.approval.grant import grant
from bot.approval.host_state import open_state
from bot.approval.surroundings import _AGENTS, _CI
from bot.bus.port import APPROVALS, TASK_EVENTS, open_bus
from bot.clock import MACHINE_CLOCK
from bot.files import cache_folder
from bot.git.identity import TaskName
from bot.git.repository import open_repository
from tests.bot.approval.worlds import BOB, CAT, LOCK, Floor, Hand, Person, make_wish, propose
from tests.bot.git.worlds import World
from tests.e2e.lines import HOUSE

TASK = TaskName("dip", "strategy")


def person_environment(home: Path) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in (*_CI, *_AGENTS)}
    mine = {"HOME": str(home), "XDG_CACHE_HOME": str(cache_folder().parent)}
    return {**kept, **mine, "PYTHONPATH": str(HOUSE), "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": ""}


def call(home: Path, work: Path, *arguments: str, code: int = 0) -> Any:
    command = [sys.executable, "-m", "bot.cli", *arguments, "--json"]
    done = subprocess.run(
        command, cwd=work, env=person_environment(home), capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr + done.stdout
    return json.loads(done.stdout)


def at_terminal(home: Path, work: Path, *arguments: str) -> Any:
    """Run a command as a person does: read the digest that is shown, and type it."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "bot.cli", *arguments, "--json"]
    child = subprocess.Popen(
        command,
        cwd=work,
        env=person_environment(home),
        stdin=theirs,
        stderr=theirs,
        stdout=subprocess.PIPE,
    )
    os.close(theirs)
    shown = ""
    while "Type the digest to sign:" not in shown:
        shown += os.read(ours, 4096).decode()
    digits = re.search(r"digest +([0-9a-f]{12})", shown)
    assert digits is not None
    assert re.search(r"result +\S+ % · hold .* trades", shown)
    os.write(ours, f"{digits[1]}\n".encode())
    out, _ = child.communicate()
    os.close(ours)
    assert child.returncode == 0, shown
    return json.loads(out)


def test_a_proven_tag_is_approved_replaced_rolled_back_and_stays_halted(
    proposed: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, work = tmp_path / "home", proposed.work
    folder = home / ".config/stratwright"
    folder.mkdir(parents=True)
    floor = Floor(proposed, folder, Hand(MACHINE_CLOCK.now()))
    floor.host_file()
    repository = open_repository(work)
    (tag,) = repository.refs(TASK).tags
    key = str(BOB.write(home))

    # Door (b): a terminal, a typed digest, ssh-keygen and a tag that verify computes again.
    plain = ("approve", tag, "--mode", "paper", "--key", key, "--as", BOB.name)
    answer = at_terminal(home, work, *plain, "--reason", "first week")
    assert (answer["approved"], answer["refusals"], answer["tag"]) == (True, [], tag)
    assert call(home, work, "approve", tag, "--check")["approval_token"] == answer["approval_token"]
    (row,) = call(home, work, "status")
    assert row["approvals"][0].startswith("approved for paper on trader-1")
    bus = open_bus(repository.folder)
    assert [event.name for event in bus.read(APPROVALS)] == ["APPROVAL_GRANTED", "DEPLOYED"]

    # A second candidate takes its place, and goes wrong.
    second = propose(floor, "two", task=TASK, contract="contracts/dip.yaml")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    state = open_state(repository.repository_id)
    desk = Desk(open_repository(work), folder / "approval.yml", state, MACHINE_CLOCK)
    wish = make_wish(CAT, replaces=answer["approval_token"])
    grant(desk, second, wish, Person(CAT), lambda tag, commit: "holds", LOCK)
    (row,) = call(home, work, "status")
    assert [words.split()[0] for words in row["approvals"]] == ["approved", "superseded:"]

    told = call(home, work, "rollback", "dip/strategy", "--reason", "fills far from the book")
    assert [step["done"] for step in told["steps"]] == [True] * 6
    assert [step["step"] for step in told["steps"]] == [
        "stop",
        "incident report",
        "previous tag",
        "branch todo",
        "test again",
        "new approval",
    ]
    assert told["steps"][2]["detail"] == tag
    assert told["steps"][4]["detail"] == f"{tag}: holds"
    assert f"stratwright approve {tag} --older --mode paper" in told["steps"][5]["detail"]
    incident = next((repository.folder / "forge/comments").glob("*.jsonl")).read_text()
    assert "fills far from the book" in incident
    assert second in incident
    names = [event.name for event in bus.read(APPROVALS)]
    assert names[-2:] == ["HALTED", "ROLLED_BACK"]
    assert [e.data for e in bus.read(TASK_EVENTS) if e.name == "TODO_CREATED"][-1]["tag"] == second

    # Nothing runs until somebody approves anew.
    for each in (tag, second):
        found = call(home, work, "approve", each, "--check", code=1)
        assert "halted" in {refusal["code"] for refusal in found["refusals"]}
    assert call(home, work, "halt", "all")["halted"] == "*"
