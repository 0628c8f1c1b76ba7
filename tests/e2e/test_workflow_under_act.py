import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.forge.github.api import GitHubApi
from bot.forge.github.pulls import GitHubForge
from bot.forge.port import PullState, Thread
from bot.report.hidden_block import read_hidden_block
from bot.workflow.starter import OWN
from tests.bot.workflow.hub import (
    HOUSE,
    NAME,
    STRANGER,
    World,
    comment,
    form,
    git,
    issue,
    make_world,
    push,
    repository,
    user,
)
from tests.bot.workflow.judged import judged_contracts
from tests.bot.workflow.proposals import contract, forge_of
from tests.doubles.github import GitHubServer
from tests.doubles.github.description import Description, read_description
from tests.e2e.ready import ready_command
from tests.e2e.under_act import house_of_the_action, run_under_act
from tests.security.forger import read_case, seal, write_tag

CONTRACTS = {
    f"contracts/{name}.yaml": (HOUSE / f"contracts/{name}.yaml").read_text()
    for name in ("oversold_dip", "channel_breakout")
}
# One target of Freqtrade is enough: its gate runs Freqtrade itself.
CONTRACTS["contracts/channel_breakout.yaml"] = CONTRACTS["contracts/channel_breakout.yaml"].replace(
    "targets: [adapter, freqtrade]", "targets: [adapter]"
)
DESCRIPTION = "build/npm/node_modules/@octokit/openapi/generated/api.github.com.json"
pytestmark = pytest.mark.act
SECTIONS = ("### Result", "### Rules", " gates passed</summary>", "### What changed in behaviour",
            "where they came from", "stratwright verify", "equity.svg?raw=true")  # fmt: skip


@pytest.fixture(scope="module")
def description() -> Description:
    return read_description(HOUSE / DESCRIPTION)


@pytest.fixture(scope="module")
def caller() -> Iterator[str]:
    with ready_command() as program:
        yield program


@pytest.fixture
def world(tmp_path: Path, memory: Path, description: Description) -> Iterator[World]:
    with GitHubServer() as hub:
        made = make_world(tmp_path, hub)
        made.hosted.settings.can_approve_pull_request_reviews = True
        yield made
    assert not [problem for each in hub.requests for problem in description.problems(each)]


@pytest.fixture
def forge(world: World) -> GitHubForge:
    return GitHubForge(GitHubApi(NAME, world.token(), world.hub.url, pace=0.0))


def test_a_push_of_two_contracts_becomes_two_pull_requests(
    world: World, forge: GitHubForge, tmp_path: Path, caller: str
) -> None:
    before, after = world.commit(dict(CONTRACTS))
    ran = run_under_act(world, "push", push(before, after), tmp_path / "act", caller)
    assert ran.code == 0, ran.log[-4000:]
    assert ran.seen == ["gates", "generate", "plan", "write"]
    pulls = forge.pulls()
    assert {pull.draft.branch for pull in pulls} == {
        "ai/generated/oversold-dip/strategy",
        "ai/generated/channel-breakout/strategy",
    }
    for pull in pulls:
        assert pull.state is PullState.OPEN
        assert all(section in pull.draft.body for section in SECTIONS)
        assert read_hidden_block(pull.draft.body) is not None
        run = forge.checks.read(pull.draft.head)
        assert run is not None
        assert run["conclusion"] == "success"
        tag = git(world.bare, "rev-parse", f"refs/tags/{pull.draft.tag}^{{commit}}")
        assert tag == pull.draft.head


def test_a_filled_form_becomes_a_pull_request(
    world: World, forge: GitHubForge, tmp_path: Path, caller: str
) -> None:
    number = world.hosted.open_issue("Strategy", form(), "alice", ["stratwright"]).number
    ran = run_under_act(world, "issues", issue(number, form()), tmp_path / "act", caller)
    assert ran.code == 0, ran.log[-4000:]
    assert ran.seen == ["announce", "gates", "generate", "plan", "write"]
    (pull,) = forge.pulls()
    (said,) = forge.threads.all(Thread(number))
    assert f"Proven and proposed in #{pull.number}" in said.body
    assert git(world.bare, "show", f"{pull.draft.head}:contracts/issue_{number}.yaml")


def test_a_bad_form_gets_every_error_with_its_line_and_no_branch(
    world: World, forge: GitHubForge, tmp_path: Path, caller: str
) -> None:
    body = form(Enter_long="rsj < oversold", Stop_loss="2")
    number = world.hosted.open_issue("Strategy", body, "alice", ["stratwright"]).number
    ran = run_under_act(world, "issues", issue(number, body), tmp_path / "act", caller)
    assert ran.code != 0
    assert ran.jobs["write"] == "failure"
    assert ran.seen == ["plan", "write"]
    (said,) = forge.threads.all(Thread(number))
    assert "**2 problems:**" in said.body
    assert f"contracts/issue_{number}.yaml:" in said.body
    assert not world.branches


def test_a_bad_contract_gets_a_red_check_and_no_branch(
    world: World, forge: GitHubForge, tmp_path: Path, caller: str
) -> None:
    bad = CONTRACTS["contracts/oversold_dip.yaml"].replace("rsi < oversold", "rsj < oversold")
    before, after = world.commit({"contracts/bad.yaml": bad})
    ran = run_under_act(world, "push", push(before, after), tmp_path / "act", caller)
    assert ran.jobs["write"] == "failure"
    run = forge.checks.read(after, "stratwright: contracts/bad.yaml")
    assert run is not None
    assert (run["conclusion"], run["output"]["annotations_count"]) == ("failure", 1)
    (said,) = forge.threads.all(Thread(commit=after))
    line = next(n for n, text in enumerate(bad.splitlines(), 1) if "rsj <" in text)
    assert f"contracts/bad.yaml:{line}:" in said.body
    assert not world.branches


def test_a_strangers_command_leads_to_nothing(world: World, tmp_path: Path, caller: str) -> None:
    number = world.hosted.open_issue("Strategy", form(), "mallory", ["stratwright"]).number
    event = comment(number, "/stratwright retry", user("mallory", STRANGER), form())
    ran = run_under_act(world, "issue_comment", event, tmp_path / "act", caller)
    assert ran.code == 0, ran.log[-4000:]
    assert ran.seen == ["plan"]
    assert "no-permission" in ran.log
    assert all(each.method == "GET" for each in world.hub.requests)
    assert not world.branches


def test_a_comment_without_a_command_starts_no_job(
    world: World, tmp_path: Path, caller: str
) -> None:
    number = world.hosted.open_issue("Strategy", form(), "alice", ["stratwright"]).number
    event = comment(number, "a word about /stratwright retry")
    ran = run_under_act(world, "issue_comment", event, tmp_path / "act", caller)
    # No word about act's exit code: for skipped jobs it still evaluates the matrix, and gives up
    # on the outputs that the skipped plan does not have. GitHub skips them without that.
    assert ran.seen == []
    assert not world.hub.requests


def test_a_dispatch_by_hand_proposes_the_named_contract(
    world: World, forge: GitHubForge, tmp_path: Path, caller: str
) -> None:
    world.commit(dict(CONTRACTS))
    inputs = {"contracts": "contracts/oversold_dip.yaml", "regenerate": "false"}
    event = {"ref": "refs/heads/main", "repository": repository(), "sender": user()}
    event["inputs"] = inputs
    ran = run_under_act(world, "workflow_dispatch", event, tmp_path / "act", caller)
    assert ran.code == 0, ran.log[-4000:]
    assert [pull.draft.branch for pull in forge.pulls()] == ["ai/generated/oversold-dip/strategy"]


def test_the_workflow_of_the_actions_own_repository_starts_from_its_checkout(
    world: World, forge: GitHubForge, tmp_path: Path, caller: str
) -> None:
    house = house_of_the_action(tmp_path / "house")
    files = {
        str(path.relative_to(house)): path.read_text()
        for path in house.rglob("*")
        if path.is_file() and path.name != "README.md"
    }
    text = CONTRACTS["contracts/oversold_dip.yaml"]
    before, after = world.commit({**files, "contracts/oversold_dip.yaml": text})
    ran = run_under_act(world, "push", push(before, after), tmp_path / "act", caller, action=OWN)
    assert ran.code == 0, ran.log[-4000:]
    assert ran.seen == ["gates", "generate", "plan", "write"]
    assert len(forge.pulls()) == 1


# Whoever captures a job of a run can put another file in the place of an artifact: run when one is
# uploaded, as `tamper.py FOLDER NAME`. Each contract meets the change that it is named after.
TAMPER = """
import json, pathlib, shutil, sys
folder, name = pathlib.Path(sys.argv[1]), sys.argv[2]
if name == "stratwright-gates-leg_1":
    for case in sorted((folder / "stratwright-case-leg_1").glob("*.json")):
        told, gates = json.loads(case.read_text()), folder / name / case.name
        change = pathlib.Path(told["contract_path"]).stem
        if change == "another-coder":
            told["candidate"]["coder"] = "agent"
            told["candidate"]["files"]["Backtest/codes/oversold_dip.py"] += "x = 1\\n"
            case.write_text(json.dumps(told))
        elif change == "answers-for-the-case":
            shutil.copy(gates, case)
        elif change == "edited-answers":
            gates.write_text(gates.read_text() + " ")
        elif change == "renamed":
            gates.rename(gates.with_name("x.json"))
"""
CHANGES = ("another-coder", "answers-for-the-case", "edited-answers", "renamed")
REASONS = {
    r"case/(\w+)\.json is not the file that the generate job wrote": 2,
    r"gates/(\w+)\.json is not the file that the gates job wrote": 1,
    r"the gates job did not deliver gates/(\w+)\.json": 1,
}


def test_artifacts_that_were_changed_between_two_jobs_are_refused(
    world: World, forge: GitHubForge, tmp_path: Path, caller: str
) -> None:
    """Five contracts in one run: four meet a changed artifact, the fifth goes through."""
    names = (*CHANGES, "honest")
    texts: dict[str, str | bytes | None] = {f"contracts/{n}.yaml": contract(n) for n in names}
    before, after = world.commit(texts)
    ran = run_under_act(world, "push", push(before, after), tmp_path / "act", caller, TAMPER)
    assert ran.code != 0
    assert ran.seen == ["gates", "generate", "plan", "write"], ran.log[-4000:]
    refused = [name for name in names if f"### ❌ {name}/strategy" in ran.log]
    assert refused == [*CHANGES], ran.log[-4000:]
    assert {reason: len({*re.findall(reason, ran.log)}) for reason in REASONS} == REASONS
    assert world.branches == [branch("honest")]
    assert [pull.draft.branch for pull in forge.pulls()] == [branch("honest")]


ROADS = ("tag", "second", "branch", "pull")


def test_who_is_first_with_a_tag_a_branch_or_a_pull_request_is_believed_for_nothing(
    tmp_path: Path, heard: None, description: Description, caller: str
) -> None:
    """Five contracts in one run: four meet forged evidence in which everything agrees."""
    texts = {f"contracts/{road}.yaml": contract(road) for road in ROADS}
    with judged_contracts(tmp_path, texts) as judged:
        world, forged = judged.world, {}
        for path in texts:
            assert judged.write(judged.rows[path], tmp_path / "handover")[0] == 0
        delivered = {pull.draft.branch: pull.draft for pull in forge_of(world).pulls()}
        git(world.clone, "fetch", "-q", str(world.bare), "+refs/tags/*:refs/tags/*")
        cases = {road: read_case(world.clone, delivered[branch(road)].tag) for road in ROADS}
        judged.set_back()
        for road, case in cases.items():
            case.change_json("summary.json", lambda summary: summary.update(total_trades=999))
            made = forged[road] = seal(world.clone, case)
            name = f"refs/heads/{branch(road)}"
            if road in ("tag", "second"):
                # The second is forged as what a person asked for once more.
                tag = case.tag if road == "tag" else f"{case.tag}.2"
                name = f"refs/tags/{tag}"
                made = write_tag(world.clone, case, made, tag)
            git(world.clone, "push", "-q", str(world.bare), f"{made}:{name}")
        theirs = GitHubApi(NAME, world.hub.token_for("alice"), world.hub.url, pace=0.0)
        words = {"title": "theirs", "base": "main", "body": delivered[branch("pull")].body}
        theirs.write("POST", "pulls", {**words, "head": branch("pull")})

        _, after = world.commit({"contracts/nobody.yaml": contract("nobody")})
        first = git(world.clone, "rev-parse", "HEAD~2")
        ran = run_under_act(world, "push", push(first, after), tmp_path / "act", caller)
        assert ran.seen == ["gates", "generate", "plan", "write"], ran.log[-4000:]
        # act gives every leg of a matrix the result of the worst; the pages say which they were.
        refused = [road for road in (*ROADS, "nobody") if f"### ❌ {road}/strategy" in ran.log]
        assert refused == [*ROADS], ran.log[-4000:]
        assert "which is not what this contract gives" in ran.log
        forge = forge_of(world)
        pulls = {pull.draft.branch: pull.draft for pull in forge.pulls()}
        assert pulls.keys() == {branch("nobody"), branch("pull")}
        honest = pulls[branch("nobody")].head
        assert forge.checks.read(honest) is not None
        assert [road for road in ROADS if forge.checks.read(forged[road]) is not None] == []
        heads = {name: git(world.bare, "rev-parse", name) for name in world.branches}
        left = {branch(road): forged[road] for road in ("branch", "pull")}
        assert heads == {branch("nobody"): honest, **left}
        requests = world.hub.requests
        assert not [problem for each in requests for problem in description.problems(each)]


def branch(road: str) -> str:
    """The bot's branch of a contract."""
    return f"ai/generated/{road}/strategy"
