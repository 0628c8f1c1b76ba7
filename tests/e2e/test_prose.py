"""A rule in prose through the whole line: asked once, proven, shown, replayed, and not believed."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from bot.contract.document.problems import ContractError
from bot.forge.port import open_forge
from bot.git.repository import open_repository
from bot.pipeline import Result
from bot.proof.findings import Outcome, Verification
from bot.proof.replaying import replay_tag
from bot.proof.verification import Checker, verify
from bot.settings import Settings
from bot.workshop import open_coder, sign_digest
from tests.bot.coder.model.talks import asking
from tests.bot.git.worlds import World, commit_file, sh
from tests.doubles.model.messages_api import KEY, MessagesApi, Step, answers, fails, serving
from tests.e2e.forgery import forge, read
from tests.e2e.lines import contract_text, events, open_shop, run, stratwright
from tests.remembered import Remembering

PATH = "contracts/dip.yaml"
PROSE = "buy when it is oversold"
GOOD = answers("rsi < 30", "thirty is the usual level")
COST = 0.0032


@pytest.fixture
def asked(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A repository whose contract says its entry in prose."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    text = contract_text().replace("rsi < 30", f'{{prose: "{PROSE}"}}')
    commit_file(world.work, PATH, text)
    sh(world.work, "push", "-q", "origin", "main")
    return world


def line(
    world: World, sandbox: Remembering, script: Sequence[Step], **edges: Any
) -> tuple[Result, MessagesApi]:
    """Run the line with a model that follows a script, by the real client."""
    with serving(script) as server:
        kept = {"kept_answers": world.work.parent / "kept", **edges}
        return run(world, sandbox, PATH, ask=asking(server).ask, **kept), server


def checked(world: World, tag: str, sandbox: Remembering, *signers: str) -> Verification:
    repository = open_repository(world.work, to_write=False)
    checker = Checker(
        lambda contract: open_coder(contract, Settings()),
        lambda: open_shop(world, sandbox).open_prover(),
        signers=signers,
    )
    return verify(tag, repository, checker)


def key_pair(monkeypatch: pytest.MonkeyPatch) -> str:
    """Gives the bot a key; returns the public half."""
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode()
    monkeypatch.setenv("STRATWRIGHT_SIGNING_KEY", private)
    return key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


def test_prose_is_asked_once_proven_shown_and_replayed(asked: World, sandbox: Remembering) -> None:
    result, server = line(asked, sandbox, [answers("rs < 30"), fails(529), GOOD])
    assert (result.status, len(server.asked)) == ("proposed", 3)
    # The branch's contract holds both.
    held = sh(asked.work, "show", f"{result.commit}:{PATH}")
    assert f'enter_long: {{prose: "{PROSE}", expression: "rsi < 30"}}' in held
    assert f'{{prose: "{PROSE}"}}' in (asked.work / PATH).read_text()  # the author's stays
    trailers = sh(asked.work, "log", "-1", "--format=%B", result.commit)
    assert "Coder: agent" in trailers
    assert "Model: claude-sonnet-5-5" in trailers
    # The pull request shows words, expression, reading, bars, assumptions and cost.
    body = open_forge("local", open_repository(asked.work)).get(1).draft.body
    for words in (PROSE, "rsi &lt; 30", "rsi is below 30", "thirty is the usual level", "0.006400"):
        assert words in body or words.replace("&lt;", "<") in body
    assert (body.count("| fires |"), body.count("| just does not |")) == (3, 1)
    assert "only you can say" in body
    # What happened, and what it cost, is on the bus.
    told = [(e.name.value, e.data.get("cost_usd")) for e in events(asked)]
    assert told[:2] == [("CODER_INVOKED", None), ("CODER_COMPLETE", 2 * COST)]
    # The same again asks nobody and changes nothing.
    again, quiet = line(asked, sandbox, [])
    assert (again.status, again.tag, quiet.asked) == ("unchanged", result.tag, [])
    # Replay gives the same bytes, and verify does not call that proven.
    repository = open_repository(asked.work)
    replayed = replay_tag(result.tag, repository, ())
    assert (replayed.trouble, replayed.signed, len(replayed.files)) == ("", False, 2)
    done = stratwright(asked.work, "replay", result.tag)
    assert done.returncode == 0
    assert done.stdout.startswith("rebuilt; origin unproven")
    found = checked(asked, result.tag, sandbox)
    open_ends = [each for each in found.findings if not each.holds]
    assert [(each.name, each.detail) for each in open_ends] == [
        ("answers", "rebuilt; origin unproven")
    ]
    assert (found.outcome, found.exit_code) == (Outcome.NOT_VERIFIED, 1)
    # Merged, the contract is exact: nobody is asked, nothing is proposed again.
    sh(asked.work, "merge", "-q", "--no-ff", "-m", "merge", result.branch)
    sh(asked.work, "push", "-q", "origin", "main")
    merged = run(asked, sandbox, PATH)
    assert merged.correlation_id == result.correlation_id


def test_what_the_bot_signed_holds_and_is_taken_over(
    asked: World, sandbox: Remembering, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = key_pair(monkeypatch)
    result, _ = line(asked, sandbox, [GOOD], sign=sign_digest)
    assert result.status == "proposed"
    assert checked(asked, result.tag, sandbox, public).outcome is Outcome.HOLDS
    assert checked(asked, result.tag, sandbox).outcome is Outcome.NOT_VERIFIED
    other = key_pair(monkeypatch)
    assert checked(asked, result.tag, sandbox, other).outcome is Outcome.NOT_VERIFIED
    # Another machine, which kept nothing, takes the signed answers of the branch and asks nobody.
    elsewhere = {"kept_answers": asked.work.parent / "none", "signers": (public,)}
    again, quiet = line(asked, sandbox, [], **elsewhere)
    assert (again.tag, quiet.asked) == (result.tag, [])
    # Without the signature's key it asks for itself.
    _, own = line(asked, sandbox, [answers("rs < 1")] * 3, kept_answers=asked.work.parent / "no")
    assert len(own.asked) == 3


def test_a_model_that_never_answers_well_blocks_and_nothing_is_pushed(
    asked: World, sandbox: Remembering
) -> None:
    result, server = line(asked, sandbox, [answers("rs < 30")] * 3)
    assert (result.status, result.exit_code, len(server.asked)) == ("blocked", 1, 3)
    assert result.note.count("unknown name `rs`") == 3
    assert "cost 0.009600 US dollars" in result.note
    told = [(e.name.value, e.data.get("cost_usd")) for e in events(asked)]
    assert told == [
        ("CODER_INVOKED", None),
        ("CODER_FAILED", pytest.approx(3 * COST)),
        ("TODO_CREATED", None),
    ]
    assert sh(asked.work, "tag", "--list") == ""


def test_without_a_model_the_author_is_asked(asked: World, sandbox: Remembering) -> None:
    with pytest.raises(ContractError, match="needs an expression beside it") as asks:
        run(asked, sandbox, PATH)
    assert "rules.enter_long" in str(asks.value)
    assert "enter_long: rsi < 30 and close > trend" in str(asks.value)
    text = (asked.work / PATH).read_text() + "coder: template\n"
    commit_file(asked.work, PATH, text)
    with pytest.raises(ContractError, match="needs an expression"):
        line(asked, sandbox, [])


def test_a_contract_with_another_mistake_costs_nothing(asked: World, sandbox: Remembering) -> None:
    commit_file(asked.work, PATH, (asked.work / PATH).read_text().replace("0.02", "2"))
    with pytest.raises(ContractError, match="stop_loss"):
        line(asked, sandbox, [])


def test_a_transcript_of_a_stranger_proves_nothing(asked: World, sandbox: Remembering) -> None:
    """Somebody who may push lets a model of his own say what he wants."""
    forged, _ = line(asked, sandbox, [answers("always")])
    assert forged.status == "proposed"
    found = checked(asked, forged.tag, sandbox)
    assert (found.outcome, found.exit_code) == (Outcome.NOT_VERIFIED, 1)
    # The victim kept nothing of it: it asks its own model, and delivers under another name.
    victim, server = line(asked, sandbox, [GOOD], kept_answers=asked.work.parent / "victim")
    assert len(server.asked) == 1
    assert victim.tag != forged.tag
    statement = json.loads(
        sh(asked.work, "show", f"{victim.commit}:artifacts/dip/strategy/provenance.json")
    )
    assert statement["predicate"]["coder"] == "agent"


def test_a_tag_that_no_model_took_part_in_is_not_replayed(proposed: World) -> None:
    tag = sh(proposed.work, "tag", "--list").splitlines()[0]
    done = stratwright(proposed.work, "replay", tag)
    assert (done.returncode, "no model took part" in done.stderr) == (2, True)
    done = stratwright(proposed.work, "replay", "ai/dip/strategy/corr_000000000000")
    assert (done.returncode, "there is no tag" in done.stderr) == (2, True)


def test_a_tag_that_names_an_agent_without_a_transcript_is_not_verified(
    proposed: World, sandbox: Remembering
) -> None:
    tag = sh(proposed.work, "tag", "--list").splitlines()[0]
    path = "artifacts/dip/strategy/provenance.json"
    said = read(proposed.work, tag, path).replace(b'"template"', b'"agent"')
    forge(proposed.work, tag, {path: said})
    found = checked(proposed, tag, sandbox)
    assert found.exit_code == 1
    assert found.outcome is not Outcome.HOLDS
