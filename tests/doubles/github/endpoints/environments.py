"""Environments and what protects them."""

from urllib.parse import quote

from tests.doubles.github.call import Call, route
from tests.doubles.github.delivery import Environment
from tests.doubles.github.messages import Answer, Json, not_found
from tests.doubles.github.shapes import api, node_id, user, web
from tests.doubles.github.state import Repository, State

_ONE = "/repos/{owner}/{repo}/environments/{environment_name}"


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


@route("GET", _ONE, "actions:read")
def get_environment(call: Call) -> Answer:
    """One environment."""
    one = call.repository.environments.get(call.parameters["environment_name"])
    if one is None:
        raise not_found()
    return Answer(200, render(call.state, call.repository, one))
