"""Deployments and how they went."""

from tests.doubles.github.call import Call, route
from tests.doubles.github.delivery import Deployment, DeploymentStatus
from tests.doubles.github.messages import Answer, Json, Refusal, invalid, not_found
from tests.doubles.github.shapes import api, maybe_app, node_id, user
from tests.doubles.github.state import Repository, State

_ALL = "/repos/{owner}/{repo}/deployments"
_ONE = f"{_ALL}/{{deployment_id}}"
_STATES = frozenset(["error", "failure", "inactive", "pending", "success", "queued", "in_progress"])


def render(state: State, repository: Repository, made: Deployment) -> Json:
    """A deployment."""
    address = f"{api(state, repository)}/deployments/{made.id}"
    return {
        "url": address,
        "id": made.id,
        "node_id": node_id("DE", made.id),
        "task": made.task,
        "original_environment": made.environment,
        "environment": made.environment,
        "description": made.description,
        "created_at": made.created,
        "updated_at": made.statuses[-1].created if made.statuses else made.created,
        "statuses_url": f"{address}/statuses",
        "repository_url": api(state, repository),
        "creator": user(state, made.creator),
        "sha": made.sha,
        "ref": made.ref,
        "payload": made.payload,
        "transient_environment": made.transient,
        "production_environment": made.production,
        "performed_via_github_app": maybe_app(state, made.app),
    }


def _render_status(
    state: State, repository: Repository, made: Deployment, status: DeploymentStatus
) -> Json:
    address = f"{api(state, repository)}/deployments/{made.id}"
    return {
        "url": f"{address}/statuses/{status.id}",
        "id": status.id,
        "node_id": node_id("DES", status.id),
        "state": status.state,
        "creator": user(state, status.creator),
        "description": status.description,
        "environment": status.environment,
        "target_url": status.log_url,
        "created_at": status.created,
        "updated_at": status.created,
        "deployment_url": address,
        "repository_url": api(state, repository),
        "environment_url": status.environment_url,
        "log_url": status.log_url,
        "performed_via_github_app": maybe_app(state, status.app),
    }


def _find(call: Call) -> Deployment:
    made = call.repository.deployments.get(call.number("deployment_id"))
    if made is None:
        raise not_found()
    return made


@route("GET", _ALL, "deployments:read")
def list_deployments(call: Call) -> Answer:
    """Deployments, newest first."""
    query = call.request.query
    found = [
        made
        for _, made in sorted(call.repository.deployments.items(), reverse=True)
        if all(query.get(key, getattr(made, key)) == getattr(made, key)
               for key in ("sha", "ref", "task", "environment"))
    ]  # fmt: skip
    return call.page(found, lambda made: render(call.state, call.repository, made))


@route("POST", _ALL, "deployments:write")
def create_deployment(call: Call) -> Answer:
    """A deployment of a ref; checks that must have passed are compared with its statuses."""
    home, body, ref = call.repository, call.body, call.need("Deployment", "ref")
    sha = home.git.resolve(ref)
    if sha is None:
        raise Refusal(422, f"No ref found for: {ref}")
    newest = {status.context: status.state for status in home.statuses if status.sha == sha}
    wanted = body.get("required_contexts")
    if any(newest.get(name) != "success" for name in (newest if wanted is None else wanted)):
        raise Refusal(409, f"Conflict: Commit status checks failed for {ref}.")
    environment = body.get("environment") or "production"
    made = Deployment(
        id=call.state.next_id(),
        sha=sha,
        ref=ref,
        task=body.get("task") or "deploy",
        environment=environment,
        creator=call.actor,
        payload=body.get("payload") or {},
        description=body.get("description"),
        created=call.state.time(),
        transient=bool(body.get("transient_environment")),
        production=body.get("production_environment", environment == "production"),
        app=call.token.app if call.token else None,
    )
    home.deployments[made.id] = made
    return Answer(201, render(call.state, home, made))


@route("GET", _ONE, "deployments:read")
def get_deployment(call: Call) -> Answer:
    """One deployment."""
    return Answer(200, render(call.state, call.repository, _find(call)))


@route("GET", f"{_ONE}/statuses", "deployments:read")
def list_statuses(call: Call) -> Answer:
    """How a deployment went, newest first."""
    made = _find(call)
    newest_first = list(reversed(made.statuses))
    return call.page(
        newest_first, lambda status: _render_status(call.state, call.repository, made, status)
    )


@route("POST", f"{_ONE}/statuses", "deployments:write")
def create_status(call: Call) -> Answer:
    """Say how it goes; a success makes earlier deployments of the environment inactive."""
    made, word = _find(call), call.need("DeploymentStatus", "state")
    if word not in _STATES:
        raise invalid("DeploymentStatus", "custom", "state")
    status = _status(call, made, word)
    if word == "success" and call.body.get("auto_inactive", True):
        for other in call.repository.deployments.values():
            same = other.environment == made.environment and not other.transient
            succeeded = other.statuses and other.statuses[-1].state == "success"
            if same and other.id < made.id and succeeded:
                _status(call, other, "inactive")
    return Answer(201, _render_status(call.state, call.repository, made, status))


def _status(call: Call, made: Deployment, word: str) -> DeploymentStatus:
    body, own = call.body, word != "inactive" or call.body.get("state") == "inactive"
    status = DeploymentStatus(
        id=call.state.next_id(),
        state=word,
        creator=call.actor,
        description=(body.get("description") or "") if own else "",
        environment=body.get("environment") or made.environment,
        environment_url=(body.get("environment_url") or "") if own else "",
        log_url=(body.get("log_url") or body.get("target_url") or "") if own else "",
        created=call.state.time(),
        app=call.token.app if call.token else None,
    )
    made.statuses.append(status)
    return status
