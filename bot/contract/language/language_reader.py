"""Reads the language sections of a plain document: parameters, indicators, rules, risk numbers.

The plain document rather than the model, so that every mistake in them is found even where other
fields are wrong.
"""

import math
from collections.abc import Iterator, Mapping

from bot.contract.document.problems import Fault
from bot.contract.document.problems import nearest as nearest_name
from bot.contract.language.known_names import KnownNames, Path
from bot.contract.language.program_steps import ExpressionStep, Value
from bot.contract.language.rule_text import names_read
from bot.contract.language.talib_indicators import read_function
from bot.contract.language.tree import Node, Parameter
from bot.contract.longer import longer, longer_candles_refusal
from bot.contract.symbols import TIMEFRAMES

RULES = ("enter_long", "exit_long", "enter_short", "exit_short")
GROUPS = ("trailing_stop", "roi", "size")


def section_of(raw: Mapping[str, object], name: str) -> dict[str, object]:
    """Gives a section of the document, empty where it is missing or of another shape."""
    section = raw.get(name)
    if not isinstance(section, Mapping):
        return {}
    return {key: value for key, value in section.items() if isinstance(key, str)}


class LanguageReader:
    """Reads the sections in the order in which they build on each other."""

    def __init__(self, raw: Mapping[str, object]) -> None:
        self.raw = raw
        self.names = KnownNames()
        own = self.section("market").get("timeframe")
        self.own_timeframe = own if own in TIMEFRAMES else ""

    def section(self, name: str) -> dict[str, object]:
        """Gives a section of the document, empty where it is missing or of another shape."""
        return section_of(self.raw, name)

    def read_parameters(self) -> None:
        """Reads the names and numbers of the parameters."""
        for name, body in self.section("parameters").items():
            self.names.name_is_free("parameters", name)
            numbers = _numbers(body)
            integer = bool(numbers) and all(type(number) is int for number in numbers)
            self.names.integers[name] = integer
            self.names.extremes[name] = tuple(numbers)
            default = numbers[0] if numbers else 1
            self.names.parameters[name] = int(default) if integer else float(default)

    def read_indicators(self) -> None:
        """Reads the indicators, each after those it reads."""
        section = self.section("indicators")
        for name in section:
            self.names.name_is_free("indicators", name)
            self.names.outputs[name] = None
            self.names.timeframes[name] = self.read_timeframe(name, section[name])
        for name in self.dependency_order(section):
            body = section[name]
            if not isinstance(body, Mapping):
                continue
            if "expression" in body:
                self.read_expression(name, body)
            elif "function" in body:
                read_function(self.names, name, body)

    def dependency_order(self, section: Mapping[str, object]) -> list[str]:
        """Orders the indicators so that each comes after those it reads; finds their cycles."""
        reads = {
            name: [n for n in _names_in(body) if n in section] for name, body in section.items()
        }
        done: list[str] = []
        in_cycle: set[str] = set()
        for start in section:
            stack: list[tuple[str, Iterator[str]]] = [(start, iter(reads[start]))]
            open_names = [start]
            if start in done:
                continue
            while stack:
                name, rest = stack[-1]
                below = next(rest, None)
                if below is None:
                    stack.pop()
                    open_names.pop()
                    done.append(name)
                elif below in open_names:
                    circle = open_names[open_names.index(below) :]
                    if not in_cycle & set(circle):
                        text = " -> ".join([*circle, below])
                        self.names.find(
                            ("indicators", below), "indicators read each other in a circle", text
                        )
                    in_cycle |= set(circle)
                elif below not in done:
                    stack.append((below, iter(reads[below])))
                    open_names.append(below)
        return [name for name in done if name not in in_cycle]

    def read_expression(self, name: str, body: Mapping[object, object]) -> None:
        """Reads an indicator that is an expression."""
        text = body["expression"]
        if not isinstance(text, str) or "function" in body:
            return
        length = self.names.timeframes[name]
        tree = self.names.parse(text, ("indicators", name, "expression"), None, length)
        if tree is None:
            return
        self.names.outputs[name] = ()
        if tree.type == "boolean":
            self.names.booleans.add(name)
        self.names.steps.append(ExpressionStep(name, tree, length))

    def read_timeframe(self, name: str, body: object) -> str:
        """Reads the length of the candles that an indicator is computed of; empty for own ones."""
        given = body.get("timeframe") if isinstance(body, Mapping) else None
        if given not in TIMEFRAMES or not self.own_timeframe:
            return ""  # what is no timeframe has its fault from the model
        reason = longer_candles_refusal(str(given), self.own_timeframe)
        if reason:
            self.names.find(
                ("indicators", name, "timeframe"), reason, given, longer(self.own_timeframe)
            )
            return ""
        return str(given)

    def read_rules(self) -> tuple[dict[str, Node], dict[str, str]]:
        """Reads the rules' trees, and the prose of those written as prose."""
        trees: dict[str, Node] = {}
        prose: dict[str, str] = {}
        section = self.section("rules")
        for rule in RULES:
            text = section.get(rule)
            if text is None:
                continue
            if rule.endswith("_short") and self.section("market").get("type") != "futures":
                message = "shorts need `type: futures` in `market`"
                self.names.faults.append(Fault(("rules", rule), message, rule, on_key=True))
            where: Path = ("rules", rule)
            if isinstance(text, Mapping) and isinstance(text.get("prose"), str):
                prose[rule] = str(text["prose"])
                text, where = text.get("expression"), (*where, "expression")
            if isinstance(text, str):
                tree = self.names.parse(text, where, "boolean")
                if tree is not None:
                    trees[rule] = tree
        return trees, prose

    def read_risk(self) -> dict[str, Value]:
        """Checks the parameters that risk numbers name; gives the ATR periods of levels."""
        periods: dict[str, Value] = {}
        risk = self.section("risk")
        for field in ("stop_loss", "take_profit"):
            level = risk.get(field)
            if isinstance(level, Mapping) and "atr" in level:
                self.risk_number((field, "atr"), level["atr"])
                period = level.get("timeperiod", 14)
                self.risk_number((field, "timeperiod"), period, integer=True)
                periods[field] = self.as_value(period)
            else:
                self.risk_number((field,), level)
        self.risk_number(("trailing_stop",), risk.get("trailing_stop"))
        for group in GROUPS:
            table = risk.get(group)
            for key, value in table.items() if isinstance(table, Mapping) else ():
                self.risk_number((group, key), value)
        return periods

    def as_value(self, value: object) -> Value:
        """Takes a literal or a parameter; what is broken has its fault and counts as 14."""
        if isinstance(value, str) and value in self.names.parameters:
            return Parameter(0, value)
        return int(value) if isinstance(value, int | float) else 14

    def risk_number(self, where: Path, value: object, *, integer: bool = False) -> None:
        """Check that a risk number in words is a parameter's name; `coherence` has its bounds."""
        if not isinstance(value, str):
            return
        path: Path = ("risk", *where)
        if value not in self.names.parameters:
            names = list(self.names.parameters)
            allowed = ", ".join(["a number", *names])
            message = f"`{value[:40]}` is not a parameter"
            self.names.find(path, message, value[:80], allowed, nearest_name(value, names))
        elif integer and not self.names.scope().parameters[value]:
            allowed = "a parameter that only takes whole numbers from 1 up"
            self.names.find(path, "a whole number is wanted here", value, allowed)


def _numbers(body: object) -> list[int | float]:
    """Gives the default of a parameter, then the ends of its range."""
    if not isinstance(body, Mapping):
        return []
    ends = body.get("range")
    values = [body.get("default"), *(ends if isinstance(ends, list | tuple) else ())]
    return [
        value
        for value in values
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    ]


def _names_in(body: object) -> list[str]:
    """Lists the names that an indicator's input and expression read, without functions."""
    if not isinstance(body, Mapping):
        return []
    wanted = body.get("input")
    texts = [body.get("expression"), *(wanted if isinstance(wanted, list | tuple) else [wanted])]
    return [name for text in texts if isinstance(text, str) for name in names_read(text)]
