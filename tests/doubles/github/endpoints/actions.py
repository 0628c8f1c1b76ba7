"""Workflow runs, what they wait for, and who let them go on."""

from tests.doubles.github.accounts import Account
from tests.doubles.github.call import Call, route
from tests.doubles.github.delivery import Approval, Deployment, Environment, WorkflowRun
from tests.doubles.github.endpoints import deployments, environments
from tests.doubles.github.endpoints.checks import head_commit
from tests.doubles.github.endpoints.pull_views import with_head
from tests.doubles.github.messages import Answer, Json, Refusal, not_found
from tests.doubles.github.shapes import api, minimal_repository, node_id, user, web
from tests.doubles.github.state import Repository, State

_RUNS = "/repos/{owner}/{repo}/actions/runs"
_RUN = f"{_RUNS}/{{run_id}}"


def render(state: State, repository: Repository, run: WorkflowRun) -> Json:
    """A run."""
    home, name = api(state, repository), run.workflow.rpartition("/")[2]
    address = f"{home}/actions/runs/{run.id}"
    paths = ("jobs", "logs", "artifacts", "cancel", "rerun")
    inside = minimal_repository(state, repository)
    return {
        "id": run.id,
        "name": name,
        "node_id": node_id("WFR", run.id),
        "head_branch": run.head_branch,
        "head_sha": run.head_sha,
        "path": run.workflow,
        "run_number": run.number,
        "run_attempt": 1,
        "event": run.event,
        "display_title": name,
        "status": run.status,
        "conclusion": run.conclusion,
        "workflow_id": repository.id,
        "check_suite_id": run.id,
        "check_suite_node_id": node_id("CS", run.id),
        "url": address,
        "html_url": f"{web(state, repository)}/actions/runs/{run.id}",
        **{f"{path}_url": f"{address}/{path}" for path in paths},
        "check_suite_url": f"{home}/check-suites/{run.id}",
        "workflow_url": f"{home}/actions/workflows/{repository.id}",
        "pull_requests": with_head(state, repository, run.head_sha),
        "created_at": run.created,
        "updated_at": run.created,
        "run_started_at": run.created,
        "actor": user(state, run.actor),
        "triggering_actor": user(state, run.again_by or run.actor),
        "head_commit": head_commit(repository, run.head_sha),
        "repository": inside,
        "head_repository": inside,
    }


def _find(call: Call) -> WorkflowRun:
    run = call.repository.runs.get(call.number("run_id"))
    if run is None:
        raise not_found()
    return run


def _may_approve(one: Environment, run: WorkflowRun, account: Account | None) -> bool:
    own = one.prevent_self_review and account == run.actor
    return account in one.reviewers and not own


@route("GET", _RUN, "actions:read")
def get_run(call: Call) -> Answer:
    """One run."""
    return Answer(200, render(call.state, call.repository, _find(call)))


@route("GET", f"{_RUN}/pending_deployments", "actions:read")
def list_pending(call: Call) -> Answer:
    """What a run waits for."""
    run, known = _find(call), call.repository.environments
    account = call.token.account if call.token else None

    def pending(name: str) -> Json:
        one = known[name]
        return {
            "environment": environments.render_short(call.state, call.repository, one),
            "wait_timer": one.wait_timer,
            "wait_timer_started_at": run.created if one.wait_timer else None,
            "current_user_can_approve": _may_approve(one, run, account),
            "reviewers": environments.reviewers(call.state, one),
        }

    return Answer(200, [pending(name) for name in run.waiting])


@route("POST", f"{_RUN}/pending_deployments", "deployments:write")
def review_pending(call: Call) -> Answer:
    """Let a run go on, or stop it; only its environment's reviewers can."""
    run, home, word = _find(call), call.repository, call.body.get("state")
    wanted = set(call.body.get("environment_ids") or [])
    names = [name for name in run.waiting if home.environments[name].id in wanted]
    if word not in ("approved", "rejected") or not names:
        raise Refusal(422, "No pending deployment requests to approve or reject")
    if not all(_may_approve(home.environments[name], run, call.actor) for name in names):
        raise Refusal(403, "You are not authorized to approve or reject this deployment.")
    run.approvals.append(Approval(word, call.body.get("comment") or "", call.actor, names))
    run.waiting = [name for name in run.waiting if name not in names]
    if word == "rejected":
        run.status, run.conclusion, run.waiting = "completed", "failure", []
    elif not run.waiting:
        run.status = "in_progress"
    made = [_deployment(call, run, name) for name in names]
    return Answer(200, [deployments.render(call.state, home, each) for each in made])


def _deployment(call: Call, run: WorkflowRun, name: str) -> Deployment:
    made = Deployment(
        call.state.next_id(), run.head_sha, run.head_branch, "deploy", name, run.actor, {}, None,
        call.state.time(),
    )  # fmt: skip
    call.repository.deployments[made.id] = made
    return made


@route("GET", f"{_RUN}/approvals", "actions:read")
def list_approvals(call: Call) -> Answer:
    """Who said what: no time and no SHA, as on GitHub."""
    home, known = call.repository, call.repository.environments

    def whole(given: Approval) -> Json:
        found = [known[name] for name in given.environments if name in known]
        places = [environments.render(call.state, home, one) for one in found]
        keys = ("id", "node_id", "name", "url", "html_url", "created_at", "updated_at")
        return {
            "state": given.state,
            "comment": given.comment,
            "environments": [{key: place[key] for key in keys} for place in places],
            "user": user(call.state, given.user),
        }

    return Answer(200, [whole(given) for given in _find(call).approvals])
