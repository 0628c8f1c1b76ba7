"""Environments and what protects them."""

from urllib.parse import quote

from bot.testing.accounts import Account
from bot.testing.call import Call, route
from bot.testing.delivery import Environment
from bot.testing.messages import Answer, Json, Refusal, not_found
from bot.testing.shapes import api, node_id, user, web
from bot.testing.state import Repository, State

_ALL = "/repos/{owner}/{repo}/environments"
_ONE = f"{_ALL}/{{environment_name}}"
_NO_PLAN = (
    "Failed to create the environment protection rule. Please ensure the billing plan supports "
    "the required reviewers protection rule."
)


def render_short(state: State, repository: Repository, one: Environment) -> Json:
    """An environment, as it appears inside approvals."""
    page = f"{web(state, repository)}/deployments/activity_log?environments_filter="
    return {
        "id": one.id,
        "node_id": node_id("EN", one.id),
        "name": one.name,
        "url": f"{api(state, repository)}/environments/{quote(one.name, safe='')}",
        "html_url": f"{page}{quote(one.name)}",
    }


def render(state: State, repository: Repository, one: Environment) -> Json:
    """An environment with its rules."""
    times = {"created_at": one.created, "updated_at": one.updated}
    return {
        **render_short(state, repository, one),
        **times,
        "protection_rules": _rules(state, one),
        "deployment_branch_policy": one.branch_policy,
    }


def reviewers(state: State, one: Environment) -> list[Json]:
    """Who must approve."""
    return [{"type": "User", "reviewer": user(state, account)} for account in one.reviewers]


def _rules(state: State, one: Environment) -> list[Json]:
    """The rules; each has an id of its own, made from the environment's."""
    rules: list[Json] = []
    if one.wait_timer:
        rules.append({"type": "wait_timer", "wait_timer": one.wait_timer})
    if one.reviewers:
        body = {"reviewers": reviewers(state, one), "prevent_self_review": one.prevent_self_review}
        rules.append({"type": "required_reviewers", **body})
    if one.branch_policy:
        rules.append({"type": "branch_policy"})
    numbered = enumerate(rules, one.id * 10)
    return [{"id": number, "node_id": node_id("GA", number), **rule} for number, rule in numbered]


@route("GET", _ALL, "actions:read")
def list_environments(call: Call) -> Answer:
    """All environments."""
    found = list(call.repository.environments.values())
    return call.page(found, lambda one: render(call.state, call.repository, one), "environments")


@route("GET", _ONE, "actions:read")
def get_environment(call: Call) -> Answer:
    """One environment."""
    one = call.repository.environments.get(call.parameters["environment_name"])
    if one is None:
        raise not_found()
    return Answer(200, render(call.state, call.repository, one))


@route("PUT", _ONE, "administration:write")
def put_environment(call: Call) -> Answer:
    """Make or change an environment; what is not given is taken away, as GitHub does."""
    home, name, body = call.repository, call.parameters["environment_name"], call.body
    people = [_reviewer(call, given) for given in body.get("reviewers") or []]
    if people and not home.offers(home.settings.required_reviewers_available):
        raise Refusal(422, _NO_PLAN)
    at = call.state.time()
    known = home.environments.get(name)
    made = Environment(
        id=known.id if known else call.state.next_id(),
        name=name,
        created=known.created if known else at,
        updated=at,
        wait_timer=body.get("wait_timer") or 0,
        reviewers=people,
        prevent_self_review=bool(body.get("prevent_self_review")),
        branch_policy=body.get("deployment_branch_policy"),
    )
    home.environments[name] = made
    return Answer(200, render(call.state, home, made))


def _reviewer(call: Call, given: Json) -> Account:
    for account in call.state.accounts.values():
        if account.id == given.get("id") and given.get("type") == "User":
            return account
    raise Refusal(422, "Invalid reviewer. Reviewer must have at least read access.")


@route("DELETE", _ONE, "administration:write")
def delete_environment(call: Call) -> Answer:
    """Remove an environment."""
    if call.repository.environments.pop(call.parameters["environment_name"], None) is None:
        raise not_found()
    return Answer(204)
