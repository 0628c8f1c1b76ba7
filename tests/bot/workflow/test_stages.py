import json
import re
from pathlib import Path

import pytest

from bot.forge.port import PullState, Thread
from bot.gates.freqtrade.installation import VARIABLE
from bot.gates.table import NAMES
from bot.git.repository import open_repository
from bot.locks.pins import locked_version
from bot.proof.evidence import tool_versions
from bot.proof.verification import Checker, verify
from bot.report.hidden_block import read_hidden_block
from bot.settings import Settings
from bot.workshop import open_coder, open_prover
from tests.bot.workflow.hub import (
    HOUSE,
    NAME,
    STRANGER,
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
from tests.bot.workflow.proposals import forge_of
from tests.freqtrade.freqtrade_environment import needs_freqtrade

BOTH = (HOUSE / "contracts/oversold_dip.yaml").read_text()
DIP = BOTH.replace("targets: [adapter, freqtrade]", "targets: [adapter]")
BRANCH = "ai/generated/oversold-dip/strategy"


def state(world: World) -> dict[str, str]:
    listed = git(world.bare, "for-each-ref", "--format=%(refname) %(objectname)")
    return dict(line.split() for line in listed.splitlines())


@needs_freqtrade
def test_the_job_that_writes_needs_no_freqtrade(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.commit({"stratwright.yml": "freqtrade: true\n"})
    before, after = world.commit({"contracts/dip.yaml": BOTH})

    def take_away(job: str, handover: Path) -> None:
        if job == "gates":
            monkeypatch.delenv(VARIABLE, raising=False)

    ran = run_event(world, "push", push(before, after), between=take_away)
    assert set(ran.codes.values()) == {0}
    (pull,) = forge_of(world).pulls()
    assert "Backtest/freqtrade/OversoldDip.py" in pull.draft.body
    assert "Backtest/freqtrade/OversoldDip.py" in git(
        world.bare, "ls-tree", "-r", "--name-only", pull.draft.head
    )
    place = f"{pull.draft.head}:artifacts/oversold-dip/strategy/provenance.json"
    versions = json.loads(git(world.bare, "show", place))["predicate"]["versions"]
    assert versions["freqtrade"] == locked_version("freqtrade")
    assert versions == tool_versions(locked_version("freqtrade"))


def test_what_cannot_be_proven_is_left_out_and_said(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr("bot.workflow.context.find_freqtrade", lambda: None)
    before, after = world.commit({"contracts/dip.yaml": BOTH})
    ran = run_event(world, "push", push(before, after))
    assert set(ran.codes.values()) == {0}
    assert "freqtrade: not delivered" in ran.summary
    (pull,) = forge_of(world).pulls()
    assert "freqtrade: not delivered" in pull.draft.body
    before, after = world.commit({"stratwright.yml": "require_targets: true\n"})
    edited = BOTH.replace("default: 35", "default: 33")
    before, after = world.commit({"contracts/dip.yaml": edited})
    ran = run_event(world, "push", push(before, after), run=101)
    assert 4 in ran.codes.values()


def test_a_pushed_contract_becomes_a_pull_request_and_running_again_changes_nothing(
    world: World,
) -> None:
    before, after = world.commit({"contracts/dip.yaml": DIP})
    ran = run_event(world, "push", push(before, after))
    assert set(ran.codes.values()) == {0}
    forge = forge_of(world)
    (pull,) = forge.pulls()
    assert (pull.number, pull.state, pull.draft.branch) == (1, PullState.OPEN, BRANCH)
    block = read_hidden_block(pull.draft.body)
    assert block is not None
    assert block["contract"] == "contracts/dip.yaml"
    assert f"/blob/{pull.draft.head}/artifacts/oversold-dip/strategy/equity.svg" in pull.draft.body
    run = forge.checks.read(pull.draft.head)
    assert run is not None
    assert (run["conclusion"], run["output"]["title"]) == (
        "success",
        f"All {len(NAMES)} gates passed",
    )
    message = git(world.bare, "show", "-s", "--format=%B", pull.draft.head)
    assert "Correlation-Id: corr_" in message
    assert "Proven and proposed in #1" in ran.summary

    seen, count = state(world), len(world.hub.requests)
    again = run_event(world, "push", push(before, after), run=101)
    assert set(again.codes.values()) == {0}
    assert state(world) == seen
    assert all(each.method == "GET" for each in world.hub.requests[count:])

    edited = DIP.replace("default: 35", "default: 33")
    merged = git(world.bare, "rev-parse", BRANCH)
    git(world.clone, "fetch", "-q", str(world.bare), BRANCH)
    git(world.clone, "merge", "-q", "--no-ff", "-m", "merge", merged)
    start, end = world.commit({"contracts/dip.yaml": edited})
    run_event(world, "push", push(start, end), run=102)
    newest = forge.find(BRANCH)
    assert newest is not None
    assert "Against the base branch at" in newest.draft.body
    assert newest.draft.head != pull.draft.head
    git(world.clone, "fetch", "-q", str(world.bare), "+refs/tags/*:refs/tags/*")
    repository = open_repository(world.clone, to_write=False)
    checker = Checker(lambda contract: open_coder(contract, Settings()), open_prover)
    found = verify(newest.draft.tag, repository, checker)
    assert found.outcome == "holds", found.findings[-1]

    before, after = world.commit({"contracts/dip.yaml": None})
    run_event(world, "push", push(before, after), run=103)
    gone = forge.find(BRANCH)
    assert gone is not None
    assert gone.state is PullState.CLOSED
    assert "was deleted" in forge.threads.all(Thread(gone.number))[-1].body


# What the bot may write, by method and what follows the repository's name in the address.
WRITES = re.compile(
    r"POST (pulls|issues/\d+/(comments|labels)|check-runs|statuses/\w+)"
    r"|PATCH (pulls/\d+|issues/comments/\d+|issues/\d+|check-runs/\d+)"
    r"|(PUT|POST) issues/\d+/labels|POST labels"
)


def test_it_writes_its_branches_tags_pull_requests_comments_labels_and_checks_and_nothing_else(
    world: World,
) -> None:
    """A contract is proposed, edited, deleted; nothing is merged, reviewed or released."""
    before, after = world.commit({"contracts/dip.yaml": DIP})
    run_event(world, "push", push(before, after))
    before, after = world.commit({"contracts/dip.yaml": DIP.replace("default: 35", "default: 33")})
    run_event(world, "push", push(before, after), run=101)
    before, after = world.commit({"contracts/dip.yaml": None})
    run_event(world, "push", push(before, after), run=102)
    assert state(world)["refs/heads/main"] == after
    theirs = ("refs/tags/ai/oversold-dip/", "refs/pull/")  # GitHub makes those of pull requests
    others = {name for name in state(world) if not name.startswith(theirs)}
    assert others == {"refs/heads/main", f"refs/heads/{BRANCH}"}
    told = [each for each in world.hub.requests if each.method not in ("GET", "HEAD")]
    calls = [f"{each.method} {each.path.partition(f'/{NAME}/')[2]}" for each in told]
    git_calls = ("/git-upload-pack", "/git-receive-pack", "/graphql")
    kept = [call for call, each in zip(calls, told, strict=True)
            if not each.path.endswith(git_calls)]  # fmt: skip
    assert [call for call in kept if WRITES.fullmatch(call) is None] == []
    assert "POST pulls" in kept
    changed = git(world.bare, "diff", "--name-only", f"{BRANCH}~1", BRANCH).splitlines()
    assert changed
    assert [path for path in changed if path.startswith(".github/")] == []


def test_a_filled_form_becomes_a_pull_request_with_its_contract(world: World) -> None:
    number = world.hosted.open_issue("Strategy", form(), "alice", ["stratwright"]).number
    said: list[str] = []

    def watch(job: str, folder: Path) -> None:
        if job == "announce":
            said.extend(each.body for each in forge_of(world).threads.all(Thread(number)))

    ran = run_event(world, "issues", issue(number, form()), between=watch)
    assert set(ran.codes.values()) == {0}
    assert "- [x] Contract read" in said[0]
    assert "- [ ] Gates passed" in said[0]
    (last,) = forge_of(world).threads.all(Thread(number))
    assert "- [x] Pull request opened" in last.body
    assert "Proven and proposed in #2" in last.body
    text = git(world.bare, "show", f"{BRANCH}:contracts/issue_{number}.yaml")
    assert 'name: "OversoldDip"' in text
    body = forge_of(world).get(2).draft.body
    assert f"\nCloses #{number}\n" in body
    assert f"contracts/issue_{number}.yaml` | the contract" in body

    # A command under it runs the line again, and finds all of it there.
    seen = state(world)
    order = comment(number, "/stratwright retry", issue_body=form())
    assert run_event(world, "issue_comment", order, run=101).codes["write"] == 0
    assert state(world) == seen
    words = forge_of(world).threads.all(Thread(number))[-1]
    assert (words.marker, "proposed in #2 before" in words.body) == ("order:5001", True)

    # Under the pull request, explain answers with the gates.
    asked = comment(2, "/stratwright explain", on_pull=True, comment_id=5002)
    run_event(world, "issue_comment", asked, run=102)
    assert "lookahead" in forge_of(world).threads.all(Thread(2))[-1].body


def test_a_bad_form_is_answered_with_every_error_and_its_line(world: World) -> None:
    body = form(Enter_long="rsj < oversold", Stop_loss="2", Timeframe="7h")
    number = world.hosted.open_issue("Strategy", body, "alice", ["stratwright"]).number
    ran = run_event(world, "issues", issue(number, body))
    assert ran.codes == {"plan": 0, "write": 2}
    (said,) = forge_of(world).threads.all(Thread(number))
    assert "contracts/issue_1.yaml:" in said.body
    for word in ("rsj", "did you mean `rsi`", "0.02", "7h"):
        assert word in said.body, word
    assert "❌" in said.body
    assert not world.branches


def test_a_bad_contract_is_a_red_check_with_annotations_and_no_branch(world: World) -> None:
    bad = DIP.replace("rsi < oversold", "rsj < oversold").replace("stop_loss: 0.02", "stop_loss: 2")
    before, after = world.commit({"contracts/bad.yaml": bad})
    ran = run_event(world, "push", push(before, after))
    assert ran.codes == {"plan": 0, "write": 2}
    forge = forge_of(world)
    run = forge.checks.read(after, "stratwright: contracts/bad.yaml")
    assert run is not None
    assert run["conclusion"] == "failure"
    notes = forge.api.get(f"check-runs/{run['id']}/annotations")
    lines = bad.splitlines()
    assert {note["path"] for note in notes} == {"contracts/bad.yaml"}
    at = [lines[note["start_line"] - 1].split(":")[0].strip() for note in notes]
    assert sorted(at) == ["enter_long", "stop_loss"]
    assert not world.branches

    # A push has no issue to write under: all errors stand on the commit too, once.
    (said,) = forge.threads.all(Thread(commit=after))
    for note in notes:
        assert f"contracts/bad.yaml:{note['start_line']}:" in said.body
    assert "did you mean `rsi`" in said.body
    run_event(world, "push", push(before, after), run=101)
    assert [each.id for each in forge.threads.all(Thread(commit=after))] == [said.id]


def test_a_good_contract_leaves_no_comment_on_its_commit(world: World) -> None:
    before, after = world.commit({"contracts/dip.yaml": DIP})
    run_event(world, "push", push(before, after))
    assert forge_of(world).threads.all(Thread(commit=after)) == ()


@pytest.mark.parametrize(
    ("event", "who"),
    [
        ("issues", user("mallory", STRANGER)),
        ("issue_comment", user("mallory", STRANGER)),
        ("issue_comment", user("alice", STRANGER)),
        ("workflow_dispatch", user("mallory", STRANGER)),
    ],
)
def test_a_stranger_gets_nothing(world: World, event: str, who: dict[str, object]) -> None:
    number = world.hosted.open_issue("Strategy", form(), "mallory", ["stratwright"]).number
    payload = {
        "issues": issue(number, form(), sender=who),
        "issue_comment": comment(number, "/stratwright retry", who, form()),
        "workflow_dispatch": {"ref": "refs/heads/main", "inputs": {}, "sender": who,
                              "repository": repository()},
    }[event]  # fmt: skip
    ran = run_event(world, event, payload)
    assert ran.codes == {"plan": 0}
    assert (ran.outputs["build"], ran.outputs["write"]) == ([], [])
    assert "no-permission" in ran.summary
    assert all(each.method == "GET" for each in world.hub.requests)


def test_somebody_who_lost_permission_in_between_gets_nothing(world: World) -> None:
    number = world.hosted.open_issue("Strategy", form(), "alice", ["stratwright"]).number

    def lose(job: str, folder: Path) -> None:
        if job == "gates":
            world.hosted.set_permission("alice", "read")

    ran = run_event(world, "issues", issue(number, form()), between=lose)
    assert ran.codes["write"] == 2
    assert not world.branches


def test_what_was_tampered_with_between_the_jobs_is_not_proposed(world: World) -> None:
    before, after = world.commit({"contracts/dip.yaml": DIP})

    def tamper(job: str, folder: Path) -> None:
        for path in (folder / "case").glob("*.json") if job == "gates" else ():
            case = json.loads(path.read_text())
            name = "Backtest/codes/oversold_dip.py"
            case["candidate"]["files"][name] += "\n# one more line\n"
            path.write_text(json.dumps(case))

    ran = run_event(world, "push", push(before, after), between=tamper)
    assert ran.codes["write"] == 5
    assert "is not the file that the generate job wrote" in ran.summary
    assert not world.branches


def test_answers_of_the_sandbox_to_other_questions_prove_nothing(world: World) -> None:
    before, after = world.commit({"contracts/dip.yaml": DIP})

    def forge_answers(job: str, folder: Path) -> None:
        for path in (folder / "gates").glob("*.json") if job == "gates" else ():
            recorded = json.loads(path.read_text())
            answers = list(recorded["outcomes"].values())
            recorded["outcomes"] = {f"{n:064x}": each for n, each in enumerate(answers)}
            path.write_text(json.dumps(recorded))

    ran = run_event(world, "push", push(before, after), between=forge_answers)
    assert ran.codes["write"] == 5
    assert "is not the file that the gates job wrote" in ran.summary
    assert not world.branches


def test_a_job_that_did_not_deliver_is_told(world: World) -> None:
    before, after = world.commit({"contracts/dip.yaml": DIP})

    def lose(job: str, folder: Path) -> None:
        for path in (folder / "gates").glob("*.json") if job == "gates" else ():
            path.unlink()

    ran = run_event(world, "push", push(before, after), between=lose)
    assert ran.codes["write"] == 4
    assert "the gates job did not deliver" in ran.summary


def test_a_contract_that_a_gate_refuses_is_blocked_with_the_reason(world: World) -> None:
    before, after = world.commit(
        {"contracts/dip.yaml": DIP.replace("min_trades: 10", "min_trades: 100000")}
    )
    ran = run_event(world, "push", push(before, after))
    assert ran.codes["write"] == 1
    assert "gates said no" in ran.summary
    assert not world.branches
    run = forge_of(world).checks.read(after, "stratwright: contracts/dip.yaml")
    assert run is not None
    assert run["conclusion"] == "failure"


def test_an_old_run_does_not_overwrite_what_a_newer_push_asked_for(world: World) -> None:
    before, after = world.commit({"contracts/dip.yaml": DIP})

    def push_newer(job: str, folder: Path) -> None:
        if job == "gates":
            world.commit({"contracts/dip.yaml": DIP.replace("default: 35", "default: 31")})

    ran = run_event(world, "push", push(before, after), between=push_newer)
    assert ran.codes["write"] == 0
    assert "newer version" in ran.summary
    assert not world.branches


def test_a_second_contract_of_the_same_task_is_refused(world: World) -> None:
    world.commit({"contracts/dip.yaml": DIP})
    before, after = world.commit({"contracts/twin.yaml": DIP})
    ran = run_event(world, "push", push(before, after))
    assert ran.codes == {"plan": 0, "write": 2}
    assert "already" in ran.summary


@pytest.mark.parametrize("verb", ["approve 1a2b3c4", "halt", "rollback", "dance", ""])
def test_commands_that_are_not_there_are_answered_politely(world: World, verb: str) -> None:
    number = world.hosted.open_issue("Strategy", form(), "alice", ["stratwright"]).number
    order = comment(number, f"/stratwright {verb}".strip())
    ran = run_event(world, "issue_comment", order)
    assert ran.codes == {"plan": 0, "write": 0}
    (said,) = forge_of(world).threads.all(Thread(number))
    assert "not set up here" in said.body or "The commands are" in said.body


def test_no_right_to_open_pull_requests_leaves_branch_and_link_once(world: World) -> None:
    world.hosted.settings.can_approve_pull_request_reviews = False
    before, after = world.commit({"contracts/dip.yaml": DIP})
    ran = run_event(world, "push", push(before, after))
    assert ran.codes["write"] == 0
    assert f"/compare/main...{BRANCH}" in ran.summary
    (said,) = forge_of(world).threads.all(Thread(commit=after))
    assert f"/compare/main...{BRANCH}" in said.body
    seen = state(world)
    run_event(world, "push", push(before, after), run=101)
    assert state(world) == seen


def test_a_closed_proposal_comes_back_by_one_command_once(world: World) -> None:
    number = world.hosted.open_issue("Strategy", form(), "alice", ["stratwright"]).number
    run_event(world, "issues", issue(number, form()))
    forge = forge_of(world)
    pull = forge.find(BRANCH)
    assert pull is not None
    forge.close(pull.number)
    retry = comment(number, "/stratwright retry", issue_body=form(), comment_id=6001)
    run_event(world, "issue_comment", retry, run=101)
    assert forge.get(pull.number).state is PullState.CLOSED

    order = comment(number, "/stratwright regenerate", issue_body=form(), comment_id=6002)
    for run in (102, 103):
        ran = run_event(world, "issue_comment", order, run=run)
        assert ran.codes["write"] == 0
        tags = [name for name in state(world) if name.startswith("refs/tags/ai/")]
        assert len(tags) == 2
        assert any(name.endswith(".2") for name in tags)
        assert [each.state for each in forge.pulls()].count(PullState.OPEN) == 1
