"""A model writes the strategy: refused twice, proven, shown, kept, and not simply trusted."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.coder.model.client import MessagesApi as Client
from bot.coder.model.file_coder import Bench, FileCoder
from bot.coder.template.template_coder import TemplateCoder
from bot.contract.load import load_contract
from bot.contract.model import AnyContract
from bot.forge.port import open_forge
from bot.git.repository import open_repository
from bot.pipeline import Result
from bot.proof.findings import Outcome
from bot.proof.replaying import replay_tag
from bot.proof.sessions import adopt, readable_files
from bot.proof.verification import Checker, verify
from bot.settings import CoderSettings, Settings
from bot.workshop import open_coder
from tests.bot.git.worlds import World, commit_file, sh
from tests.doubles.model.messages_api import KEY, MessagesApi, Step, serving, uses
from tests.e2e.lines import contract_text, events, open_shop, run, stratwright
from tests.remembered import Remembering

PATH = "contracts/dip.yaml"
CODE = "Backtest/codes/quick_dip.py"
TESTS = "tests/test_quick_dip.py"
DONE = uses(("finish", {"success": True, "summary": "written"}))
STEP = 0.0032


@pytest.fixture
def asked(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    commit_file(world.work, PATH, contract_text(more="coder: agent"))
    commit_file(world.work, "stratwright.yml", "brain: {entries: true}\n")
    sh(world.work, "push", "-q", "origin", "main")
    return world


def good(world: World) -> str:
    """What the template writes, with a helper of its own."""
    contract = load_contract(world.work / PATH, models=True).contract
    text = TemplateCoder().write(contract, PATH).files[CODE]
    return text.replace("rsi < 30", "30 > rsi")


def writes(text: str, path: str = CODE) -> list[Step]:
    return [uses(("write_file", {"path": path, "content": text})), DONE]


def line(world: World, sandbox: Remembering, script: Sequence[Step]) -> tuple[Result, MessagesApi]:
    """Run the line with a model that follows a script, by the real client."""
    repository = open_repository(world.work)
    kept = repository.folder / "sessions"

    def opened(contract: AnyContract) -> FileCoder:
        return FileCoder(
            Bench(
                CoderSettings(),
                lambda: Client(server.url),
                adopted=lambda wanted: adopt(contract, wanted, repository, kept, ()),
                snapshot=lambda: readable_files(repository),
            )
        )

    with serving(script) as server:
        contract = load_contract(world.work / PATH, models=True).contract
        return run(world, sandbox, PATH, coder=opened(contract), kept_sessions=kept), server


def test_two_rounds_fail_and_the_third_is_proposed(asked: World, sandbox: Remembering) -> None:
    right = good(asked)
    ahead = right.replace("exit_long = rsi > 60", "exit_long = series.previous(rsi) > 60")
    assert ahead != right
    script = [*writes(f"import os\n{right}"), *writes(ahead), *writes(right)]
    result, server = line(asked, sandbox, script)
    assert (result.status, len(server.asked)) == ("proposed", 6)
    assert {"template", "mutation"} <= {verdict.name for verdict in result.gates}
    # Each later round was shown the exact error of the one before.
    failed = [e.data["gates"] for e in events(asked) if e.name.value == "TEST_FAILED"]
    assert "imports" in failed[0]
    for gates, body in zip(failed, (server.asked[2], server.asked[4]), strict=True):
        shown = body["messages"][0]["content"][0]["text"]
        assert all(f'"gate": "{gate}"' in shown for gate in gates[:8])
    told = [(e.name.value, e.data.get("cost_usd")) for e in events(asked)]
    assert [name for name, _ in told] == [
        "TASK_DISPATCHED",
        *("CODER_INVOKED", "CODER_COMPLETE", "TEST_FAILED", "TODO_CREATED") * 2,
        *("CODER_INVOKED", "CODER_COMPLETE", "TEST_PASSED", "ARTIFACT_COMMITTED", "PR_OPENED"),
    ]
    costs = [cost for _, cost in told if cost is not None]
    assert costs == pytest.approx([2 * STEP, 4 * STEP, 6 * STEP])
    # What failed and what came of it is an entry for the brain.
    learned = f"brain/learnings/entries/{result.correlation_id}.md"
    assert "refused" in sh(asked.work, "show", f"{result.commit}:{learned}")


def test_what_a_model_wrote_is_shown_kept_replayed_and_not_simply_trusted(
    asked: World, sandbox: Remembering
) -> None:
    result, _ = line(asked, sandbox, writes(good(asked)))
    assert result.status == "proposed"
    trailers = sh(asked.work, "log", "-1", "--format=%B", result.commit)
    assert "Coder: agent" in trailers
    assert "Model: claude-sonnet-5-5" in trailers
    body = open_forge("local", open_repository(asked.work)).get(1).draft.body
    for words in ("wrote this code; the template did not", "1 round", "0.006400", "session.json"):
        assert words in body
    # The same again asks nobody and changes nothing.
    again, quiet = line(asked, sandbox, [])
    assert (again.status, again.tag, quiet.asked) == ("unchanged", result.tag, [])
    # Replay gives the same bytes, and verify does not call that proven.
    repository = open_repository(asked.work, to_write=False)
    replayed = replay_tag(result.tag, repository, ())
    assert (replayed.trouble, replayed.signed, len(replayed.files)) == ("", False, 2)
    assert stratwright(asked.work, "replay", result.tag).stdout.startswith("rebuilt; origin unpro")
    checker = Checker(
        lambda contract: open_coder(contract, Settings()),
        lambda: open_shop(asked, sandbox).open_prover(),
    )
    found = verify(result.tag, repository, checker)
    open_ends = [(each.name, each.detail) for each in found.findings if not each.holds]
    assert open_ends == [("session", "rebuilt; origin unproven")]
    assert found.outcome is Outcome.NOT_VERIFIED
    shown = stratwright(asked.work, "status").stdout
    assert "coder     1 round, 0.006400 US dollars" in shown


def test_three_refused_rounds_are_blocked_with_all_errors(
    asked: World, sandbox: Remembering
) -> None:
    right = good(asked)
    stop = 'raise PermissionError("live'
    orders = right.replace(stop, f'adapter.place_order({{"volume": 1e9}})\n    {stop}')
    line_of_it = 'TOKEN = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123"\n'
    secret = right.replace("DESCRIPTION = ", f"{line_of_it}DESCRIPTION = ")
    assert len({right, orders, secret}) == 3
    result, server = line(asked, sandbox, [*writes(secret), *writes(orders), *writes("x = 1\n")])
    assert (result.status, result.tag, len(server.asked)) == ("blocked", "", 6)
    one, two, three = result.note.split("\n")[1:]
    # A secret is taken out of an answer before it is written, sent back or kept.
    assert one.startswith("round 1: bandit: ")
    assert "sk-ant" not in result.note
    assert two.startswith("round 2: ")
    assert "run_live" in two
    assert three.startswith("round 3: ")
    names = [event.name.value for event in events(asked)]
    assert (names.count("TEST_FAILED"), names.count("TODO_CREATED")) == (3, 3)
    assert "PR_OPENED" not in names
    assert not sh(asked.work, "ls-remote", "origin", "ai/*").strip()


def test_a_violation_is_published_and_nothing_is_kept(asked: World, sandbox: Remembering) -> None:
    from bot.coder.constitution import ConstitutionViolated

    script = [uses(("write_file", {"path": "bot/gates/table.py", "content": ""}))]
    with pytest.raises(ConstitutionViolated):
        line(asked, sandbox, script)
    names = [event.name.value for event in events(asked)]
    assert names == [
        "TASK_DISPATCHED", "CODER_INVOKED", "CODER_VALIDATION_FAILED", "TODO_CREATED",
    ]  # fmt: skip
    assert not sh(asked.work, "ls-remote", "origin", "ai/*").strip()


def test_a_model_that_goes_in_circles_is_blocked(asked: World, sandbox: Remembering) -> None:
    script = [*writes(f"import os\n{good(asked)}"), *[uses(("list_files", {}))] * 3]
    result, _ = line(asked, sandbox, script)
    assert (result.status, result.tag) == ("blocked", "")
    assert "three times the same" in result.note
    assert "cost 0.016000 US dollars" in result.note
    assert "round 1: imports: " in result.note
    names = [event.name.value for event in events(asked)]
    assert names[-2:] == ["CODER_FAILED", "TODO_CREATED"]
