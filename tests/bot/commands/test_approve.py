"""The person's door, as a program meets it: it does not open."""

import io
import json
import sys
from pathlib import Path

import pytest

from bot.approval.reasons import ApprovalRefused
from bot.commands.approve import _Terminal
from bot.commands.halt import scope_of
from bot.errors import InputError
from bot.git.repository import Repository
from tests.bot.approval.keys import Key
from tests.bot.approval.test_checks import FACTS, RECORD
from tests.bot.approval.worlds import make_floor, propose
from tests.bot.git.worlds import make_world
from tests.bot.test_cli import stratwright

DIGITS = RECORD.digest.removeprefix("sha256:")[:12]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return make_world(tmp_path / "git", remote=False).open()


@pytest.mark.parametrize("typed", ["", "yes\n", DIGITS[:11] + "\n", f"sha256:{DIGITS}\n"])
def test_what_is_not_the_digest_signs_nothing(
    typed: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, repository: Repository
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    with pytest.raises(ApprovalRefused, match="digest-not-typed"):
        _Terminal(tmp_path, repository).confirm(RECORD, FACTS)


def test_the_digest_is_asked_for_under_what_it_is_about(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    repository: Repository,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{DIGITS}\n"))
    _Terminal(tmp_path, repository).confirm(RECORD, FACTS)
    shown = capsys.readouterr().err
    for words in (RECORD.tag, RECORD.commit, "1000 USDT", "live on trader-1", DIGITS):
        assert words in shown


def test_a_key_that_is_not_there_signs_nothing(tmp_path: Path, repository: Repository) -> None:
    with pytest.raises(ApprovalRefused, match="not-signed"):
        _Terminal(tmp_path / "none", repository).sign(b"x")
    key = Key("bob@example.com").write(tmp_path)
    assert _Terminal(key, repository).sign(b"x").startswith("-----BEGIN SSH SIGNATURE-----")


def test_programs_are_refused_with_a_code_and_may_ask_what_holds(tmp_path: Path) -> None:
    floor = make_floor(tmp_path, remote=False)
    tag = propose(floor)
    place = ("--repository", str(floor.world.work), "--host-file", str(floor.home / "approval.yml"))
    home = {"XDG_STATE_HOME": str(tmp_path / "state"), "CI": "", "CLAUDECODE": ""}
    in_ci = stratwright("approve", tag, *place, **{**home, "CI": "true"})
    assert (in_ci.returncode, "[in-ci] CI is set" in in_ci.stderr) == (5, True)
    agent = stratwright("approve", tag, *place, **{**home, "CLAUDECODE": "1"})
    assert (agent.returncode, "[under-agent]" in agent.stderr) == (5, True)
    asked = stratwright("approve", tag, "--check", "--json", *place, **home)
    assert asked.returncode == 1
    assert json.loads(asked.stdout)["refusals"] == [{"code": "not-in-chain", "detail": tag}]


def test_what_is_halted_is_named_by_task_or_tag() -> None:
    assert scope_of("dip/strategy") == scope_of("ai/dip/strategy/corr_0123456789ab")
    assert scope_of("all") == "*"
    for odd in ("dip", "Dip/strategy", "ai/x/y", "../x"):
        with pytest.raises(InputError):
            scope_of(odd)
