"""Turns the language sections of a contract into a Program: names, functions and rules resolved.

Reads the plain document rather than the model, so that every mistake in parameters, indicators,
rules and risk numbers is found even where other fields are wrong.
"""

import keyword
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from bot.contract.document.problems import Finding
from bot.contract.document.problems import nearest as nearest_name
from bot.contract.language import catalog
from bot.contract.language.rules import MAX_WINDOW, PRICES, Scope, names_read, parse_rule
from bot.contract.language.tree import Indicator, Node, Parameter, Price
from bot.contract.longer import longer, longer_candles_refusal
from bot.contract.model import Contract
from bot.contract.symbols import TIMEFRAMES

MAX_NAME = 48
RULES = ("enter_long", "exit_long", "enter_short", "exit_short")
_NAME = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_RESERVED = {*PRICES, "date", "timestamp", "always", "never"}

_GROUPS = ("trailing_stop", "roi", "size")
_KNOWN: "dict[str, tuple[Program, list[Finding]]]" = {}
_MOST_KNOWN = 16

Path = tuple[str | int, ...]
Value = int | float | Parameter


@dataclass(frozen=True)
class TalibStep:
    """An indicator that TA-Lib computes: its function, inputs in TA-Lib's order, arguments.

    `timeframe` is empty where it is computed of the contract's own candles.
    """

    name: str
    function: catalog.TalibFunction
    inputs: tuple[Node, ...]
    arguments: tuple[tuple[str, Value], ...]
    timeframe: str = ""

    @property
    def keys(self) -> tuple[str, ...]:
        """The names under which its outputs are kept."""
        outputs = self.function.outputs
        return (self.name,) if len(outputs) == 1 else tuple(f"{self.name}.{o}" for o in outputs)


@dataclass(frozen=True)
class ExpressionStep:
    """An indicator that is an expression of the rule language."""

    name: str
    tree: Node
    timeframe: str = ""

    @property
    def keys(self) -> tuple[str, ...]:
        """The name under which its value is kept."""
        return (self.name,)


Step = TalibStep | ExpressionStep


@dataclass(frozen=True)
class Program:
    """What a contract's language sections say, ready to be walked, computed or written as code.

    Attributes:
        parameters: default of each parameter; integers are `int`.
        steps: the indicators, each after those it reads.
        rules: the tree of each rule that is written as an expression.
        prose: the text of each rule that is written as prose.
        atr_periods: the ATR period of each risk level that is measured in ATRs, by field name.
        timeframe: of the contract's own candles.
    """

    parameters: Mapping[str, int | float]
    steps: tuple[Step, ...]
    rules: Mapping[str, Node]
    prose: Mapping[str, str]
    atr_periods: Mapping[str, Value]
    timeframe: str = ""

    @property
    def own_steps(self) -> tuple[Step, ...]:
        """The indicators of the contract's own candles."""
        return tuple(step for step in self.steps if not step.timeframe)

    @property
    def higher(self) -> dict[str, "Program"]:
        """The indicators of longer candles, as a program for each length of them."""
        lengths = dict.fromkeys(step.timeframe for step in self.steps if step.timeframe)
        return {
            length: Program(
                self.parameters,
                tuple(replace(s, timeframe="") for s in self.steps if s.timeframe == length),
                {},
                {},
                {},
                length,
            )
            for length in lengths
        }

    def value(
        self, value: Value, parameters: Mapping[str, int | float] | None = None
    ) -> int | float:
        """The number behind an argument that may name a parameter."""
        if isinstance(value, Parameter):
            return (parameters or self.parameters)[value.name]
        return value


def check_language(raw: Mapping[str, object]) -> list[Finding]:
    """Every mistake in the language sections of a document."""
    return list(_read(raw)[1])


def read_program(raw: Mapping[str, object]) -> Program:
    """The Program of a document that `check_language` found no mistake in."""
    program, findings = _read(raw)
    if findings:
        raise ValueError(f"the contract was not checked: {findings[0].message}")
    return program


def compile_contract(contract: Contract) -> Program:
    """Resolve the names and parse the rules of a contract that was loaded without a problem."""
    return read_program(contract.model_dump(mode="python", exclude_none=True))


def _read(raw: Mapping[str, object]) -> tuple[Program, list[Finding]]:
    """Read the language sections, once where the same were read before: nothing changes them."""
    market, risk = (_section(raw, name) for name in ("market", "risk"))
    asked: list[object] = [market.get("timeframe"), market.get("type") == "futures"]
    asked += [_section(raw, name) for name in ("parameters", "indicators", "rules")]
    asked += [risk.get(name) for name in ("stop_loss", "take_profit")]
    # Of the others only words count, which name parameters.
    tables = [risk.get(name) for name in _GROUPS]
    words = [t if isinstance(t, Mapping) else {"": t} for t in tables]
    asked += [[pair for pair in each.items() if isinstance(pair[1], str)] for each in words]
    try:
        key = repr(_frozen(asked))
    except (ValueError, RecursionError):
        return _LanguageReader(raw).read()  # a number of thousands of digits, or a deep list
    if key not in _KNOWN:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.pop(next(iter(_KNOWN)))
        _KNOWN[key] = _LanguageReader(raw).read()
    return _KNOWN[key]


def _frozen(value: object) -> object:
    """Write lists and tuples alike; a document has the first, its model the second."""
    if isinstance(value, Mapping):
        return {key: _frozen(inner) for key, inner in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def _section(raw: Mapping[str, object], name: str) -> dict[str, object]:
    """A section of the document, empty where it is missing or of another shape."""
    section = raw.get(name)
    if not isinstance(section, Mapping):
        return {}
    return {key: value for key, value in section.items() if isinstance(key, str)}


class _LanguageReader:
    def __init__(self, raw: Mapping[str, object]) -> None:
        self.raw = raw
        self.findings: list[Finding] = []
        self.parameters: dict[str, int | float] = {}
        self.integers: dict[str, bool] = {}
        self.extremes: dict[str, tuple[int | float, ...]] = {}
        self.outputs: dict[str, tuple[str, ...] | None] = {}
        self.booleans: set[str] = set()
        self.steps: list[Step] = []
        own = self.section("market").get("timeframe")
        self.own_timeframe = own if own in TIMEFRAMES else ""
        self.timeframes: dict[str, str] = {}

    def read(self) -> tuple[Program, list[Finding]]:
        """Read the sections in the order in which they build on each other."""
        self.read_parameters()
        self.read_indicators()
        rules, prose = self.read_rules()
        atr_periods = self.read_risk()
        program = Program(
            self.parameters, tuple(self.steps), rules, prose, atr_periods, self.own_timeframe
        )
        return program, self.findings

    def section(self, name: str) -> dict[str, object]:
        """A section of the document, empty where it is missing or of another shape."""
        return _section(self.raw, name)

    def scope(self, timeframe: str = "") -> Scope:
        """The names that are known so far; those of other candles only from the contract's own."""
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
        self.findings.append(Finding(where, message, str(found), allowed, nearest))

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
            self.findings.append(Finding((section, name), message, name[:80], allowed, on_key=True))
        return not message

    # Parameters

    def read_parameters(self) -> None:
        """Names and numbers of the parameters."""
        for name, body in self.section("parameters").items():
            self.name_is_free("parameters", name)
            numbers = _numbers(body)
            integer = bool(numbers) and all(type(number) is int for number in numbers)
            self.integers[name] = integer
            self.extremes[name] = tuple(numbers)
            default = numbers[0] if numbers else 1
            self.parameters[name] = int(default) if integer else float(default)

    # Indicators

    def read_indicators(self) -> None:
        """The indicators, each after those it reads."""
        section = self.section("indicators")
        for name in section:
            self.name_is_free("indicators", name)
            self.outputs[name] = None
            self.timeframes[name] = self.read_timeframe(name, section[name])
        for name in self.dependency_order(section):
            body = section[name]
            if not isinstance(body, Mapping):
                continue
            if "expression" in body:
                self.read_expression(name, body)
            elif "function" in body:
                self.read_function(name, body)

    def dependency_order(self, section: Mapping[str, object]) -> list[str]:
        """The indicators' names so that each comes after those it reads; cycles are found here."""
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
                        self.find(
                            ("indicators", below), "indicators read each other in a circle", text
                        )
                    in_cycle |= set(circle)
                elif below not in done:
                    stack.append((below, iter(reads[below])))
                    open_names.append(below)
        return [name for name in done if name not in in_cycle]

    def read_expression(self, name: str, body: Mapping[object, object]) -> None:
        """An indicator that is an expression."""
        text = body["expression"]
        if not isinstance(text, str) or "function" in body:
            return
        length = self.timeframes[name]
        tree = self.parse(text, ("indicators", name, "expression"), None, length)
        if tree is None:
            return
        self.outputs[name] = ()
        if tree.type == "boolean":
            self.booleans.add(name)
        self.steps.append(ExpressionStep(name, tree, length))

    def read_timeframe(self, name: str, body: object) -> str:
        """The length of the candles that an indicator is computed of; empty for the own ones."""
        given = body.get("timeframe") if isinstance(body, Mapping) else None
        if given not in TIMEFRAMES or not self.own_timeframe:
            return ""  # what is no timeframe has its finding from the model
        reason = longer_candles_refusal(str(given), self.own_timeframe)
        if reason:
            self.find(("indicators", name, "timeframe"), reason, given, longer(self.own_timeframe))
            return ""
        return str(given)

    def parse(self, text: str, where: Path, wanted: str | None, timeframe: str = "") -> Node | None:
        """Parse an expression; its mistakes become findings at its place."""
        scope = self.scope(timeframe)
        tree, mistakes = parse_rule(text, scope, wanted)  # type: ignore[arg-type]
        self.findings.extend(
            Finding(where, m.message, m.found, m.allowed, m.nearest, m.offset) for m in mistakes
        )
        return tree

    def read_function(self, name: str, body: Mapping[object, object]) -> None:
        """An indicator that TA-Lib computes."""
        where: Path = ("indicators", name)
        wanted = body["function"]
        if not isinstance(wanted, str):
            return
        if wanted not in catalog.function_names():
            names = list(catalog.function_names())
            close = nearest_name(wanted.upper(), names)
            allowed = f"one of TA-Lib's {len(names)} functions, by its own name in capitals"
            message = f"TA-Lib has no function `{wanted[:40]}`"
            self.find((*where, "function"), message, wanted[:80], allowed, close)
            return
        function = catalog.describe(wanted)
        self.outputs[name] = function.outputs
        before = len(self.findings)
        arguments = self.read_arguments(where, function, body)
        length = self.timeframes[name]
        inputs = self.read_inputs(where, function, body.get("input"), length)
        if len(self.findings) > before:
            return
        for values in self.argument_cases(arguments):
            reason = catalog.refusal(wanted, values)
            if reason:
                shown = ", ".join(f"{key}={value}" for key, value in values)
                self.find(where, f"{wanted} does not take these arguments: {reason}", shown)
                return
        self.steps.append(TalibStep(name, function, inputs, arguments, length))

    def argument_cases(
        self, arguments: tuple[tuple[str, Value], ...]
    ) -> list[tuple[tuple[str, int | float], ...]]:
        """The arguments at the parameters' defaults and at either end of their ranges."""
        cases = []
        for pick in range(3):
            case = []
            for key, value in arguments:
                if isinstance(value, Parameter):
                    extremes = self.extremes[value.name]
                    number = extremes[min(pick, len(extremes) - 1)]
                    case.append((key, int(number) if self.integers[value.name] else number))
                else:
                    case.append((key, value))
            if tuple(case) not in cases:
                cases.append(tuple(case))
        return cases

    def read_arguments(
        self, where: Path, function: catalog.TalibFunction, body: Mapping[object, object]
    ) -> tuple[tuple[str, Value], ...]:
        """The arguments in TA-Lib's order, coerced to the declared types."""
        known = [argument.name for argument in function.arguments]
        given: dict[str, Value] = {}
        for key, value in body.items():
            if not isinstance(key, str) or key in ("function", "input", "timeframe"):
                continue
            if key not in known:
                self.findings.append(
                    Finding(
                        (*where, key),
                        f"{function.name} has no argument `{key[:40]}`",
                        key[:80],
                        ", ".join(known) or "no arguments",
                        nearest_name(key, known),
                        on_key=True,
                    )
                )
            else:
                argument = function.argument(key)
                number = self.read_argument((*where, key), argument, value) if argument else None
                if number is not None:
                    given[key] = number
        return tuple((key, given[key]) for key in known if key in given)

    def read_argument(self, where: Path, argument: catalog.Argument, value: object) -> Value | None:
        """One argument: a number of the declared type, a moving average's name, or a parameter."""
        if isinstance(value, str):
            if argument.kind == "matype" and value in catalog.ma_types():
                return catalog.ma_types()[value]
            if value in self.parameters:
                if argument.kind == "real" or self.integers[value]:
                    return Parameter(0, value)
                allowed = "a parameter whose default and range are whole numbers"
                self.find(where, f"`{argument.name}` wants a whole number", value, allowed)
                return None
            kinds = [*catalog.ma_types()] if argument.kind == "matype" else []
            names = [*self.parameters, *kinds]
            allowed = ", ".join(["a number", *names])
            message = f"`{value[:40]}` is not a parameter"
            self.find(where, message, value[:80], allowed, nearest_name(value, names))
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.find(
                where, f"`{argument.name}` wants a number or a parameter's name", repr(value)[:60]
            )
            return None
        if argument.kind == "real":
            return float(value)
        if not math.isfinite(value) or not float(value).is_integer():
            allowed = f"a whole number, {argument.default} by default"
            self.find(where, f"`{argument.name}` wants a whole number", value, allowed)
            return None
        if argument.kind == "matype" and int(value) not in catalog.ma_types().values():
            allowed = ", ".join(f"{number} ({kind})" for kind, number in catalog.ma_types().items())
            self.find(where, "no moving average has this number", value, allowed)
            return None
        return int(value)

    def read_inputs(
        self, where: Path, function: catalog.TalibFunction, wanted: object, timeframe: str = ""
    ) -> tuple[Node, ...]:
        """The series a function reads, in TA-Lib's order."""
        path: Path = (*where, "input")
        chosen: list[Node] = []
        if wanted is not None:
            names = list(wanted) if isinstance(wanted, list | tuple) else [wanted]
            if function.free == 0:
                fixed = ", ".join(slot.price for slot in function.slots)
                message = f"{function.name} always reads {fixed}; it takes no input"
                self.find(path, message, _shown(wanted), "leave `input` out")
                return ()
            if len(names) != function.free:
                allowed = (
                    "one series" if function.free == 1 else f"a list of {function.free} series"
                )
                self.find(path, f"{function.name} takes {allowed}", _shown(wanted), allowed)
                return ()
            for place, name in enumerate(names):
                place_of = (*path, place) if isinstance(wanted, list) else path
                node = self.read_series(place_of, name, timeframe)
                if node is None:
                    return ()
                chosen.append(node)
        elif any(not slot.price for slot in function.slots):
            allowed = "a list of series, for example [close, periods]"
            self.find(where, f"{function.name} needs an `input`", "", allowed)
            return ()
        free = iter(chosen)
        return tuple(
            Price(0, slot.price) if slot.fixed or not chosen else next(free)
            for slot in function.slots
        )

    def read_series(self, where: Path, name: object, timeframe: str = "") -> Node | None:
        """A price, an indicator or one output of it."""
        if not isinstance(name, str):
            return None
        known = [*PRICES, *self.outputs]
        if not re.fullmatch(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)?", name, re.ASCII):
            allowed = (
                "a price, an indicator's name or name.output; expressions get a name of their own"
            )
            self.find(where, "`input` names a series", name[:80], allowed)
            return None
        node = self.parse(name, where, "number", timeframe)
        if node is not None and not isinstance(node, Price | Indicator):
            self.find(where, "`input` wants a series", name[:80], ", ".join(known))
            return None
        return node

    # Rules and risk

    def read_rules(self) -> tuple[dict[str, Node], dict[str, str]]:
        """The rules' trees, and the prose of those written as prose."""
        trees: dict[str, Node] = {}
        prose: dict[str, str] = {}
        section = self.section("rules")
        for rule in RULES:
            text = section.get(rule)
            if text is None:
                continue
            if rule.endswith("_short") and self.section("market").get("type") != "futures":
                message = "shorts need `type: futures` in `market`"
                self.findings.append(Finding(("rules", rule), message, rule, on_key=True))
            if isinstance(text, str):
                tree = self.parse(text, ("rules", rule), "boolean")
                if tree is not None:
                    trees[rule] = tree
            elif isinstance(text, Mapping) and isinstance(text.get("prose"), str):
                prose[rule] = str(text["prose"])
        return trees, prose

    def read_risk(self) -> dict[str, Value]:
        """Parameters named by risk numbers; gives the ATR periods of levels measured in ATRs."""
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
        for group in _GROUPS:
            table = risk.get(group)
            for key, value in table.items() if isinstance(table, Mapping) else ():
                self.risk_number((group, key), value)
        return periods

    def as_value(self, value: object) -> Value:
        """A literal or a parameter; what is broken has its finding already and counts as 14."""
        if isinstance(value, str) and value in self.parameters:
            return Parameter(0, value)
        return int(value) if isinstance(value, int | float) else 14

    def risk_number(self, where: Path, value: object, *, integer: bool = False) -> None:
        """Check that a risk number in words is a parameter's name; `coherence` has its bounds."""
        if not isinstance(value, str):
            return
        path: Path = ("risk", *where)
        if value not in self.parameters:
            names = list(self.parameters)
            allowed = ", ".join(["a number", *names])
            message = f"`{value[:40]}` is not a parameter"
            self.find(path, message, value[:80], allowed, nearest_name(value, names))
        elif integer and not self.scope().parameters[value]:
            allowed = "a parameter that only takes whole numbers from 1 up"
            self.find(path, "a whole number is wanted here", value, allowed)


def _numbers(body: object) -> list[int | float]:
    """The default of a parameter, then the ends of its range."""
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
    """The names that an indicator's input and expression read, functions and outputs left out."""
    if not isinstance(body, Mapping):
        return []
    wanted = body.get("input")
    texts = [body.get("expression"), *(wanted if isinstance(wanted, list | tuple) else [wanted])]
    return [name for text in texts if isinstance(text, str) for name in names_read(text)]


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)[:80]
