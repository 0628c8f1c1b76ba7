"""References: branches and tags by their full names."""

from bot.testing.call import Call, route
from bot.testing.git_store import SHA
from bot.testing.messages import Answer, Json, Refusal, not_found
from bot.testing.shapes import api, node_id
from bot.testing.state import Repository, State

_HOME = "/repos/{owner}/{repo}/git"
_ONE = f"{_HOME}/ref/{{ref}}"
_MATCHING = f"{_HOME}/matching-refs/{{ref}}"


def render(state: State, repository: Repository, name: str, sha: str) -> Json:
    """A reference and what it points to."""
    kind = repository.git.kind(sha) or "commit"
    address = api(state, repository)
    return {
        "ref": name,
        "node_id": node_id("REF", f"{repository.id}:{name}"),
        "url": f"{address}/git/{name}",
        "object": {"sha": sha, "type": kind, "url": f"{address}/git/{kind}s/{sha}"},
    }


def _target(call: Call) -> str:
    sha = call.need("Reference", "sha")
    if not SHA.fullmatch(sha):
        raise Refusal(
            422, "The sha parameter must be exactly 40 characters and contain only [0-9a-f]."
        )
    if call.repository.git.kind(sha) is None:
        raise Refusal(422, "Object does not exist")
    return sha


def _existing(call: Call) -> tuple[str, str]:
    name = f"refs/{call.parameters['ref']}"
    sha = call.repository.git.ref(name)
    if sha is None:
        raise Refusal(422, "Reference does not exist")
    return name, sha


@route("GET", _ONE, "contents:read")
@route("GET", f"{_HOME}/refs/{{ref}}", "contents:read", described=_ONE)
def get_ref(call: Call) -> Answer:
    """One reference by its exact name."""
    name = f"refs/{call.parameters['ref']}"
    sha = call.repository.git.ref(name)
    if sha is None:
        raise not_found()
    return Answer(200, render(call.state, call.repository, name, sha))


@route("GET", _MATCHING, "contents:read")
@route("GET", f"{_HOME}/refs", "contents:read", described=_MATCHING)
def list_refs(call: Call) -> Answer:
    """All references that begin with a name."""
    prefix = f"refs/{call.parameters.get('ref', '')}"
    found = sorted(call.repository.git.refs(prefix).items())
    return call.page(found, lambda each: render(call.state, call.repository, *each))


@route("POST", f"{_HOME}/refs", "contents:write")
def create_ref(call: Call) -> Answer:
    """A new branch or tag."""
    name, git = call.need("Reference", "ref"), call.repository.git
    if not name.startswith("refs/") or name.count("/") < 2:
        raise Refusal(422, "Reference name must start with 'refs' and have at least two slashes.")
    sha = _target(call)
    if git.ref(name) is not None:
        raise Refusal(422, "Reference already exists")
    if name.startswith("refs/heads/") and git.kind(sha) != "commit":
        raise Refusal(422, "Reference update failed")
    if not git.set_ref(name, sha):
        raise Refusal(422, "Reference update failed")
    return Answer(201, render(call.state, call.repository, name, sha))


@route("PATCH", f"{_HOME}/refs/{{ref}}", "contents:write")
def update_ref(call: Call) -> Answer:
    """Move a branch forward, or anywhere by force."""
    (name, old), sha, git = _existing(call), _target(call), call.repository.git
    if not call.body.get("force") and not git.contains(sha, old):
        raise Refusal(422, "Update is not a fast forward")
    if not git.set_ref(name, sha):
        raise Refusal(422, "Reference cannot be updated")
    return Answer(200, render(call.state, call.repository, name, sha))


@route("DELETE", f"{_HOME}/refs/{{ref}}", "contents:write")
def delete_ref(call: Call) -> Answer:
    """Remove a branch or tag."""
    name, _ = _existing(call)
    if name == f"refs/heads/{call.repository.default_branch}":
        raise Refusal(422, "Cannot delete the default branch")
    call.repository.git.delete_ref(name)
    return Answer(204)
