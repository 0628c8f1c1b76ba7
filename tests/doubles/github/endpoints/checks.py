"""Check runs and check suites; only Apps can make them, and each changes its own."""

from tests.doubles.github.accounts import App
from tests.doubles.github.call import Call, route
from tests.doubles.github.delivery import CheckRun, CheckSuite
from tests.doubles.github.endpoints.pull_views import with_head
from tests.doubles.github.git_store import SHA
from tests.doubles.github.messages import Answer, Json, Refusal, invalid, not_found
from tests.doubles.github.shapes import api, app, node_id, web
from tests.doubles.github.state import Repository, State

_HOME = "/repos/{owner}/{repo}"
_RUN = f"{_HOME}/check-runs/{{check_run_id}}"
_MAX_ANNOTATIONS = 50
_MAX_TEXT = 65535
_CONCLUSIONS = frozenset(
    ("action_required", "cancelled", "failure", "neutral", "success", "skipped", "stale")
) | {"timed_out"}


def render(state: State, repository: Repository, run: CheckRun) -> Json:
    """A check run."""
    address = f"{api(state, repository)}/check-runs/{run.id}"
    page = f"{web(state, repository)}/runs/{run.id}"
    return {
        "id": run.id,
        "name": run.name,
        "node_id": node_id("CR", run.id),
        "head_sha": run.head_sha,
        "external_id": run.external_id,
        "url": address,
        "html_url": page,
        "details_url": run.details_url or page,
        "status": run.status,
        "conclusion": run.conclusion,
        "started_at": run.started,
        "completed_at": run.completed,
        "output": {
            **{key: run.output.get(key) for key in ("title", "summary", "text")},
            "annotations_count": len(run.annotations),
            "annotations_url": f"{address}/annotations",
        },
        "check_suite": {"id": run.suite},
        "app": app(state, run.app),
        "pull_requests": with_head(state, repository, run.head_sha),
    }


def head_commit(repository: Repository, sha: str) -> Json:
    """A commit, as it appears inside suites and runs."""
    commit = repository.git.commit(sha)
    return {
        "id": sha,
        "tree_id": commit.tree,
        "message": commit.message,
        "timestamp": commit.committer.json["date"],
        "author": {"name": commit.author.name, "email": commit.author.email},
        "committer": {"name": commit.committer.name, "email": commit.committer.email},
    }


def _app(call: Call) -> App:
    if call.token is None or call.token.app is None:
        raise Refusal(403, "You must authenticate via a GitHub App.")
    return call.token.app


def _find(call: Call) -> CheckRun:
    run = call.repository.checks.get(call.number("check_run_id"))
    if run is None:
        raise not_found()
    return run


def _suite(call: Call, maker: App, sha: str) -> CheckSuite:
    for suite in call.repository.suites.values():
        if (suite.app, suite.head_sha) == (maker, sha):
            return suite
    suite = CheckSuite(call.state.next_id(), maker, sha, call.state.time())
    call.repository.suites[suite.id] = suite
    return suite


def _fill(call: Call, run: CheckRun) -> None:
    """Take over what a request says about a run."""
    body, at = call.body, call.state.time()
    status, conclusion = body.get("status"), body.get("conclusion")
    if conclusion is not None and conclusion not in _CONCLUSIONS:
        raise invalid("CheckRun", "invalid", "conclusion")
    if status == "completed" and conclusion is None and run.conclusion is None:
        raise invalid("CheckRun", "missing_field", "conclusion")
    _fill_output(run, body.get("output"))
    run.name = body.get("name", run.name)
    run.details_url = body.get("details_url", run.details_url)
    run.external_id = body.get("external_id", run.external_id)
    run.started = body.get("started_at") or run.started or at
    run.status = "completed" if conclusion else status or run.status
    run.conclusion = conclusion or (run.conclusion if run.status == "completed" else None)
    if run.status == "completed":
        run.completed = body.get("completed_at") or run.completed or at
    else:
        run.completed = None


def _fill_output(run: CheckRun, output: Json | None) -> None:
    if output is None:
        return
    annotations = output.get("annotations") or []
    if len(annotations) > _MAX_ANNOTATIONS:
        message = f"annotations exceeds the maximum quantity of {_MAX_ANNOTATIONS}"
        raise invalid("CheckRun", "invalid", "annotations", message)
    for key in ("summary", "text"):
        if len(output.get(key) or "") > _MAX_TEXT:
            message = f"{key} exceeds a maximum bytesize of {_MAX_TEXT}"
            raise invalid("CheckRun", "invalid", key, message)
    for one in annotations:
        if one["start_line"] != one["end_line"] and ("start_column" in one or "end_column" in one):
            message = "start_column and end_column need a single line"
            raise invalid("CheckRun", "invalid", "annotations", message)
    run.output = {**run.output, **{k: v for k, v in output.items() if k != "annotations"}}
    run.annotations = [*run.annotations, *annotations]


@route("POST", f"{_HOME}/check-runs", "checks:write")
def create_run(call: Call) -> Answer:
    """A new run; the same name on the same commit gives another one, the newest counts."""
    maker, name = _app(call), call.need("CheckRun", "name")
    sha = call.need("CheckRun", "head_sha")
    if not SHA.fullmatch(sha) or call.repository.git.kind(sha) != "commit":
        raise Refusal(422, f"No commit found for SHA: {sha}")
    run = CheckRun(call.state.next_id(), 0, maker, name, sha)
    _fill(call, run)
    run.suite = _suite(call, maker, sha).id
    call.repository.checks[run.id] = run
    return Answer(201, render(call.state, call.repository, run))


@route("GET", _RUN, "checks:read")
def get_run(call: Call) -> Answer:
    """One run."""
    return Answer(200, render(call.state, call.repository, _find(call)))


@route("PATCH", _RUN, "checks:write")
def update_run(call: Call) -> Answer:
    """Change a run; annotations are added to those it has."""
    run, maker = _find(call), _app(call)
    if run.app.id != maker.id:
        message = (
            f"Invalid app_id `{maker.id}` - check run can only be modified by the GitHub App "
            "that created it."
        )
        raise Refusal(403, message)
    _fill(call, run)
    return Answer(200, render(call.state, call.repository, run))


@route("GET", f"{_RUN}/annotations", "checks:read")
def list_annotations(call: Call) -> Answer:
    """What a run says about lines of files."""
    run = _find(call)
    blob = f"{web(call.state, call.repository)}/blob/{run.head_sha}"
    keys = ("start_column", "end_column", "title", "raw_details")

    def whole(one: Json) -> Json:
        return {**dict.fromkeys(keys), **one, "blob_href": f"{blob}/{one['path']}"}

    return call.page(run.annotations, whole)


@route("GET", f"{_HOME}/commits/{{ref}}/check-runs", "checks:read")
def list_for_ref(call: Call) -> Answer:
    """The runs on a commit: of each name the newest, unless all are asked for."""
    query, sha = call.request.query, call.commit(call.parameters["ref"])
    runs = [run for _, run in sorted(call.repository.checks.items()) if run.head_sha == sha]
    return _list(
        call, [run for run in runs if query.get("app_id", str(run.app.id)) == str(run.app.id)]
    )


def _list(call: Call, runs: list[CheckRun]) -> Answer:
    query = call.request.query
    if query.get("filter", "latest") == "latest":
        runs = list({(run.app.id, run.name): run for run in runs}.values())
    runs = [run for run in runs if query.get("check_name", run.name) == run.name]
    runs = [run for run in runs if query.get("status", run.status) == run.status]
    newest_first = sorted(runs, key=lambda run: -run.id)
    return call.page(
        newest_first, lambda run: render(call.state, call.repository, run), "check_runs"
    )
