"""GitHub's environments to the gate that is in force on this plan, and to what is to click."""

from collections.abc import Iterator

from bot.errors import MANUAL
from bot.forge.deploys import Gate
from bot.forge.github.api import Forbidden, Missing, Row
from bot.forge.github.pulls import GitHubForge
from bot.health.machine import Finding
from bot.settings import DEPLOY_WORKFLOW

ENVIRONMENTS = ("paper", "live")
SECRET = "STRATWRIGHT_DEPLOY_PRIVATE_KEY"  # noqa: S105 - the secret's name


def examine_environments(forge: GitHubForge, home: Row, branch: str) -> Iterator[Finding]:
    """Say what protects each environment; nothing of it is needed to propose strategies."""
    yield _workflow(forge, branch)
    gates: dict[str, Gate | None] = {}
    for name in ENVIRONMENTS:
        try:
            gates[name] = forge.deploys.gate(name)
        except Forbidden:
            detail = "this token may not ask what protects it; one with actions: read may"
            yield Finding(name, False, detail, _page(forge), needed=False)
            continue
        yield from _environment(forge, name, gates[name], home, branch)
    yield _in_force(gates, home)


def _page(forge: GitHubForge) -> str:
    return f"{forge.address}/settings/environments"


def _workflow(forge: GitHubForge, branch: str) -> Finding:
    try:
        forge.api.get(f"contents/{DEPLOY_WORKFLOW}", ref=branch)
    except (Missing, Forbidden):
        hint = "Write it: stratwright init --deploy; then commit and push it."
        detail = f"{DEPLOY_WORKFLOW} is not on {branch}"
        return Finding("deploy workflow", False, detail, hint, needed=False)
    return Finding("deploy workflow", True, DEPLOY_WORKFLOW, needed=False)


def _environment(
    forge: GitHubForge, name: str, gate: Gate | None, home: Row, branch: str
) -> Iterator[Finding]:
    """Look at one environment: what is wrong with it, a line each."""
    page = _page(forge)
    if gate is None:
        plan = (
            " Private repositories of the Free plan have no environments: there a person's own key "
            "is the gate (stratwright approve)."
            if home.get("private")
            else ""
        )
        detail = f"there is no environment {name}"
        hint = f"{page} > New environment > {name}.{plan}"
        yield Finding(name, False, detail, hint, needed=False)
        return
    wrong = [*_missing(gate, home, branch, page)]
    for detail, hint in wrong:
        yield Finding(name, False, detail, hint, needed=False)
    if not wrong:
        people = len(gate.reviewers) + gate.teams
        yield Finding(name, True, f"{people} reviewer(s), only {branch} deploys", needed=False)
    if not forge.settings.deploy.target(name):
        hint = f"{MANUAL}/approval.md shows it; without it nothing is approved there."
        yield Finding(name, False, f"stratwright.yml has no deploy.{name}", hint, needed=False)
    yield _key(forge, name)


def _missing(gate: Gate, home: Row, branch: str, page: str) -> Iterator[tuple[str, str]]:
    click = f"{page} > {gate.name}"
    if gate.is_open(branch):
        names = ", ".join(gate.branches or ("every branch",))
        words = "below Enterprise any writer's workflow may take the key"
        hint = f"{click} > Deployment branches and tags > Selected > {branch}, and no other."
        yield f"{names} may deploy to {gate.name}: {words}", hint
    if not gate.waits:
        private = " On a private repository this needs Enterprise." if home.get("private") else ""
        detail = f"the environment {gate.name} has no required reviewers: GitHub lets runs through"
        hint = (
            f"{click} > Required reviewers.{private} Reviews and /stratwright approve count anyway."
        )
        yield detail, hint
        return
    if not gate.no_self_review:
        yield (
            f"who starts a run may let it into {gate.name}; such an approval does not count",
            f"{click} > tick “Prevent self-review”.",
        )
    if gate.admins_bypass:
        yield (
            f"administrators may go around the reviewers of {gate.name}; that does not count",
            f"{click} > untick “Allow administrators to bypass configured protection rules”.",
        )


def _key(forge: GitHubForge, name: str) -> Finding:
    hint = f"stratwright init --deploy prints the commands that make it for {name}."
    try:
        found = forge.api.get(f"environments/{name}/secrets")
    except (Forbidden, Missing):
        detail = f"this token may not ask for secrets of {name}; one with environments: read may"
        return Finding(f"{name} key", False, detail, hint, needed=False)
    names = {str(row["name"]) for row in found.get("secrets") or ()}
    detail = f"{SECRET} is {'there' if SECRET in names else 'missing'}"
    return Finding(f"{name} key", SECRET in names, detail, hint, needed=False)


def _in_force(gates: dict[str, Gate | None], home: Row) -> Finding:
    """Name the gate that holds on this plan, in one sentence."""
    live = gates.get("live")
    if live is None:
        detail = "a person's own key (stratwright approve): GitHub has no environment live here"
    elif live.waits:
        detail = "GitHub's reviewers of live, each approval checked again, and people's own keys"
    else:
        kind = "this private repository" if home.get("private") else "the environment live"
        detail = f"reviews, comments and people's own keys: {kind} has no required reviewers"
    return Finding("gate in force", True, f"for live: {detail}", needed=False)
