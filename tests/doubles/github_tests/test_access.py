"""Who may do what, and how GitHub says no."""

from pathlib import Path
from typing import Any

import pytest

from tests.doubles.github import GitHubServer, HostedRepository

HOME = "/repos/owner/name"
COMMENT = {"body": "hello"}


def test_an_unknown_token_is_refused(repo: HostedRepository, ask_as: Any) -> None:
    answer = ask_as(value="ghp_wrong")("GET", HOME)
    assert (answer.status, answer.body["message"]) == (401, "Bad credentials")


def test_everybody_reads_a_public_repository_and_nobody_writes(ask_as: Any) -> None:
    nobody = ask_as()
    assert nobody("GET", HOME).status == 200
    answer = nobody("POST", f"{HOME}/labels", {"name": "x"})
    assert (answer.status, answer.body["message"]) == (401, "Requires authentication")


def test_a_private_repository_does_not_exist_for_strangers(
    hub: GitHubServer, repo: HostedRepository, ask_as: Any, ask: Any
) -> None:
    repo.record.private = True
    hub.add_user("stranger")
    for asker in (ask_as(), ask_as("stranger")):
        assert asker("GET", HOME).status == 404
        assert asker("POST", f"{HOME}/labels", {"name": "x"}).status == 404
    assert ask_as("alice")("GET", HOME).status == 200
    assert ask("GET", HOME).status == 200


def test_a_token_for_one_repository_is_none_for_another(
    hub: GitHubServer, repo: HostedRepository, ask: Any, tmp_path: Path
) -> None:
    hub.create_repository("owner/other", bare=tmp_path / "origin.git", private=True)
    assert ask("GET", "/repos/owner/other").status == 404


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/labels", {"name": "x"}),
        (f"/commits/{'0' * 40}/comments", {"body": "x"}),
        ("/pulls", {"title": "t", "head": "main", "base": "main"}),
        ("/check-runs", {"name": "n", "head_sha": "0" * 40}),
        (f"/statuses/{'0' * 40}", {"state": "success"}),
        ("/deployments", {"ref": "main"}),
    ],
)
def test_a_token_without_the_permission_gets_githubs_words(
    hub: GitHubServer, repo: HostedRepository, ask_as: Any, path: str, body: Any
) -> None:
    value = hub.token_for("github-actions[bot]", {"contents": "read"}, "owner/name")
    answer = ask_as(value=value)("POST", f"{HOME}{path}", body)
    assert (answer.status, answer.body["message"]) == (
        403,
        "Resource not accessible by integration",
    )


def test_settings_are_for_administrators(ask: Any, ask_as: Any) -> None:
    path = f"{HOME}/actions/permissions/workflow"
    assert ask("GET", path).body["message"] == "Resource not accessible by integration"
    assert ask_as("alice")("GET", path).body["message"] == "Must have admin rights to Repository."
    assert ask_as("owner")("GET", path).status == 200


def test_actions_may_not_open_pull_requests_until_the_switch_is_on(
    hub: GitHubServer, repo: HostedRepository, clone: Any, ask: Any
) -> None:
    clone.push("topic", {"a.txt": "a"})
    body = {"title": "t", "head": "topic", "base": "main"}
    repo.settings.can_approve_pull_request_reviews = False
    refused = ask("POST", f"{HOME}/pulls", body)
    assert (refused.status, refused.body["message"]) == (
        403,
        "GitHub Actions is not permitted to create or approve pull requests.",
    )
    repo.settings.can_approve_pull_request_reviews = True
    assert ask("POST", f"{HOME}/pulls", body).status == 201


def test_readers_may_talk_but_not_label(
    hub: GitHubServer, repo: HostedRepository, ask_as: Any
) -> None:
    hub.add_user("reader")
    reader = ask_as("reader")
    issue = reader("POST", f"{HOME}/issues", {"title": "t", "labels": ["bug"]})
    assert (issue.status, issue.body["labels"]) == (201, [])
    assert reader("POST", f"{HOME}/issues/1/comments", COMMENT).status == 201
    assert reader("POST", f"{HOME}/issues/1/labels", {"labels": ["bug"]}).status == 403


def test_a_comment_is_changed_by_its_author_or_a_writer(
    hub: GitHubServer, repo: HostedRepository, ask_as: Any
) -> None:
    for login in ("reader", "other"):
        hub.add_user(login)
    repo.open_issue("t")
    said = ask_as("reader")("POST", f"{HOME}/issues/1/comments", COMMENT).body["id"]
    path = f"{HOME}/issues/comments/{said}"
    assert ask_as("other")("PATCH", path, COMMENT).status == 403
    assert ask_as("reader")("PATCH", path, COMMENT).status == 200
    assert ask_as("alice")("PATCH", path, COMMENT).status == 200


@pytest.mark.parametrize(
    ("role", "old"),
    [
        ("admin", "admin"),
        ("maintain", "write"),
        ("write", "write"),
        ("triage", "read"),
        ("read", "read"),
    ],
)
def test_permission_has_an_old_and_a_new_word(
    hub: GitHubServer, repo: HostedRepository, ask: Any, role: Any, old: str
) -> None:
    hub.add_user("bob", id=7)
    repo.set_permission("bob", role)
    got = ask("GET", f"{HOME}/collaborators/bob/permission").body
    assert (got["permission"], got["role_name"], got["user"]["id"]) == (old, role, 7)


def test_a_stranger_may_read_what_is_public_and_nothing_private(
    hub: GitHubServer, repo: HostedRepository, ask: Any
) -> None:
    hub.add_user("bob")
    path = f"{HOME}/collaborators/bob/permission"
    assert ask("GET", path).body["permission"] == "read"
    repo.record.private = True
    assert ask("GET", path).body["permission"] == "none"
    assert ask("GET", f"{HOME}/collaborators/ghost/permission").status == 404


def test_permission_can_be_lost_in_between(repo: HostedRepository, ask: Any) -> None:
    path = f"{HOME}/collaborators/alice/permission"
    assert ask("GET", path).body["permission"] == "write"
    repo.set_permission("alice", "none")
    assert ask("GET", path).body["permission"] == "read"


def test_a_reader_may_not_ask_what_others_may(
    hub: GitHubServer, repo: HostedRepository, ask_as: Any
) -> None:
    hub.add_user("reader")
    assert ask_as("reader")("GET", f"{HOME}/collaborators/alice/permission").status == 403


def test_only_apps_make_check_runs_and_each_changes_its_own(
    hub: GitHubServer, repo: HostedRepository, clone: Any, ask: Any, ask_as: Any, app: Any
) -> None:
    body = {"name": "n", "head_sha": clone.git("rev-parse", "HEAD")}
    refused = ask_as("alice")("POST", f"{HOME}/check-runs", body)
    assert refused.body["message"] == "You must authenticate via a GitHub App."
    made = ask("POST", f"{HOME}/check-runs", body).body
    other = ask_as(value=hub.token_for(app.app.login, {"checks": "write"}, "owner/name"))
    foreign = other("PATCH", f"{HOME}/check-runs/{made['id']}", {"conclusion": "success"})
    assert foreign.status == 403
    assert "can only be modified by the GitHub App that created it" in foreign.body["message"]


def test_a_wrong_role_or_kind_is_told_at_once(hub: GitHubServer, repo: HostedRepository) -> None:
    with pytest.raises(ValueError, match="roles are"):
        repo.set_permission("alice", "boss")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="add it first"):
        repo.set_permission("nobody", "read")
    with pytest.raises(ValueError, match="kinds are"):
        hub.faults.add(kind="flood")  # type: ignore[arg-type]
