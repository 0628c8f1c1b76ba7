"""A repository's own page, who belongs to it, and its settings for Actions."""

from tests.doubles.github.access import allows
from tests.doubles.github.accounts import Account
from tests.doubles.github.call import Call, route
from tests.doubles.github.messages import Answer, Json, Refusal
from tests.doubles.github.shapes import full_repository, permissions, user

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


@route("GET", f"{_HOME}/collaborators/{{username}}/permission", "metadata:read")
def get_permission(call: Call) -> Answer:
    """What somebody may do here; anybody may read a public repository."""
    _push_only(call, "collaborator permission")
    account = call.state.account(call.parameters["username"])
    role = call.repository.role(account)
    member = _member(call, account)
    return Answer(200, {"permission": _OLD.get(role, role), "role_name": role, "user": member})


@route("GET", f"{_HOME}/actions/permissions/workflow", "administration:read")
def get_workflow_permissions(call: Call) -> Answer:
    """What GITHUB_TOKEN gets by default, and the switch for pull requests."""
    settings = call.repository.settings
    body = {
        "default_workflow_permissions": settings.default_workflow_permissions,
        "can_approve_pull_request_reviews": settings.can_approve_pull_request_reviews,
    }
    return Answer(200, body)
