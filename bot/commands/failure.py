"""Turns an error into what a person, or a program that asked for JSON, reads."""

import json
import sys

from bot.commands.screen import wrapped
from bot.errors import StratwrightError
from bot.redaction import inert


def show_error(error: StratwrightError, *, as_json: bool) -> int:
    """Shows what happened and what to do, and gives the exit code."""
    if as_json:
        problems = [problem.to_dict() for problem in getattr(error, "problems", ())]
        answer = {"error": error.message, "hint": error.hint, "problems": problems}
        sys.stdout.write(json.dumps(answer) + "\n")
    else:
        hint = f"{error.hint}\n" if error.hint else ""
        # The message may quote a stranger's file; in CI nothing of it may be a command.
        told = inert(f"{error.message}\n{hint}")
        sys.stderr.write(wrapped(told) if sys.stderr.isatty() else told)
    return error.exit_code
