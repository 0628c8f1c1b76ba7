import gzip
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.forge.github.payload import parse_event
from bot.forge.reasons import Ignored, Reason
from bot.forge.trigger import CommandGiven, Dispatched, FormFiled, Push
from tests.bot.workflow.hub import HOUSE, comment, form, issue, push, repository, user
from tests.chance import examples

EXAMPLES = json.loads(
    gzip.decompress((HOUSE / "tests/fixtures/webhook_examples.json.gz").read_bytes())
)
USED = ("push", "issues", "issue_comment", "workflow_dispatch")


def parse(name: str, payload: object) -> Any:
    return parse_event(name, json.dumps(payload).encode())


def reason(name: str, payload: object) -> Reason:
    found = parse(name, payload)
    assert isinstance(found, Ignored)
    return found.reason


def real(name: str) -> list[dict[str, Any]]:
    return next(each["examples"] for each in EXAMPLES if each["name"] == name)


def test_every_real_payload_is_read_or_ignored_with_a_reason() -> None:
    count = 0
    for kind in EXAMPLES:
        for payload in kind["examples"]:
            found = parse(kind["name"], payload)
            count += 1
            if kind["name"] not in USED:
                assert found == Ignored(Reason.NOT_OUR_EVENT, kind["name"])
            elif isinstance(found, Ignored):
                assert found.reason is not Reason.MALFORMED, payload
                assert str(found).startswith("nothing to do [")
    assert count == 329


def test_a_real_push_to_the_default_branch_is_a_trigger() -> None:
    payload = next(each for each in real("push") if each["ref"].startswith("refs/heads/"))
    payload["ref"] = f"refs/heads/{payload['repository']['default_branch']}"
    payload["deleted"] = False
    found = parse("push", payload)
    assert isinstance(found, Push)
    assert (found.before, found.after) == (payload["before"], payload["after"])


def test_a_real_issue_with_the_label_is_a_trigger() -> None:
    payload = next(each for each in real("issues") if each["action"] == "labeled")
    payload["label"]["name"] = "stratwright"
    payload["issue"]["labels"] = [payload["label"]]
    payload["issue"]["state"] = "open"
    found = parse("issues", payload)
    assert isinstance(found, FormFiled)
    assert found.actor.id == payload["sender"]["id"]


def test_a_real_comment_that_begins_with_a_command_is_a_trigger() -> None:
    payload = next(each for each in real("issue_comment") if each["action"] == "created")
    payload["comment"]["body"] = "/stratwright retry"
    payload["comment"]["updated_at"] = payload["comment"]["created_at"]
    payload["comment"]["user"] = payload["sender"]
    found = parse("issue_comment", payload)
    assert isinstance(found, CommandGiven)
    assert found.verb == "retry"


def test_a_real_dispatch_is_a_trigger_on_the_default_branch_only() -> None:
    payload = real("workflow_dispatch")[0]
    payload["inputs"] = {"contracts": "contracts/a.yaml contracts/b.yaml", "regenerate": "true"}
    payload["ref"] = f"refs/heads/{payload['repository']['default_branch']}"
    found = parse("workflow_dispatch", payload)
    assert isinstance(found, Dispatched)
    assert found.contracts == ("contracts/a.yaml", "contracts/b.yaml")
    assert found.regenerate
    payload["ref"] = "refs/heads/somebodys-own"
    assert reason("workflow_dispatch", payload) is Reason.NOT_OUR_BRANCH


SHA = "a" * 40


@pytest.mark.parametrize(
    ("name", "payload", "expected"),
    [
        ("push", push(SHA, SHA, "refs/heads/feature"), Reason.NOT_OUR_BRANCH),
        ("push", push(SHA, SHA, "refs/tags/main"), Reason.NOT_OUR_BRANCH),
        ("push", push("$(id)", SHA), Reason.MALFORMED),
        ("push", {**push(SHA, SHA), "repository": "x"}, Reason.MALFORMED),
        ("issues", issue(7, form(), "edited"), Reason.NOT_OUR_ACTION),
        ("issues", issue(7, form(), "opened", user("x[bot]", 9, "Bot")), Reason.BOT),
        ("issues", {**issue(7, form(), "labeled"), "label": {"name": "bug"}}, Reason.NOT_OUR_LABEL),
        ("issue_comment", comment(7, "hello"), Reason.NO_COMMAND),
        ("issue_comment", {**comment(7, "/stratwright retry"), "action": "edited"},
         Reason.NOT_OUR_ACTION),
        ("issue_comment", comment(7, "/stratwright retry", user("b[bot]", 9, "Bot")), Reason.BOT),
        ("pull_request_target", {}, Reason.NOT_OUR_EVENT),
        ("issues", [], Reason.MALFORMED),
    ],
)  # fmt: skip
def test_what_is_no_trigger_is_ignored_with_its_reason(
    name: str, payload: object, expected: Reason
) -> None:
    assert reason(name, payload) is expected


def test_a_comment_that_was_edited_before_it_arrived_is_ignored() -> None:
    payload = comment(7, "/stratwright retry")
    payload["comment"]["updated_at"] = "2026-11-07T14:31:00Z"
    assert reason("issue_comment", payload) is Reason.ISSUE_EDITED


def test_a_closed_issue_asks_for_nothing() -> None:
    payload = issue(7, form())
    payload["issue"]["state"] = "closed"
    assert reason("issues", payload) is Reason.ISSUE_CLOSED


def test_bytes_that_are_no_json_are_ignored() -> None:
    assert parse_event("push", b"\xff{") == Ignored(Reason.MALFORMED, "it is not JSON")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=8,
)


@examples(150)
@given(
    st.sampled_from(USED),
    st.dictionaries(
        st.sampled_from(["ref", "before", "after", "repository", "sender", "issue", "comment",
                         "action", "label", "inputs", "deleted"]), JSON),
)  # fmt: skip
def test_no_payload_breaks_the_reader(name: str, noise: dict[str, Any]) -> None:
    base = {"push": push(SHA, SHA), "issues": issue(7, form()),
            "issue_comment": comment(7, "/stratwright retry"),
            "workflow_dispatch": {"ref": "refs/heads/main", "repository": repository(),
                                  "sender": user(), "inputs": {}}}[name]  # fmt: skip
    found = parse(name, {**base, **noise})
    assert isinstance(found, Ignored | Push | FormFiled | CommandGiven | Dispatched)


@pytest.mark.parametrize("action", ["opened", "labeled"])
def test_a_label_is_the_same_in_any_case(action: str) -> None:
    payload = next(each for each in real("issues") if each["action"] == "labeled")
    payload["action"] = action
    payload["label"]["name"] = "Stratwright"
    payload["issue"]["labels"] = [payload["label"]]
    found = parse("issues", payload)
    assert isinstance(found, FormFiled)
    assert found.labelled == (action == "labeled")
