"""The way back leads to what was approved before, and never to what it came from."""

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.approval.claims import Claim
from bot.approval.rolling_back import find_way_back
from bot.approval.sshsig import sign
from bot.commands import rollback
from tests.bot.approval.test_checks import BOB, COMMIT, FACTS, OTHER, RECORD
from tests.bot.approval.worlds import Floor, make_floor, propose
from tests.bot.git.worlds import TASK

THIRD = "c" * 40


def approved(number: int, commit: str, **values: object) -> Claim:
    given = {"nonce": f"{number:032x}", "commit": commit, **values}
    record = RECORD.model_copy(update=given)
    return Claim(record, (sign(BOB.private, record.data),), number)


PAPER = {"mode": "paper", "environment": "paper"}
WAYS = {
    "one before": ([(COMMIT, {}), (OTHER, {})], (OTHER, COMMIT)),
    "nothing before": ([(COMMIT, {})], (COMMIT, "")),
    "approved twice": ([(COMMIT, {}), (OTHER, {}), (OTHER, {})], (OTHER, COMMIT)),
    "back already": ([(COMMIT, {}), (OTHER, {}), (COMMIT, {})], (COMMIT, "")),
    "back one of two": (
        [(COMMIT, {}), (OTHER, {}), (THIRD, {}), (OTHER, {})],
        (OTHER, COMMIT),
    ),
    "newer on paper": ([(COMMIT, {}), (OTHER, {}), (THIRD, PAPER)], (OTHER, COMMIT)),
    "paper before": ([(COMMIT, PAPER), (OTHER, {})], (OTHER, "")),
}


@pytest.mark.parametrize("name", WAYS)
def test_it_leads_to_the_bytes_before_in_the_same_environment(name: str) -> None:
    rows, (left, back) = WAYS[name]
    claims = tuple(approved(n, commit, **more) for n, (commit, more) in enumerate(rows, 1))
    way = find_way_back(replace(FACTS, claims=claims), RECORD.scope)
    assert way is not None
    assert way.left.record.commit == left
    assert (way.back_to.record.commit if way.back_to else "") == back


def test_what_nobody_signed_is_no_way_back() -> None:
    unsigned = replace(approved(1, COMMIT), signatures=("no",))
    claims = (unsigned, approved(2, OTHER))
    way = find_way_back(replace(FACTS, claims=claims), RECORD.scope)
    assert way is not None
    assert way.back_to is None
    assert find_way_back(replace(FACTS, claims=(unsigned,)), RECORD.scope) is None


def run(floor: Floor, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.setattr(rollback, "open_desk", lambda _: floor.desk())
    monkeypatch.setattr(rollback, "verify_tag", lambda *_: "holds")
    args = argparse.Namespace(scope=str(TASK), reason="gr\u00f6\u00dfer | als\nerlaubt", json=True)
    rollback.run(args)
    return json.loads(capsys.readouterr().out)["steps"]


def test_any_words_will_do_and_a_step_that_fails_hides_none_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    floor = make_floor(tmp_path)
    first = floor.approve(propose(floor, "one"))
    floor.clock.pass_by(minutes=1)
    floor.approve(propose(floor, "two"), replaces=first.record.token)
    floor.clock.pass_by(minutes=1)
    steps = run(floor, monkeypatch, capsys)
    assert [step["done"] for step in steps] == [True] * 6
    assert [entry.kind for entry in floor.desk().chain().entries][2:] == ["halt", "rollback"]
    (floor.home / "approval.yml").unlink()
    steps = run(floor, monkeypatch, capsys)
    assert [step["done"] for step in steps] == [True, False]
    assert "cannot be read" in steps[1]["detail"]
