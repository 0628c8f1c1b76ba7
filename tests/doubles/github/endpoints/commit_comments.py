"""Comments on commits."""

from tests.doubles.github.call import Call, route
from tests.doubles.github.endpoints.issues import MAX_BODY
from tests.doubles.github.messages import Answer, Json, Refusal, invalid, not_found
from tests.doubles.github.shapes import api, association, node_id, user, web
from tests.doubles.github.state import CommitComment, Repository, State

_HOME = "/repos/{owner}/{repo}"


def render(state: State, repository: Repository, comment: CommitComment) -> Json:
    """A comment on a commit."""
    return {
        "url": f"{api(state, repository)}/comments/{comment.id}",
        "html_url": f"{web(state, repository)}/commit/{comment.sha}#commitcomment-{comment.id}",
        "id": comment.id,
        "node_id": node_id("CC", comment.id),
        "user": user(state, comment.author),
        "position": None,
        "line": None,
        "path": None,
        "commit_id": comment.sha,
        "created_at": comment.created,
        "updated_at": comment.updated,
        "author_association": association(repository, comment.author),
        "body": comment.body,
    }


def _find(call: Call) -> CommitComment:
    comment = call.repository.commit_comments.get(call.number("comment_id"))
    if comment is None:
        raise not_found()
    return comment


def _own(call: Call) -> CommitComment:
    comment = _find(call)
    if comment.author != call.actor:
        raise Refusal(403, "Must have admin rights to Repository.")
    return comment


def _text(call: Call) -> str:
    body = call.need("CommitComment", "body")
    if len(body) > MAX_BODY:
        message = f"body is too long (maximum is {MAX_BODY} characters)"
        raise invalid("CommitComment", "unprocessable", "data", message)
    return body


@route("GET", f"{_HOME}/commits/{{commit_sha}}/comments", "contents:read")
def list_comments(call: Call) -> Answer:
    """Comments on one commit, oldest first."""
    sha = call.commit(call.parameters["commit_sha"])
    found = [each for each in call.repository.commit_comments.values() if each.sha == sha]
    return call.page(found, lambda comment: render(call.state, call.repository, comment))


@route("POST", f"{_HOME}/commits/{{commit_sha}}/comments", "contents:write")
def create_comment(call: Call) -> Answer:
    """Say something about a commit."""
    sha, body = call.commit(call.parameters["commit_sha"]), _text(call)
    at = call.state.time()
    comment = CommitComment(call.state.next_id(), sha, call.actor, body, at, at)
    call.repository.commit_comments[comment.id] = comment
    return Answer(201, render(call.state, call.repository, comment))


@route("PATCH", f"{_HOME}/comments/{{comment_id}}", "contents:write")
def update_comment(call: Call) -> Answer:
    """Change a comment's text."""
    comment = _own(call)
    comment.body, comment.updated = _text(call), call.state.time()
    return Answer(200, render(call.state, call.repository, comment))


@route("DELETE", f"{_HOME}/comments/{{comment_id}}", "contents:write")
def delete_comment(call: Call) -> Answer:
    """Remove a comment."""
    del call.repository.commit_comments[_own(call).id]
    return Answer(204)
