"""`stratwright event`: the Action's entry; one stage of the line for the event at hand."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from bot.events.desk import Desk

HELP = "one stage of the line for GitHub's event, inside GitHub Actions"
Thing = TypeVar("Thing")
STAGES = ("plan", "announce", "generate", "gates", "write")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("stage", choices=STAGES, help="which part of the line")
    parser.add_argument("--keys", default="", help="what to work on, as the plan named it")
    parser.add_argument(
        "--repository", type=Path, default=Path(), metavar="DIR", help="default: the current one"
    )
    parser.add_argument(
        "--handover",
        type=Path,
        default=Path("build/stratwright"),
        metavar="DIR",
        help="where jobs leave files for the next; default: build/stratwright",
    )


def run(args: argparse.Namespace) -> int:
    """Run a stage; the exit code is the worst of all its items."""
    from bot.errors import StratwrightError
    from bot.events.reasons import Reason, reason_of

    try:
        return run_stage(args)
    except StratwrightError as error:
        say(f"stopped [{reason_of(error)}]")
        raise
    except Exception:
        say(f"stopped [{Reason.BUG}]")
        raise


def run_stage(args: argparse.Namespace) -> int:
    """Open what the stage needs, and run it."""
    if args.stage == "gates":
        return run_gates(args)
    from bot.events.desk import open_desk

    desk = open_desk(args.repository, say, may_push=args.stage == "write")
    stages = {"plan": plan, "announce": announce, "generate": generate, "write": write}
    try:
        return stages[args.stage](desk, args)
    finally:
        say(desk.forge.api.spent())


def plan(desk: "Desk", args: argparse.Namespace) -> int:
    """Say what there is to do: the jobs of the matrix as outputs."""
    from bot.errors import StratwrightError
    from bot.events.desk import receive
    from bot.events.items import make_matrix
    from bot.events.reasons import Ignored, reason_of
    from bot.events.writing import ROOM, USUAL, too_many
    from bot.report.inert import markdown_text

    try:
        work = receive(desk)
        room = None if isinstance(work, Ignored) else desk.forge.api.leave_room(ROOM)
    except StratwrightError as error:
        words, code = markdown_text(f"{error.message}. {error.hint}", 1000), reason_of(error)
        desk.actions.summary(f"Stratwright: stopped [{code}]: {words}")
        raise
    if isinstance(work, Ignored):
        say(str(work))
        desk.actions.summary(f"Stratwright: {work}.")
    items = () if isinstance(work, Ignored) else work
    for item in items:
        say(f"{item.key}  {item.deed}  {item.path or item.at}")
    if room is not None and len(items) * USUAL > room.left:
        words = too_many(len(items), room.left, room.until)
        say(words)
        desk.actions.summary(f"Stratwright: {words}")
    matrix = make_matrix(items)
    for name, jobs in asdict(matrix).items():
        rows = [{"name": keys[0], "keys": ",".join(keys)} for keys in jobs]
        desk.actions.output(name, json.dumps(rows, separators=(",", ":")))
    return 0


def announce(desk: "Desk", args: argparse.Namespace) -> int:
    """Say in the issue that work has begun."""
    from bot.events.desk import find_items
    from bot.events.writing import announce as begin
    from bot.events.writing import check_keys

    for item in find_items(desk, check_keys(args.keys)):
        begin(desk, item)
    return 0


def generate(desk: "Desk", args: argparse.Namespace) -> int:
    """Write candidates."""
    from bot.events.desk import find_items
    from bot.events.stages import generate as write_candidate
    from bot.events.writing import check_keys

    return _worst(
        lambda item: write_candidate(desk, item, args.handover) and None,
        find_items(desk, check_keys(args.keys)),
    )


def write(desk: "Desk", args: argparse.Namespace) -> int:
    """Judge, propose, refuse, close and answer."""
    from bot.events.desk import find_items
    from bot.events.items import Item
    from bot.events.writing import check_keys
    from bot.events.writing import write as write_item

    def one(item: Item) -> int:
        done = write_item(desk, item, args.handover)
        say(f"{item.path or item.at}: {done.state}{done.code}")
        if done.result is not None:
            sys.stdout.write(json.dumps(done.result.to_dict()) + "\n")
        return done.exit_code

    items = find_items(desk, check_keys(args.keys))
    code = _worst(one, items)
    desk.actions.summary(desk.forge.api.spent(len(items)))
    return code


def run_gates(args: argparse.Namespace) -> int:
    """Run candidates in the sandbox; needs no token, no repository and no event."""
    from bot.events.stages import run_gates as run_one
    from bot.events.writing import check_keys
    from bot.report.terminal import gate_table
    from bot.workshop import opened_sandbox, warm_mypy_cache

    keys = [k for k in check_keys(args.keys) if (args.handover / f"case-{k}.json").exists()]
    if not keys:
        say("nothing to judge: the generate job found nothing to do, or did not deliver")
        return 0
    sandbox, cache = opened_sandbox("auto"), warm_mypy_cache(say)

    def one(key: str) -> None:
        examination = run_one(key, args.handover, args.handover, sandbox, cache, say)
        for line in gate_table(examination.verdicts).splitlines():
            say(line)

    return _worst(one, keys)


def _worst(act: Callable[[Thing], int | None], things: Iterable[Thing]) -> int:
    """Do all of them, whatever becomes of one; the worst exit code counts."""
    from bot.cli import tell
    from bot.errors import StratwrightError
    from bot.events.reasons import reason_of

    codes = [0]
    for thing in things:
        try:
            codes.append(act(thing) or 0)
        except StratwrightError as error:
            say(f"stopped [{reason_of(error)}]")
            codes.append(tell(error, as_json=False))
    return max(codes)


def say(line: str) -> None:
    """Show a line in the runner's log, as nothing but text."""
    from bot.events.actions import say_in_log

    sys.stderr.write(f"{say_in_log(line)}\n")
    sys.stderr.flush()
