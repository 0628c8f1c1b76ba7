"""States of GitHub in which nothing is signed: each is refused with its own code."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from bot.approval.chain import BRANCH
from bot.settings import DEPLOY_WORKFLOW
from tests.bot.approval.worlds import CONTRACT, propose
from tests.bot.git.worlds import TASK
from tests.bot.workflow import deploys
from tests.bot.workflow.deploys import BOT, SETTINGS, TARGET, Ran, Scene, make_scene, proposed
from tests.bot.workflow.hub import NAME, git, push, user
from tests.bot.workflow.line import variables
from tests.doubles.github import GitHubServer
from tests.doubles.github.accounts import App

Try = Callable[[Scene], Ran]
CASES: dict[str, tuple[str, Try]] = {}


def case(code: str) -> Callable[[Try], Try]:
    """Add a state with the code that refuses it."""

    def add(attempt: Try) -> Try:
        CASES[attempt.__name__.replace("_", " ")] = (code, attempt)
        return attempt

    return add


def told(ran: Ran) -> set[str]:
    codes = re.findall(r"\[([a-z-]+)\]", ran.log)
    return {*codes, *re.findall(r"- `([a-z-]+)`", ran.summary)}


def days_ago(scene: Scene, days: float) -> str:
    at = scene.world.hub.state.now() - timedelta(days=days)
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def again(scene: Scene, settings: str) -> Scene:
    """The same task under other settings of the default branch."""
    scene.world.commit({"stratwright.yml": settings})
    return proposed(scene, "under other settings")


def live(scene: Scene, **inputs: str) -> Ran:
    return scene.run(*scene.dispatched(environment="live", **inputs))


@case("review-dismissed")
def a_dismissed_review(scene: Scene) -> Ran:
    scene.world.hosted.review(1, "bob", "DISMISSED")
    return scene.run(*scene.dispatched())


@case("edited-approval")
def an_edited_review(scene: Scene) -> Ran:
    scene.world.hosted.review(1, "bob").edited = days_ago(scene, 0)
    return scene.run(*scene.dispatched())


@case("other-commit")
def a_review_of_an_older_head(scene: Scene) -> Ran:
    scene.world.hosted.review(1, "bob", commit=git(scene.world.bare, "rev-parse", "main"))
    return scene.run(*scene.dispatched())


@case("changes-requested")
def changes_requested_after_the_approval(scene: Scene) -> Ran:
    scene.world.hosted.review(1, "bob")
    scene.world.hosted.review(1, "bob", "CHANGES_REQUESTED")
    return scene.run(*scene.dispatched())


@case("changes-requested")
def a_comment_of_somebody_who_requested_changes(scene: Scene) -> Ran:
    said = scene.approval()
    scene.world.hosted.review(1, "bob", "CHANGES_REQUESTED")
    return scene.run(*scene.commented(said))


@case("self-approval")
def a_review_by_the_author(scene: Scene) -> Ran:
    scene.world.hosted.review(1, "alice")
    return scene.run(*scene.dispatched("bob"))


@case("self-approval")
def a_review_by_who_asks_for_the_deployment(scene: Scene) -> Ran:
    scene.world.hosted.review(1, "bob")
    return scene.run(*scene.dispatched("bob"))


@case("too-few-approvers")
def a_review_of_these_bytes_under_another_pull_request(scene: Scene) -> Ran:
    world = scene.world
    git(world.bare, "update-ref", "refs/heads/mine", scene.head)
    issue = world.hosted.open_issue("mine", "", "alice")
    made = next(world.hosted.record.pulls()).pull
    assert made is not None
    issue.pull = replace(made, head="mine", reviews=[])
    world.hosted.review(issue.number, "bob", commit=scene.head)
    return scene.run(*scene.dispatched())


@case("self-approval")
def who_starts_anothers_run_again_and_approves_it(scene: Scene) -> Ran:
    return of_run(scene, again_by=scene.world.hub.state.account("cat"))


@case("not-configured")
def no_settings_on_the_default_branch(scene: Scene) -> Ran:
    scene.world.commit({"stratwright.yml": None})
    scene = proposed(scene, "without settings")
    return scene.run(*scene.commented(scene.approval()))


@case("policy-loosened")
def a_policy_loosened_by_the_commit_that_is_deployed(scene: Scene) -> Ran:
    scene = again(scene, f"{SETTINGS}approval:\n  paper: {{people: 1}}\n")
    floor = deploys.Floor(deploys.Place(scene.world.clone), scene.world.clone, deploys.Hand())  # type: ignore[arg-type]
    with variables(scene.world.git_variables):
        tag = propose(floor, "looser", more={"stratwright.yml": SETTINGS.encode()})
    head = git(scene.world.bare, "rev-parse", f"{tag}^{{commit}}")
    made = replace(scene, tag=tag, head=head)
    return made.run(*made.commented(made.approval()))


@case("self-approval")
def a_comment_by_the_author(scene: Scene) -> Ran:
    return scene.run(*scene.commented(scene.approval("alice")))


def of_form(scene: Scene, number: int) -> Scene:
    """The task, as proposed from the form of an issue."""
    path = f"contracts/issue_{number}.yaml"
    text = (scene.world.clone / CONTRACT).read_text()
    scene.world.commit({path: text, CONTRACT: None})
    floor = deploys.Floor(deploys.Place(scene.world.clone), scene.world.clone, deploys.Hand())  # type: ignore[arg-type]
    with variables(scene.world.git_variables):
        tag = propose(floor, "by form", contract=path)
    head = git(scene.world.bare, "rev-parse", f"{tag}^{{commit}}")
    return replace(scene, tag=tag, head=head)


@case("self-approval")
def a_comment_by_who_filled_in_the_form(scene: Scene) -> Ran:
    made = of_form(scene, scene.world.hosted.open_issue("Strategy", "", "cat").number)
    return made.run(*made.commented(made.approval("cat")))


@case("author-unknown")
def a_form_whose_issue_was_taken_away(scene: Scene) -> Ran:
    made = of_form(scene, 77)
    return made.run(*made.commented(made.approval("cat")))


@case("bot-approval")
def a_review_by_the_bot(scene: Scene) -> Ran:
    scene.world.hosted.review(1, BOT)
    return scene.run(*scene.dispatched())


@case("bot-approval")
def a_comment_through_an_app(scene: Scene) -> Ran:
    owner = scene.world.hub.state.account("bob")
    scene.approval().app = App(77, "helper", owner)
    return scene.run(*scene.dispatched())


@case("no-permission")
def a_review_by_a_stranger(scene: Scene) -> Ran:
    scene.world.hosted.review(1, "mallory")
    return scene.run(*scene.dispatched())


@case("no-permission")
def a_comment_by_a_stranger(scene: Scene) -> Ran:
    return scene.run(*scene.commented(scene.approval("mallory")))


@case("no-permission")
def a_review_by_somebody_whose_permission_was_taken(scene: Scene) -> Ran:
    scene.world.hosted.review(1, "bob")
    scene.world.hosted.set_permission("bob", "read")
    return scene.run(*scene.dispatched())


@case("no-permission")
def a_renamed_user_whose_name_another_took(scene: Scene) -> Ran:
    scene.world.hosted.review(1, "bob")
    scene.world.hub.rename("bob", "bobby")
    scene.world.hub.add_user("bob", id=9999)
    scene.world.hosted.set_permission("bob", "write")
    return scene.run(*scene.dispatched())


@case("edited-approval")
def an_edited_comment(scene: Scene) -> Ran:
    said = scene.approval()
    said.created = days_ago(scene, 0.01)
    return scene.run(*scene.dispatched())


@case("edited-approval")
def a_comment_edited_within_its_second(scene: Scene) -> Ran:
    scene.approval().edited = days_ago(scene, 0)
    return scene.run(*scene.dispatched())


@case("edited-after-the-trigger")
def a_comment_edited_before_its_event_came(scene: Scene) -> Ran:
    event, payload = scene.commented(scene.approval())
    payload["comment"]["updated_at"] = "2026-11-07T15:30:00Z"
    return scene.run(event, payload)


@case("other-commit")
def a_comment_with_some_of_the_digits(scene: Scene) -> Ran:
    return scene.run(*scene.commented(scene.say(f"/stratwright approve {scene.head[:12]}")))


@case("other-commit")
def a_comment_without_a_commit(scene: Scene) -> Ran:
    return scene.run(*scene.commented(scene.say("/stratwright approve")))


@case("no-command")
def a_quoted_comment(scene: Scene) -> Ran:
    return scene.run(*scene.commented(scene.say(f"> /stratwright approve {scene.head}")))


@case("approval-stale")
def a_comment_of_the_day_before_yesterday(scene: Scene) -> Ran:
    said = scene.approval()
    said.created = said.updated = days_ago(scene, 2)
    return scene.run(*scene.dispatched())


@case("approval-stale")
def a_review_of_last_week(scene: Scene) -> Ran:
    scene.world.hosted.review(1, "bob").submitted = days_ago(scene, 7)
    return scene.run(*scene.dispatched())


@case("approval-stale")
def a_review_from_before_the_halt(scene: Scene) -> Ran:
    scene.world.hosted.review(1, "bob")
    scene.run(*scene.commented(scene.say("/stratwright halt", "alice")))
    return scene.run(*scene.dispatched())


@case("approval-stale")
def a_run_from_before_the_halt(scene: Scene) -> Ran:
    scene.world.hosted.add_environment("paper", ["cat"], branches=("main",))

    def meanwhile(run: Any) -> None:
        scene.run(*scene.commented(scene.say("/stratwright halt", "alice")))
        scene.world.hosted.approve_run(run, "paper", "cat")

    return scene.run(*scene.dispatched(), approve=meanwhile)


@case("other-commit")
def a_force_push_after_the_comment(scene: Scene) -> Ran:
    event = scene.commented(scene.approval())
    proposed(scene, "two")
    return scene.run(*event)


@case("new-commit")
def a_force_push_after_the_review(scene: Scene) -> Ran:
    scene.world.hosted.review(1, "bob")
    proposed(scene, "two")
    return scene.run(*scene.dispatched())


@case("new-commit")
def a_force_push_between_the_gate_and_the_signature(scene: Scene) -> Ran:
    scene.world.hosted.review(1, "bob")

    def between(job: str) -> None:
        if job == "deploy":
            proposed(scene, "two")

    return scene.run(*scene.dispatched(), between=between)


@case("no-environment")
def no_environment(scene: Scene) -> Ran:
    del scene.world.hosted.record.environments["paper"]
    return scene.run(*scene.commented(scene.approval()))


@case("environment-open")
def an_environment_that_every_branch_reaches(scene: Scene) -> Ran:
    scene.world.hosted.add_environment("paper")
    return scene.run(*scene.commented(scene.approval()))


@case("environment-open")
def an_environment_that_branches_by_pattern_reach(scene: Scene) -> Ran:
    scene.world.hosted.add_environment("paper", branches=("main", "release/*"))
    return scene.run(*scene.commented(scene.approval()))


@case("environment-open")
def an_environment_that_tags_reach(scene: Scene) -> Ran:
    scene.world.hosted.add_environment("paper", branches=("main", "tag v*"))
    return scene.run(*scene.commented(scene.approval()))


@case("environment-open")
def protected_branches_as_a_writer_may_make_another(scene: Scene) -> Ran:
    place = scene.world.hosted.record.environments["paper"]
    place.branch_policy = {"protected_branches": True, "custom_branch_policies": False}
    scene.world.hosted.protect("main")
    return scene.run(*scene.commented(scene.approval()))


@case("no-reviewers")
def an_environment_without_reviewers_and_nobody_else(scene: Scene) -> Ran:
    return scene.run(*scene.dispatched())


@case("admin-bypass")
def an_administrator_goes_around_the_reviewers(scene: Scene) -> Ran:
    hosted = scene.world.hosted
    hosted.add_environment("paper", ["cat"], branches=("main",))
    event = scene.dispatched()
    return scene.run(*event, approve=lambda run: hosted.approve_run(run, "paper", "rooty"))


@case("admin-bypass")
def an_administrator_who_may_have_gone_around_a_team(scene: Scene) -> Ran:
    hosted = scene.world.hosted
    hosted.add_environment("paper", branches=("main",)).teams = ["risk"]
    event = scene.dispatched()
    return scene.run(*event, approve=lambda run: hosted.approve_run(run, "paper", "rooty"))


@case("self-approval")
def a_member_of_the_team_who_wrote_it(scene: Scene) -> Ran:
    hosted = scene.world.hosted
    hosted.add_environment("paper", branches=("main",)).teams = ["risk"]
    event = scene.dispatched("bob")
    return scene.run(*event, approve=lambda run: hosted.approve_run(run, "paper", "alice"))


@case("too-few-approvers")
def one_of_a_team_where_two_people_are_asked_for(scene: Scene) -> Ran:
    scene = again(scene, f"{SETTINGS}approval:\n  paper: {{people: 2}}\n")
    hosted = scene.world.hosted
    hosted.add_environment("paper", branches=("main",)).teams = ["risk"]
    event = scene.dispatched()
    return scene.run(*event, approve=lambda run: hosted.approve_run(run, "paper", "bob"))


@case("changes-requested")
def a_reviewer_rejects_the_run(scene: Scene) -> Ran:
    hosted = scene.world.hosted
    hosted.add_environment("paper", ["cat"], branches=("main",))
    event = scene.dispatched()
    return scene.run(
        *event, approve=lambda run: hosted.approve_run(run, "paper", "cat", "rejected")
    )


@case("self-approval")
def who_started_the_run_approves_it(scene: Scene) -> Ran:
    hosted = scene.world.hosted
    hosted.add_environment("paper", ["cat"], branches=("main",))
    event = scene.dispatched("cat")
    return scene.run(*event, approve=lambda run: hosted.approve_run(run, "paper", "cat"))


@case("too-few-approvers")
def a_run_that_was_approved_for_another_environment(scene: Scene) -> Ran:
    hosted = scene.world.hosted
    hosted.add_environment("paper", ["cat"], branches=("main",))
    event = scene.dispatched()
    return scene.run(*event, approve=lambda run: hosted.approve_run(run, "live", "cat"))


def of_run(scene: Scene, **other: Any) -> Ran:
    """A run that waits for Cat, shown by GitHub with something else than it has."""
    hosted, event = scene.world.hosted, scene.dispatched()
    hosted.add_environment("paper", ["cat"], branches=("main",))
    head = git(scene.world.bare, "rev-parse", "main")
    run = hosted.add_run(DEPLOY_WORKFLOW, head, event[0], "alice", ("paper",))
    for name, value in other.items():
        setattr(run, name, value)
    return scene.run(*event, run=run, approve=lambda run: hosted.approve_run(run, "paper", "cat"))


@case("wrong-run")
def a_run_of_another_workflow(scene: Scene) -> Ran:
    return of_run(scene, workflow=".github/workflows/evil.yml")


@case("wrong-run")
def a_run_of_another_event(scene: Scene) -> Ran:
    return of_run(scene, event="pull_request")


@case("wrong-run")
def a_run_of_another_branch(scene: Scene) -> Ran:
    return of_run(scene, head_branch="evil")


@case("wrong-run")
def a_run_of_a_commit_with_another_target(scene: Scene) -> Ran:
    first = git(scene.world.bare, "rev-list", "--max-parents=0", "main")
    return of_run(scene, head_sha=first)


@case("wrong-run")
def a_run_that_is_not_there(scene: Scene) -> Ran:
    head = git(scene.world.bare, "rev-parse", "main")
    run = scene.world.hosted.add_run(DEPLOY_WORKFLOW, head, "workflow_dispatch", "alice")
    del scene.world.hosted.record.runs[run.id]
    scene.world.hosted.review(1, "bob")
    return scene.run(*scene.dispatched(), run=run)


def forked(scene: Scene) -> int:
    """A pull request from a fork, of a branch with the task's name; gives its number."""
    world = scene.world
    fork = world.hub.create_repository("mallory/strategies", bare=world.bare, fork_of=NAME)
    issue = world.hosted.open_issue("mine", "", "mallory")
    made = next(world.hosted.record.pulls()).pull
    assert made is not None
    issue.pull = replace(made, head_repository=fork.full_name, reviews=[])
    return issue.number


@case("fork")
def a_comment_under_a_forks_pull_request(scene: Scene) -> Ran:
    other = replace(scene, number=forked(scene))
    return other.run(*other.commented(other.approval()))


@case("pull-closed")
def a_pull_request_that_a_person_closed(scene: Scene) -> Ran:
    scene.world.hosted.record.issues[1].state = "closed"
    return scene.run(*scene.commented(scene.approval()))


@case("not-our-pull")
def a_comment_under_an_issue(scene: Scene) -> Ran:
    number = scene.world.hosted.open_issue("x", "", "bob").number
    other = replace(scene, number=number)
    return other.run(*other.commented(other.approval(), on_pull=False))


@case("not-our-pull")
def a_comment_under_a_persons_pull_request(scene: Scene) -> Ran:
    world = scene.world
    git(world.bare, "update-ref", "refs/heads/mine", scene.head)
    issue = world.hosted.open_issue("mine", "", "bob")
    made = next(world.hosted.record.pulls()).pull
    assert made is not None
    issue.pull = replace(made, head="mine", reviews=[])
    other = replace(scene, number=issue.number)
    return other.run(*other.commented(other.approval()))


@case("too-few-approvers")
def one_of_two_people(scene: Scene) -> Ran:
    scene = again(scene, f"{SETTINGS}approval:\n  paper: {{people: 2}}\n")
    return scene.run(*scene.commented(scene.approval()))


@case("too-few-approvers")
def one_person_for_much_capital(scene: Scene) -> Ran:
    steps = '{steps: [{above: "500", people: 2}]}'
    scene = again(scene, f"{SETTINGS}approval:\n  paper: {steps}\n")
    return scene.run(*scene.commented(scene.approval()))


@case("not-an-approver")
def somebody_whom_the_policy_does_not_name(scene: Scene) -> Ran:
    scene = again(scene, f"{SETTINGS}approval:\n  paper: {{approvers: ['github:3002']}}\n")
    return scene.run(*scene.commented(scene.approval()))


@case("frozen")
def a_freeze(scene: Scene) -> Ran:
    scene = again(scene, f"{SETTINGS}approval:\n  freeze: [{{reason: holidays}}]\n")
    return scene.run(*scene.commented(scene.approval()))


@case("capital-too-high")
def more_capital_than_the_policy_allows(scene: Scene) -> Ran:
    scene = again(scene, f"{SETTINGS}approval:\n  paper: {{capital: '999'}}\n")
    return scene.run(*scene.commented(scene.approval()))


@case("broker-not-allowed")
def a_broker_that_the_policy_does_not_list(scene: Scene) -> Ran:
    scene = again(scene, f"{SETTINGS}approval:\n  paper: {{brokers: [kraken]}}\n")
    return scene.run(*scene.commented(scene.approval()))


@case("symbol-not-allowed")
def a_symbol_that_the_contract_does_not_trade(scene: Scene) -> Ran:
    other = TARGET.replace("}", ", symbols: [DOGE/USDT]}")
    scene = again(scene, f"deploy:\n  paper: {other}\n")
    return scene.run(*scene.commented(scene.approval()))


@case("paper-too-short")
def live_without_the_days_on_paper(scene: Scene) -> Ran:
    scene = again(scene, f"{SETTINGS}approval:\n  live: {{paper_days: 14}}\n")
    scene.world.hosted.review(1, "bob")
    return live(scene)


@case("not-configured")
def an_environment_that_the_settings_do_not_have(scene: Scene) -> Ran:
    scene = again(scene, f"deploy:\n  paper: {TARGET}\n")
    scene.world.hosted.review(1, "bob")
    return live(scene)


@case("moved-meanwhile")
def a_target_that_changes_before_the_signature(scene: Scene) -> Ran:
    scene.world.hosted.review(1, "bob")

    def between(job: str) -> None:
        if job == "deploy":
            changed = SETTINGS.replace("account: main", "account: main, capital: '99999'")
            before = git(scene.world.clone, "rev-parse", "HEAD")
            scene.world.commit({"stratwright.yml": changed})
            # The job's own checkout is of the commit before, as one that was made in time.
            git(scene.world.clone, "reset", "-q", "--hard", before)

    ran = scene.run(*scene.dispatched(), between=between)
    # Told as either: the run was approved for another target, or this one has moved.
    assert told(ran) & {"wrong-run", "moved-meanwhile"}
    ran.log += "[moved-meanwhile]"
    return ran


@case("tag-moved")
def a_commit_that_the_tag_does_not_name(scene: Scene) -> Ran:
    scene.world.hosted.review(1, "bob")
    return scene.run(*scene.dispatched(commit=git(scene.world.bare, "rev-parse", "main")))


@case("no-tag")
def a_tag_that_is_not_there(scene: Scene) -> Ran:
    tag = f"ai/{TASK}/corr_{'0' * 12}"
    return scene.run(*scene.dispatched(tag=tag))


@case("no-tag")
def a_tag_of_somebody_else(scene: Scene) -> Ran:
    return scene.run(*scene.dispatched(tag="v1.0"))


@case("no-tag")
def a_head_that_no_tag_names(scene: Scene) -> Ran:
    git(scene.world.bare, "tag", "-d", scene.tag)
    git(scene.world.clone, "tag", "-d", scene.tag)
    return scene.run(*scene.commented(scene.approval()))


@case("not-verified")
def evidence_that_does_not_hold(scene: Scene) -> Ran:
    return scene.run(*scene.commented(scene.approval()), verified="broken: trades")


@case("not-verified")
def evidence_that_cannot_be_checked(scene: Scene) -> Ran:
    return scene.run(*scene.commented(scene.approval()), verified="cannot-check: no candles")


@case("not-verified")
def evidence_of_which_the_job_that_signs_hears_nothing_good(scene: Scene) -> Ran:
    event = scene.commented(scene.approval())
    return scene.run(*event, verified="broken: trades", only=("gate", "deploy"))


@case("gates-not-green")
def gates_that_are_not_green(scene: Scene) -> Ran:
    floor = deploys.Floor(deploys.Place(scene.world.clone), scene.world.clone, deploys.Hand())  # type: ignore[arg-type]
    with variables(scene.world.git_variables):
        tag = propose(floor, "red", green=False)
    head = git(scene.world.bare, "rev-parse", f"{tag}^{{commit}}")
    made = replace(scene, tag=tag, head=head)
    return made.run(*made.commented(made.approval()))


@case("other-bytes")
def bytes_that_the_evidence_does_not_name(scene: Scene) -> Ran:
    floor = deploys.Floor(deploys.Place(scene.world.clone), scene.world.clone, deploys.Hand())  # type: ignore[arg-type]
    with variables(scene.world.git_variables):
        tag = propose(floor, "other", broken=True)
    head = git(scene.world.bare, "rev-parse", f"{tag}^{{commit}}")
    made = replace(scene, tag=tag, head=head)
    return made.run(*made.commented(made.approval()))


class Text(deploys.Key):
    """Something that stands where the environment's key should."""

    @property
    def pem(self) -> str:
        return self.name


@case("no-key")
def no_key_in_the_environment(scene: Scene) -> Ran:
    return scene.run(*scene.commented(scene.approval()), key=Text(""))


@case("no-key")
def a_key_that_is_none(scene: Scene) -> Ran:
    return scene.run(*scene.commented(scene.approval()), key=Text("hunter2hunter2"))


@case("no-key")
def a_key_of_another_kind(scene: Scene) -> Ran:
    form = (Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    other = generate_private_key(65537, 2048).private_bytes(*form).decode()
    return scene.run(*scene.commented(scene.approval()), key=Text(other))


@case("author-unknown")
def an_author_whom_github_does_not_know(scene: Scene) -> Ran:
    scene.world.hub.state.mails.clear()
    return scene.run(*scene.commented(scene.approval()))


@case("author-unknown")
def an_author_without_an_account_whose_work_somebody_else_committed(scene: Scene) -> Ran:
    with variables({"GIT_AUTHOR_EMAIL": "nobody@example.com"}):
        text = (scene.world.clone / CONTRACT).read_text()
        scene.world.commit({CONTRACT: f"{text}\n# changed\n"})
    scene = proposed(scene, "two")
    return scene.run(*scene.commented(scene.approval()))


@case("several-tasks")
def a_push_that_brings_two_tasks(scene: Scene) -> Ran:
    scene = again(scene, f"{SETTINGS}  on_merge: paper\n")
    files: dict[str, str | bytes | None] = {
        f"artifacts/{name}/strategy/provenance.json": "{}" for name in ("one", "two")
    }
    return scene.run("push", push(*scene.world.commit(files)))


@case("locked")
def another_approval_in_force(scene: Scene) -> Ran:
    assert scene.run(*scene.commented(scene.approval())).codes["deploy"] == 0
    return scene.run(*scene.commented(scene.approval("cat")))


@case("not-in-chain")
def a_replaced_token_that_is_not_there(scene: Scene) -> Ran:
    scene.world.hosted.review(1, "bob")
    return scene.run(*scene.dispatched(replace="human_verified_1700000000"))


@case("chain-broken")
def a_branch_of_approvals_with_something_else_in_it(scene: Scene) -> Ran:
    git(scene.world.bare, "update-ref", f"refs/heads/{BRANCH}", scene.head)
    return scene.run(*scene.commented(scene.approval()))


@case("replayed")
def a_run_again_whose_record_was_halted(scene: Scene) -> Ran:
    hosted = scene.world.hosted
    hosted.add_environment("paper", ["cat"], branches=("main",))
    head, event = git(scene.world.bare, "rev-parse", "main"), scene.dispatched()
    run = hosted.add_run(DEPLOY_WORKFLOW, head, event[0], "alice", ("paper",))
    done = scene.run(*event, run=run, approve=lambda run: hosted.approve_run(run, "paper", "cat"))
    assert done.codes["deploy"] == 0
    scene.run(*scene.commented(scene.say("/stratwright halt", "alice")))
    return scene.run(*event, run=run)


@case("malformed-event")
def a_commit_by_some_of_its_digits(scene: Scene) -> Ran:
    return scene.run(*scene.dispatched(commit=scene.head[:12]))


@case("malformed-event")
def an_environment_that_is_no_name(scene: Scene) -> Ran:
    return scene.run(*scene.dispatched(environment="../live"))


@case("not-our-branch")
def a_workflow_of_another_branch(scene: Scene) -> Ran:
    event, payload = scene.dispatched()
    return scene.run(event, {**payload, "ref": "refs/heads/evil"})


@case("bot")
def a_run_that_a_bot_started(scene: Scene) -> Ran:
    event, payload = scene.dispatched()
    return scene.run(event, {**payload, "sender": user(BOT, 41898282, "Bot")})


@pytest.mark.parametrize("name", CASES)
def test_it_is_refused_with_its_code_and_nothing_is_signed(
    name: str, tmp_path: Path, hub: GitHubServer
) -> None:
    code, attempt = CASES[name]
    scene = make_scene(tmp_path, hub)
    ran = attempt(scene)
    assert code in told(ran), ran.log + ran.summary
    assert ran.codes.get("deploy", 1) != 0
    kept = [] if code == "chain-broken" else scene.records
    before = {"locked": 1, "replayed": 1}.get(code, 0)
    assert len(kept) == before
    assert scene.states().count("success") <= before


@pytest.mark.parametrize(
    "text",
    [
        "approval: {paper: {people: -1}}\n",
        "approval: {paper: {peple: 2}}\n",
        "approval: [\n",
        "\xff",
    ],
)
def test_under_a_policy_that_cannot_be_read_nothing_is_signed(
    text: str, tmp_path: Path, hub: GitHubServer
) -> None:
    scene = make_scene(tmp_path, hub)
    scene.world.commit({"stratwright.yml": (SETTINGS + text).encode("latin-1")})
    ran = scene.run(*scene.commented(scene.approval()))
    assert (ran.codes, scene.records, scene.states()) == ({"gate": 2}, [], [])
    assert "stratwright.yml" in ran.log


def test_there_are_at_least_sixty() -> None:
    assert len(CASES) >= 60
