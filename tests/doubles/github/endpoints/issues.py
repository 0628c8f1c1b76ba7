"""Issues; a pull request is one too."""

from tests.doubles.github.access import allows
from tests.doubles.github.accounts import Account
from tests.doubles.github.call import Call, route
from tests.doubles.github.endpoints import labels
from tests.doubles.github.messages import Answer, Json, Refusal, invalid, not_found
from tests.doubles.github.shapes import api, association, maybe_app, maybe_user, node_id, user, web
from tests.doubles.github.state import Issue, Repository, State

_HOME = "/repos/{owner}/{repo}"
MAX_BODY = 65536


def render(state: State, repository: Repository, issue: Issue) -> Json:
    """An issue."""
    address = f"{api(state, repository)}/issues/{issue.number}"
    kind = "pull" if issue.pull else "issues"
    page = f"{web(state, repository)}/{kind}/{issue.number}"
    body = {
        "url": address,
        "repository_url": api(state, repository),
        "labels_url": f"{address}/labels{{/name}}",
        "comments_url": f"{address}/comments",
        "events_url": f"{address}/events",
        "timeline_url": f"{address}/timeline",
        "html_url": page,
        "id": issue.id,
        "node_id": node_id("PR" if issue.pull else "I", issue.id),
        "number": issue.number,
        "title": issue.title,
        "user": user(state, issue.author),
        "labels": labels.on(state, repository, issue),
        "state": issue.state,
        "state_reason": issue.state_reason,
        "locked": issue.locked,
        "assignee": maybe_user(state, issue.assignees[0] if issue.assignees else None),
        "assignees": [user(state, one) for one in issue.assignees],
        "milestone": None,
        "comments": sum(one.number == issue.number for one in repository.comments.values()),
        "created_at": issue.created,
        "updated_at": issue.updated,
        "closed_at": issue.closed,
        "closed_by": maybe_user(state, issue.closed_by),
        "author_association": association(repository, issue.author),
        "active_lock_reason": None,
        "body": issue.body,
        "performed_via_github_app": maybe_app(state, issue.app),
    }
    if issue.pull:
        body["draft"] = issue.pull.draft
        body["pull_request"] = {
            "url": f"{api(state, repository)}/pulls/{issue.number}",
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "merged_at": issue.pull.merged,
        }
    return body


def find(call: Call, part: str = "issue_number") -> Issue:
    """The issue that a path names."""
    issue = call.repository.issues.get(call.number(part))
    if issue is None:
        raise not_found()
    return issue


def check_body(resource: str, body: str | None) -> str | None:
    """Refuse a text that GitHub finds too long."""
    if body is not None and len(body) > MAX_BODY:
        message = f"body is too long (maximum is {MAX_BODY} characters)"
        raise invalid(resource, "custom", "body", message)
    return body


def set_state(call: Call, issue: Issue, state: str, reason: str | None = None) -> None:
    """Open or close an issue or a pull request."""
    if state not in ("open", "closed"):
        raise invalid("Issue", "invalid", "state")
    if issue.state == state:
        return
    issue.state = state
    closes = state == "closed"
    issue.closed = call.state.time() if closes else None
    issue.closed_by = call.actor if closes else None
    issue.state_reason = None if issue.pull else reason or ("completed" if closes else "reopened")


def people(call: Call, names: list[str]) -> list[Account]:
    """Those of the named who exist; GitHub ignores the others."""
    known = (call.state.accounts.get(name.lower()) for name in names)
    return [account for account in known if account]


@route("GET", f"{_HOME}/issues", "issues|pull_requests:read")
def list_issues(call: Call) -> Answer:
    """Issues and pull requests, newest first."""
    query = call.request.query
    state, creator = query.get("state", "open"), query.get("creator", "").lower()
    wanted = {name.lower() for name in query.get("labels", "").split(",") if name}
    found = [
        issue
        for issue in call.repository.issues.values()
        if state in ("all", issue.state)
        and wanted <= {name.lower() for name in issue.labels}
        and creator in ("", issue.author.login.lower())
        and issue.updated >= query.get("since", "")
    ]
    by_update = query.get("sort") == "updated"
    found.sort(
        key=lambda issue: (issue.updated if by_update else issue.created, issue.number),
        reverse=query.get("direction", "desc") == "desc",
    )
    return call.page(found, lambda issue: render(call.state, call.repository, issue))


@route("POST", f"{_HOME}/issues", "issues:write", readers=True)
def create_issue(call: Call) -> Answer:
    """A new issue; labels and assignees of somebody without write access are dropped."""
    title, home = call.need("Issue", "title"), call.repository
    body = check_body("Issue", call.body.get("body"))
    at, app = call.state.time(), call.token.app if call.token else None
    number, new_id = home.next_number(), call.state.next_id()
    issue = Issue(new_id, number, title, body, call.actor, at, at, app=app)
    if allows(home, call.token, "issues", "write"):
        labels.put(call, issue, labels.names_in(call.body.get("labels")))
        issue.assignees = people(call, call.body.get("assignees") or [])
    home.issues[issue.number] = issue
    return Answer(201, render(call.state, home, issue))


@route("GET", f"{_HOME}/issues/{{issue_number}}", "issues|pull_requests:read")
def get_issue(call: Call) -> Answer:
    """One issue."""
    return Answer(200, render(call.state, call.repository, find(call)))


@route("PATCH", f"{_HOME}/issues/{{issue_number}}", "issues|pull_requests:write", readers=True)
def update_issue(call: Call) -> Answer:
    """Change an issue; its author may, and who can write."""
    issue, body, home = find(call), call.body, call.repository
    name = "pull_requests" if issue.pull else "issues"
    may = any(allows(home, call.token, each, "write") for each in (name, "issues"))
    if not may and issue.author != call.actor:
        raise Refusal(403, "Must have admin rights to Repository.")
    if "title" in body:
        issue.title = call.need("Issue", "title")
    if "body" in body:
        issue.body = check_body("Issue", body["body"])
    if body.get("state"):
        set_state(call, issue, body["state"], body.get("state_reason"))
    if may and body.get("labels") is not None:
        labels.put(call, issue, labels.names_in(body["labels"]))
    if may and body.get("assignees") is not None:
        issue.assignees = people(call, body["assignees"])
    issue.updated = call.state.time()
    return Answer(200, render(call.state, home, issue))
