"""The approved bytes and no others: one changed byte of any file is noticed."""

from dataclasses import replace
from pathlib import Path

import pytest

from bot.approval.checks import Facts, check
from bot.approval.claims import Claim, read_claims
from bot.approval.reasons import ApprovalRefused, Refusal
from bot.approval.subject import Subject, read_subject
from bot.errors import InputError
from bot.git.repository import Repository
from tests.bot.approval.worlds import CONTRACT, make_floor, propose
from tests.bot.git.worlds import TASK, sh

FOLDER = f"artifacts/{TASK}"
FILES = {
    "Backtest/codes/oversold_dip.py": 1,
    f"{FOLDER}/gates.json": 2,
    f"{FOLDER}/summary.json": 0,
    f"{FOLDER}/provenance.json": 7,
    CONTRACT: 5,
}


def codes_now(claim: Claim, facts: Facts, repository: Repository, honest: Subject) -> set[str]:
    """Give the codes against a claim, even if somebody made the commit's own id the same."""
    now: Subject | Refusal
    try:
        changed = read_subject(repository, honest.tag)
        now = replace(changed, commit=honest.commit, tips=honest.tips)
    except ApprovalRefused as error:
        now = error.refusals[0]
    return {each.code for each in check(claim, replace(facts, subject=now))}


def test_one_changed_byte_of_any_approved_file_is_refused(tmp_path: Path) -> None:
    floor = make_floor(tmp_path)
    tag = propose(floor)
    floor.approve(tag)
    work, desk = floor.world.work, floor.desk()
    look = desk.look(tag)
    honest = look.facts.subject
    assert isinstance(honest, Subject)
    (claim,) = read_claims(look.chain)
    sh(work, "checkout", "-q", "--detach", tag)
    for path, place in FILES.items():
        data = bytearray((work / path).read_bytes())
        data[place] ^= 1
        (work / path).write_bytes(data)
        sh(work, "commit", "-q", "-a", "-C", tag)
        sh(work, "tag", "-f", "-a", tag, "-m", "x")
        assert "other-bytes" in codes_now(claim, look.facts, desk.repository, honest), path
        sh(work, "reset", "-q", "--hard", "HEAD^")


@pytest.mark.parametrize("name", ["v1", "ai/x", "ai/a/b/corr_1", "ai/A/b/corr_0123456789ab", ""])
def test_a_name_that_is_not_ours_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError):
        read_subject(make_floor(tmp_path).desk().repository, name)


@pytest.mark.parametrize("bars", ["1e999", "NaN", "[]", "null", '"x"'])
def test_figures_that_make_no_sense_are_no_evidence(tmp_path: Path, bars: str) -> None:
    floor = make_floor(tmp_path, remote=False)
    tag, work = propose(floor), floor.world.work
    sh(work, "checkout", "-q", "--detach", tag)
    (work / FOLDER / "summary.json").write_text(f'{{"signals": {{"warmup": {bars}}}}}')
    sh(work, "commit", "-q", "-a", "-C", tag)
    sh(work, "tag", "-f", "-a", tag, "-m", "x")
    with pytest.raises(ApprovalRefused, match="other-bytes"):
        read_subject(floor.desk().repository, tag)
