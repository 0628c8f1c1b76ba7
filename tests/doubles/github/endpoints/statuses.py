"""Commit statuses: the older and simpler sister of checks, open to every token."""

from tests.doubles.github.call import Call, route
from tests.doubles.github.delivery import Status
from tests.doubles.github.git_store import SHA
from tests.doubles.github.messages import Answer, Json, Refusal, invalid
from tests.doubles.github.shapes import api, node_id, user
from tests.doubles.github.state import Repository, State

_HOME = "/repos/{owner}/{repo}"
_LISTED = f"{_HOME}/commits/{{ref}}/statuses"
_STATES = ("error", "failure", "pending", "success")
_MAX_DESCRIPTION = 140


def _render_simple(state: State, repository: Repository, status: Status) -> Json:
    return {
        "url": f"{api(state, repository)}/statuses/{status.sha}",
        "avatar_url": user(state, status.creator)["avatar_url"],
        "id": status.id,
        "node_id": node_id("SC", status.id),
        "state": status.state,
        "description": status.description,
        "target_url": status.target_url,
        "context": status.context,
        "created_at": status.created,
        "updated_at": status.created,
    }


def render(state: State, repository: Repository, status: Status) -> Json:
    """A status with who set it."""
    return {**_render_simple(state, repository, status), "creator": user(state, status.creator)}


@route("POST", f"{_HOME}/statuses/{{sha}}", "statuses:write")
def create_status(call: Call) -> Answer:
    """Set a status; the newest of a context counts."""
    sha, word = call.parameters["sha"], call.need("Status", "state")
    description = call.body.get("description")
    if not SHA.fullmatch(sha) or call.repository.git.kind(sha) != "commit":
        raise Refusal(422, f"No commit found for SHA: {sha}")
    if word not in _STATES:
        raise invalid("Status", "custom", "state", "state is not included in the list")
    if len(description or "") > _MAX_DESCRIPTION:
        message = f"description is too long (maximum is {_MAX_DESCRIPTION} characters)"
        raise invalid("Status", "custom", "description", message)
    context, link = call.body.get("context") or "default", call.body.get("target_url")
    made = Status(
        call.state.next_id(), sha, word, context, description, link, call.actor, call.state.time()
    )
    call.repository.statuses.append(made)
    return Answer(201, render(call.state, call.repository, made))


@route("GET", _LISTED, "statuses:read")
def list_statuses(call: Call) -> Answer:
    """All statuses ever set on a commit, newest first."""
    sha = call.commit(call.parameters["ref"])
    found = [status for status in reversed(call.repository.statuses) if status.sha == sha]
    return call.page(found, lambda status: render(call.state, call.repository, status))
