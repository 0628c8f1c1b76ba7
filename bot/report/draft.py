"""Turns a drafted contract into the comment that shows it, in GitHub's Markdown.

Every word of it may be a stranger's: the contract stands in a block of code, the rest is inert.
"""

import re
from collections.abc import Sequence
from typing import Protocol

from bot.contract.document.problems import Problem
from bot.contract.language.program import compile_contract
from bot.contract.language.words import in_words
from bot.contract.load import LoadedContract
from bot.report.inert import markdown_text, visible
from bot.report.status import problems_part


class Draft(Protocol):
    """What is shown of a draft."""

    @property
    def text(self) -> str:
        """The contract."""

    @property
    def assumptions(self) -> Sequence[str]:
        """What the model assumed."""

    @property
    def digest(self) -> str:
        """What it is accepted by."""


class Checked(Protocol):
    """What the contract's own checks say of it."""

    @property
    def loaded(self) -> LoadedContract | None:
        """The contract."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with it."""


def draft_text(draft: Draft, read: Checked, model: str, cost_usd: str) -> str:
    """Write the comment: the draft, what it means, what was assumed, and how to accept it."""
    shown = visible(draft.text).rstrip("\n")
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    assumed = [f"- {markdown_text(text, 300)}" for text in draft.assumptions] or ["- nothing"]
    checks = "**Checks:** its names, types and rules hold, and its candles can be read."
    parts = [
        "### A draft of the contract",
        f"{markdown_text(model, 100)} drafted it from this issue's text, for "
        f"{markdown_text(cost_usd, 20)} US dollars. Nothing is written, proven or pushed yet.",
        f"{fence}yaml\n{shown}\n{fence}",
        _rules(read.loaded) if read.loaded else "",
        "\n".join(["**The model assumed:**", "", *assumed]),
        problems_part(read.problems) if read.problems else checks,
        "Whether it is what was meant, only you can say. Who may push to here accepts it by:",
        f"```\n/stratwright accept {draft.digest}\n```",
        "To change it first, put the whole edited contract into one block of code below that line. "
        "Editing this comment changes nothing.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _rules(loaded: LoadedContract) -> str:
    program = compile_contract(loaded.strategy)
    rows = [f"- `{name}`: {markdown_text(in_words(tree))}" for name, tree in program.rules.items()]
    return "\n".join(["**Its rules in words:**", "", *rows])
