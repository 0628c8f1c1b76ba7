"""Pull requests: one for a branch, following what is pushed, reviewed and merged."""

from pathlib import Path
from typing import Any

import github
import pytest

from tests.doubles.github import GitHubServer, HostedRepository

HOME = "/repos/owner/name"
BRANCH = "ai/generated/w/t"


@pytest.fixture
def head(clone: Any, repo: HostedRepository) -> str:
    return str(clone.push(BRANCH, {"a.txt": "one\n"}))


@pytest.fixture
def pull(home: Any, head: str) -> Any:
    return home.create_pull(base="main", head=BRANCH, title="T", body="B", draft=True)


def test_a_pull_request_knows_its_branch(home: Any, pull: Any, head: str) -> None:
    assert (pull.number, pull.state, pull.draft, pull.head.sha) == (1, "open", True, head)
    assert (pull.commits, pull.changed_files, pull.additions) == (1, 1, 1)
    assert pull.html_url == "https://github.com/owner/name/pull/1"
    found = list(home.get_pulls(state="all", head=f"owner:{BRANCH}", base="main"))
    assert [one.number for one in found] == [1]
    assert list(home.get_pulls(head="owner:other")) == []


def test_there_is_never_a_second_one(home: Any, pull: Any) -> None:
    with pytest.raises(github.GithubException) as caught:
        home.create_pull(base="main", head=BRANCH, title="T")
    assert caught.value.status == 422
    message = f"A pull request already exists for owner:{BRANCH}."
    assert caught.value.data["errors"] == [
        {"resource": "PullRequest", "code": "custom", "message": message}
    ]


def test_after_closing_there_may_be_another(home: Any, pull: Any) -> None:
    pull.edit(state="closed")
    assert home.create_pull(base="main", head=BRANCH, title="T").number == 2
    with pytest.raises(github.GithubException) as caught:
        pull.edit(state="open")
    assert "already an open pull request" in caught.value.data["errors"][0]["message"]


@pytest.mark.parametrize(
    ("head", "base", "told"),
    [
        ("none", "main", {"code": "invalid", "field": "head"}),
        ("main", "none", {"code": "invalid", "field": "base"}),
        ("main", "main", {"code": "custom", "message": "No commits between main and main"}),
        ("stranger:x", "main", {"code": "invalid", "field": "head"}),
    ],
)
def test_a_pull_request_needs_two_ends_and_something_between(
    ask: Any, head: str, base: str, told: dict[str, str]
) -> None:
    answer = ask("POST", f"{HOME}/pulls", {"title": "t", "head": head, "base": base})
    assert answer.status == 422
    assert answer.body["errors"] == [{"resource": "PullRequest", **told}]


def test_it_follows_what_is_pushed(home: Any, pull: Any, clone: Any) -> None:
    second = clone.push(BRANCH, {"b.txt": "two\n"})
    again = home.get_pull(1)
    assert (again.head.sha, again.commits, again.changed_files) == (second, 2, 2)


def test_a_conflict_shows_as_not_mergeable(home: Any, pull: Any, clone: Any) -> None:
    assert (pull.mergeable, pull.mergeable_state) == (True, "draft")
    clone.git("checkout", "-q", "main")
    clone.push("main", {"a.txt": "another\n"})
    again = home.get_pull(1)
    assert (again.mergeable, again.mergeable_state) == (False, "dirty")


def test_merging_moves_the_base(home: Any, head: str, clone: Any) -> None:
    pull = home.create_pull(base="main", head=BRANCH, title="T")
    done = pull.merge(sha=head)
    clone.git("fetch", "-q")
    assert clone.git("rev-parse", "origin/main") == done.sha
    again = home.get_pull(1)
    assert (again.merged, again.state) == (True, "closed")
    assert home.get_issue(1).pull_request.raw_data["merged_at"] is not None


def test_merging_refuses_another_head(home: Any, head: str) -> None:
    pull = home.create_pull(base="main", head=BRANCH, title="T")
    with pytest.raises(github.GithubException) as caught:
        pull.merge(sha="0" * 40)
    assert caught.value.status == 409


def test_drafts_need_a_public_repository_or_a_plan(
    repo: HostedRepository, head: str, ask: Any
) -> None:
    body = {"title": "t", "head": BRANCH, "base": "main", "draft": True}
    repo.record.private = True
    refused = ask("POST", f"{HOME}/pulls", body)
    assert (refused.status, refused.body["message"]) == (
        422,
        "Draft pull requests are not supported in this repository.",
    )
    repo.settings.drafts_available = True
    assert ask("POST", f"{HOME}/pulls", body).status == 201


def test_a_draft_is_not_merged(pull: Any) -> None:
    with pytest.raises(github.GithubException) as caught:
        pull.merge()
    assert caught.value.status == 405


def test_a_merge_by_push_is_seen(home: Any, pull: Any, clone: Any) -> None:
    clone.git("push", "-q", "origin", f"{BRANCH}:main")
    assert home.get_pull(1).merged


def test_deleting_the_branch_closes_it(home: Any, pull: Any, clone: Any) -> None:
    clone.git("push", "-q", "origin", f":{BRANCH}")
    assert (home.get_pull(1).state, home.get_pull(1).merged) == ("closed", False)
    with pytest.raises(github.GithubException) as caught:
        pull.edit(state="open")
    assert "has been deleted" in caught.value.data["errors"][0]["message"]


def test_labels_and_comments_go_through_the_issue(pull: Any, repo: HostedRepository) -> None:
    pull.add_to_labels("stratwright")
    pull.create_issue_comment("hello")
    assert [one.body for one in pull.get_issue_comments()] == ["hello"]
    assert [one.name for one in pull.get_labels()] == ["stratwright"]
    assert [one.body for one in repo.record.comments.values()] == ["hello"]


def test_reviews_are_about_a_commit(pull: Any, head: str, ask_as: Any, ask: Any) -> None:
    path = f"{HOME}/pulls/1/reviews"
    given = ask_as("alice")("POST", path, {"event": "APPROVE", "commit_id": head})
    assert (given.body["state"], given.body["commit_id"]) == ("APPROVED", head)
    assert [(one.user.login, one.state) for one in pull.get_reviews()] == [("alice", "APPROVED")]
    own = ask("POST", path, {"event": "APPROVE"})
    assert (own.status, own.body["errors"]) == (422, ["Can not approve your own pull request"])


def test_a_pending_review_is_private(pull: Any, ask_as: Any, ask: Any) -> None:
    path = f"{HOME}/pulls/1/reviews"
    alice = ask_as("alice")
    alice("POST", path, {"body": "wait"})
    assert ask("GET", path).body == []
    assert [one["state"] for one in alice("GET", path).body] == ["PENDING"]


def test_actions_may_not_approve_either(
    hub: GitHubServer, repo: HostedRepository, head: str, ask: Any, ask_as: Any
) -> None:
    ask_as("alice")("POST", f"{HOME}/pulls", {"title": "t", "head": BRANCH, "base": "main"})
    repo.settings.can_approve_pull_request_reviews = False
    answer = ask("POST", f"{HOME}/pulls/1/reviews", {"event": "APPROVE"})
    assert answer.status == 422
    assert answer.body["errors"] == ["GitHub Actions is not permitted to approve pull requests."]


def test_a_stranger_proposes_from_a_fork(
    hub: GitHubServer, repo: HostedRepository, home: Any, clone: Any, ask_as: Any, tmp_path: Path
) -> None:
    fork = tmp_path / "fork.git"
    clone.git("clone", "-q", "--bare", str(tmp_path / "origin.git"), str(fork))
    hub.create_repository("mallory/name", bare=fork, fork_of="owner/name")
    clone.git("remote", "add", "fork", str(fork))
    clone.git("checkout", "-qb", "evil")
    clone.git("commit", "-q", "--allow-empty", "-m", "one")
    clone.git("push", "-q", "fork", "evil")
    mallory = ask_as("mallory")
    body = {"title": "t", "head": "mallory:evil", "base": "main"}
    made = mallory("POST", f"{HOME}/pulls", body)
    assert (made.status, made.body["head"]["repo"]["full_name"]) == (201, "mallory/name")
    assert made.body["head"]["repo"]["fork"]
    assert made.body["author_association"] == "NONE"
    assert mallory("POST", f"{HOME}/pulls", {**body, "head": "main"}).status == 403
    again = mallory("POST", f"{HOME}/pulls", body)
    assert "already exists for mallory:evil" in again.body["errors"][0]["message"]
    clone.git("commit", "-q", "--allow-empty", "-m", "two")
    clone.git("push", "-q", "fork", "evil")
    pull = home.get_pull(1)
    assert (pull.head.sha, pull.commits) == (clone.git("rev-parse", "HEAD"), 2)
    assert [one.number for one in home.get_pulls(head="mallory:evil")] == [1]
    assert list(home.get_pulls(head="owner:evil")) == []
