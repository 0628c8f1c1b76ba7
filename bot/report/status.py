"""Where a request stands to the words of its status comment, in GitHub's Markdown.

Whatever came from strangers goes through `bot.report.inert`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.contract.document.problems import Problem
from bot.contract.load import MAX_PROBLEMS
from bot.report.inert import markdown_code, markdown_text, visible
from bot.report.story import Judged

STEPS = ("Contract read", "Strategy and tests written", "Gates passed", "Pull request opened")
MOST_PROBLEMS = 100
MOST_LINES = 400


@dataclass(frozen=True)
class Status:
    """How far a request has come.

    Attributes:
        name: the task or the contract's path.
        done: how many of the steps are done.
        headline: one sentence of our own making.
        stopped: whether the first step not done went wrong.
        over: whether there was only something to end, so that no step is told.
    """

    name: str
    done: int
    headline: str
    stopped: bool = False
    parts: tuple[str, ...] = ()
    run_url: str = ""
    over: bool = False


def status_text(status: Status) -> str:
    """Write the comment."""
    ended = status.over or status.done >= len(STEPS)
    mark = "❌" if status.stopped else "✅" if ended else "⏳"
    boxes = []
    for index, step in enumerate(STEPS):
        failed = ": **failed**" if status.stopped and index == status.done else ""
        boxes.append(f"- [{'x' if index < status.done else ' '}] {step}{failed}")
    log = f"[Log of the run]({status.run_url})" if status.run_url else ""
    parts = [
        f"### {mark} {markdown_text(status.name, 200)}",
        status.headline,
        "" if status.over else "\n".join(boxes),
        *status.parts,
        log,
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def problems_part(problems: Sequence[Problem]) -> str:
    """All mistakes of a contract, with their lines."""
    lines = [_problem(problem) for problem in problems[:MOST_PROBLEMS]]
    left = len(problems) - len(lines)
    more = [f"- … and {left} more"] if left > 0 else []
    return "\n".join([f"**{count_of(len(problems))}:**", "", *lines, *more])


def count_of(problems: int) -> str:
    """How many problems there are; a contract's check stops counting at its limit."""
    if problems >= MAX_PROBLEMS:
        return f"{problems} or more problems"
    return f"{problems} problem{'' if problems == 1 else 's'}"


def _problem(problem: Problem) -> str:
    place = markdown_code(f"{problem.file}:{problem.line}:{problem.column}", 300)
    field = f"{markdown_code(problem.field, 100)} " if problem.field else ""
    words = [markdown_text(problem.message)]
    if problem.found:
        words.append(f"found {markdown_text(problem.found, 200)}")
    if problem.allowed:
        words.append(f"allowed: {markdown_text(problem.allowed, 300)}")
    if problem.nearest:
        words.append(f"did you mean {markdown_code(problem.nearest, 100)}?")
    return f"- {place} {field}{'; '.join(words)}"


def text_part(title: str, text: str) -> str:
    """A text with its line numbers, folded, as code that no renderer looks into."""
    lines = visible(text).rstrip("\n").split("\n")
    shown = "\n".join(f"{number:>4}  {line}" for number, line in enumerate(lines[:MOST_LINES], 1))
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    inner = f"{fence}text\n{shown}\n{fence}"
    return f"<details><summary>{title}</summary>\n\n{inner}\n\n</details>"


def gates_part(verdicts: Iterable[Judged]) -> str:
    """What every gate said, as a table."""
    rows = ["| Result | Gate | Figure | Why |", "| --- | --- | --- | --- |"]
    for verdict in verdicts:
        why = "" if verdict.passed is True else markdown_text(verdict.reason or "no reason given")
        where = f" {markdown_code(verdict.where, 200)}" if verdict.where and why else ""
        step = (
            f" Next: {markdown_text(verdict.next_step, 300)}." if verdict.next_step and why else ""
        )
        mark = "✅" if verdict.passed is True else "❌"
        name, figure = markdown_text(verdict.name, 40), markdown_text(verdict.figure, 2000)
        rows.append(f"| {mark} | {name} | {figure} | {why}{where}{step} |")
    return "\n".join(rows)
