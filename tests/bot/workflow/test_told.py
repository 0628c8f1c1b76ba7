"""Where and what people are told: the right commit, one last word, and answers to odd orders."""

import json
import re
from pathlib import Path

import pytest

from bot.forge.github.api import GitHubApi
from bot.forge.port import PullState, Thread
from tests.bot.workflow.hub import (
    World,
    comment,
    form,
    git,
    issue,
    push,
    repository,
    user,
)
from tests.bot.workflow.line import run_event
from tests.bot.workflow.proposals import DIP, contract, forge_of, proposed

PATH = "contracts/dip.yaml"
BAD = DIP.replace("rsi < oversold", "rsj < oversold")


def test_a_refusal_stands_on_the_commit_that_brought_the_contract(world: World) -> None:
    before, after = world.commit({PATH: BAD})
    _, later = world.commit({"README.md": "more\n"})
    ran = run_event(world, "push", push(before, after))
    assert ran.codes["write"] == 2
    forge = forge_of(world)
    assert forge.checks.read(after, f"stratwright: {PATH}") is not None
    assert forge.checks.read(later, f"stratwright: {PATH}") is None
    assert len(forge.threads.all(Thread(commit=after))) == 1
    assert forge.threads.all(Thread(commit=later)) == ()


@pytest.mark.parametrize("reserved", ["coder: agent", "coder: cli"])
def test_what_is_not_built_yet_is_refused_when_it_is_pushed(world: World, reserved: str) -> None:
    before, after = world.commit({PATH: f"{DIP}{reserved}\n"})
    ran = run_event(world, "push", push(before, after))
    assert ran.codes["write"] == 2
    (said,) = forge_of(world).threads.all(Thread(commit=after))
    assert re.search("not built yet|only .* carries it out yet", said.body)


def test_an_old_refusal_run_again_after_the_mending_says_that_a_newer_version_is_there(
    world: World,
) -> None:
    before, after = world.commit({PATH: BAD})
    _, mended = world.commit({PATH: DIP})
    ran = run_event(world, "push", push(before, after))
    assert ran.codes == {"plan": 0, "write": 0}
    assert "newer version" in ran.summary
    assert all(each.method == "GET" for each in world.hub.requests)
    assert forge_of(world).checks.read(mended, f"stratwright: {PATH}") is None


def test_a_contract_replaced_by_a_folder_is_superseded(world: World) -> None:
    before, after = world.commit({PATH: BAD})
    world.commit({PATH: None})
    world.commit({f"{PATH}/x.yaml": contract("inner")})
    ran = run_event(world, "push", push(before, after))
    assert ran.codes == {"plan": 0, "write": 0}
    assert "newer version" in ran.summary


def test_a_mended_form_leaves_no_failure_as_the_last_word(world: World) -> None:
    bad = form(Enter_long="rsj < 3")
    number = world.hosted.open_issue("Strategy", bad, "alice", ["stratwright"]).number
    run_event(world, "issues", issue(number, bad), run=1)
    order = comment(number, "/stratwright retry", issue_body=form(), comment_id=70)
    run_event(world, "issue_comment", order, run=2)
    said = forge_of(world).threads.all(Thread(number))
    assert {each.marker for each in said} == {"status", "order:70"}
    assert all("✅" in each.body and "proposed in #2" in each.body for each in said)

    # The label's own event comes as well: the link stays.
    run_event(world, "issues", issue(number, form(), "labeled"), run=3)
    status = next(
        each for each in forge_of(world).threads.all(Thread(number)) if each.marker == "status"
    )
    assert "✅" in status.body
    assert "proposed in #2" in status.body


def test_an_issue_in_prose_gets_one_answer_with_the_form(world: World) -> None:
    prose = "Please buy low and sell high."
    number = world.hosted.open_issue("Idea", prose, "alice", ["stratwright"]).number
    run_event(world, "issues", issue(number, prose, "labeled"))
    (said,) = forge_of(world).threads.all(Thread(number))
    assert "/issues/new?template=strategy.yml)" in said.body
    assert "/stratwright retry" not in said.body
    assert "Open a new issue" not in said.body


@pytest.mark.parametrize("verb", ["retry", "regenerate", "explain"])
def test_a_command_with_more_words_is_answered_and_not_obeyed(world: World, verb: str) -> None:
    world.commit({PATH: DIP})
    pull = proposed(world, PATH, "oversold-dip")
    order = comment(pull.number, f"/stratwright {verb} please", on_pull=True)
    ran = run_event(world, "issue_comment", order)
    assert ran.codes == {"plan": 0, "write": 0}
    assert "Nothing was done" in forge_of(world).threads.all(Thread(pull.number))[-1].body


def test_a_pushed_commit_that_is_gone_is_told_in_words(world: World) -> None:
    before, _ = world.commit({PATH: DIP})
    ran = run_event(world, "push", push(before, "e" * 40))
    assert ran.codes == {"plan": 0}
    assert "push-replaced" in ran.summary


def dispatch(contracts: str) -> dict[str, object]:
    return {
        "ref": "refs/heads/main",
        "inputs": {"contracts": contracts},
        "sender": user(),
        "repository": repository(),
    }


def test_an_unknown_contract_of_a_dispatch_is_told_on_the_runs_page(world: World) -> None:
    world.commit({PATH: DIP})
    ran = run_event(world, "workflow_dispatch", dispatch("contracts/nope.yaml"))
    assert ran.codes == {"plan": 2}
    assert "nope" in ran.summary
    assert "is not a contract of the default branch" in ran.summary


def test_a_contract_named_twice_has_one_row(world: World) -> None:
    world.commit({PATH: BAD})
    ran = run_event(world, "workflow_dispatch", dispatch(f"{PATH} {PATH}"))
    assert len(ran.outputs["write"]) == 1


@pytest.mark.parametrize("path", ["", "../..", "contracts/../../x.yaml", "contracts//x.yaml", "/"])
@pytest.mark.parametrize("verb", ["retry", "regenerate"])
def test_a_forged_contract_path_gets_a_polite_answer(world: World, path: str, verb: str) -> None:
    world.commit({PATH: DIP})
    pull = proposed(world, path, "oversold-dip")
    order = comment(pull.number, f"/stratwright {verb}", on_pull=True)
    ran = run_event(world, "issue_comment", order)
    assert ran.codes == {"plan": 0, "write": 0}
    assert "does not name a contract" in forge_of(world).threads.all(Thread(pull.number))[-1].body


def test_explain_under_a_forks_pull_request_is_answered(world: World, tmp_path: Path) -> None:
    bare = tmp_path / "fork.git"
    git(tmp_path, "clone", "-q", "--bare", str(world.bare), str(bare))
    world.hub.create_repository("mallory/strategies", bare=bare, fork_of="acme/strategies")
    work = tmp_path / "work"
    git(tmp_path, "clone", "-q", str(bare), str(work))
    who = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    git(work, *who, "commit", "-q", "--allow-empty", "-m", "x")
    branch = "ai/generated/oversold-dip/strategy"
    git(work, "push", "-q", "origin", f"HEAD:refs/heads/{branch}")
    api = GitHubApi("acme/strategies", world.hub.token_for("mallory"), world.hub.url, pace=0.0)
    body = {"title": "x", "head": f"mallory:{branch}", "base": "main", "body": "x"}
    number = api.write("POST", "pulls", body)["number"]
    order = comment(number, "/stratwright explain", on_pull=True)
    ran = run_event(world, "issue_comment", order)
    assert ran.codes == {"plan": 0, "write": 0}
    assert "no evidence" in forge_of(world).threads.all(Thread(number))[-1].body
    assert forge_of(world).get(number).state is PullState.OPEN


def test_more_problems_than_are_counted_are_not_told_as_a_number_of_them(world: World) -> None:
    wrong = "".join(f"  i{n}: {{function: NOPE{n}, timeperiod: 3}}\n" for n in range(230))
    text = f"{DIP.split('indicators:')[0]}indicators:\n{wrong}rules:{DIP.split('rules:')[1]}"
    ran = run_event(world, "push", push(*world.commit({PATH: text})))
    assert ran.codes["write"] == 2
    assert "200 or more problems" in ran.summary


def test_the_box_that_failed_is_the_one_of_the_step_that_failed(world: World) -> None:
    def lose(job: str, folder: Path) -> None:
        for path in (folder / "case").glob("*.json") if job == "generate" else ():
            case = json.loads(path.read_text())
            case["version"] = 2
            path.write_text(json.dumps(case))

    ran = run_event(world, "push", push(*world.commit({PATH: DIP})), between=lose)
    assert ran.codes["write"] == 5
    assert "- [ ] Gates passed: **failed**" in ran.summary


def test_a_form_goes_to_the_folder_of_the_settings(world: World) -> None:
    world.commit({"stratwright.yml": "contracts: strategies/\n"})
    body = form(Enter_long="rsj < 3")
    number = world.hosted.open_issue("Strategy", body, "alice", ["stratwright"]).number
    run_event(world, "issues", issue(number, body))
    assert "strategies/issue_1.yaml" in forge_of(world).threads.all(Thread(number))[-1].body
