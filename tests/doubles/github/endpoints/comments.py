"""Comments on issues and pull requests."""

from tests.doubles.github.access import allows
from tests.doubles.github.call import Call, route
from tests.doubles.github.endpoints import issues
from tests.doubles.github.messages import Answer, Json, Refusal, invalid, not_found
from tests.doubles.github.shapes import api, association, maybe_app, node_id, user, web
from tests.doubles.github.state import Comment, Repository, State

_HOME = "/repos/{owner}/{repo}"
_NEEDS = "issues|pull_requests"


def render(state: State, repository: Repository, comment: Comment) -> Json:
    """A comment."""
    issue = repository.issues[comment.number]
    kind = "pull" if issue.pull else "issues"
    page = f"{web(state, repository)}/{kind}/{comment.number}"
    return {
        "url": f"{api(state, repository)}/issues/comments/{comment.id}",
        "html_url": f"{page}#issuecomment-{comment.id}",
        "issue_url": f"{api(state, repository)}/issues/{comment.number}",
        "id": comment.id,
        "node_id": node_id("IC", comment.id),
        "user": user(state, comment.author),
        "created_at": comment.created,
        "updated_at": comment.updated,
        "author_association": association(repository, comment.author),
        "body": comment.body,
        "performed_via_github_app": maybe_app(state, comment.app),
    }


def _find(call: Call) -> Comment:
    comment = call.repository.comments.get(call.number("comment_id"))
    if comment is None:
        raise not_found()
    return comment


def _own(call: Call) -> Comment:
    """A comment that the asker may change: the author, or who can write."""
    comment = _find(call)
    may = any(allows(call.repository, call.token, name, "write") for name in _NEEDS.split("|"))
    if not may and comment.author != call.actor:
        raise Refusal(403, "Must have admin rights to Repository.")
    return comment


def _text(call: Call) -> str:
    body = call.need("IssueComment", "body")
    if len(body) > issues.MAX_BODY:
        message = f"body is too long (maximum is {issues.MAX_BODY} characters)"
        raise invalid("IssueComment", "unprocessable", "data", message)
    return body


def _list(call: Call, found: list[Comment]) -> Answer:
    since = call.request.query.get("since", "")
    found = [comment for comment in found if comment.updated >= since]
    return call.page(found, lambda comment: render(call.state, call.repository, comment))


@route("GET", f"{_HOME}/issues/comments/{{comment_id}}", f"{_NEEDS}:read")
def get_comment(call: Call) -> Answer:
    """One comment."""
    return Answer(200, render(call.state, call.repository, _find(call)))


@route("PATCH", f"{_HOME}/issues/comments/{{comment_id}}", f"{_NEEDS}:write", readers=True)
def update_comment(call: Call) -> Answer:
    """Change a comment's text."""
    comment = _own(call)
    comment.body, comment.updated = _text(call), call.state.time()
    return Answer(200, render(call.state, call.repository, comment))


@route("DELETE", f"{_HOME}/issues/comments/{{comment_id}}", f"{_NEEDS}:write", readers=True)
def delete_comment(call: Call) -> Answer:
    """Remove a comment."""
    del call.repository.comments[_own(call).id]
    return Answer(204)


@route("GET", f"{_HOME}/issues/{{issue_number}}/comments", f"{_NEEDS}:read")
def list_comments(call: Call) -> Answer:
    """Comments of one issue, oldest first."""
    number = issues.find(call).number
    found = sorted(call.repository.comments.values(), key=lambda comment: comment.id)
    return _list(call, [comment for comment in found if comment.number == number])


@route("POST", f"{_HOME}/issues/{{issue_number}}/comments", f"{_NEEDS}:write", readers=True)
def create_comment(call: Call) -> Answer:
    """Say something."""
    issue, body, at = issues.find(call), _text(call), call.state.time()
    if issue.locked:
        raise Refusal(403, "Unable to create comment because issue is locked.")
    app = call.token.app if call.token else None
    comment = Comment(call.state.next_id(), issue.number, call.actor, body, at, at, app)
    call.repository.comments[comment.id] = comment
    issue.updated = at
    return Answer(201, render(call.state, call.repository, comment))
