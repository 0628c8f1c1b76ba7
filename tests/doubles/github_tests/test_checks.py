"""Check runs with annotations, and commit statuses."""

from typing import Any

import pytest

HOME = "/repos/owner/name"


@pytest.fixture
def head(clone: Any) -> str:
    return str(clone.git("rev-parse", "HEAD"))


def note(line: int) -> dict[str, Any]:
    return {
        "path": "contracts/x.yaml",
        "start_line": line,
        "end_line": line,
        "annotation_level": "failure",
        "message": f"line {line}",
    }


def test_annotations_are_added_to_those_there_are(home: Any, head: str) -> None:
    first = {"title": "t", "summary": "s", "annotations": [note(n) for n in range(1, 51)]}
    run = home.create_check_run("gates", head, status="in_progress", output=first)
    more = {"title": "t", "summary": "s2", "annotations": [note(51)]}
    run.edit(status="completed", conclusion="failure", output=more)
    again = home.get_check_run(run.id)
    assert (again.conclusion, again.output.annotations_count) == ("failure", 51)
    assert [one.start_line for one in again.get_annotations()] == list(range(1, 52))


def test_fifty_annotations_are_the_most_at_once(ask: Any, head: str) -> None:
    output = {"title": "t", "summary": "s", "annotations": [note(n) for n in range(1, 52)]}
    body = {"name": "gates", "head_sha": head, "output": output}
    assert ask("POST", f"{HOME}/check-runs", body).status == 422


def test_a_completed_run_needs_a_conclusion(ask: Any, head: str) -> None:
    body = {"name": "gates", "head_sha": head, "status": "completed"}
    assert ask("POST", f"{HOME}/check-runs", body).status == 422
    made = ask("POST", f"{HOME}/check-runs", {**body, "conclusion": "success"}).body
    assert made["completed_at"]


def test_a_run_needs_a_commit(ask: Any) -> None:
    answer = ask("POST", f"{HOME}/check-runs", {"name": "gates", "head_sha": "0" * 40})
    assert answer.body["message"] == f"No commit found for SHA: {'0' * 40}"


def test_the_newest_run_of_a_name_counts(home: Any, head: str, ask: Any) -> None:
    for conclusion in ("failure", "success"):
        home.create_check_run("gates", head, status="completed", conclusion=conclusion)

    def runs(query: str) -> list[str]:
        found = ask("GET", f"{HOME}/commits/{head}/check-runs{query}").body["check_runs"]
        return [one["conclusion"] for one in found]

    assert runs("") == ["success"]
    assert runs("?filter=all") == ["success", "failure"]
    assert runs("?check_name=other") == []


def test_a_run_names_its_pull_requests(home: Any, clone: Any) -> None:
    head = clone.push("topic", {"a.txt": "a"})
    home.create_pull(base="main", head="topic", title="T")
    run = home.create_check_run("gates", head)
    assert [one.number for one in run.pull_requests] == [1]


def test_statuses_are_listed_newest_first(repo: Any, head: str, ask: Any) -> None:
    path = f"{HOME}/statuses/{head}"
    for state, context in (("success", "gates"), ("failure", "other"), ("error", "gates")):
        assert ask("POST", path, {"state": state, "context": context}).status == 201
    listed = ask("GET", f"{HOME}/commits/{head}/statuses").body
    assert [one["state"] for one in listed] == ["error", "failure", "success"]
    assert ask("POST", path, {"state": "fine"}).status == 422
    assert ask("POST", path, {"state": "success", "description": "x" * 141}).status == 422
