"""Deployments, environments with reviewers, and runs that wait for them."""

from typing import Any

import pytest

from tests.doubles.github import GitHubServer, HostedRepository

HOME = "/repos/owner/name"


@pytest.fixture
def head(clone: Any) -> str:
    return str(clone.git("rev-parse", "HEAD"))


def test_a_success_makes_earlier_deployments_inactive(home: Any) -> None:
    first, second = (home.create_deployment("main", environment="live") for _ in range(2))
    for made in (first, second):
        made.create_status("success")
    assert [one.state for one in first.get_statuses()] == ["inactive", "success"]
    assert [one.id for one in home.get_deployments(environment="live")] == [second.id, first.id]


def test_a_deployment_waits_for_its_contexts(repo: HostedRepository, ask: Any, head: str) -> None:
    status = {"state": "pending", "context": "gates"}
    assert ask("POST", f"{HOME}/statuses/{head}", status).status == 201
    assert ask("POST", f"{HOME}/deployments", {"ref": "main"}).status == 409
    body = {"ref": "main", "required_contexts": []}
    assert ask("POST", f"{HOME}/deployments", body).status == 201


def test_a_run_waits_until_a_reviewer_lets_it_go(
    repo: HostedRepository, ask: Any, ask_as: Any, head: str
) -> None:
    live = repo.add_environment("live", reviewers=["alice"])
    run = repo.add_run(".github/workflows/live.yml", head, environments=["live"])
    path = f"{HOME}/actions/runs/{run.id}"
    assert ask("GET", path).body["status"] == "waiting"
    assert ask("GET", f"{path}/approvals").body == []
    word = {"environment_ids": [live.id], "state": "approved", "comment": "go"}
    assert ask_as("owner")("POST", f"{path}/pending_deployments", word).status == 403
    alice = ask_as("alice")
    assert alice("GET", f"{path}/pending_deployments").body[0]["current_user_can_approve"]
    assert alice("POST", f"{path}/pending_deployments", word).status == 200
    assert ask("GET", path).body["status"] == "in_progress"
    (given,) = ask("GET", f"{path}/approvals").body
    assert (given["state"], given["user"]["login"], given["comment"]) == ("approved", "alice", "go")
    assert [one["name"] for one in given["environments"]] == ["live"]
    assert alice("POST", f"{path}/pending_deployments", word).status == 422


def test_who_started_a_run_may_not_approve_it_if_so_ruled(
    repo: HostedRepository, ask_as: Any, head: str
) -> None:
    live = repo.add_environment("live", reviewers=["alice"], prevent_self_review=True)
    run = repo.add_run(".github/workflows/live.yml", head, actor="alice", environments=["live"])
    word = {"environment_ids": [live.id], "state": "approved", "comment": ""}
    path = f"{HOME}/actions/runs/{run.id}/pending_deployments"
    assert ask_as("alice")("POST", path, word).status == 403


def test_a_rejected_run_fails(repo: HostedRepository, ask_as: Any, head: str) -> None:
    live = repo.add_environment("live", reviewers=["alice"])
    run = repo.add_run(".github/workflows/live.yml", head, environments=["live"])
    word = {"environment_ids": [live.id], "state": "rejected", "comment": "no"}
    ask_as("alice")("POST", f"{HOME}/actions/runs/{run.id}/pending_deployments", word)
    assert (run.status, run.conclusion) == ("completed", "failure")


def test_pygithub_reads_runs_and_environments(
    hub: GitHubServer, repo: HostedRepository, home: Any, head: str
) -> None:
    repo.add_environment("live", reviewers=["alice"])
    run = repo.add_run(".github/workflows/live.yml", head, event="push")
    assert home.get_workflow_run(run.id).event == "push"
    rules = home.get_environment("live").protection_rules
    assert [one.reviewers[0].reviewer.login for one in rules] == ["alice"]
