"""Attacks that no list has: what a stranger, a bad moment or a strange repository can bring."""

import json
import subprocess
from typing import Any

import pytest

from bot.forge.command_line import read_command
from bot.forge.github.api import GitHubApi
from bot.forge.github.payload import parse_event
from bot.forge.reasons import Ignored, Reason
from tests.bot.workflow.hub import NAME, STRANGER, comment, git, issue, push, user
from tests.fire.bench import WiredWorld
from tests.fire.flows import BAD, CHANGED, FORM, PATH, bad_push, proposed
from tests.fire.matrices import Worker
from tests.fire.snapshot import comments, objects

BRANCH = "ai/generated/dip/strategy"


def fork_named_like_ours(world: WiredWorld) -> int:
    """A stranger's pull request with the bot's branch name, words and hidden block."""
    fork = world.bare.parent / "fork.git"
    subprocess.run(["git", "clone", "-q", "--bare", str(world.bare), str(fork)], check=True)
    world.hub.create_repository("mallory/strategies", bare=fork, fork_of=NAME)
    body = world.hosted.record.issues[1].body
    token = world.hub.token_for("mallory")
    theirs = GitHubApi(NAME, token, world.hub.url, pace=0.0)
    wanted = {"title": "x", "head": f"mallory:{BRANCH}", "base": "main", "body": body}
    return int(theirs.write("POST", "pulls", wanted)["number"])


@pytest.mark.parametrize("verb", ["explain", "retry", "regenerate"])
def test_a_forks_pull_request_under_the_bots_branch_name_is_not_the_bots(
    verb: str, worker: Worker
) -> None:
    bench = worker.bench
    bench.go_back(worker.empty)
    proposed(bench)
    number = fork_named_like_ours(bench.world)
    before = objects(bench.world)
    ran = bench.run("issue_comment", comment(number, f"/stratwright {verb}", on_pull=True))
    assert ran.code == 0, ran.log
    assert objects(bench.world) == before
    ((_, (said,)),) = [row for row in comments(bench.world).items() if row[0][0] == f"#{number}"]
    assert f"[{Reason.NOT_OUR_PULL}]" in said


def test_a_forks_pull_request_does_not_keep_the_bots_own_from_following(worker: Worker) -> None:
    bench = worker.bench
    bench.go_back(worker.empty)
    proposed(bench)
    number = fork_named_like_ours(bench.world)
    theirs = bench.world.hosted.record.issues[number].body
    ran = bench.run("push", push(*bench.world.commit({PATH: CHANGED})), run=101)
    assert ran.code == 0, ran.log
    record = bench.world.hosted.record
    assert record.issues[number].body == theirs
    assert record.issues[1].body != theirs
    assert [each.state for each in record.issues.values()] == ["open", "open"]


@pytest.mark.parametrize(
    "body",
    [
        "\uff0fstratwright retry",  # a wide slash
        "/str\u0430twright retry",  # a Cyrillic a
        "/stratwright\u00a0retry",  # a blank that does not break
        "/stratwright\u2028retry",
        "\u202e/stratwright retry",  # written from right to left
        "/stratwright retry\u200b",
        "/stratwright \u0280etry",
        "/STRATWRIGHT retry",
        "/stratwright retry; rm -rf /",
        "/stratwright retry\x00",
        "\ufeff/stratwright retry",
    ],
)
def test_what_only_looks_like_a_command_is_none(body: str) -> None:
    assert read_command(body) is None


@pytest.mark.parametrize("field", ["login", "body", "ref", "full_name", "updated_at"])
def test_half_a_character_anywhere_is_a_malformed_event(field: str) -> None:
    half = "\ud800"
    events: dict[str, tuple[str, dict[str, Any]]] = {
        "login": ("issues", issue(1, FORM, sender=user(f"al{half}ice"))),
        "body": ("issues", issue(1, f"{FORM}{half}")),
        "ref": ("push", push("1" * 40, "2" * 40, f"refs/heads/{half}")),
        "full_name": ("push", push("1" * 40, "2" * 40)),
        "updated_at": ("issues", issue(1, FORM)),
    }
    name, payload = events[field]
    if field == "full_name":
        payload["repository"]["full_name"] = f"acme/{half}"
    if field == "updated_at":
        payload["issue"]["updated_at"] = half
    found = parse_event(name, json.dumps(payload).encode())
    assert isinstance(found, Ignored)
    assert found.reason is Reason.MALFORMED
    str(found).encode()


@pytest.mark.parametrize("number", [2**63, 10**400, -1, True, 1.0, "1"])
def test_a_number_that_no_database_takes_is_a_malformed_event(number: object) -> None:
    payload = comment(1, "/stratwright retry", issue_body=FORM)
    payload["comment"]["id"] = number
    found = parse_event("issue_comment", json.dumps(payload).encode())
    assert isinstance(found, Ignored)
    assert found.reason is Reason.MALFORMED


@pytest.mark.parametrize(
    "data",
    [b"[" * 5_000_000, b'{"a":' * 2_000_000, b"1" * 10_000, b'{"ref": "\xff"}', b"\x00", b""],
    ids=["deep-list", "deep-object", "long-number", "not-utf8", "nul", "empty"],
)
def test_an_event_file_that_would_break_the_reader_is_a_malformed_event(data: bytes) -> None:
    found = parse_event("push", data)
    assert isinstance(found, Ignored)
    assert found.reason is Reason.MALFORMED


def test_two_bots_in_one_repository_leave_each_other_alone(worker: Worker) -> None:
    """A complaint of another App under the same marker is neither edited nor taken for ours."""
    bench = worker.bench
    bench.go_back(worker.empty)
    event = bad_push(bench)
    assert bench.run(*event).code == 2
    record = bench.world.hosted.record
    (ours,) = record.commit_comments.values()
    marked = ours.body
    other = bench.hub.create_app("other-app", "")
    bench.hub.install(other, [NAME], {"contents": "write", "issues": "write"})
    ours.author = bench.hub.state.account("other-app[bot]")
    assert bench.run(*event, run=101).code == 2
    theirs, mine = record.commit_comments.values()
    assert (theirs.author.login, theirs.body) == ("other-app[bot]", marked)
    assert mine.author.login == "github-actions[bot]"


def test_a_status_comment_that_somebody_deletes_in_between_is_written_anew(worker: Worker) -> None:
    bench = worker.bench
    bench.go_back(worker.empty)
    event = bad_push(bench)
    assert bench.run(*event).code == 2
    record = bench.world.hosted.record
    record.commit_comments.clear()
    assert bench.run(*event, run=101).code == 2
    assert len(record.commit_comments) == 1


def test_an_issue_edited_by_a_stranger_between_plan_and_write_changes_nothing(
    worker: Worker,
) -> None:
    bench = worker.bench
    bench.go_back(worker.empty)
    bench.world.hosted.open_issue("Strategy", FORM, "alice", ["stratwright"])
    event = "issues", issue(1, FORM)
    bench.run(*event, stages=("plan",))
    bench.world.hosted.record.issues[1].body = FORM.replace("0.02", "0.5")
    ran = bench.run(*event, stages=("announce", "write"))
    told = [text for texts in comments(bench.world).values() for text in texts]
    assert all("0.5" not in text for text in told)
    assert ran.jobs == ("announce", "write")
    assert bench.world.branches == []


def test_a_push_that_rewrites_history_under_the_run_is_superseded(worker: Worker) -> None:
    """Somebody force-pushes the default branch while the jobs run."""
    bench = worker.bench
    bench.go_back(worker.empty)
    event = bad_push(bench)
    assert bench.run(*event, stages=("plan",)).code == 0
    world = bench.world
    git(world.clone, "checkout", "-q", "--orphan", "fresh")
    git(world.clone, "rm", "-q", "-r", "--cached", PATH)
    git(world.clone, "commit", "-q", "-m", "anew")
    git(world.clone, "push", "-q", "-f", str(world.bare), "HEAD:refs/heads/main")
    git(world.clone, "checkout", "-q", "-f", "main")
    ran = bench.run(*event, stages=("write",))
    assert ran.code == 0, ran.log
    assert f"[{Reason.SUPERSEDED}]" in ran.log
    assert comments(world) == {}


def test_a_contract_that_is_a_link_out_of_the_repository_is_refused(worker: Worker) -> None:
    bench = worker.bench
    bench.go_back(worker.empty)
    world = bench.world
    (world.clone / "contracts").mkdir(exist_ok=True)
    (world.clone / PATH).symlink_to("/etc/passwd")
    ran = bench.run("push", push(*world.commit({"notes.md": "x"})))
    assert ran.code == 2, ran.log
    everything = ran.log + ran.summary + json.dumps([*comments(world).values()])
    assert "root:" not in everything
    assert f"[{Reason.CONTRACT_REFUSED}]" in ran.log


def test_a_stranger_with_the_owners_login_in_other_letters_orders_nothing(worker: Worker) -> None:
    bench = worker.bench
    bench.go_back(worker.empty)
    bench.world.hosted.open_issue("Strategy", FORM, "alice", ["stratwright"])
    for login in ("ALICE", "alice ", "al\u0131ce", "../alice", "alice/permission?x="):
        ran = bench.run("issues", issue(1, FORM, sender=user(login, STRANGER)))
        assert (ran.code, ran.jobs) == (0, ("plan",)), login
        assert f"[{Reason.NO_PERMISSION}]" in ran.log, login


def test_a_contract_of_one_megabyte_or_a_thousand_levels_is_refused_politely(
    worker: Worker,
) -> None:
    bench = worker.bench
    for text in (BAD + "notes: " + "x" * 1_000_000, "a: " + "[" * 1000, "a: &a [*a, *a]\n" * 50):
        bench.go_back(worker.empty)
        ran = bench.run("push", push(*bench.world.commit({PATH: text})))
        assert ran.code == 2, ran.log[-500:]
        assert f"[{Reason.CONTRACT_REFUSED}]" in ran.log
