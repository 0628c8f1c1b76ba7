"""Holds what is known so far of a contract's names while its language sections are read."""

import keyword
import re

from bot.contract.document.problems import Fault
from bot.contract.language.program_steps import Step
from bot.contract.language.rules import MAX_WINDOW, PRICES, Scope, parse_rule
from bot.contract.language.tree import Node, Type

MAX_NAME = 48
_NAME = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_RESERVED = {*PRICES, "date", "timestamp", "always", "never"}
Path = tuple[str | int, ...]


class KnownNames:
    """The names that were read, the steps that compute them, and the mistakes on the way."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.parameters: dict[str, int | float] = {}
        self.integers: dict[str, bool] = {}  # whether each parameter only takes whole numbers
        # The default of each parameter, then the ends of its range.
        self.extremes: dict[str, tuple[int | float, ...]] = {}
        # The outputs of each indicator; None where it is not read yet, or broken.
        self.outputs: dict[str, tuple[str, ...] | None] = {}
        self.booleans: set[str] = set()  # the indicators that are conditions
        self.steps: list[Step] = []
        # The length of each indicator's candles; empty for the contract's own.
        self.timeframes: dict[str, str] = {}

    def scope(self, timeframe: str = "") -> Scope:
        """Gives the names that are known so far; of other candles only from the contract's own."""
        windows = {
            name: whole and min(self.extremes[name]) >= 1 and max(self.extremes[name]) <= MAX_WINDOW
            for name, whole in self.integers.items()
        }
        if not timeframe:
            return Scope(windows, self.outputs, frozenset(self.booleans))
        near = {name: of for name, of in self.outputs.items() if self.timeframes[name] == timeframe}
        elsewhere = {
            name: f"`{name}` is not of {timeframe} candles: an indicator of them reads prices, "
            "parameters and other indicators of them"
            for name in self.outputs
            if name not in near
        }
        return Scope(windows, near, frozenset(self.booleans), elsewhere)

    def find(
        self, where: Path, message: str, found: object = "", allowed: str = "", nearest: str = ""
    ) -> None:
        """Keep a mistake at a value."""
        self.faults.append(Fault(where, message, str(found), allowed, nearest))

    def name_is_free(self, section: str, name: str) -> bool:
        """Check a parameter's or an indicator's name against the grammar and the taken names."""
        message, allowed = "", "lower-case letters, digits and _, starting with a letter"
        if not _NAME.fullmatch(name):
            message = "not a valid name"
        elif len(name) > MAX_NAME:
            message, allowed = "the name is too long", f"at most {MAX_NAME} characters"
        elif name in _RESERVED or name.startswith(("ha_", "enter_", "exit_")):
            message, allowed = "the name is reserved by the rule language", "another name"
        elif name.startswith("contract_"):
            message, allowed = (
                "the name is reserved for the contract's own settings",
                "another name",
            )
        elif keyword.iskeyword(name):
            message, allowed = "the name is a keyword of Python", "another name"
        elif section == "indicators" and name in self.parameters:
            message, allowed = "a parameter has this name already", "another name"
        if message:
            self.faults.append(Fault((section, name), message, name[:80], allowed, on_key=True))
        return not message

    def parse(
        self, text: str, where: Path, wanted: Type | None, timeframe: str = ""
    ) -> Node | None:
        """Parse an expression; its mistakes become faults at its place."""
        scope = self.scope(timeframe)
        tree, mistakes = parse_rule(text, scope, wanted)
        self.faults.extend(
            Fault(where, m.message, m.found, m.allowed, m.nearest, m.offset) for m in mistakes
        )
        return tree
