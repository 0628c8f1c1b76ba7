"""Labels of a repository, and labels on its issues and pull requests."""

import re
from typing import Any
from urllib.parse import quote

from tests.doubles.github.call import Call, route
from tests.doubles.github.messages import Answer, Json, invalid, not_found
from tests.doubles.github.shapes import api, node_id
from tests.doubles.github.state import Issue, Label, Repository, State

_HOME = "/repos/{owner}/{repo}"
_DEFAULTS = frozenset({"bug", "documentation", "enhancement"})


def render(state: State, repository: Repository, label: Label) -> Json:
    """A label."""
    return {
        "id": label.id,
        "node_id": node_id("LA", label.id),
        "url": f"{api(state, repository)}/labels/{quote(label.name, safe='')}",
        "name": label.name,
        "description": label.description,
        "color": label.color,
        "default": label.name in _DEFAULTS,
    }


def on(state: State, repository: Repository, issue: Issue) -> list[Json]:
    """The labels on an issue."""
    known = [repository.labels.get(name.lower()) for name in issue.labels]
    return [render(state, repository, label) for label in known if label]


def names_in(wanted: Any) -> list[str]:
    """Label names in any of the forms that the API takes."""
    items = wanted.get("labels", []) if isinstance(wanted, dict) else wanted
    items = [items] if isinstance(items, str) else items or []
    names = [item["name"] if isinstance(item, dict) else str(item) for item in items]
    if any(not name.strip() for name in names):
        raise invalid("Label", "missing_field", "name")
    return names


def put(call: Call, issue: Issue, names: list[str]) -> None:
    """Give an issue exactly these labels; unknown ones are made, as GitHub does."""
    home = call.repository
    for name in names:
        if name.lower() not in home.labels:
            home.labels[name.lower()] = Label(call.state.next_id(), name)
    kept = {name.lower(): home.labels[name.lower()].name for name in names}
    if issue.labels != list(kept.values()):
        issue.labels, issue.updated = list(kept.values()), call.state.time()


def _label(call: Call) -> Label:
    label = call.repository.labels.get(call.parameters["name"].lower())
    if label is None:
        raise not_found()
    return label


def _issue(call: Call) -> Issue:
    issue = call.repository.issues.get(call.number("issue_number"))
    if issue is None:
        raise not_found()
    return issue


def _check_color(color: str) -> str:
    if not re.fullmatch(r"[0-9a-fA-F]{6}", color):
        raise invalid("Label", "invalid", "color")
    return color.lower()


@route("POST", f"{_HOME}/labels", "issues|pull_requests:write")
def create_label(call: Call) -> Answer:
    """A new label; its name must be free, in any case of letters."""
    name = call.need("Label", "name")
    if name.lower() in call.repository.labels:
        raise invalid("Label", "already_exists", "name")
    color = _check_color(call.body.get("color") or "ededed")
    label = Label(call.state.next_id(), name, color, call.body.get("description"))
    call.repository.labels[name.lower()] = label
    return Answer(201, render(call.state, call.repository, label))


@route("GET", f"{_HOME}/labels/{{name}}", "issues|pull_requests:read")
def get_label(call: Call) -> Answer:
    """One label."""
    return Answer(200, render(call.state, call.repository, _label(call)))


@route("GET", f"{_HOME}/issues/{{issue_number}}/labels", "issues|pull_requests:read")
def list_on_issue(call: Call) -> Answer:
    """The labels on an issue."""
    return call.page(on(call.state, call.repository, _issue(call)), lambda label: label)


@route("POST", f"{_HOME}/issues/{{issue_number}}/labels", "issues|pull_requests:write")
def add_to_issue(call: Call) -> Answer:
    """More labels on an issue."""
    issue = _issue(call)
    put(call, issue, [*issue.labels, *names_in(call.request.body)])
    return Answer(200, on(call.state, call.repository, issue))
