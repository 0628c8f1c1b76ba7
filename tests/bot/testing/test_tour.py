"""One walk past every door: each route of the server answers well, and as GitHub describes."""

import base64
from typing import Any

from bot.testing import GitHubServer, HostedRepository
from bot.testing.call import ROUTES

HOME = "/repos/owner/name"


def test_every_route_answers_as_described(
    hub: GitHubServer, repo: HostedRepository, clone: Any, ask: Any, ask_as: Any, app: Any
) -> None:
    alice, owner = ask_as("alice"), ask_as("owner")
    head = clone.push("ai/generated/w/t", {"Backtest/codes/t.py": "x = 1\n"})
    clone.git("tag", "-a", "v1", "-m", "one", head)
    clone.git("push", "-q", "origin", "v1")
    number, pull = _talk(ask, alice, repo), _propose(ask, alice, head)
    _write_git(ask)
    _write_files(ask)
    _report(ask, head)
    _deploy(ask, owner, alice, repo, head)
    _settings(ask, owner, repo)
    _apps(hub, ask_as, app)
    ask("PUT", f"{HOME}/pulls/{pull}/merge", {"merge_method": "squash"})
    ask("GET", f"{HOME}/pulls/{pull}/merge")
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
    ask("GET", f"{HOME}/issues/comments?sort=updated")
    ask("GET", f"{HOME}/issues/comments/{said.id}")
    ask("PATCH", f"{HOME}/issues/comments/{comment}", {"body": "status 2"})
    ask("DELETE", f"{HOME}/issues/comments/{comment}")
    ask("POST", f"{HOME}/labels", {"name": "strat/wright", "color": "FF0000"})
    ask("GET", f"{HOME}/labels")
    ask("GET", f"{HOME}/labels/strat%2Fwright")
    ask("PATCH", f"{HOME}/labels/strat%2Fwright", {"new_name": "sw", "description": "d"})
    ask("POST", f"{one}/labels", {"labels": ["sw", "new"]})
    ask("GET", f"{one}/labels")
    ask("PUT", f"{one}/labels", {"labels": ["sw", "bug"]})
    ask("DELETE", f"{one}/labels/bug")
    ask("DELETE", f"{one}/labels")
    ask("DELETE", f"{HOME}/labels/sw")
    return int(number)


def _propose(ask: Any, alice: Any, head: str) -> int:
    body = {"title": "t", "body": "b", "head": "ai/generated/w/t", "base": "main"}
    number = ask("POST", f"{HOME}/pulls", body).body["number"]
    one = f"{HOME}/pulls/{number}"
    ask("GET", f"{HOME}/pulls?state=all&head=owner:ai/generated/w/t&base=main")
    ask("GET", one)
    ask("PATCH", one, {"title": "t2", "body": "b2"})
    ask("GET", f"{one}/commits")
    ask("GET", f"{one}/files")
    ask("GET", f"{HOME}/commits/{head}/pulls")
    ask("POST", f"{one}/requested_reviewers", {"reviewers": ["alice"]})
    ask("GET", f"{one}/requested_reviewers")
    pending = alice("POST", f"{one}/reviews", {"body": "looking"}).body["id"]
    alice("POST", f"{one}/reviews/{pending}/events", {"event": "APPROVE"})
    ask("GET", f"{one}/reviews")
    ask("GET", f"{one}/reviews/{pending}")
    ask("PUT", f"{one}/reviews/{pending}/dismissals", {"message": "moved on"})
    return int(number)


def _write_git(ask: Any) -> None:
    git = f"{HOME}/git"
    main = ask("GET", f"{git}/ref/heads/main").body["object"]["sha"]
    blob = ask("POST", f"{git}/blobs", {"content": "aGk=", "encoding": "base64"}).body["sha"]
    ask("GET", f"{git}/blobs/{blob}")
    line = {"path": "a/b.txt", "mode": "100644", "type": "blob", "sha": blob}
    base = ask("GET", f"{git}/commits/{main}").body["tree"]["sha"]
    tree = ask("POST", f"{git}/trees", {"base_tree": base, "tree": [line]}).body["sha"]
    ask("GET", f"{git}/trees/{tree}?recursive=1")
    body = {"message": "by API", "tree": tree, "parents": [main]}
    commit = ask("POST", f"{git}/commits", body).body["sha"]
    tag = {"tag": "v2", "message": "two", "object": commit, "type": "commit"}
    made = ask("POST", f"{git}/tags", tag).body["sha"]
    ask("GET", f"{git}/tags/{made}")
    ask("POST", f"{git}/refs", {"ref": "refs/heads/by/api", "sha": main})
    ask("PATCH", f"{git}/refs/heads/by/api", {"sha": commit, "force": False})
    ask("GET", f"{git}/matching-refs/heads/by")
    ask("GET", f"{HOME}/compare/main...by/api")
    ask("GET", f"{HOME}/commits?sha=by/api&path=a/b.txt")
    ask("GET", f"{HOME}/commits/{commit}")
    ask("GET", f"{HOME}/branches")
    ask("GET", f"{HOME}/branches/by/api")
    ask("GET", f"{HOME}/tags")
    ask("DELETE", f"{git}/refs/heads/by/api")


def _write_files(ask: Any) -> None:
    text = base64.b64encode(b"one\n").decode()
    made = ask(
        "PUT", f"{HOME}/contents/x/y.txt", {"message": "m", "content": text, "branch": "main"}
    )
    ask("GET", f"{HOME}/contents")
    ask("GET", f"{HOME}/contents/x")
    ask("GET", f"{HOME}/contents/x/y.txt?ref=main")
    sha = made.body["content"]["sha"]
    ask("DELETE", f"{HOME}/contents/x/y.txt", {"message": "m", "sha": sha, "branch": "main"})


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
    suites = ask("GET", f"{HOME}/commits/{head}/check-suites").body["check_suites"]
    ask("GET", f"{HOME}/check-suites/{suites[0]['id']}")
    ask("GET", f"{HOME}/check-suites/{suites[0]['id']}/check-runs")
    said = ask("POST", f"{HOME}/commits/{head}/comments", {"body": "b"}).body["id"]
    ask("GET", f"{HOME}/commits/{head}/comments")
    ask("PATCH", f"{HOME}/comments/{said}", {"body": "c"})
    ask("GET", f"{HOME}/comments/{said}")
    ask("DELETE", f"{HOME}/comments/{said}")
    ask("POST", f"{HOME}/statuses/{head}", {"state": "success", "context": "stratwright"})
    ask("GET", f"{HOME}/commits/{head}/statuses")
    ask("GET", f"{HOME}/commits/{head}/status")


def _deploy(ask: Any, owner: Any, alice: Any, repo: HostedRepository, head: str) -> None:
    made = ask("POST", f"{HOME}/deployments", {"ref": head, "environment": "live"}).body["id"]
    one = f"{HOME}/deployments/{made}"
    ask("GET", f"{HOME}/deployments?environment=live")
    ask("GET", one)
    ask("POST", f"{one}/statuses", {"state": "success", "log_url": "https://example.com/log"})
    ask("GET", f"{one}/statuses")
    rules = {
        "wait_timer": 5,
        "reviewers": [{"type": "User", "id": 1001}],
        "deployment_branch_policy": {"protected_branches": True, "custom_branch_policies": False},
    }
    live = owner("PUT", f"{HOME}/environments/live", rules).body["id"]
    ask("GET", f"{HOME}/environments")
    ask("GET", f"{HOME}/environments/live")
    run = repo.add_run(".github/workflows/live.yml", head, environments=["live"])
    waits = f"{HOME}/actions/runs/{run.id}"
    ask("GET", f"{HOME}/actions/runs?status=waiting")
    ask("GET", waits)
    ask("GET", f"{waits}/pending_deployments")
    word = {"environment_ids": [live], "state": "approved", "comment": "go"}
    alice("POST", f"{waits}/pending_deployments", word)
    ask("GET", f"{waits}/approvals")
    owner("DELETE", f"{HOME}/environments/live")
    ask("POST", f"{HOME}/actions/workflows/live.yml/dispatches", {"ref": "main"})


def _settings(ask: Any, owner: Any, repo: HostedRepository) -> None:
    owner("GET", HOME)
    owner("GET", "/user")
    ask("GET", "/users/alice")
    ask("GET", "/rate_limit")
    ask("GET", f"{HOME}/collaborators")
    ask("GET", f"{HOME}/collaborators/alice")
    ask("GET", f"{HOME}/collaborators/alice/permission")
    owner("GET", f"{HOME}/actions/permissions")
    owner("GET", f"{HOME}/actions/permissions/workflow")
    switches = {"default_workflow_permissions": "read", "can_approve_pull_request_reviews": True}
    owner("PUT", f"{HOME}/actions/permissions/workflow", switches)
    ask("POST", f"{HOME}/dispatches", {"event_type": "go", "client_payload": {"a": 1}})
    ask("GET", f"{HOME}/rules/branches/main")
    repo.protect("main")
    ask("GET", f"{HOME}/branches?protected=true")
    owner("GET", f"{HOME}/branches/main/protection")


def _apps(hub: GitHubServer, ask_as: Any, app: Any) -> None:
    boss = ask_as(value=app.jwt())
    boss("GET", "/app")
    boss("GET", "/app/installations")
    boss("GET", f"/app/installations/{app.installation.id}")
    boss("GET", f"{HOME}/installation")
    tokens = f"/app/installations/{app.installation.id}/access_tokens"
    made = boss("POST", tokens, {"permissions": {"issues": "read"}, "repositories": ["name"]})
    bot = ask_as(value=made.body["token"])
    bot("GET", "/installation/repositories")
    bot("DELETE", "/installation/token")
