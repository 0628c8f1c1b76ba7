"""The approved bytes and no others: one changed byte of any file is noticed."""

import subprocess
from collections.abc import Iterator
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
from tests.chance import EVERY_ATTACK

FOLDER = f"artifacts/{TASK}"
FILES = (
    "Backtest/codes/oversold_dip.py",
    f"{FOLDER}/gates.json",
    f"{FOLDER}/summary.json",
    f"{FOLDER}/provenance.json",
    CONTRACT,
)


def codes_now(claim: Claim, facts: Facts, repository: Repository, honest: Subject) -> set[str]:
    """Give the codes against a claim, even if somebody made the commit's own id the same."""
    now: Subject | Refusal
    try:
        changed = read_subject(repository, honest.tag)
        now = replace(changed, commit=honest.commit, tips=honest.tips)
    except ApprovalRefused as error:
        now = error.refusals[0]
    return {each.code for each in check(claim, replace(facts, subject=now))}


def changed(work: Path, tag: str, every: int) -> Iterator[tuple[str, int, str]]:
    """One commit for each so-many-th byte of the files, with that byte changed, all at once.

    Gives the file, the byte's place, and the name of a tag of that commit.
    """
    message = sh(work, "log", "-1", "--format=%B", tag).encode()
    who, stream, made = b"x <x@example.com> 1790000000 +0000", b"", []
    for path in FILES:
        data = (work / path).read_bytes()
        for place in range(len(path) % min(every, len(data)), len(data), every):
            other = data[:place] + bytes([data[place] ^ (1 + place % 255)]) + data[place + 1 :]
            name = f"changed-{len(made)}"
            stream += b"commit refs/heads/%s\ncommitter %s\n" % (name.encode(), who)
            stream += b"data %d\n%s\nfrom %s\n" % (len(message), message, f"{tag}^0".encode())
            stream += b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(other), other)
            stream += b"tag %s\nfrom refs/heads/%s\ntagger %s\ndata 1\nx\n" % (
                name.encode(), name.encode(), who
            )  # fmt: skip
            made.append((path, place, name))
    command = ["git", "-C", str(work), "fast-import", "--quiet"]
    subprocess.run(command, input=stream, check=True)
    yield from made


def test_one_changed_byte_of_any_approved_file_is_refused(tmp_path: Path) -> None:
    """In one commit for each byte; the commit's own id is taken to be the same."""
    floor = make_floor(tmp_path)
    tag = propose(floor)
    floor.approve(tag)
    work, desk = floor.world.work, floor.desk()
    look = desk.look(tag)
    honest = look.facts.subject
    assert isinstance(honest, Subject)
    (claim,) = read_claims(look.chain)
    sh(work, "checkout", "-q", "--detach", tag)
    tried = set()
    for path, place, name in changed(work, tag, 1 if EVERY_ATTACK else 61):
        sh(work, "update-ref", f"refs/tags/{tag}", f"refs/tags/{name}")
        codes = codes_now(claim, look.facts, desk.repository, honest)
        assert "other-bytes" in codes, (path, place)
        tried.add(path)
    assert tried == {*FILES}


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
