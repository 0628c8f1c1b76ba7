"""Labels of a repository, and labels on its issues and pull requests."""

import re
from typing import Any
from urllib.parse import quote

from bot.testing.call import Call, route
from bot.testing.messages import Answer, Json, Refusal, invalid, not_found
from bot.testing.shapes import api, node_id
from bot.testing.state import Issue, Label, Repository, State

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


@route("GET", f"{_HOME}/labels", "issues|pull_requests:read")
def list_labels(call: Call) -> Answer:
    """All labels of a repository."""
    labels = sorted(call.repository.labels.values(), key=lambda label: label.name.lower())
    return call.page(labels, lambda label: render(call.state, call.repository, label))


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


@route("PATCH", f"{_HOME}/labels/{{name}}", "issues|pull_requests:write")
def update_label(call: Call) -> Answer:
    """Rename, recolour, describe; issues keep it."""
    label, home = _label(call), call.repository
    name = str(call.body.get("new_name") or label.name)
    if name.lower() != label.name.lower() and name.lower() in home.labels:
        raise invalid("Label", "already_exists", "name")
    del home.labels[label.name.lower()]
    for issue in home.issues.values():
        issue.labels = [name if each == label.name else each for each in issue.labels]
    label.name, label.color = name, _check_color(call.body.get("color") or label.color)
    label.description = call.body.get("description", label.description)
    home.labels[name.lower()] = label
    return Answer(200, render(call.state, home, label))


@route("DELETE", f"{_HOME}/labels/{{name}}", "issues|pull_requests:write")
def delete_label(call: Call) -> Answer:
    """Remove a label, also from issues."""
    label = _label(call)
    del call.repository.labels[label.name.lower()]
    for issue in call.repository.issues.values():
        issue.labels = [each for each in issue.labels if each != label.name]
    return Answer(204)


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


@route("PUT", f"{_HOME}/issues/{{issue_number}}/labels", "issues|pull_requests:write")
def set_on_issue(call: Call) -> Answer:
    """Exactly these labels on an issue."""
    issue = _issue(call)
    put(call, issue, names_in(call.request.body))
    return Answer(200, on(call.state, call.repository, issue))


@route("DELETE", f"{_HOME}/issues/{{issue_number}}/labels", "issues|pull_requests:write")
def clear_issue(call: Call) -> Answer:
    """No labels on an issue."""
    put(call, _issue(call), [])
    return Answer(204)


@route("DELETE", f"{_HOME}/issues/{{issue_number}}/labels/{{name}}", "issues|pull_requests:write")
def remove_from_issue(call: Call) -> Answer:
    """One label less on an issue."""
    issue, name = _issue(call), call.parameters["name"].lower()
    if name not in [each.lower() for each in issue.labels]:
        raise Refusal(404, "Label does not exist")
    put(call, issue, [each for each in issue.labels if each.lower() != name])
    return Answer(200, on(call.state, call.repository, issue))
