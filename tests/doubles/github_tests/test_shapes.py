"""The server's JSON beside real payloads: no field that GitHub does not send."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.github import GitHubServer, HostedRepository

HOME = "/repos/owner/name"


@pytest.fixture(scope="module")
def events(webhook_examples: Path) -> dict[str, list[Any]]:
    listed = json.loads(webhook_examples.read_text())
    return {event["name"]: event["examples"] for event in listed}


def _fields(examples: list[Any], part: str) -> set[str]:
    return {key for one in examples for key in one.get(part) or {}}


def test_real_payloads_are_at_hand(events: dict[str, list[Any]]) -> None:
    assert {"push", "issues", "issue_comment", "pull_request", "check_run"} <= set(events)


@pytest.mark.parametrize(
    ("event", "part", "path"),
    [
        ("issues", "issue", "/issues/1"),
        ("issue_comment", "comment", "/issues/comments/{comment}"),
        ("pull_request", "pull_request", "/pulls/2"),
        ("check_run", "check_run", "/check-runs/{check}"),
        ("label", "label", "/labels/bug"),
        ("deployment", "deployment", "/deployments/{deployment}"),
        ("issues", "repository", ""),
    ],
)
def test_our_fields_are_githubs(
    hub: GitHubServer,
    repo: HostedRepository,
    clone: Any,
    ask: Any,
    events: dict[str, list[Any]],
    event: str,
    part: str,
    path: str,
) -> None:
    head = clone.push("topic", {"a.txt": "a"})
    repo.open_issue("t")
    comment = repo.say(1, "hello").id
    ask("POST", f"{HOME}/pulls", {"title": "t", "head": "topic", "base": "main"})
    check = ask("POST", f"{HOME}/check-runs", {"name": "n", "head_sha": head}).body["id"]
    deployment = ask("POST", f"{HOME}/deployments", {"ref": "main"}).body["id"]
    ids = {"comment": comment, "check": check, "deployment": deployment}
    ours = set(ask("GET", f"{HOME}{path.format(**ids)}").body)
    # The examples are older than these fields, or a webhook leaves them out.
    newer = {"closed_by", "state_reason", "permissions", "network_count", "subscribers_count"}
    newer |= {name for name in ours if name.startswith(("allow_", "has_", "delete_branch"))}
    assert ours - _fields(events[event], part) - newer == set()
