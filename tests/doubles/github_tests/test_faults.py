"""Bad days: each kind of fault does what it says, to the client and to the state."""

import time
from typing import Any

import github
import pytest
import requests

from tests.doubles.github import GitHubServer, HostedRepository

HOME = "/repos/owner/name"
COMMENTS = f"{HOME}/issues/1/comments"


@pytest.fixture(autouse=True)
def _issue(repo: HostedRepository) -> None:
    repo.open_issue("An issue")


@pytest.mark.parametrize("status", [404, 422, 500, 502, 503])
def test_a_status_fault_hits_once_and_changes_nothing(
    hub: GitHubServer, repo: HostedRepository, ask: Any, status: int
) -> None:
    hub.faults.add(match="POST /repos/*/comments", status=status)
    assert ask("GET", COMMENTS).status == 200
    assert ask("POST", COMMENTS, {"body": "x"}).status == status
    assert repo.record.comments == {}
    assert ask("POST", COMMENTS, {"body": "x"}).status == 201
    assert [(one.status, one.fault, one.applied) for one in hub.requests[1:]] == [
        (status, "status", False),
        (201, "", True),
    ]


def test_a_fault_can_lie_about_a_write_that_was_done(
    hub: GitHubServer, repo: HostedRepository, ask: Any
) -> None:
    hub.faults.add(match="POST *", status=502, after=True)
    assert ask("POST", COMMENTS, {"body": "x"}).status == 502
    assert [one.body for one in repo.record.comments.values()] == ["x"]


@pytest.mark.parametrize("after", [False, True])
def test_a_reset_breaks_the_connection_before_or_after_the_write(
    hub: GitHubServer, repo: HostedRepository, ask: Any, after: bool
) -> None:
    hub.faults.add(match="POST *", kind="reset", after=after)
    with pytest.raises(requests.ConnectionError):
        ask("POST", COMMENTS, {"body": "x"})
    assert len(repo.record.comments) == after
    assert (hub.requests[-1].status, hub.requests[-1].applied) == (0, after)


@pytest.mark.parametrize(("kind", "done"), [("timeout_before", 0), ("timeout_after", 1)])
def test_a_time_out_is_silence_until_the_client_gives_up(
    hub: GitHubServer, repo: HostedRepository, ask: Any, kind: Any, done: int
) -> None:
    hub.faults.add(match="POST *", kind=kind)
    begin = time.monotonic()
    with pytest.raises(requests.ReadTimeout):
        ask("POST", COMMENTS, {"body": "x"}, timeout=0.3)
    assert 0.25 < time.monotonic() - begin < 5
    assert len(repo.record.comments) == done
    assert ask("GET", COMMENTS).status == 200


def test_the_server_answers_others_while_one_waits(
    hub: GitHubServer, repo: HostedRepository, ask: Any
) -> None:
    hub.faults.add(match="GET *", kind="timeout_before", seconds=0.2)
    with pytest.raises(requests.ConnectionError):
        ask("GET", COMMENTS)


def test_the_secondary_limit_says_when_to_come_back(hub: GitHubServer, ask: Any) -> None:
    hub.faults.add(match="POST *", kind="secondary_limit", retry_after_s=7)
    answer = ask("POST", COMMENTS, {"body": "x"})
    assert (answer.status, answer.headers["Retry-After"]) == (403, "7")
    assert "secondary rate limit" in answer.body["message"]


def test_pygithub_knows_the_secondary_limit(hub: GitHubServer, home: Any) -> None:
    hub.faults.add(match="POST *", kind="secondary_limit")
    with pytest.raises(github.RateLimitExceededException):
        home.get_issue(1).create_comment("x")


def test_a_stale_read_shows_the_world_before_the_last_write(hub: GitHubServer, ask: Any) -> None:
    ask("POST", COMMENTS, {"body": "old"})
    hub.faults.add(match=f"GET {COMMENTS}", kind="stale")
    ask("POST", COMMENTS, {"body": "new"})
    assert [one["body"] for one in ask("GET", COMMENTS).body] == ["old"]
    assert [one["body"] for one in ask("GET", COMMENTS).body] == ["old", "new"]


def test_a_just_created_pull_request_can_be_out_of_sight(
    hub: GitHubServer, clone: Any, ask: Any
) -> None:
    clone.push("topic", {"a.txt": "a"})
    hub.faults.add(match=f"GET {HOME}/pulls*", kind="stale")
    number = ask("POST", f"{HOME}/pulls", {"title": "t", "head": "topic", "base": "main"}).body[
        "number"
    ]
    assert ask("GET", f"{HOME}/pulls/{number}").status == 404
    assert ask("GET", f"{HOME}/pulls/{number}").status == 200


def test_a_stale_branch_is_where_it_was(hub: GitHubServer, clone: Any, ask: Any) -> None:
    clone.push("topic", {"a.txt": "a"})
    wanted = {"title": "t", "head": "topic", "base": "main"}
    number = ask("POST", f"{HOME}/pulls", wanted).body["number"]
    hub.faults.add(match="GET *", kind="stale")
    assert ask("PUT", f"{HOME}/pulls/{number}/merge", {}).status == 200
    assert ask("GET", f"{HOME}/contents/a.txt?ref=main").status == 404
    assert ask("GET", f"{HOME}/contents/a.txt?ref=main").status == 200


def test_a_fault_can_wait_for_the_nth_request(hub: GitHubServer, ask: Any) -> None:
    hub.faults.add(skip=2, times=2)
    assert [ask("GET", COMMENTS).status for _ in range(5)] == [200, 200, 500, 500, 200]


def test_a_fault_can_match_by_a_function(hub: GitHubServer, ask: Any) -> None:
    hub.faults.add(match=lambda request: bool(request.body) and request.body["body"] == "bad")
    assert ask("POST", COMMENTS, {"body": "good"}).status == 201
    assert ask("POST", COMMENTS, {"body": "bad"}).status == 500


def test_clearing_the_faults_ends_the_bad_day(hub: GitHubServer, ask: Any) -> None:
    hub.faults.add(times=99)
    assert ask("GET", COMMENTS).status == 500
    hub.faults.clear()
    assert ask("GET", COMMENTS).status == 200
