"""One walk past every door: each route of the server answers well, and as GitHub describes."""

from typing import Any

from tests.doubles.github import GitHubServer, HostedRepository
from tests.doubles.github.call import ROUTES

HOME = "/repos/owner/name"


def test_every_route_answers_as_described(
    hub: GitHubServer, repo: HostedRepository, clone: Any, ask: Any, ask_as: Any, app: Any
) -> None:
    alice, owner = ask_as("alice"), ask_as("owner")
    head = clone.push("ai/generated/w/t", {"Backtest/codes/t.py": "x = 1\n"})
    clone.git("tag", "-a", "v1", "-m", "one", head)
    clone.git("push", "-q", "origin", "v1")
    number, pull = _talk(ask, alice, repo), _propose(ask, alice, head)
    _read_files(ask)
    _report(ask, head)
    _deploy(ask, owner, alice, repo, head)
    _settings(ask, owner, repo)
    _apps(hub, ask_as, app)
    ask("PUT", f"{HOME}/pulls/{pull}/merge", {"merge_method": "squash"})
    ask("POST", "/graphql", {"query": "{ viewer { login } }"})
    assert number == 1

    well = {f"{each.method} {each.route}" for each in hub.requests if 200 <= each.status < 300}
    assert {f"{route.method} {route.name}" for route in ROUTES} - well == set()


def _talk(ask: Any, alice: Any, repo: HostedRepository) -> int:
    number = alice("POST", f"{HOME}/issues", {"title": "A strategy", "labels": ["idea"]}).body[
        "number"
    ]
    one, said = f"{HOME}/issues/{number}", repo.say(number, "hello")
    ask("GET", f"{HOME}/issues?state=all&labels=idea&sort=updated&direction=asc")
    ask("GET", one)
    ask("PATCH", one, {"body": "more", "state": "closed", "state_reason": "not_planned"})
    comment = ask("POST", f"{one}/comments", {"body": "status"}).body["id"]
    ask("GET", f"{one}/comments")
    ask("GET", f"{HOME}/issues/comments/{said.id}")
    ask("PATCH", f"{HOME}/issues/comments/{comment}", {"body": "status 2"})
    ask("DELETE", f"{HOME}/issues/comments/{comment}")
    ask("POST", f"{HOME}/labels", {"name": "strat/wright", "color": "FF0000"})
    ask("GET", f"{HOME}/labels/strat%2Fwright")
    ask("POST", f"{one}/labels", {"labels": ["strat/wright", "new"]})
    ask("GET", f"{one}/labels")
    return int(number)


def _propose(ask: Any, alice: Any, head: str) -> int:
    body = {"title": "t", "body": "b", "head": "ai/generated/w/t", "base": "main"}
    number = ask("POST", f"{HOME}/pulls", body).body["number"]
    one = f"{HOME}/pulls/{number}"
    ask("GET", f"{HOME}/pulls?state=all&head=owner:ai/generated/w/t&base=main")
    ask("GET", one)
    ask("PATCH", one, {"title": "t2", "body": "b2"})
    given = alice("POST", f"{one}/reviews", {"event": "APPROVE"}).body["id"]
    ask("GET", f"{one}/reviews")
    ask("PUT", f"{one}/reviews/{given}/dismissals", {"message": "moved on"})
    return int(number)


def _read_files(ask: Any) -> None:
    ask("GET", f"{HOME}/contents")
    ask("GET", f"{HOME}/contents/README.md?ref=main")


def _report(ask: Any, head: str) -> None:
    note = {
        "path": "a.py",
        "start_line": 1,
        "end_line": 1,
        "annotation_level": "failure",
        "message": "m",
    }
    output = {"title": "t", "summary": "s", "annotations": [note]}
    body = {"name": "gates", "head_sha": head, "status": "in_progress", "output": output}
    run = ask("POST", f"{HOME}/check-runs", body).body
    one = f"{HOME}/check-runs/{run['id']}"
    ask("PATCH", one, {"conclusion": "failure", "completed_at": "2026-01-01T00:00:00Z"})
    ask("GET", one)
    ask("GET", f"{one}/annotations")
    ask("GET", f"{HOME}/commits/ai/generated/w/t/check-runs?check_name=gates")
    said = ask("POST", f"{HOME}/commits/{head}/comments", {"body": "b"}).body["id"]
    ask("GET", f"{HOME}/commits/{head}/comments")
    ask("PATCH", f"{HOME}/comments/{said}", {"body": "c"})
    ask("DELETE", f"{HOME}/comments/{said}")
    ask("POST", f"{HOME}/statuses/{head}", {"state": "success", "context": "stratwright"})
    ask("GET", f"{HOME}/commits/{head}/statuses")


def _deploy(ask: Any, owner: Any, alice: Any, repo: HostedRepository, head: str) -> None:
    made = ask("POST", f"{HOME}/deployments", {"ref": head, "environment": "live"}).body["id"]
    one = f"{HOME}/deployments/{made}"
    ask("GET", f"{HOME}/deployments?environment=live")
    ask("GET", one)
    ask("POST", f"{one}/statuses", {"state": "success", "log_url": "https://example.com/log"})
    ask("GET", f"{one}/statuses")
    live = repo.add_environment("live", reviewers=["alice"]).id
    ask("GET", f"{HOME}/environments/live")
    ask("GET", f"{HOME}/environments/live/deployment-branch-policies")
    owner("GET", f"{HOME}/environments/live/secrets")
    ask("GET", f"{HOME}/commits/{head}")
    ask("GET", f"{HOME}/branches?protected=true")
    run = repo.add_run(".github/workflows/live.yml", head, environments=["live"])
    waits = f"{HOME}/actions/runs/{run.id}"
    ask("GET", waits)
    ask("GET", f"{waits}/pending_deployments")
    word = {"environment_ids": [live], "state": "approved", "comment": "go"}
    alice("POST", f"{waits}/pending_deployments", word)
    ask("GET", f"{waits}/approvals")


def _settings(ask: Any, owner: Any, repo: HostedRepository) -> None:
    owner("GET", HOME)
    ask("GET", "/users/alice")
    ask("GET", "/rate_limit")
    ask("GET", f"{HOME}/collaborators/alice/permission")
    owner("GET", f"{HOME}/actions/permissions/workflow")


def _apps(hub: GitHubServer, ask_as: Any, app: Any) -> None:
    boss = ask_as(value=app.jwt())
    boss("GET", "/app")
    boss("GET", "/app/installations")
    boss("GET", f"{HOME}/installation")
    tokens = f"/app/installations/{app.installation.id}/access_tokens"
    boss("POST", tokens, {"permissions": {"issues": "read"}, "repositories": ["name"]})
