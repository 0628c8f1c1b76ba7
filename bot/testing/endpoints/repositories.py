"""A repository's own page, who belongs to it, and its settings for Actions."""

from bot.testing.access import allows
from bot.testing.accounts import Account
from bot.testing.call import Call, route
from bot.testing.messages import Answer, Json, Refusal, not_found
from bot.testing.shapes import api, full_repository, permissions, user

_HOME = "/repos/{owner}/{repo}"
# The older word for each role, which has only four.
_OLD = {"maintain": "write", "triage": "read"}


@route("GET", _HOME, "metadata:read")
def get_repository(call: Call) -> Answer:
    """The repository."""
    account = call.token.account if call.token else None
    return Answer(200, full_repository(call.state, call.repository, account))


def _member(call: Call, account: Account) -> Json:
    role = call.repository.role(account)
    switches = permissions(call.repository, account)
    return {**user(call.state, account), "permissions": switches, "role_name": role}


def _push_only(call: Call, what: str) -> None:
    """People need push access to look at others; an App needs no more than to be installed."""
    if call.token is None:
        raise Refusal(401, "Requires authentication")
    if call.token.app is None and not allows(call.repository, call.token, "contents", "write"):
        raise Refusal(403, f"Must have push access to view {what}.")


@route("GET", f"{_HOME}/collaborators", "metadata:read")
def list_collaborators(call: Call) -> Answer:
    """Who was let in."""
    _push_only(call, "repository collaborators")
    home = call.repository
    known = [call.state.accounts[name] for name, role in home.roles.items() if role != "none"]
    everybody = [home.owner, *(one for one in known if one != home.owner)]
    return call.page(everybody, lambda account: _member(call, account))


@route("GET", f"{_HOME}/collaborators/{{username}}", "metadata:read")
def check_collaborator(call: Call) -> Answer:
    """204 if somebody was let in."""
    _push_only(call, "repository collaborators")
    home, account = call.repository, call.state.account(call.parameters["username"])
    known = home.roles.get(account.login.lower(), "none") != "none" or account == home.owner
    return Answer(204 if known else 404)


@route("GET", f"{_HOME}/collaborators/{{username}}/permission", "metadata:read")
def get_permission(call: Call) -> Answer:
    """What somebody may do here; anybody may read a public repository."""
    _push_only(call, "collaborator permission")
    account = call.state.account(call.parameters["username"])
    role = call.repository.role(account)
    member = _member(call, account)
    return Answer(200, {"permission": _OLD.get(role, role), "role_name": role, "user": member})


@route("GET", f"{_HOME}/actions/permissions", "administration:read")
def get_actions(call: Call) -> Answer:
    """Whether Actions run here, and which."""
    settings = call.repository.settings
    body: Json = {"enabled": settings.actions_enabled}
    if settings.actions_enabled:
        body["allowed_actions"] = settings.allowed_actions
        address = f"{api(call.state, call.repository)}/actions/permissions/selected-actions"
        body |= {"selected_actions_url": address} if settings.allowed_actions == "selected" else {}
    return Answer(200, body)


@route("GET", f"{_HOME}/actions/permissions/workflow", "administration:read")
def get_workflow_permissions(call: Call) -> Answer:
    """What GITHUB_TOKEN gets by default, and the switch for pull requests."""
    settings = call.repository.settings
    body = {
        "default_workflow_permissions": settings.default_workflow_permissions,
        "can_approve_pull_request_reviews": settings.can_approve_pull_request_reviews,
    }
    return Answer(200, body)


@route("PUT", f"{_HOME}/actions/permissions/workflow", "administration:write")
def set_workflow_permissions(call: Call) -> Answer:
    """Turn the switches."""
    settings, body = call.repository.settings, call.body
    if body.get("default_workflow_permissions", "read") not in ("read", "write"):
        raise Refusal(422, "Invalid request.")
    settings.default_workflow_permissions = body.get(
        "default_workflow_permissions", settings.default_workflow_permissions
    )
    settings.can_approve_pull_request_reviews = body.get(
        "can_approve_pull_request_reviews", settings.can_approve_pull_request_reviews
    )
    return Answer(204)


@route("POST", f"{_HOME}/dispatches", "contents:write")
def repository_dispatch(call: Call) -> Answer:
    """Send an event to the repository's workflows; the test finds it in `record.dispatches`."""
    event = call.need("RepositoryDispatch", "event_type")
    payload = call.body.get("client_payload") or {}
    call.repository.dispatches.append({"event_type": event, "client_payload": payload})
    return Answer(204)


@route("GET", f"{_HOME}/rules/branches/{{branch}}", "metadata:read")
def list_branch_rules(call: Call) -> Answer:
    """Rulesets for a branch: the server knows none."""
    if call.repository.git.ref(f"refs/heads/{call.parameters['branch']}") is None:
        raise not_found()
    return Answer(200, [])
