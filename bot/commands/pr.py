"""`stratwright pr`: the local forge's pull requests, to read and to decide on."""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from bot.redaction import inert

if TYPE_CHECKING:
    from bot.forge.port import Forge, PullRequest
    from bot.git.repository import Repository
    from bot.report.figures import Summary

_WHAT = {
    "list": "all pull requests",
    "show": "one, with what was said and decided",
    "diff": "what it changes",
    "approve": "say yes to its current commit, in your name",
    "close": "say no to it",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    actions = parser.add_subparsers(metavar="ACTION", required=True, dest="action")
    for name, what in _WHAT.items():
        action = actions.add_parser(name, help=what, description=what)
        if name != "list":
            action.add_argument("number", type=int, metavar="NUMBER", help="from pr list")
        if name == "approve":
            action.add_argument("--head", metavar="SHA", help="the commit you have read")
        if name in ("approve", "close"):
            action.add_argument("--comment", default="", metavar="TEXT", help="why")
        action.add_argument(
            "--repository", type=Path, default=Path(), metavar="DIR", help="default: this one"
        )
        action.add_argument("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace) -> int:
    """Do one of the actions."""
    from bot.forge.port import open_forge
    from bot.git.repository import open_repository

    repository = open_repository(args.repository, to_write=args.action == "approve")
    actions: dict[str, Callable[[argparse.Namespace, Repository, Forge], str]] = {
        "list": _list,
        "show": _show,
        "diff": _diff,
        "approve": _approve,
        "close": _close,
    }
    text = actions[args.action](args, repository, open_forge("local", repository))
    sys.stdout.write(text)
    return 0


def _list(args: argparse.Namespace, repository: "Repository", forge: "Forge") -> str:
    from bot.report.headline import figure_line, figures_of

    pulls = forge.pulls()
    figures = {pull.number: _figures(repository, pull) for pull in pulls}
    if args.json:
        return _json(
            [{**_plain(pull), "figures": figures_of(figures[pull.number])} for pull in pulls]
        )
    if not pulls:
        return "no pull requests yet; stratwright run CONTRACT opens one\n"
    rows = [
        f"{pull.number:>4}  {pull.state:<7} {inert(pull.draft.title)}"
        f"{_approved(forge, pull)}\n{'':>6}{pull.draft.head[:12]}  {pull.draft.branch}\n"
        f"{'':>6}{figure_line(figures[pull.number])}".rstrip()
        for pull in pulls
    ]
    return "\n".join(rows) + "\n"


def _approved(forge: "Forge", pull: "PullRequest") -> str:
    """Who said yes to the commit that is proposed now; a yes to an older one is void."""
    reviews = forge.people.reviews(pull.number)
    yes = [one for one in reviews if one.decision == "approved" and one.head == pull.draft.head]
    names = [one.author for one in yes]
    return f"  approved by {', '.join(dict.fromkeys(names))}" if names else ""


def _figures(repository: "Repository", pull: "PullRequest") -> "Summary":
    """The figures of what a pull request proposes."""
    from bot.commands.report import summary_at

    return summary_at(repository, pull.draft.head, pull.draft.branch)


def _equity(repository: "Repository", pull: "PullRequest") -> str:
    """The equity of what a pull request proposes, in small bars."""
    from bot.report.terminal import equity_line

    folder = pull.draft.branch.replace("ai/generated", "artifacts", 1)
    curve = repository.read(pull.draft.head, f"{folder}/equity_curve.csv")
    return equity_line(curve or b"").removeprefix("equity  ")


def _show(args: argparse.Namespace, repository: "Repository", forge: "Forge") -> str:
    from bot.commands.screen import rendered
    from bot.forge.port import Thread
    from bot.report.headline import figure_line, figures_of

    pull = forge.get(args.number)
    summary = _figures(repository, pull)
    comments, reviews = forge.threads.all(Thread(pull.number)), forge.people.reviews(pull.number)
    if args.json:
        more = {
            "comments": [asdict(comment) for comment in comments],
            "reviews": [asdict(review) for review in reviews],
        }
        return _json({**_plain(pull), **more, "figures": figures_of(summary)})
    draft = pull.draft
    rows = {
        "state": f"{pull.state} {pull.reason}".rstrip(),
        "branch": f"{draft.branch} -> {draft.base or draft.base_commit[:12]}",
        "head": draft.head,
        "tag": draft.tag,
        "run": draft.correlation_id,
        "opened": f"{pull.created} by {pull.author}",
        "result": figure_line(summary),
        "equity": _equity(repository, pull),
        "page": f"stratwright report {draft.correlation_id}",
        "check": f"stratwright verify {draft.tag}",
    }
    lines = [f"#{pull.number} {draft.title}", ""]
    lines += [f"{label:<8}{value}" for label, value in rows.items() if value]
    lines += ["", rendered(inert(draft.body.strip())), *_approval(repository, pull)]
    for review in reviews:
        void = "" if review.head == draft.head else ", for an older commit"
        said = f"  {review.body}" if review.body else ""
        lines += [
            "",
            f"{review.created} {review.author}: {review.decision} {review.head[:12]}{void}",
        ]
        lines += [said] if said else []
    for comment in comments:
        lines += ["", f"{comment.created} {comment.author}:", f"  {comment.body}"]
    return inert("\n".join(lines)) + "\n"


def _approval(repository: "Repository", pull: "PullRequest") -> list[str]:
    """Where its approval stands, what would trade where, and what was approved for live last."""
    from bot.commands.screen import rendered
    from bot.git.identity import task_of_branch
    from bot.settings import FILE, parse_settings
    from bot.workflow.approval_state import describe_state

    task = task_of_branch(pull.draft.branch)
    if task is None:
        return []
    settings = parse_settings(repository.read(repository.base().commit, FILE))
    told = describe_state(repository, settings, task, pull.draft.tag, pull.draft.head)
    return ["", rendered(f"## Approval\n\n{told}")]


def _diff(args: argparse.Namespace, repository: "Repository", forge: "Forge") -> str:
    pull = forge.get(args.number)
    patch = repository.diff(pull.draft.base_commit, pull.draft.head)
    text = patch.decode("utf-8", "replace")
    if args.json:
        return _json({"number": pull.number, "head": pull.draft.head, "diff": text})
    if sys.stdout.isatty():
        return inert(text)
    # Into a file or a pipe it goes byte for byte, so that git apply takes it.
    sys.stdout.flush()
    sys.stdout.buffer.write(patch)
    return ""


def _approve(args: argparse.Namespace, repository: "Repository", forge: "Forge") -> str:
    from bot.bus.port import Event, EventName, open_bus, timestamp
    from bot.clock import MACHINE_CLOCK
    from bot.forge.port import Decision
    from bot.git.identity import task_of_branch

    pull = forge.get(args.number)
    head = pull.draft.head
    if args.head:
        # An abbreviation that Git knows; anything else is compared as it is.
        head = repository.commit_of(args.head) or args.head
    review = forge.people.review(pull.number, Decision.APPROVED, head, args.comment)
    task = task_of_branch(pull.draft.branch)
    assert task is not None  # noqa: S101 - the forge takes no other branches
    event = Event(
        EventName.APPROVAL_GRANTED,
        pull.draft.correlation_id,
        task.workflow,
        task.task,
        timestamp(MACHINE_CLOCK.now()),
        {"pull_request": pull.number, "head": head, "approver": review.author},
    )
    bus = open_bus(repository.folder, repository.repository_id)
    if all(told.data != event.data for told in bus.read(event.channel)):
        bus.publish(event)
    base = pull.draft.base or "your branch"
    how = f"git switch {base} && git merge --no-ff {head[:12]}"
    if args.json:
        return _json({**_plain(pull), "approved_by": review.author, "merge": how})
    return inert(
        f"approved #{pull.number} at {head} as {review.author}\n"
        f"Nothing was merged. To merge exactly what you approved:\n  {how}\n"
    )


def _close(args: argparse.Namespace, repository: "Repository", forge: "Forge") -> str:
    pull = forge.close(args.number, args.comment)
    if args.json:
        return _json(_plain(pull))
    return f"closed #{pull.number}; its branch and tag stay\n"


def _plain(pull: "PullRequest") -> dict[str, object]:
    plain = asdict(pull)
    draft = plain.pop("draft")
    return {**plain, **draft}


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"
