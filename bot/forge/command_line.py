"""Reads the command that a comment begins with.

A command is the comment's first line with text on it, and nothing else is on that line: a verb with
more words beside it is not obeyed, and answered with what there is. On that line no
quotation, code block, HTML comment, attribute or link title can be open, so what is obeyed is what
every reader of the page sees.
"""

import re
from dataclasses import dataclass, field

_COMMAND = re.compile(
    r" {0,3}/stratwright(?: +([a-z]{1,20}))?(?: +([A-Za-z0-9._/-]{1,100}))? *", re.ASCII
)


@dataclass(frozen=True)
class Command:
    """What was asked; an empty verb asks what there is."""

    verb: str
    argument: str = ""
    below: str = field(default="", compare=False)  # what stands under it, for who reads on


def read_command(comment: str) -> Command | None:
    """Find the command; None if the comment does not begin with one."""
    lines = comment.replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        if line.strip(" \t"):
            found = _COMMAND.fullmatch(line)
            below = "\n".join(lines[number:])
            return Command(found[1] or "", found[2] or "", below) if found else None
    return None
