"""A model writes files by tools, in a jail, within limits; every way to misbehave has its end."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.coder.budget import BudgetSpent
from bot.coder.constitution import ConstitutionViolated
from bot.coder.model.file_coder import candidate_of, session_trouble
from bot.coder.model.loop import NotWritten
from bot.coder.model.session import SESSION, read_session
from bot.coder.port import Failure
from bot.errors import WorldError
from bot.gates.port import Verdict
from tests.bot.coder.model.scripts import DONE, PATH, coder, contract, right, writes
from tests.doubles.model.messages_api import KEY, Step, fails, hangs, says, serving, uses

STRATEGY = "Backtest/codes/oversold_dip.py"
TESTS = "tests/test_oversold_dip.py"
# What one scripted answer costs by the table: 1200 tokens in, 80 out.
STEP = 3200


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def results(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [part for part in body["messages"][-1]["content"] if part["type"] == "tool_result"]


def test_a_good_model_reads_writes_and_finishes() -> None:
    told: list[str] = []
    script = [uses(("read_file", {"path": STRATEGY}), ("list_files", {"path": "Backtest/codes"})),
              fails(529), writes(STRATEGY, right()), DONE]  # fmt: skip
    with serving(script) as server:
        made = coder(server, say=told.append).write(contract(), PATH)
    assert made.files[STRATEGY] == right()
    assert (made.coder, made.model, made.turns, made.cost) == (
        "agent", "claude-sonnet-5-5", 4, 3 * STEP,
    )  # fmt: skip
    read, listed = results(server.asked[1])
    assert "raise NotImplementedError" in read["content"]
    assert "def run_live" in read["content"]
    assert listed["content"] == "oversold_dip.py"
    steps = (f"read_file {STRATEGY}", "list_files Backtest/codes", f"write_file {STRATEGY}")
    assert told == [f"claude-sonnet-5-5: {words}" for words in (*steps, "finish")]
    first = server.asked[0]
    assert [tool["name"] for tool in first["tools"]] == [
        "read_file", "write_file", "edit_file", "list_files", "search_code", "get_file_info",
        "finish",
    ]  # fmt: skip
    assert first["system"][0]["cache_control"] == {"type": "ephemeral"}
    words = first["messages"][0]["content"][0]["text"]
    assert words.count("class Strategy") >= 2  # the examples
    assert "sequence, branch and loop" in first["system"][0]["text"]
    # The same again, from what is stored.
    session = read_session(made.evidence[SESSION])
    assert session_trouble(session, contract(), PATH) == ""
    assert candidate_of(session, "").files == made.files


def test_a_changed_session_does_not_give_its_files() -> None:
    with serving([writes(STRATEGY, right()), DONE]) as server:
        made = coder(server).write(contract(), PATH)
    session = read_session(made.evidence[SESSION])
    other = {**session.files, STRATEGY: "import os\n"}
    forged = session.model_copy(update={"files": other})
    assert session_trouble(forged, contract(), PATH) == "the stored answers give other files"
    moved = session.model_copy(update={"asked": "sha256:0"})
    assert "another contract" in session_trouble(moved, contract(), PATH)


def test_a_session_that_may_be_taken_over_asks_nobody() -> None:
    with serving([writes(STRATEGY, right()), DONE]) as server:
        made = coder(server).write(contract(), PATH)
        session = read_session(made.evidence[SESSION])
        known = {session.asked: (session, "")}
        assert coder(server, adopted=known.get).write(contract(), PATH) == made


@pytest.mark.parametrize("forged", ["path", "coder", "file"])
def test_a_forged_session_is_not_taken_over(tmp_path: Path, forged: str) -> None:
    """A repository may hold any session; a path of it would be written in the next round."""
    outside = tmp_path / "owned"
    with serving([writes(STRATEGY, right()), DONE] * 2) as server:
        made = coder(server).write(contract(), PATH)
        session = read_session(made.evidence[SESSION])
        other = {
            "path": {"files": {**session.files, str(outside): "mine\n"}},
            "coder": {"coder": "cli"},
            "file": {"files": {**session.files, STRATEGY: "import os\n"}},
        }
        bad = session.model_copy(update=other[forged])
        again = coder(server, adopted=lambda asked: (bad, "")).write(contract(), PATH)
    assert (again.files, len(server.asked)) == (made.files, 4)
    assert not outside.exists()


def test_a_call_that_was_cut_off_is_asked_for_again() -> None:
    half = uses(("write_file", {"path": STRATEGY, "content": "x ="}), stop="max_tokens")
    with serving([half, writes(STRATEGY, right()), DONE]) as server:
        made = coder(server).write(contract(), PATH)
    assert "WRONG FORM" in json.dumps(server.asked[1]["messages"][-1])
    assert made.files[STRATEGY] == right()
    assert session_trouble(read_session(made.evidence[SESSION]), contract(), PATH) == ""


def test_what_looks_like_a_key_breaks_no_form() -> None:
    key = 'KEY = "-----BEGIN PRIVATE KEY-----"\nTOKEN = "token=abcd\\"efgh"\n'
    wrong = Verdict("secrets", False, "1", key, f"{STRATEGY}:1", "take it out")
    script = [writes(STRATEGY, key), DONE, writes(STRATEGY, right()), DONE]
    with serving(script) as server:
        writer = coder(server)
        made = writer.write(contract(), PATH)
        failed = replace(made, files={**made.files, STRATEGY: key})
        mended = writer.write(contract(), PATH, (Failure(failed, (wrong,)),))
    assert mended.files[STRATEGY] == right()
    assert "PRIVATE KEY" not in json.dumps(server.asked)


def test_nothing_of_a_call_commands_a_terminal() -> None:
    told: list[str] = []
    odd = uses(("re\x1b[2Jad", {"path": "a\nstratwright: proposed\x1b[0m"}), text=" ")
    with serving([odd] * 3) as server, pytest.raises(NotWritten) as stopped:
        coder(server, say=told.append).write(contract(), PATH)
    assert len(told) == 3
    assert all(text.isprintable() for text in (*told, stopped.value.message))


def test_only_the_failing_component_is_written_again() -> None:
    first = [writes(STRATEGY, right().replace("rsi < oversold", "rsi > oversold")), DONE]
    second = [writes(TESTS, "assert True\n"), writes(STRATEGY, right()), DONE]
    wrong = Verdict("lookahead", False, "1 cut", "bar 7: it differs", f"{STRATEGY}:50", "use less")
    with serving([*first, *second]) as server:
        writer = coder(server)
        made = writer.write(contract(), PATH)
        mended = writer.write(contract(), PATH, (Failure(made, (wrong,)),))
    asked = server.asked[2]["messages"][0]["content"][0]["text"]
    assert "bar 7: it differs" in asked
    assert "rsi \\u003e oversold" in asked
    assert "the plan does not let you write" in results(server.asked[3])[0]["content"]
    assert mended.files[STRATEGY] == right()
    assert mended.files[TESTS] == made.files[TESTS]
    assert [(v.name, v.where) for v in mended.refused] == [("lookahead", f"{STRATEGY}:50")]
    session = read_session(mended.evidence[SESSION])
    assert (session.rounds, session_trouble(session, contract(), PATH)) == (2, "")


READ = uses(("read_file", {"path": STRATEGY}))
LIST = uses(("list_files", {}))


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ([READ] * 3, "three times the same"),
        ([READ, LIST] * 2, "read_file and list_files in turn"),
        ([says("I would rather talk.")] * 3, "keeps to no form"),
        ([uses(("finish", {"success": False, "summary": "too hard"}))], "gave up: too hard"),
        ([uses(("search_code", {"text": str(n)})) for n in range(4)], "max_steps"),
    ],
    ids=["loop", "ping-pong", "form", "gives up", "steps"],
)
def test_what_leads_nowhere_is_stopped(script: list[Step], reason: str) -> None:
    with serving(script) as server, pytest.raises(NotWritten, match=reason) as stopped:
        coder(server, max_steps=4).write(contract(), PATH)
    assert stopped.value.cost == len(server.asked) * STEP


def test_a_wrong_form_is_corrected_in_stronger_words() -> None:
    script = [says('{"output": "code"}'), writes(STRATEGY, right()), DONE]
    with serving(script) as server:
        coder(server).write(contract(), PATH)
    assert "WRONG FORM" in server.asked[1]["messages"][-1]["content"][0]["text"]


def test_models_without_tools_answer_by_json_and_cooler_after_a_mistake() -> None:
    script = [
        says('{"output": "code"}'),
        says(json.dumps({"tool": "write_file", "args": {"path": STRATEGY, "content": right()},
                         "t": "writing"})),
        says('{"tool": "finish", "args": {"success": true, "summary": ""}, "t": "done"}'),
    ]  # fmt: skip
    with serving(script) as server:
        made = coder(server, model="my-model", price_per_million_usd=(1.0, 2.0)).write(
            contract(), PATH
        )
    assert made.files[STRATEGY] == right()
    assert all("tools" not in body for body in server.asked)
    assert '{"tool": "read_file"' in server.asked[0]["system"][0]["text"]
    assert session_trouble(read_session(made.evidence[SESSION]), contract(), PATH) == ""
    script = [says("{}"), uses(("finish", {"success": False, "summary": "no"}))]
    with serving(script) as server, pytest.raises(NotWritten):
        coder(server, model="claude-haiku-4-5").write(contract(), PATH)
    assert [body["temperature"] for body in server.asked] == [0.2, 0.0]


@pytest.mark.parametrize(
    "path",
    ["bot/gates/table.py", "stratwright.yml", ".github/workflows/ci.yml", "adapters/series.py",
     "Backtest/codes/provenance.py", "sandbox_runner/port.py", "Bot/cli.py", "x/../bot/cli.py",
     "brain/rules/RULE-001-import-whitelist.md"],
)  # fmt: skip
def test_touching_the_constitution_ends_the_task(path: str) -> None:
    script = [writes(path, "x = 1\n")]
    with serving(script) as server, pytest.raises(ConstitutionViolated) as stopped:
        coder(server).write(contract(), PATH)
    assert stopped.value.paths == [path]
    assert stopped.value.cost == STEP


def test_what_one_invocation_may_cost_is_not_passed() -> None:
    dear = uses(("list_files", {}), output_tokens=16_000)
    with serving([dear]) as server, pytest.raises(BudgetSpent, match="per_invocation") as stopped:
        coder(server, max_cost_per_invocation_usd=0.4).write(contract(), PATH)
    assert (stopped.value.cost, len(server.asked)) == (162_400, 1)


def test_a_silent_service_ends_in_time() -> None:
    with serving([hangs] * 3) as server, pytest.raises(WorldError, match="no answer within"):
        coder(server, step_timeout=0.2).write(contract(), PATH)


def test_too_many_files_are_refused_and_secrets_are_not_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BROKER_API_KEY", "s3cr3t-of-the-broker")
    snapshot = {"contracts/x.yaml": b"key: s3cr3t-of-the-broker\n"}
    script = [uses(("write_file", {"path": TESTS, "content": "x = 1\n"})),
              uses(("write_file", {"path": STRATEGY, "content": "x = 1\n"})),
              uses(("read_file", {"path": "contracts/x.yaml"})), DONE]  # fmt: skip
    with serving(script) as server:
        made = coder(server, max_file_changes=1, snapshot=lambda: snapshot).write(contract(), PATH)
    assert results(server.asked[2])[0]["content"] == "more than 1 files would be changed"
    assert "s3cr3t" not in json.dumps(server.asked)
    assert b"s3cr3t" not in made.evidence[SESSION]


def test_fifty_tasks_count_right_and_share_the_days_budget() -> None:
    good = [writes(STRATEGY, right()), DONE]
    bad = [READ, uses(("finish", {"success": False, "summary": "no"}))]
    script = [step for n in range(50) for step in (bad if n % 5 == 4 else good)]
    text = (Path(__file__).parents[4] / "contracts/oversold_dip.yaml").read_text("utf-8")
    with serving(script) as server:
        writer = coder(server, max_cost_per_day_usd=0.5)
        done = [writer.execute(f"{text}\ncoder: agent\n", {"path": PATH}) for _ in range(50)]
    asked = len(server.asked)
    assert asked < 100  # the day's money ended before the tasks did
    assert sum(result.cost_usd for result in done) == pytest.approx(asked * STEP / 1e6)
    assert asked * STEP / 1e6 <= 0.5
    spent = [result for result in done if "max_cost_per_day_usd" in str(result.error)]
    good_ones = [result for result in done if result.success]
    assert len(spent) + len(good_ones) + sum("gave up" in str(r.error) for r in done) == 50
    counted = writer.get_statistics()
    assert (counted["invocations"], counted["successes"]) == (50, len(good_ones))
    assert counted["cost_usd"] == pytest.approx(asked * STEP / 1e6)
    assert counted["first_try"] == len(good_ones)
