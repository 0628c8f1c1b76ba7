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
        "can_admins_bypass": one.admins_bypass,
    }


def reviewers(state: State, one: Environment) -> list[Json]:
    """Who must approve."""
    people = [{"type": "User", "reviewer": user(state, account)} for account in one.reviewers]
    return [*people, *({"type": "Team", "reviewer": _team(state, name)} for name in one.teams)]


def _team(state: State, name: str) -> Json:
    """A team; who is in it, only the organisation's members may ask."""
    address = f"{state.url}/organizations/1/team/1"
    return {
        "id": 1,
        "node_id": node_id("T", 1),
        "url": address,
        "html_url": f"{state.web}/orgs/acme/teams/{name}",
        "name": name,
        "slug": name,
        "description": None,
        "permission": "push",
        "type": "organization",
        "members_url": f"{address}/members{{/member}}",
        "repositories_url": f"{address}/repos",
        "parent": None,
    }


def _rules(state: State, one: Environment) -> list[Json]:
    """The rules; each has an id of its own, made from the environment's."""
    rules: list[Json] = []
    if one.wait_timer:
        rules.append({"type": "wait_timer", "wait_timer": one.wait_timer})
    if one.reviewers or one.teams:
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


@route("GET", f"{_ONE}/deployment-branch-policies", "actions:read")
def list_branch_policies(call: Call) -> Answer:
    """Which branches may deploy to an environment."""
    one = call.repository.environments.get(call.parameters["environment_name"])
    if one is None:
        raise not_found()

    def policy(named: tuple[int, str]) -> Json:
        number, name = named
        kind, _, rest = name.rpartition("tag ")
        form = {"name": rest, "type": "tag"} if kind or name.startswith("tag ") else {}
        number += one.id * 100
        plain = {"name": name, "type": "branch"}
        return {"id": number, "node_id": node_id("GB", number), **plain, **form}

    return call.page(list(enumerate(one.branch_names)), policy, "branch_policies")


@route("GET", f"{_ONE}/secrets", "secrets:read")
def list_secrets(call: Call) -> Answer:
    """The names of an environment's secrets; nobody is told what they hold."""
    one = call.repository.environments.get(call.parameters["environment_name"])
    if one is None:
        raise not_found()
    times = {"created_at": one.created, "updated_at": one.updated}
    return call.page(one.secrets, lambda name: {"name": name, **times}, "secrets")
