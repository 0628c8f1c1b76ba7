"""Events that must lead to nothing: who sent them, what they say, and the code of the reason."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from bot.forge.reasons import Reason
from tests.bot.workflow.hub import STRANGER, comment, issue, push, repository, user
from tests.fire.bench import STAGES, Bench, Kept, Ran
from tests.fire.cells import changes
from tests.fire.flows import FORM, Event, filed
from tests.fire.snapshot import comments, objects

MALLORY = user("mallory", STRANGER)
RENAMED = user("alice", STRANGER)
MACHINE = user("dependabot[bot]", 49699333, "Bot")
OURSELVES = user("github-actions[bot]", 41898282, "Bot")
RETRY = "/stratwright retry"


@dataclass(frozen=True)
class Case:
    """Something that somebody sends, and why nothing comes of it."""

    name: str
    make: Callable[[], Event]
    reason: Reason


def filed_by(who: dict[str, Any], action: str = "opened", **changes: object) -> Event:
    payload = issue(1, FORM, action, who)
    payload["issue"].update(changes)
    return "issues", payload


def said_by(who: dict[str, Any], body: str = RETRY, **changes: object) -> Event:
    payload = comment(1, body, who, FORM)
    payload["comment"].update(changes)
    return "issue_comment", payload


def dispatched_by(who: dict[str, Any], ref: str = "refs/heads/main") -> Event:
    payload = {"ref": ref, "inputs": {}, "repository": repository(), "sender": who}
    return "workflow_dispatch", payload


def edited(event: Event) -> Event:
    return event[0], {**event[1], "action": "edited"}


def of_a_fork(event: Event) -> Event:
    theirs = {**repository(), "full_name": "mallory/strategies", "fork": True}
    return event[0], {**event[1], "repository": theirs}


def from_a_fork(name: str) -> Event:
    return name, filed_by(MALLORY)[1]


def pushed_to(ref: str, **more: object) -> Event:
    return "push", {**push("1" * 40, "2" * 40, ref), **more}


def sent_by_another() -> Event:
    name, payload = said_by(user())
    return name, {**payload, "sender": MALLORY}


def _by_people() -> list[Case]:
    cases = []
    for name, who, reason in (
        ("a stranger", MALLORY, Reason.NO_PERMISSION),
        ("somebody who took over a login", RENAMED, Reason.NO_PERMISSION),
        ("a bot", MACHINE, Reason.BOT),
        ("the bot itself", OURSELVES, Reason.BOT),
    ):
        cases += [
            Case(f"{name} files the form", partial(filed_by, who), reason),
            Case(f"{name} gives the label", partial(filed_by, who, "labeled"), reason),
            Case(f"{name} writes a command", partial(said_by, who), reason),
            Case(f"{name} starts the workflow", partial(dispatched_by, who), reason),
        ]
    return cases


def _quoted() -> list[Case]:
    bodies = {
        "in a quotation": f"> {RETRY}",
        "in a code block": f"```\n{RETRY}\n```",
        "in an indented block": f"    {RETRY}",
        "between backticks": f"`{RETRY}`",
        "in a hidden remark": f"<!-- {RETRY} -->",
        "on a later line": f"Please do not write\n{RETRY}",
        "in the middle of a line": f"Try {RETRY}",
        "behind an invisible letter": f"\u200b{RETRY}",
        "as a longer word": "/stratwrights retry",
    }
    return [
        Case(f"a command {where}", partial(said_by, user(), body), Reason.NO_COMMAND)
        for where, body in bodies.items()
    ]


CASES = (
    *_by_people(),
    *_quoted(),
    Case("a fork's push", lambda: of_a_fork(pushed_to("refs/heads/main")), Reason.MALFORMED),
    Case("a fork's issue", lambda: of_a_fork(filed_by(user())), Reason.MALFORMED),
    Case("a fork's dispatch", lambda: of_a_fork(dispatched_by(user())), Reason.MALFORMED),
    *(
        Case(f"a fork's {name}", partial(from_a_fork, name), Reason.NOT_OUR_EVENT)
        for name in ("pull_request", "pull_request_target", "pull_request_review", "workflow_run")
    ),
    Case("a comment edited", lambda: edited(said_by(user())), Reason.NOT_OUR_ACTION),
    Case("an issue edited", lambda: edited(filed_by(user())), Reason.NOT_OUR_ACTION),
    Case(
        "a comment edited before it arrived",
        lambda: said_by(user(), updated_at="2026-11-07T14:30:09Z"),
        Reason.ISSUE_EDITED,
    ),
    Case(
        "a comment written by an App for somebody",
        lambda: said_by(user(), performed_via_github_app={"slug": "helper"}),
        Reason.BOT,
    ),
    Case("a comment sent by another than its author", sent_by_another, Reason.BOT),
    Case("a closed issue", lambda: filed_by(user(), state="closed"), Reason.ISSUE_CLOSED),
    Case("an issue without the label", lambda: filed_by(user(), labels=[]), Reason.NOT_OUR_LABEL),
    Case("a push to another branch", lambda: pushed_to("refs/heads/x"), Reason.NOT_OUR_BRANCH),
    Case("a pushed tag", lambda: pushed_to("refs/tags/main"), Reason.NOT_OUR_BRANCH),
    Case(
        "a deleted branch",
        lambda: pushed_to("refs/heads/main", deleted=True),
        Reason.NOT_OUR_BRANCH,
    ),
    Case(
        "a dispatch on another branch",
        lambda: dispatched_by(user(), "refs/heads/x"),
        Reason.NOT_OUR_BRANCH,
    ),
    Case("an event without its fields", lambda: ("push", {"ref": 1}), Reason.MALFORMED),
)


def prepare(bench: Bench) -> Kept:
    """A repository with a filed form whose run never came."""
    filed(bench)
    return bench.keep()


def try_case(bench: Bench, start: Kept, case: Case) -> str:
    """Send it; gives what is wrong, or nothing."""
    bench.go_back(start)
    before = (objects(bench.world), comments(bench.world))
    ran = bench.run(*case.make())
    if ran.code != 0 or ran.jobs != ("plan",):
        return f"exit {ran.code} after {ran.jobs}"
    if f"[{case.reason}]" not in ran.summary or f"[{case.reason}]" not in ran.log:
        return f"another reason: {ran.summary}"
    return spent(ran) or ("" if before == (objects(bench.world), comments(bench.world)) else "told")


def spent(ran: Ran) -> str:
    """What a run cost others: sandbox jobs and writes."""
    writes = [f"{call.method} {call.path}" for call in ran.calls if changes(call)]
    return writes[0] if writes else "the sandbox ran" if "gates" in ran.jobs else ""


LOST = ("announce", "generate", "write")


def lose_before(bench: Bench, start: Kept, job: str) -> str:
    """Take the permission away between two jobs; gives what is wrong, or nothing."""
    bench.go_back(start)
    event = "issues", issue(1, FORM)
    at = STAGES.index(job)
    bench.run(*event, stages=STAGES[:at])
    before = (objects(bench.world), comments(bench.world))
    bench.world.hosted.set_permission("alice", "read")
    ran = bench.run(*event, stages=STAGES[at:])
    if ran.code == 0 or f"[{Reason.NO_PERMISSION}]" not in ran.log:
        return f"exit {ran.code}: {ran.log[-300:]}"
    if any(changes(call) for call in ran.calls):
        return "something was written"
    return "" if before == (objects(bench.world), comments(bench.world)) else "told"
