import base64
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bot.errors import InputError, SafetyStop, WorldError
from bot.forge.github.api import ApiError, GitHubApi, Unprocessable
from bot.forge.github.opening import git_credentials, open_github
from bot.forge.github.pulls import GitHubForge
from bot.forge.port import Annotation, Check, Decision, PullRequestForbidden, PullState, Thread
from bot.forge.trigger import Actor
from bot.git.command import GitCommand
from bot.health.github import examine_github, make_label
from bot.settings import PullRequests, Settings
from tests.bot.forge.drafts import BRANCH, ID
from tests.bot.forge.drafts import github_draft as draft
from tests.bot.workflow.hub import NAME, OWNER, READ, STRANGER, WRITE, World, git, make_world
from tests.doubles.github import GitHubServer


@pytest.fixture
def world(tmp_path: Path, hub: GitHubServer) -> World:
    made = make_world(tmp_path, hub)
    made.hosted.settings.can_approve_pull_request_reviews = True
    return made


def forge_of(
    world: World, permissions: dict[str, str] | None = None, settings: Settings | None = None
) -> GitHubForge:
    api = GitHubApi(NAME, world.token(permissions), world.hub.url, pace=0.0)
    return GitHubForge(api, settings)


def writes(world: World, verb: str = "POST", path: str = "/pulls") -> int:
    return sum(each.method == verb and each.path.endswith(path) for each in world.hub.requests)


def test_a_pull_request_is_opened_once_and_brought_up_to_date(world: World) -> None:
    forge = forge_of(world)
    first = forge.submit(draft(world))
    assert (first.number, first.state, first.draft.correlation_id) == (1, PullState.OPEN, ID)
    assert forge.submit(draft(world)).number == 1
    newer = forge.submit(draft(world, "two"))
    assert (newer.number, newer.draft.title) == (1, "Dip two")
    assert writes(world) == 1
    assert [pull.number for pull in forge.pulls()] == [1]


def test_the_picture_has_an_address_that_private_repositories_show(world: World) -> None:
    wanted = draft(world)
    body = forge_of(world).submit(wanted).draft.body
    path = "artifacts/oversold-dip/strategy/equity.svg?raw=true"
    assert f"](https://github.com/{NAME}/blob/{wanted.head}/{path})" in body


def test_labels_are_added_once_and_drafts_are_drafts(world: World) -> None:
    settings = Settings(pull_requests=PullRequests(draft=True, labels=("stratwright", "ai")))
    forge = forge_of(world, settings=settings)
    number = forge.submit(draft(world)).number
    forge.submit(draft(world))
    row = forge.api.get(f"pulls/{number}")
    assert row["draft"] is True
    assert {label["name"] for label in row["labels"]} == {"stratwright", "ai"}
    assert writes(world, path="/labels") == 1


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "status", "status": 500},
        {"kind": "status", "status": 502, "after": True},
        {"kind": "reset"},
        {"kind": "reset", "after": True},
        {"kind": "secondary_limit"},
    ],
    ids=str,
)
@pytest.mark.parametrize("match", ["POST /repos/*/pulls", "PATCH /repos/*", "GET /repos/*",
                                   "POST /repos/*/labels", "POST /repos/*/comments"])  # fmt: skip
def test_whatever_fails_once_there_is_one_pull_request_and_one_comment(
    world: World, match: str, fault: dict[str, object]
) -> None:
    forge = forge_of(world)
    wanted = draft(world)
    world.hub.faults.add(match, **fault)  # type: ignore[arg-type]
    number = forge.submit(wanted).number
    forge.threads.say(Thread(number), "Hello.", "status")
    world.hub.faults.clear()
    assert [pull.number for pull in forge.pulls()] == [number]
    assert forge.get(number).draft.title == wanted.title
    assert [each.body for each in forge.threads.all(Thread(number))] == ["Hello."]


def test_a_pull_request_that_shows_late_is_not_opened_twice(world: World) -> None:
    forge = forge_of(world)
    wanted = draft(world)
    world.hub.faults.add("GET /repos/*/pulls", "stale", skip=1, times=2)
    forge.submit(wanted)
    assert writes(world) == 1


def test_a_forge_that_stays_away_is_told_with_what_to_do(world: World) -> None:
    forge = forge_of(world)
    wanted = draft(world)
    world.hub.faults.add("POST /repos/*/pulls", status=503, times=99)
    with pytest.raises(WorldError, match="503") as told:
        forge.submit(wanted)
    assert told.value.hint
    assert not forge.pulls()


def test_a_used_up_rate_limit_is_told_with_its_end(world: World) -> None:
    token = world.token()
    forge = GitHubForge(GitHubApi(NAME, token, world.hub.url, pace=0.0))
    world.hub.use_up(token, reset_in_s=3600)
    with pytest.raises(ApiError, match=r"used up until \d\d:\d\d UTC"):
        forge.find(BRANCH)


def test_retry_after_is_honoured(world: World) -> None:
    slept: list[float] = []
    api = GitHubApi(NAME, world.token(), world.hub.url, pace=1.0, sleep=slept.append)
    world.hub.faults.add("GET /repos/*", "secondary_limit", retry_after_s=7)
    api.get("")
    assert slept == [7.0]


def test_a_forbidden_pull_request_gives_a_link_instead(world: World) -> None:
    world.hosted.settings.can_approve_pull_request_reviews = False
    with pytest.raises(PullRequestForbidden) as told:
        forge_of(world).submit(draft(world))
    assert told.value.link.startswith(f"https://github.com/{NAME}/compare/main...{BRANCH}?expand=1")
    assert "Settings > Actions" in told.value.hint


def test_a_closed_pull_request_is_not_reopened_unless_asked(world: World) -> None:
    forge = forge_of(world)
    wanted = draft(world)
    number = forge.submit(wanted).number
    closed = forge.close(number, "The contract is gone.")
    assert closed.state is PullState.CLOSED
    assert forge.submit(wanted).state is PullState.CLOSED
    assert forge.submit(wanted, reopen=True).state is PullState.OPEN
    assert [each.body for each in forge.threads.all(Thread(number))] == ["The contract is gone."]


def test_a_changed_contract_may_ask_anew_after_a_no(world: World) -> None:
    forge = forge_of(world)
    forge.close(forge.submit(draft(world)).number)
    assert forge.submit(draft(world, "two", "corr_ffffffffffff")).number == 2


def test_a_persons_own_pull_request_keeps_its_text(world: World) -> None:
    wanted = draft(world)
    alice = GitHubApi(NAME, world.hub.token_for("alice"), world.hub.url, pace=0.0)
    body = {"title": "Mine", "head": BRANCH, "base": "main", "body": "My words."}
    alice.write("POST", "pulls", body)
    forge = forge_of(world)
    pull = forge.submit(wanted)
    assert (pull.author, forge.get(pull.number).draft.body) == ("alice", "My words.")
    assert [each.marker for each in forge.threads.all(Thread(pull.number))] == ["evidence"]


def test_a_comment_is_found_by_marker_and_author_and_edited_in_place(world: World) -> None:
    forge = forge_of(world)
    issue = world.hosted.open_issue("x").number
    world.hosted.say(issue, "<!-- stratwright:status -->\nI am the bot.", "mallory")
    forge.threads.say(Thread(issue), "One.", "status")
    forge.threads.say(Thread(issue), "Two.", "status")
    said = forge.threads.all(Thread(issue))
    assert [(each.author, each.body) for each in said] == [
        ("mallory", "I am the bot."),
        ("github-actions[bot]", "Two."),
    ]


def test_an_older_run_leaves_a_newer_runs_comment_alone(world: World) -> None:
    forge = forge_of(world)
    issue = world.hosted.open_issue("x").number
    forge.threads.say(Thread(issue), "New.", "status", run=200)
    forge.threads.say(Thread(issue), "Old.", "status", run=100)
    assert [each.body for each in forge.threads.all(Thread(issue))] == ["New."]


def test_a_second_comment_of_ours_is_taken_away(world: World) -> None:
    forge = forge_of(world)
    issue = world.hosted.open_issue("x").number
    for _ in range(2):
        world.hosted.say(issue, "<!-- stratwright:status -->\nTwice.", "github-actions[bot]")
    forge.threads.say(Thread(issue), "Once.", "status")
    assert [each.body for each in forge.threads.all(Thread(issue))] == ["Once."]


@pytest.mark.parametrize("edits", [1, 3])
def test_an_edit_that_comes_between_writing_and_looking_is_written_over(
    world: World, monkeypatch: pytest.MonkeyPatch, edits: int
) -> None:
    ours, others = forge_of(world), forge_of(world)
    issue = world.hosted.open_issue("x").number
    others.threads.say(Thread(issue), "Before.", "status", run=100)
    write, left = GitHubApi.write, list(range(edits))

    def overtaken(api: GitHubApi, verb: str, path: str, body: dict[str, str]) -> object:
        made = write(api, verb, path, body)
        if api is ours.threads._api and left:  # the other job's edit is last, then we look
            write(others.threads._api, verb, path, {"body": body["body"] + str(left.pop())})
        return made

    monkeypatch.setattr(GitHubApi, "write", overtaken)
    assert ours.threads.say(Thread(issue), "Ours.", "status", run=100).body == "Ours."
    assert [each.body for each in ours.threads.all(Thread(issue))] == ["Ours."]


def test_a_marker_is_found_behind_many_comments(world: World) -> None:
    forge = forge_of(world)
    issue = world.hosted.open_issue("x").number
    forge.threads.say(Thread(issue), "First.", "status")
    for number in range(230):
        world.hosted.say(issue, f"noise {number}", "alice")
    forge.threads.say(Thread(issue), "Edited.", "status")
    assert [each.body for each in forge.threads.all(Thread(issue)) if each.marker] == ["Edited."]


def report(head: str, passed: bool = False, count: int = 120) -> Check:
    remarks = tuple(Annotation("contracts/a.yaml", line, f"bad {line}") for line in range(1, count))
    return Check("stratwright", head, "key", passed, "Title", "Summary", remarks)


def test_a_check_run_carries_all_annotations_and_is_written_once(world: World) -> None:
    forge = forge_of(world)
    head = git(world.bare, "rev-parse", "main")
    assert forge.checks.report(report(head)) == "check run"
    assert forge.checks.report(report(head)) == "check run"
    run = forge.checks.read(head)
    assert run is not None
    assert (run["conclusion"], run["output"]["annotations_count"]) == ("failure", 119)
    assert writes(world, path="/check-runs") == 1


def test_without_the_right_to_check_runs_a_status_is_written_once(world: World) -> None:
    forge = forge_of(world, {**WRITE, "checks": "none"})
    head = git(world.bare, "rev-parse", "main")
    assert forge.checks.report(report(head)) == "commit status"
    assert forge.checks.report(report(head)) == "commit status"
    rows = forge.api.get(f"commits/{head}/statuses")
    assert [(row["state"], row["context"]) for row in rows] == [("failure", "stratwright")]


def test_orders_are_taken_by_number_and_permission(world: World) -> None:
    forge = forge_of(world, READ)
    assert forge.people.may_command(Actor(OWNER, "alice", "User"))
    assert not forge.people.may_command(Actor(STRANGER, "mallory", "User"))
    assert not forge.people.may_command(Actor(STRANGER, "alice", "User"))
    assert not forge.people.may_command(Actor(9, "nobody-here", "User"))
    world.hosted.set_permission("alice", "read")
    assert not forge.people.may_command(Actor(OWNER, "alice", "User"))


def test_the_bot_never_reviews(world: World) -> None:
    with pytest.raises(SafetyStop):
        forge_of(world).people.review(1, Decision.APPROVED, "a" * 40)


def test_a_missing_pull_request_is_the_callers_mistake(world: World) -> None:
    with pytest.raises(InputError):
        forge_of(world).get(99)


def test_the_token_goes_to_git_by_environment_for_one_server_only() -> None:
    given = {"GITHUB_TOKEN": "ghs_secret", "GIT_CONFIG_COUNT": "2"}
    made = git_credentials(given)
    assert made["GIT_CONFIG_COUNT"] == "3"
    assert made["GIT_CONFIG_KEY_2"] == "http.https://github.com/.extraheader"
    assert "ghs_secret" not in str(made)
    assert git_credentials({}) == {}


def test_a_forge_without_token_or_name_says_what_to_set() -> None:
    with pytest.raises(InputError, match="token"):
        open_github(environment={})
    with pytest.raises(InputError, match="not a repository"):
        open_github(environment={"GITHUB_TOKEN": "x", "GITHUB_REPOSITORY": "../x"})


def test_the_token_is_in_no_message(world: World) -> None:
    api = GitHubApi(NAME, "ghs_wrongtoken1234567890", world.hub.url, pace=0.0)
    with pytest.raises(ApiError) as told:
        api.get("")
    assert "ghs_wrong" not in f"{told.value.message}{told.value.hint}"


def test_the_doctor_says_what_to_click(world: World) -> None:
    world.hosted.settings.can_approve_pull_request_reviews = False
    admin = GitHubApi(NAME, world.hub.token_for("acme"), world.hub.url, pace=0.0)
    world.hosted.set_permission("acme", "admin")
    found = {each.name: each for each in examine_github(GitHubForge(admin))}
    assert not found["workflow"].well
    assert "settings/actions" in found["pull requests"].hint
    assert "settings/environments" in found["live"].hint
    assert "labels" in found["label"].hint
    world.hosted.settings.can_approve_pull_request_reviews = True
    world.hosted.add_label("stratwright")
    world.hosted.add_environment("live", ["alice"])
    world.commit(
        {".github/workflows/stratwright.yml": "x", ".github/ISSUE_TEMPLATE/strategy.yml": "x"}
    )
    assert all(each.well for each in examine_github(GitHubForge(admin)) if each.needed)


def test_the_doctor_does_not_guess_what_a_token_may_not_ask(world: World) -> None:
    found = {each.name: each for each in examine_github(forge_of(world, READ))}
    assert "may not ask" in found["pull requests"].detail


def test_a_missing_label_is_a_problem_and_one_that_differs_by_case_is_none(world: World) -> None:
    found = {each.name: each for each in examine_github(forge_of(world, READ))}
    assert (found["label"].well, found["label"].needed) == (False, True)
    assert 'gh label create "stratwright"' in found["label"].hint
    world.hosted.add_label("Stratwright")
    found = {each.name: each for each in examine_github(forge_of(world, READ))}
    assert found["label"].well
    forge = forge_of(world)
    assert forge.submit(draft(world)).number == 1


def test_a_missing_label_is_made_once(world: World) -> None:
    for _ in range(2):
        make_label(forge_of(world))
    found = {each.name: each for each in examine_github(forge_of(world, READ))}
    assert found["label"].well


def test_a_token_that_may_not_make_a_label_says_so(world: World) -> None:
    with pytest.raises(ApiError):
        make_label(forge_of(world, READ))


def test_one_question_without_answer_does_not_lose_the_doctors_report(world: World) -> None:
    world.hub.faults.add("GET /repos/*/labels/*", status=500, times=99)
    found = {each.name: each for each in examine_github(forge_of(world, READ))}
    assert "500" in found["label"].detail
    assert set(found) >= {"github", "token", "workflow", "pull requests", "label", "live"}


@pytest.mark.parametrize("status", [500, 502, 503])
def test_retry_after_is_honoured_when_github_is_away(world: World, status: int) -> None:
    slept: list[float] = []
    api = GitHubApi(NAME, world.token(), world.hub.url, pace=1.0, sleep=slept.append)
    world.hub.faults.add("GET /repos/*", status=status, headers={"Retry-After": "9"})
    api.get("issues")
    assert slept == [9.0]


def test_an_apps_comment_is_found_under_the_name_that_github_gives_it(world: World) -> None:
    """The settings name another bot; one comment is made, and none is removed again."""
    say_as_app(world, 3)
    writes = [(each.method, each.path) for each in world.hub.requests if each.method != "GET"]
    made = [path for method, path in writes if (method, path[-9:]) == ("POST", "/comments")]
    assert len(made) == 1
    assert "DELETE" not in {method for method, _ in writes}


def test_where_github_does_not_tell_the_name_the_answer_to_a_comment_does(world: World) -> None:
    world.hub.faults.add("POST /graphql", status=404, times=99)
    say_as_app(world, 3)
    assert "/graphql" in {each.path for each in world.hub.requests}


def say_as_app(world: World, runs: int) -> None:
    """Say something in several runs; there is one comment, with the last word."""
    app = world.hub.create_app("my-app", "")
    world.hub.install(app, [NAME], WRITE)
    number = world.hosted.open_issue("x", "y", "alice", []).number
    for run in range(1, runs + 1):
        token = world.hub.token_for(app.login, WRITE, NAME)
        forge = GitHubForge(GitHubApi(NAME, token, world.hub.url, pace=0.0))
        forge.threads.say(Thread(number), f"word {run}", "status", run)
        (said,) = forge.threads.all(Thread(number))
        assert (said.author, said.body) == ("my-app[bot]", f"word {run}")


def test_a_reopening_that_github_refuses_without_a_reason_opens_no_second_one(world: World) -> None:
    forge = forge_of(world)
    wanted = draft(world)
    number = forge.submit(wanted).number
    forge.close(number)
    world.hub.faults.add(f"PATCH /repos/*/pulls/{number}", status=422)
    with pytest.raises(Unprocessable):
        forge.submit(wanted, reopen=True)
    assert [each.number for each in forge.pulls()] == [number]
    assert forge.submit(wanted, reopen=True).number == number


def test_what_has_not_changed_is_read_again_for_nothing(world: World) -> None:
    api = GitHubApi(NAME, world.token(), world.hub.url, pace=0.0)
    world.hosted.open_issue("x", "y", "alice", [])
    first = api.get("issues", per_page=100)
    first.append("ours to change")
    before = api.counted
    assert api.get("issues", per_page=100) == first[:-1]
    assert (api.calls, api.counted, before) == (2, 1, 1)
    world.hosted.record.issues.clear()
    assert api.get("issues", per_page=100) == []
    assert (api.calls, api.counted) == (3, 2)
    assert [each.status for each in world.hub.requests[-3:]] == [200, 304, 200]


def test_no_more_answers_are_kept_than_a_job_needs(world: World) -> None:
    api = GitHubApi(NAME, world.token(), world.hub.url, pace=0.0)
    for page in range(1, 120):
        api.get("issues", per_page=1, page=page)
    before = api.counted
    api.get("issues", per_page=1, page=119)
    assert api.counted == before
    api.get("issues", per_page=1, page=1)
    assert api.counted == before + 1


def test_git_shows_the_token_to_its_server_and_to_no_other(tmp_path: Path) -> None:
    """A real Git, a real address: the header arrives where it belongs, and only there."""
    heard: dict[int, list[str]] = {}

    class Listener(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            port = self.server.server_address[1]
            heard.setdefault(port, []).append(self.headers.get("Authorization", ""))
            self.send_error(404)

        def log_message(self, *arguments: object) -> None:
            return

    servers = [ThreadingHTTPServer(("127.0.0.1", 0), Listener) for _ in range(2)]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    ours, other = (server.server_address[1] for server in servers)
    try:
        environment = {"GITHUB_TOKEN": "ghs_abc", "GITHUB_SERVER_URL": f"http://127.0.0.1:{ours}"}
        command = GitCommand(tmp_path).knowing(git_credentials(environment))
        for port in (ours, other):
            answer = command.run("ls-remote", f"http://127.0.0.1:{port}/o/r.git")
            assert answer.code != 0
            assert "ghs_abc" not in answer.err
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()
    secret = base64.b64encode(b"x-access-token:ghs_abc").decode()
    assert heard[ours][0] == f"basic {secret}"
    assert set(heard[other]) == {""}


def test_the_last_check_of_a_tag_says_for_whom_it_was_written(world: World) -> None:
    head = git(world.bare, "rev-parse", "main")
    granted = {name: WRITE[name] for name in ("contents", "checks")}
    world.hosted.record.private = True
    checks = forge_of(world, granted).checks
    assert checks.find(head) is None  # and statuses may not even be read
    checks.report(Check("stratwright", head, "tag", True, "t", "s", link="https://x.test/1"))
    found = checks.find(head)
    assert found is not None
    assert (found.key, found.link) == ("tag", "https://x.test/1")


def test_a_status_stands_for_a_check_that_may_not_be_written(world: World) -> None:
    head = git(world.bare, "rev-parse", "main")
    granted = {name: WRITE[name] for name in ("contents", "statuses")}
    world.hosted.record.private = True
    checks = forge_of(world, granted).checks
    wanted = Check("stratwright", head, "tag", True, "t", "s", link="https://x.test/2")
    assert checks.report(wanted) == "commit status"
    found = checks.find(head)
    assert found is not None
    assert (found.key, found.link, found.passed) == ("", "https://x.test/2", True)
