"""`stratwright rollback`: the six steps back from a deployment that went wrong."""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.commands.approve import add_desk, open_desk, verify_tag
from bot.commands.halt import scope_of, who_is
from bot.redaction import inert

if TYPE_CHECKING:
    from bot.approval.desk import Desk
    from bot.approval.rolling_back import WayBack


@dataclass(frozen=True)
class _Step:
    """One of the six steps, and what came out of it."""

    name: str
    done: bool
    detail: str


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


def _steps(args: argparse.Namespace, desk: "Desk", scope: str, by: str) -> list[_Step]:
    """Take the steps; one that fails ends them, and what was done before it is said anyway."""
    from bot.errors import StratwrightError

    steps = []
    try:
        for step in _walk(args, desk, scope, by):
            steps.append(step)
    except StratwrightError as error:
        steps.append(_Step("next step", False, f"{error.message}. {error.hint}".rstrip(". ")))
    return steps


def _walk(args: argparse.Namespace, desk: "Desk", scope: str, by: str) -> Iterator[_Step]:
    from bot.approval.halting import halt
    from bot.approval.rolling_back import approve_command

    told = halt(desk, scope, by, args.reason)
    troubles = [f"{each.place}: {each.trouble}" for each in told if each.trouble]
    yield _Step("stop", not troubles, "; ".join(troubles) or "host, bus and branch are told")
    way = _way_back(desk, scope)
    if way is None:
        detail = "nothing of it was ever approved for this host's environment"
        yield _Step("incident report", False, detail)
        return
    incident = _report(args, desk, way, by)
    yield _Step("incident report", True, incident)
    back = way.back_to
    tag = back.record.tag if back else ""
    nothing = "nothing else was approved before; it stays halted"
    yield _Step("previous tag", back is not None, tag or nothing)
    _todo(desk, way, args.reason, incident)
    yield _Step("branch todo", True, f"{way.left.record.tag}: {args.reason}")
    if back is None:
        return
    outcome = verify_tag(args, desk, tag)
    yield _Step("test again", outcome == "holds", f"{tag}: {outcome}")
    if outcome == "holds":
        _write(desk, way, by, args.reason, incident)
        yield _Step("new approval", True, f"needed, by a person: {approve_command(back)}")


def _way_back(desk: "Desk", scope: str) -> "WayBack | None":
    from bot.approval.claims import read_claims
    from bot.approval.rolling_back import find_way_back

    tags = [claim.record.tag for claim in read_claims(desk.chain()) if claim.record.scope == scope]
    return find_way_back(desk.look(tags[-1]).facts, scope) if tags else None


def _report(args: argparse.Namespace, desk: "Desk", way: "WayBack", by: str) -> str:
    """Write the incident where people talk about the task, and give its address."""
    from bot.approval.rolling_back import incident_text
    from bot.bus.port import timestamp
    from bot.forge.port import Thread, open_forge
    from bot.git.identity import TaskName

    record = way.left.record
    forge = open_forge("local", desk.repository)
    pull = forge.find(TaskName(record.workflow, record.task).branch)
    thread = Thread(pull.number) if pull else Thread(commit=record.commit)
    at = timestamp(desk.clock.now())
    check = f"`stratwright verify {record.tag}`"
    text = incident_text(way, by, args.reason, at, check)
    comment = forge.threads.say(thread, text, f"incident-{record.digest[-12:]}")
    return f"{forge.threads.address(thread)}{forge.threads.anchor(comment.id)}"


def _todo(desk: "Desk", way: "WayBack", reason: str, incident: str) -> None:
    from bot.approval.halting import tell
    from bot.approval.subject import name_of
    from bot.bus.port import EventName

    record = way.left.record
    data = {"mend": [reason], "tag": record.tag, "incident": incident}
    tell(desk, EventName.TODO_CREATED, record.scope, data, name_of(record.tag)[1])


def _write(desk: "Desk", way: "WayBack", by: str, reason: str, incident: str) -> None:
    from bot.approval.chain import Rollback
    from bot.approval.halting import plain, tell
    from bot.approval.subject import name_of
    from bot.bus.port import EventName

    left, back = way.left.record, way.back_to
    chain = desk.chain()
    number, previous = chain.next
    back_to = back.record.tag if back else ""
    entry = Rollback(
        sequence=number,
        previous=previous,
        at=desk.now(),
        scope=left.scope,
        by=plain(by),
        reason=plain(reason),
        left=left.tag,
        back_to=back_to,
        incident=incident[-300:] if incident.isascii() else "",
    )
    desk.write(chain, entry)
    data = {"left": left.tag, "back_to": back_to, "by": by, "reason": reason}
    tell(desk, EventName.ROLLED_BACK, left.scope, data, name_of(left.tag)[1])
