"""Issues, comments and labels through PyGithub and by hand."""

import re
from typing import Any

import github
import pytest

from tests.doubles.github import GitHubServer, HostedRepository

HOME = "/repos/owner/name"


def test_pygithub_opens_labels_and_closes(home: Any, repo: HostedRepository) -> None:
    issue = home.create_issue("A title", body="Some text", labels=["bug"])
    issue.add_to_labels("stratwright")
    issue.edit(state="closed", state_reason="completed")
    assert (issue.number, issue.state, issue.user.login) == (1, "closed", "github-actions[bot]")
    assert {label.name for label in home.get_issue(1).labels} == {"bug", "stratwright"}
    assert home.get_label("stratwright").color == "ededed"
    assert {label.name for label in home.get_issue(1).get_labels()} == {"bug", "stratwright"}
    assert [one.number for one in home.get_issues(state="closed", labels=["stratwright"])] == [1]


def test_a_comment_is_edited_in_place(home: Any, repo: HostedRepository) -> None:
    repo.open_issue("t", author="alice")
    repo.say(1, "please", author="alice")
    mine = home.get_issue(1).create_comment("one")
    mine.edit("two")
    said = list(home.get_issue(1).get_comments())
    assert [(one.user.login, one.body) for one in said] == [
        ("alice", "please"),
        ("github-actions[bot]", "two"),
    ]
    mine.delete()
    assert home.get_issue(1).comments == 1


def test_pages_are_linked_from_first_to_last(
    hub: GitHubServer, ask: Any, repo: HostedRepository
) -> None:
    repo.open_issue("t")
    for number in range(7):
        repo.say(1, str(number))
    path, seen, links = f"{HOME}/issues/1/comments?per_page=3", [], []
    while path:
        answer = ask("GET", path)
        seen += [one["body"] for one in answer.body]
        links.append(sorted(re.findall(r'rel="(\w+)"', answer.headers.get("Link", ""))))
        found = re.search(r'<([^>]+)>; rel="next"', answer.headers.get("Link", ""))
        path = found[1] if found else ""
    assert seen == list("0123456")
    assert links == [["last", "next"], ["first", "last", "next", "prev"], ["first", "prev"]]


def test_pygithub_walks_over_many_pages(home: Any, repo: HostedRepository) -> None:
    repo.open_issue("t")
    for number in range(120):
        repo.say(1, str(number))
    assert [one.body for one in home.get_issue(1).get_comments()] == [str(n) for n in range(120)]


def test_a_missing_title_has_githubs_shape(home: Any) -> None:
    with pytest.raises(github.GithubException) as caught:
        home.create_issue("  ")
    assert caught.value.status == 422
    assert caught.value.data["errors"] == [
        {"resource": "Issue", "code": "missing_field", "field": "title"}
    ]


def test_a_label_has_one_name_in_any_case_of_letters(home: Any) -> None:
    with pytest.raises(github.GithubException) as caught:
        home.create_label("BUG", "ff0000")
    assert caught.value.data["errors"][0]["code"] == "already_exists"


def test_a_body_can_be_too_long(ask: Any, repo: HostedRepository) -> None:
    repo.open_issue("t")
    answer = ask("POST", f"{HOME}/issues/1/comments", {"body": "x" * 65537})
    assert answer.status == 422
    assert ask("POST", f"{HOME}/issues/1/comments", {"body": "x" * 65536}).status == 201


def test_what_is_not_there_is_not_found(ask: Any) -> None:
    for path in ("/issues/99", "/issues/comments/99", "/labels/none", "/nothing", "/issues/x"):
        assert ask("GET", f"{HOME}{path}").status == 404


def test_a_body_that_is_no_json_is_refused(hub: GitHubServer, token: str, ask: Any) -> None:
    head = {"Authorization": f"Bearer {token}"}
    got = ask.session.post(f"{hub.url}{HOME}/issues", data="{", headers=head, timeout=30)
    assert (got.status_code, got.json()["message"]) == (400, "Problems parsing JSON")
