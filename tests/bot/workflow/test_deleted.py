"""Contracts that go away, come back, move or change their task, and the pull requests they had."""

from pathlib import Path

import pytest

from bot.forge.port import PullState, Thread
from bot.forge.reasons import Ignored
from bot.report.hidden_block import read_hidden_block
from bot.workflow.context import open_context, receive
from bot.workflow.items import Action
from tests.bot.workflow.hub import World, comment, push
from tests.bot.workflow.line import run_event, variables
from tests.bot.workflow.proposals import DIP, contract, forge_of, proposed

PATH, MOVED = "contracts/dip.yaml", "contracts/moved.yaml"


def state_of(world: World, number: int) -> PullState:
    return forge_of(world).get(number).state


@pytest.mark.parametrize("last", [DIP, DIP.replace("rsi < oversold", "rsj < oversold")])
def test_a_deleted_contract_closes_its_pull_request_even_if_it_was_bad(
    world: World, last: str
) -> None:
    world.commit({PATH: last})
    pull = proposed(world, PATH, "oversold-dip")
    ran = run_event(world, "push", push(*world.commit({PATH: None})))
    assert ran.codes == {"plan": 0, "write": 0}
    assert state_of(world, pull.number) is PullState.CLOSED
    words = forge_of(world).threads.all(Thread(pull.number))[-1].body
    assert "was deleted" in words
    assert "put the contract back" in words


def test_a_pull_request_that_a_person_closed_meanwhile_is_no_failure(world: World) -> None:
    world.commit({PATH: DIP})
    pull = proposed(world, PATH, "oversold-dip")

    def close(job: str, folder: Path) -> None:
        if job == "plan":
            forge_of(world).close(pull.number)

    ran = run_event(world, "push", push(*world.commit({PATH: None})), between=close)
    assert ran.codes == {"plan": 0, "write": 0}
    assert forge_of(world).threads.all(Thread(pull.number)) == ()


def test_a_rewritten_history_closes_what_is_not_there_and_leaves_forms_alone(world: World) -> None:
    world.commit({"contracts/other.yaml": contract("other")})
    gone = proposed(world, PATH, "oversold-dip", 1)
    waiting = proposed(world, "contracts/issue_7.yaml", "of-a-form", 2)
    kept = proposed(world, "contracts/other.yaml", "other", 3)
    _, after = world.commit({"README.md": "x\n"})
    run_event(world, "push", push("f" * 40, after))
    assert state_of(world, gone.number) is PullState.CLOSED
    assert state_of(world, waiting.number) is PullState.OPEN
    assert state_of(world, kept.number) is PullState.OPEN


def test_a_contract_that_becomes_another_task_closes_the_old_one_and_names_the_new(
    world: World,
) -> None:
    world.commit({PATH: DIP})
    pull = proposed(world, PATH, "oversold-dip")
    ran = run_event(world, "push", push(*world.commit({PATH: contract("dip-two")})))
    assert set(ran.codes.values()) == {0}
    assert state_of(world, pull.number) is PullState.CLOSED
    assert "dip-two/strategy" in forge_of(world).threads.all(Thread(pull.number))[-1].body
    newest = forge_of(world).find("ai/generated/dip-two/strategy")
    assert newest is not None
    assert newest.state is PullState.OPEN


def test_an_old_run_of_a_deletion_does_not_close_what_was_put_back(world: World) -> None:
    world.commit({PATH: DIP})
    pull = proposed(world, PATH, "oversold-dip")
    deletion = world.commit({PATH: None})
    world.commit({PATH: DIP})
    ran = run_event(world, "push", push(*deletion))
    assert ran.codes == {"plan": 0, "write": 0}
    assert "there again" in ran.summary
    assert state_of(world, pull.number) is PullState.OPEN


def test_what_the_bot_closed_opens_again_and_follows_and_what_a_person_closed_does_not(
    world: World,
) -> None:
    run_event(world, "push", push(*world.commit({PATH: DIP})), run=1)
    (pull,) = forge_of(world).pulls()
    run_event(world, "push", push(*world.commit({PATH: None})), run=2)
    assert state_of(world, pull.number) is PullState.CLOSED
    order = comment(pull.number, "/stratwright regenerate", on_pull=True, comment_id=71)
    assert run_event(world, "issue_comment", order, run=3).codes == {"plan": 0, "write": 0}
    assert "was deleted" in forge_of(world).threads.all(Thread(pull.number))[-1].body

    back = world.commit({PATH: DIP})
    ran = run_event(world, "push", push(*back), run=4)
    assert set(ran.codes.values()) == {0}
    assert f"#{pull.number} is open again" in ran.summary
    assert [each.number for each in forge_of(world).pulls()] == [pull.number]
    assert state_of(world, pull.number) is PullState.OPEN

    # Renamed, it is the same task's contract: the pull request follows.
    back = world.commit({PATH: None, MOVED: DIP})
    ran = run_event(world, "push", push(*back), run=5)
    assert set(ran.codes.values()) == {0}
    (followed,) = forge_of(world).pulls()
    block = read_hidden_block(followed.draft.body)
    assert block is not None
    assert (followed.number, followed.state) == (pull.number, PullState.OPEN)
    assert block["contract"] == MOVED

    forge_of(world).close(pull.number)
    ran = run_event(world, "push", push(*back), run=6)
    assert state_of(world, pull.number) is PullState.CLOSED
    assert "/stratwright regenerate" in ran.summary
    assert "--regenerate" not in ran.summary


def test_contracts_that_swap_their_tasks_are_not_in_each_others_way(world: World) -> None:
    world.commit({PATH: DIP, "contracts/b.yaml": contract("other")})
    proposed(world, PATH, "oversold-dip", 1)
    proposed(world, "contracts/b.yaml", "other", 2)
    before, after = world.commit({PATH: contract("other"), "contracts/b.yaml": DIP})
    base = world.environment("push", push(before, after))
    with variables({**base, "GITHUB_TOKEN": world.token()}):
        work = receive(open_context(world.clone))
    assert not isinstance(work, Ignored)
    assert [item.action for item in work] == [Action.PROPOSE, Action.PROPOSE]


def test_a_form_that_waits_for_its_merge_keeps_its_name(world: World) -> None:
    proposed(world, "contracts/issue_7.yaml", "oversold-dip")
    ran = run_event(world, "push", push(*world.commit({PATH: DIP})))
    assert ran.codes == {"plan": 0, "write": 2}
    assert "is about another contract" in ran.summary
