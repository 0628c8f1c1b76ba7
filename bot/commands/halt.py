"""`stratwright halt`: stops a task, or everything, without a signature and without asking back."""

import argparse
import json
import sys
from typing import TYPE_CHECKING

from bot.commands.approve import add_desk, open_desk
from bot.redaction import inert

if TYPE_CHECKING:
    from bot.approval.desk import Desk
    from bot.approval.halting import Told


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("scope", metavar="WORKFLOW/TASK|TAG|all", help="what to stop")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why")
    add_desk(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace) -> int:
    """Tell this host, the bus and the branch; 4 if one of them could not be told."""
    from bot.approval.halting import halt

    desk = open_desk(args)
    told = halt(desk, scope_of(args.scope), who_is(desk), args.reason)
    rows = [{"place": each.place, "trouble": each.trouble} for each in told]
    text = json.dumps({"halted": scope_of(args.scope), "told": rows}) + "\n"
    sys.stdout.write(text if args.json else lines_of(scope_of(args.scope), told))
    return 4 if any(each.trouble for each in told) else 0


def scope_of(given: str) -> str:
    """Read a task from its name or from a tag's; `all` is everything.

    Raises:
        InputError: it is neither.
    """
    from bot.approval.chain import EVERYTHING
    from bot.approval.subject import name_of
    from bot.errors import InputError
    from bot.git.identity import TaskName

    if given in ("all", EVERYTHING):
        return EVERYTHING
    if given.startswith("ai/"):
        return str(name_of(given)[0])
    workflow, slash, task = given.partition("/")
    if not slash:
        raise InputError(f"{given!a} names no task", "Write WORKFLOW/TASK, a tag, or all.")
    return str(TaskName(workflow, task))


def who_is(desk: "Desk") -> str:
    """Name who orders it, as far as Git knows; stopping needs nobody's name."""
    told = desk.repository.git.run("config", "user.email").text
    return told if told.isascii() and told.isprintable() and told.strip() else "somebody"


def lines_of(scope: str, told: "tuple[Told, ...]") -> str:
    """Write what was told to whom."""
    rows = [f"  {each.place:<8}{each.trouble or 'told'}\n" for each in told]
    again = "  A new approval starts it again: stratwright approve TAG\n"
    return inert("".join([f"halted {scope}\n", *rows, again]))
