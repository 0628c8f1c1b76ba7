"""A rule in prose on GitHub: one job asks, with a ceiling; another books, adopts and proposes."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from bot.forge.port import Thread
from bot.report.hidden_block import read_hidden_block
from bot.workflow.context import ModelKeys, open_context
from bot.workflow.costs import BRANCH, Entry
from tests.bot.workflow.hub import World, comment, git, push
from tests.bot.workflow.line import Ran, run_event
from tests.bot.workflow.line import variables as environment
from tests.bot.workflow.proposals import forge_of
from tests.bot.workflow.test_stages import DIP
from tests.doubles.model.messages_api import (
    KEY,
    Exchange,
    MessagesApi,
    Step,
    answers,
    cuts,
    fails,
    garbles,
    serving,
)
from tests.e2e.test_prose import key_pair

PATH = "contracts/dip.yaml"
WORDS = "buy when it is oversold in an uptrend"
PROSE = DIP.replace("rsi < oversold and close > trend", f'{{prose: "{WORDS}"}}')
EXPRESSION = "rsi < oversold and close > trend"
GOOD = answers(EXPRESSION, "an uptrend is above the long average")
COST = 3200
EVIDENCE = "artifacts/oversold-dip/strategy"


def variables(server: MessagesApi, **more: str) -> dict[str, str]:
    return {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url, **more}


def run(
    world: World,
    event: str,
    payload: dict[str, Any],
    script: list[Step],
    number: int = 100,
    between: Callable[[str, Path], None] = lambda job, folder: None,
    otherwise: Step | None = None,
    **more: str,
) -> tuple[Ran, MessagesApi]:
    with serving(script, otherwise) as server:
        model = variables(server, **more)
        return run_event(world, event, payload, number, between, model=model), server


def pushed(world: World, text: str = PROSE, **files: str) -> dict[str, Any]:
    return push(*world.commit({PATH: text, **files}))


def booked(world: World) -> list[Entry]:
    """What the branch of costs holds."""
    names = git(world.bare, "ls-tree", "--name-only", f"refs/heads/{BRANCH}").split()
    rows = [git(world.bare, "show", f"{BRANCH}:{name}") for name in names if name[0] == "2"]
    return [Entry.model_validate_json(row) for row in rows]


def told(world: World, commit: str) -> str:
    return "\n".join(each.body for each in forge_of(world).threads.all(Thread(commit=commit)))


def nothing_was_proposed(world: World) -> None:
    assert not world.branches
    assert not forge_of(world).pulls()


def test_prose_is_asked_in_one_job_and_proposed_by_another(world: World) -> None:
    event = pushed(world)
    ran, server = run(world, "push", event, [answers("rs < 30"), fails(529), GOOD])
    assert set(ran.codes.values()) == {0}
    assert len(server.asked) == 3
    (pull,) = forge_of(world).pulls()
    held = git(world.bare, "show", f"{pull.draft.head}:{PATH}")
    assert f'{{prose: "{WORDS}", expression: "{EXPRESSION}"}}' in held
    assert git(world.bare, "show", f"main:{PATH}") == PROSE.strip()
    for words in (WORDS, "an uptrend is above the long average", "0.006400 US dollars"):
        assert words in pull.draft.body
    block = read_hidden_block(pull.draft.body)
    assert block is not None
    statement = json.loads(
        git(world.bare, "show", f"{pull.draft.head}:{EVIDENCE}/provenance.json")
    )["predicate"]
    assert (statement["coder"], statement["model"]) == ("agent", "claude-sonnet-5-5")
    assert statement["prompt_hash"].startswith("sha256:")
    (entry,) = booked(world)
    assert (entry.cost, entry.run, entry.model) == (2 * COST, 100, "claude-sonnet-5-5")
    assert "0.000000 of 10.000000 US dollars of today are spent" in ran.summary
    # The key reached neither files nor the repository.
    everything = b"".join(path.read_bytes() for path in world.clone.parent.rglob("*.json"))
    assert KEY.encode() not in everything

    # The same event once more asks nobody, books nothing and proposes nothing anew.
    again, quiet = run(world, "push", event, [], number=101)
    assert set(again.codes.values()) == {0}
    assert (quiet.asked, len(booked(world)), len(forge_of(world).pulls())) == ([], 1, 1)
    assert "nobody was asked again" in again.summary
    assert forge_of(world).pulls()[0].draft.head == pull.draft.head


def test_only_regenerate_asks_once_more_and_a_signature_spares_even_that(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = key_pair(monkeypatch)
    import os

    secret = os.environ["STRATWRIGHT_SIGNING_KEY"]
    monkeypatch.delenv("STRATWRIGHT_SIGNING_KEY")
    world.commit({"stratwright.yml": f'coder: {{signers: ["{public}"]}}\n'})
    run(world, "push", pushed(world), [GOOD], STRATWRIGHT_SIGNING_KEY=secret)
    (pull,) = forge_of(world).pulls()
    assert "The bot signed what was sent and received" in pull.draft.body
    assert git(world.bare, "show", f"{pull.draft.head}:{EVIDENCE}/transcript.sig")
    order = comment(pull.number, "/stratwright regenerate", on_pull=True)
    # Another machine: what the first kept is gone, what the bot signed is on the branch.
    for kept in (world.clone / ".git/stratwright/answers").glob("*"):
        kept.unlink()
    ran, server = run(world, "issue_comment", order, [], number=101)
    assert set(ran.codes.values()) == {0}
    assert server.asked == []
    assert len(booked(world)) == 1


@pytest.mark.parametrize(
    ("script", "code", "words", "cost"),
    [
        ([answers("rs < 30")] * 3, 1, "unknown name", 3 * COST),
        ([answers("", cannot="declare a volume average")], 1, "declare a volume average", COST),
        ([fails(500)] * 3, 4, "answered 500", 0),
        ([fails(429)] * 3, 4, "answered 429", 0),
        ([cuts] * 3, 4, "the answer broke off", None),
        ([garbles] * 3, 4, "the answer broke off", None),
    ],
    ids=["never", "cannot", "500", "429", "cut", "garbled"],
)
def test_what_stops_a_model_is_told_where_it_was_asked_and_booked(
    world: World, script: list[Step], code: int, words: str, cost: int | None
) -> None:
    event = pushed(world)
    ran, server = run(world, "push", event, script)
    assert ran.codes["write"] == code
    assert len(server.asked) == len(script)
    assert words in told(world, event["after"])
    if code == 1:
        assert told(world, event["after"]).count("round ") == (3 if len(script) == 3 else 0)
        assert "gates-said-no" in ran.summary
    spent = [entry.cost for entry in booked(world)] if cost != 0 else []
    assert spent == ([cost] if cost else spent)
    assert cost == 0 or spent[0] > 0
    nothing_was_proposed(world)


def test_without_a_key_the_author_is_asked_with_field_and_example(world: World) -> None:
    event = pushed(world)
    ran = run_event(world, "push", event)
    assert ran.codes == {"plan": 0, "write": 2}, "no job is started that could not do anything"
    said = told(world, event["after"])
    assert "rules.enter_long" in said
    assert "enter_long: rsi < 30 and close > trend".replace("<", "&lt;") in said or "rsi" in said
    nothing_was_proposed(world)


@pytest.mark.parametrize(
    "settings", ["coder: {enabled: false}\n", "coder: {type: template}\n", "contract"]
)
def test_who_wants_no_model_is_asked_himself(world: World, settings: str) -> None:
    text = PROSE + "coder: template\n" if settings == "contract" else PROSE
    text = text.replace("coder: auto\n", "")
    if settings != "contract":
        world.commit({"stratwright.yml": settings})
    ran, server = run(world, "push", pushed(world, text), [])
    assert (ran.codes, server.asked) == ({"plan": 0, "write": 2}, [])


def test_a_contract_with_another_mistake_or_without_candles_costs_nothing(world: World) -> None:
    wrong = PROSE.replace("stop_loss: 0.02", "stop_loss: 2")
    ran, server = run(world, "push", pushed(world, wrong), [])
    assert (ran.codes["write"], server.asked) == (2, [])
    absent = PROSE.replace("sample_btc.csv", "nothing.csv")
    ran, server = run(world, "push", pushed(world, absent), [], number=101)
    assert (ran.codes["write"], server.asked) == (2, [])


def other(number: int) -> str:
    name = f"Dip{chr(65 + number)}"
    return PROSE.replace("workflow: oversold-dip", f"workflow: dip-{number}").replace(
        "name: OversoldDip", f"name: {name}"
    )


def test_ten_at_once_share_one_days_budget_and_the_next_run_counts_what_is_booked(
    world: World,
) -> None:
    """Each asks for as much as it can; none of ten jobs gets more than its part of the day."""
    world.commit({"stratwright.yml": "coder: {max_cost_per_day_usd: 1.5}\n"})
    files = {f"contracts/c{number}.yaml": other(number) for number in range(10)}
    spender = answers("rs < 30", input_tokens=9000, output_tokens=3000)
    event = push(*world.commit(dict(files)))
    ran, _ = run(world, "push", event, [], otherwise=spender)
    rows = ran.outputs["build"]
    assert [int(row["ceiling"]) for row in rows] == [150_000] * 10
    spent = [entry.cost for entry in booked(world)]
    assert all(cost <= 150_000 for cost in spent)
    assert 0 < sum(spent) <= 1_500_000
    assert ran.codes["write"] in (1, 5)
    nothing_was_proposed(world)
    # What is booked counts against the day of the next run.
    event = push(*world.commit({"contracts/late.yaml": other(11)}))
    later, _ = run(world, "push", event, [], number=101, otherwise=spender)
    (row,) = later.outputs["build"]
    assert int(row["ceiling"]) == 1_500_000 - sum(spent)
    assert sum(entry.cost for entry in booked(world)) <= 1_500_000


def test_the_same_words_beside_another_stop_are_another_contract(world: World) -> None:
    run(world, "push", pushed(world), [GOOD])
    (before,) = forge_of(world).pulls()
    changed = PROSE.replace("stop_loss: 0.02", "stop_loss: 0.03")
    ran, _ = run(world, "push", pushed(world, changed), [], number=101, otherwise=GOOD)
    assert set(ran.codes.values()) == {0}
    (pull,) = forge_of(world).pulls()
    assert (pull.number, pull.draft.head == before.draft.head) == (before.number, False)
    assert "stop_loss: 0.03" in git(world.bare, "show", f"{pull.draft.head}:{PATH}")


def test_what_is_refused_by_the_time_of_writing_is_booked_all_the_same(world: World) -> None:
    def switched_off(job: str, folder: Path) -> None:
        if job == "generate":
            world.commit({"stratwright.yml": "coder: {enabled: false}\n"})

    event = pushed(world)
    ran, _ = run(world, "push", event, [answers("rs < 30")] * 3, between=switched_off)
    assert ran.codes["write"] == 2
    assert [entry.cost for entry in booked(world)] == [3 * COST]


def test_what_stops_the_job_after_it_paid_is_booked_all_the_same(world: World) -> None:
    def loses_the_candles(exchange: Exchange) -> None:
        (world.clone / "tests/fixtures/sample_btc.csv").unlink()
        GOOD(exchange)

    ran, _ = run(world, "push", pushed(world), [loses_the_candles])
    assert ran.codes["write"] == 2
    assert [entry.cost for entry in booked(world)] == [COST]


def test_a_job_that_runs_again_counts_what_was_booked_since_its_plan(world: World) -> None:
    event = pushed(world)
    run(world, "push", event, [answers("rs < 30")] * 3)
    given = {**world.environment("push", event), "GITHUB_TOKEN": world.token()}
    with environment(given):
        for ceiling in (0, 100, 10_000_000):
            keys = ModelKeys(SecretStr(KEY), None, ceiling)
            asking = open_context(world.clone, keys=keys).asking()
            assert asking is not None
            most = round(asking.settings.max_cost_per_day_usd * 1_000_000)
            assert most == min(ceiling, 10_000_000 - 3 * COST)


@pytest.mark.parametrize("limit", [0.0, 2.0, 20.0])
def test_a_repository_spends_no_more_of_somebody_elses_key_than_its_holder_lets(
    world: World, limit: float
) -> None:
    """A server's key pays for all repositories: none of them raises the day or says it is free."""
    text = "coder: {max_cost_per_day_usd: 5.0, price_per_million_usd: [0.0, 0.0]}\n"
    world.commit({"stratwright.yml": text})
    given = {**world.environment("push", pushed(world)), "GITHUB_TOKEN": world.token()}
    with environment(given):
        keys = ModelKeys(SecretStr(KEY), limit_usd=limit)
        asking = open_context(world.clone, keys=keys).asking()
    assert asking is not None
    assert asking.settings.max_cost_per_day_usd == min(5.0, limit)
    assert asking.settings.price_per_million_usd is None


def test_an_entry_that_nobody_can_read_stops_all_calls(world: World) -> None:
    run(world, "push", pushed(world), [answers("rs < 30")] * 3)
    (name,) = git(world.bare, "ls-tree", "--name-only", BRANCH).split()
    for bad in ('{"cost": -1}', "", json.dumps({**booked(world)[0].model_dump(), "cost": -5})):
        blob = git_in(world, bad)
        tree = hash_tree(world, f"100644 blob {blob}\t{name}\n")
        commit = git(world.clone, "commit-tree", tree, "-m", "x")
        git(world.clone, "push", "-q", "-f", str(world.bare), f"{commit}:refs/heads/{BRANCH}")
        git(world.clone, "update-ref", "-d", f"refs/heads/{BRANCH}")
        event = pushed(world, PROSE + f"# {hashlib.sha256(bad.encode()).hexdigest()}\n")
        number = 200 + len(bad)
        ran, server = run(world, "push", event, [], number=number)
        assert server.asked == []
        assert ran.codes["write"] == 5
        assert "no model is asked [world-failed]" in ran.summary
        assert "max_cost_per_day_usd" in told(world, event["after"])


def test_a_rewritten_branch_of_costs_stops_models_and_no_exact_contract(world: World) -> None:
    run(world, "push", pushed(world), [answers("rs < 30")] * 3)
    commit = git(world.clone, "commit-tree", hash_tree(world, ""), "-m", "x")
    git(world.clone, "push", "-q", "-f", str(world.bare), f"{commit}:refs/heads/{BRANCH}")
    event = pushed(world, other(1), **{"contracts/exact.yaml": DIP})
    ran, server = run(world, "push", event, [], number=101)
    assert (ran.codes["plan"], server.asked) == (0, [])
    assert "no model is asked [safety-stop]" in ran.summary
    (pull,) = forge_of(world).pulls()
    assert pull.draft.branch == "ai/generated/oversold-dip/strategy"


def git_in(world: World, text: str) -> str:
    path = world.clone.parent / "blob"
    path.write_text(text)
    return git(world.clone, "hash-object", "-w", str(path))


def hash_tree(world: World, rows: str) -> str:
    import subprocess

    done = subprocess.run(
        ["git", "-C", str(world.clone), "mktree"], input=rows, text=True, check=True,
        capture_output=True,
    )  # fmt: skip
    return done.stdout.strip()
