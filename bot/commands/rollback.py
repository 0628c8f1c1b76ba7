"""`stratwright rollback`: the six steps back from a deployment that went wrong."""

import argparse
import json
import sys
from typing import TYPE_CHECKING

from bot.commands.approve import add_desk, open_desk, verify_tag
from bot.commands.halt import scope_of, who_is
from bot.redaction import inert

if TYPE_CHECKING:
    from bot.approval.desk import Desk
    from bot.workflow.way_back import Step


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("scope", metavar="WORKFLOW/TASK|TAG", help="what went wrong")
    parser.add_argument("--reason", required=True, metavar="TEXT", help="what happened")
    add_desk(parser)
    parser.add_argument("--sandbox", default="auto", help="where verify runs code; default: auto")
    parser.add_argument("--wheels", action="append", metavar="DIR|index", help="as for verify")
    parser.add_argument("--json", action="store_true", help="print the steps as JSON")


def run(args: argparse.Namespace) -> int:
    """Stop, report, name the tag before, make a todo, test it again, ask for an approval."""
    from bot.approval.chain import EVERYTHING
    from bot.errors import InputError

    desk = open_desk(args)
    scope, by = scope_of(args.scope), who_is(desk)
    if scope == EVERYTHING:
        raise InputError("one task is rolled back at a time", "Write WORKFLOW/TASK or a tag.")
    steps = _steps(args, desk, scope, by)
    if args.json:
        rows = [{"step": s.name, "done": s.done, "detail": s.detail} for s in steps]
        sys.stdout.write(json.dumps({"task": scope, "steps": rows}) + "\n")
    else:
        for number, step in enumerate(steps, 1):
            mark = "" if step.done else "not done: "
            sys.stdout.write(inert(f"{number}. {step.name}: {mark}{step.detail}\n"))
    return 0 if all(step.done for step in steps) else 1


def _steps(args: argparse.Namespace, desk: "Desk", scope: str, by: str) -> "list[Step]":
    """Take the steps; one that fails ends them, and what was done before it is said anyway."""
    from bot.approval.halting import halt
    from bot.errors import StratwrightError
    from bot.workflow.way_back import Journey, Step, walk

    def stop() -> tuple[str, ...]:
        told = halt(desk, scope, by, args.reason)
        return tuple(f"{each.place}: {each.trouble}" for each in told if each.trouble)

    def report(text: str, key: str) -> str:
        return _report(desk, scope, text, key)

    def verify(tag: str, commit: str) -> str:
        return verify_tag(args, desk, tag, commit)

    steps: list[Step] = []
    try:
        for step in walk(Journey(desk, scope, by, args.reason, stop, report, verify)):
            steps.append(step)
    except StratwrightError as error:
        steps.append(Step("next step", False, f"{error.message}. {error.hint}".rstrip(". ")))
    return steps


def _report(desk: "Desk", scope: str, text: str, key: str) -> str:
    """Write the incident where people talk about the task, and give its address."""
    from bot.forge.port import Thread, open_forge
    from bot.git.identity import TaskName

    forge = open_forge("local", desk.repository)
    pull = forge.find(TaskName(*scope.split("/")).branch)
    head = desk.repository.default_base().commit
    thread = Thread(pull.number) if pull else Thread(commit=head)
    comment = forge.threads.say(thread, text, f"incident-{key}")
    return f"{forge.threads.address(thread)}{forge.threads.anchor(comment.id)}"
