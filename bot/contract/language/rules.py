"""Turns rule text, a safe subset of Python expressions, into a typed tree.

The text is parsed with `ast` and never evaluated as Python. Every mistake of an expression is
collected, so that one look at the answer mends them all.
"""

import ast
import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.contract.document.problems import nearest as nearest_name
from bot.contract.language.functions import FUNCTIONS, Function, Kind
from bot.contract.language.tree import (
    Arithmetic,
    Call,
    Comparison,
    Indicator,
    Logic,
    Negative,
    Node,
    Not,
    Number,
    Parameter,
    Price,
    Shift,
    Truth,
    Type,
)

MAX_TEXT = 2_000
MAX_DEPTH = 40
MAX_WINDOW = 100_000

HEIKIN_ASHI = ("ha_open", "ha_high", "ha_low", "ha_close")
PRICES = ("open", "high", "low", "close", "volume", "hl2", "hlc3", "ohlc4", *HEIKIN_ASHI)


@dataclass(frozen=True)
class Scope:
    """The names an expression may use.

    Args:
        parameters: whether each parameter may be the length of a window, by name: it only takes
            whole numbers from 1 up.
        outputs: the output names of each indicator; None where the indicator itself is broken, so
            that its own mistake is told once and not again wherever it is used.
        booleans: the indicators whose expression is a condition.
        elsewhere: the indicators that cannot be read from here, with the reason.
    """

    parameters: Mapping[str, bool]
    outputs: Mapping[str, tuple[str, ...] | None]
    booleans: frozenset[str] = frozenset()
    elsewhere: Mapping[str, str] = field(default_factory=dict)

    def names(self) -> list[str]:
        """What may stand alone as a value."""
        return [*PRICES, *self.parameters, *self.outputs, "always", "never"]


@dataclass(frozen=True)
class Mistake:
    """One thing wrong with an expression, at a character of its text."""

    offset: int
    message: str
    found: str = ""
    allowed: str = ""
    nearest: str = ""


class _Refused(Exception):
    """Ends the reading of one part; its mistake is already noted."""


_ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
}
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_OPERATOR_ADVICE: dict[type[ast.AST], str] = {
    ast.BitAnd: "write `and` instead of `&`",
    ast.BitOr: "write `or` instead of `|`",
    ast.Pow: "write power(x, n) instead of `**`",
    ast.Invert: "write `not` instead of `~`",
    ast.Is: "write `==` instead of `is`",
    ast.IsNot: "write `!=` instead of `is not`",
}
_VALUES_ALLOWED = "numbers, prices, parameters, indicators, functions and + - * / < > == and or not"


# Operators of other languages that Python's parser stumbles over, and what they are here.
_FOREIGN = {
    "&&": "`and`",
    "||": "`or`",
    "<>": "`!=`",
    "=<": "`<=`",
    "=>": "`>=`",
    "=": "`==`",
    "!": "`not`",
}


def _operator_advice(text: str, position: int) -> str:
    """What to write instead of a foreign operator at, or one character before, a place."""
    for start in (position - 1, position):
        for foreign, ours in _FOREIGN.items():
            if start >= 0 and text.startswith(foreign, start) and text[start : start + 2] != "!=":
                return f"{ours} instead of {foreign}"
    if not text[position:].strip() or text.rstrip().endswith((" and", " or", " not")):
        return "a condition after the last `and`, `or` or `not`"
    return ""


def parse_rule(
    text: str, scope: Scope, wanted: Type | None = None
) -> tuple[Node | None, list[Mistake]]:
    """Turn rule text into a typed tree.

    Args:
        text: the expression as the contract has it; line breaks count as spaces.
        scope: the names it may use.
        wanted: the type that the whole must have, if one is wanted.

    Returns:
        The tree, or None with every mistake that was found. None without a mistake: it reads an
        indicator that is itself broken, which is told there.
    """
    reader = _Reader(scope)
    tree = reader.read(text, wanted)
    return (None, reader.mistakes) if reader.mistakes else (tree, [])


def names_read(text: str) -> list[str]:
    """The names that stand as values in an expression; empty where it does not parse."""
    reader = _Reader(Scope({}, {}))
    body = reader.parse(text)
    if body is None:
        return []
    called = {id(node.func) for node in ast.walk(body) if isinstance(node, ast.Call)}
    return [
        node.id for node in ast.walk(body) if isinstance(node, ast.Name) and id(node) not in called
    ]


class _Reader:
    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.mistakes: list[Mistake] = []
        self.depth = 0
        self.start = 0

    def read(self, text: str, wanted: Type | None) -> Node | None:
        """Parse the text and translate the tree, noting mistakes on the way."""
        body = self.parse(text)
        if body is None:
            return None
        try:
            node = self.translate(body)
            self.want(node, wanted)
        except _Refused:
            return None
        return node

    def parse(self, text: str) -> ast.expr | None:
        """Python's own tree of a text; None with a mistake noted if it has none."""
        flat = "".join(" " if character in "\n\r\t" else character for character in text)
        self.start = len(flat) - len(flat.lstrip())
        flat = flat.strip()
        if not flat:
            self.note(0, "the expression is empty", allowed="an expression, for example rsi < 30")
        elif len(flat) > MAX_TEXT:
            self.note(0, f"the expression is longer than {MAX_TEXT} characters", str(len(flat)))
        else:
            for position, character in enumerate(flat):
                if not " " <= character <= "~" or character in "#\\;":
                    shown = f"U+{ord(character):04X}" if character > "~" else repr(character)
                    self.note(position, "a character that no rule may contain", shown)
                    break
        if self.mistakes:
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(flat, mode="eval").body
        except SyntaxError as error:
            position = min(max((error.offset or 1) - 1, 0), len(flat) - 1)
            found, advice = flat[position : position + 20], _operator_advice(flat, position)
            self.note(position, f"not an expression: {error.msg}", found, advice)
        except (ValueError, MemoryError, RecursionError):
            self.note(0, "the expression is too deep or has too large a number")
        return None

    def note(
        self, offset: int, message: str, found: str = "", allowed: str = "", nearest: str = ""
    ) -> None:
        """Keep a mistake."""
        self.mistakes.append(Mistake(self.start + offset, message, found, allowed, nearest))

    def refuse(
        self, node: ast.AST, message: str, found: str = "", allowed: str = "", nearest: str = ""
    ) -> _Refused:
        """Keep a mistake at a part and give the exception that leaves it."""
        self.note(getattr(node, "col_offset", 0), message, found, allowed, nearest)
        return _Refused()

    def want(self, node: Node, wanted: Type | None) -> None:
        """Note it when a part has the other type than its place wants."""
        if wanted is None or node.type == wanted:
            return
        advice = (
            "a condition such as rsi < 30; numbers are never true or false"
            if wanted == "boolean"
            else "a number; a condition has no size, count(condition, n) counts it"
        )
        self.mistakes.append(
            Mistake(node.offset, f"a {wanted} is wanted here", f"a {node.type}", advice)
        )

    def translate(self, node: ast.expr) -> Node:
        """Translate one part and all below it."""
        self.depth += 1
        try:
            if self.depth > MAX_DEPTH:
                raise self.refuse(node, f"nested more than {MAX_DEPTH} deep")
            match node:
                case ast.Constant():
                    return self.number(node)
                case ast.Name():
                    return self.name(node)
                case ast.Attribute():
                    return self.output(node)
                case ast.Subscript():
                    return self.shift(node)
                case ast.UnaryOp():
                    return self.unary(node)
                case ast.BinOp():
                    return self.arithmetic(node)
                case ast.Compare():
                    return self.comparison(node)
                case ast.BoolOp():
                    return self.logic(node)
                case ast.Call():
                    return self.call(node)
            what = type(node).__name__
            raise self.refuse(node, "this is not part of the rule language", what, _VALUES_ALLOWED)
        finally:
            self.depth -= 1

    def below(self, nodes: list[ast.expr]) -> list[Node]:
        """Translate several parts, so that the mistakes of all are found."""
        done: list[Node] = []
        for node in nodes:
            try:
                done.append(self.translate(node))
            except _Refused:
                continue
        if len(done) < len(nodes):
            raise _Refused
        return done

    def at(self, node: ast.expr) -> int:
        """Where a part stands in the text."""
        return self.start + node.col_offset

    def number(self, node: ast.Constant) -> Node:
        """A literal."""
        value = node.value
        if isinstance(value, bool):
            better = "always" if value else "never"
            raise self.refuse(node, f"write `{better}`", str(value), "always, never")
        if not isinstance(value, int | float):
            raise self.refuse(node, "only numbers may be written out", repr(value)[:40])
        try:
            finite = math.isfinite(float(value))
        except OverflowError:
            finite = False
        if not finite or abs(value) > 1e15:
            raise self.refuse(node, "the number is too large", allowed="at most 1e15")
        return Number(self.at(node), value)

    def name(self, node: ast.Name) -> Node:
        """A price, a parameter, an indicator, always or never."""
        name = node.id
        if name in PRICES:
            return Price(self.at(node), name)
        if name in ("always", "never"):
            return Truth(self.at(node), name == "always")
        if name in self.scope.parameters:
            return Parameter(self.at(node), name)
        if name in self.scope.outputs:
            outputs = self.scope.outputs[name]
            if outputs is None:
                raise _Refused
            if len(outputs) > 1:
                allowed = ", ".join(f"{name}.{output}" for output in outputs)
                raise self.refuse(node, f"`{name}` has several outputs: say which", name, allowed)
            return Indicator(self.at(node), name, boolean=name in self.scope.booleans)
        self.refuse_elsewhere(node, name)
        if name in FUNCTIONS:
            raise self.refuse(
                node, f"`{name}` is a function", name, f"{FUNCTIONS[name].signature} with arguments"
            )
        names = self.scope.names()
        near = nearest_name(name, names)
        raise self.refuse(node, f"unknown name `{name}`", name, ", ".join(names), near)

    def refuse_elsewhere(self, node: ast.expr, name: str) -> None:
        """Leave a part that names an indicator of other candles."""
        if name in self.scope.elsewhere:
            raise self.refuse(node, self.scope.elsewhere[name], name)

    def output(self, node: ast.Attribute) -> Node:
        """`name.output`."""
        if not isinstance(node.value, ast.Name):
            raise self.refuse(node, "a dot may only follow an indicator's name", node.attr)
        name = node.value.id
        self.refuse_elsewhere(node, name)
        if name not in self.scope.outputs:
            indicators = list(self.scope.outputs)
            message = f"`{name}` is not an indicator, so it has no `.{node.attr}`"
            allowed = ", ".join(indicators) or "no indicators are declared"
            near = nearest_name(name, indicators)
            raise self.refuse(node, message, f"{name}.{node.attr}", allowed, near)
        outputs = self.scope.outputs[name]
        if outputs is None:
            raise _Refused
        if node.attr not in outputs:
            message = f"`{name}` has no output `{node.attr}`"
            allowed = ", ".join(outputs) or f"`{name}` alone: an expression has one value"
            near = nearest_name(node.attr, list(outputs))
            raise self.refuse(node, message, node.attr, allowed, near)
        return Indicator(self.at(node), name, node.attr if len(outputs) > 1 else "")

    def shift(self, node: ast.Subscript) -> Node:
        """`x[k]`."""
        index, sign = node.slice, 1
        if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub):
            index, sign = index.operand, -1
        bars = 0
        literal = False
        if isinstance(index, ast.Constant) and type(index.value) is int:
            bars, literal = sign * index.value, True
        if not literal:
            self.note(
                getattr(node.slice, "col_offset", node.col_offset),
                "x[k] wants a whole number of bars, written out",
                ast.unparse(node.slice)[:40],
                "for example close[1]; a window whose length is a parameter: change(x, n)",
            )
        elif bars < 0:
            self.note(
                getattr(node.slice, "col_offset", node.col_offset),
                "no rule can name a future bar: x[k] looks k bars back",
                str(bars),
                "0 or more",
            )
        elif bars > MAX_WINDOW:
            self.note(
                node.col_offset, "x[k] looks too far back", str(bars), f"at most {MAX_WINDOW}"
            )
        part = self.translate(node.value)
        if not literal or not 0 <= bars <= MAX_WINDOW:
            raise _Refused
        return Shift(self.at(node), part, bars)

    def unary(self, node: ast.UnaryOp) -> Node:
        """`-x`, `+x` is refused, `not x`."""
        if isinstance(node.op, ast.Not):
            part = self.translate(node.operand)
            self.want(part, "boolean")
            return Not(self.at(node), part)
        if not isinstance(node.op, ast.USub):
            advice = _OPERATOR_ADVICE.get(type(node.op), "only `-` and `not` stand before a value")
            raise self.refuse(node, advice)
        part = self.translate(node.operand)
        self.want(part, "number")
        return Negative(self.at(node), part)

    def arithmetic(self, node: ast.BinOp) -> Node:
        """`+ - * /`."""
        operator = _ARITHMETIC.get(type(node.op))
        if operator is None:
            advice = _OPERATOR_ADVICE.get(type(node.op), "this operator is not in the language")
            self.note(node.col_offset, advice, allowed="+ - * /")
        left, right = self.below([node.left, node.right])
        if operator is None:
            raise _Refused
        self.want(left, "number")
        self.want(right, "number")
        return Arithmetic(self.at(node), operator, left, right)

    def comparison(self, node: ast.Compare) -> Node:
        """`a < b`, and chains of them."""
        for operator in node.ops:
            if type(operator) not in _COMPARISONS:
                advice = _OPERATOR_ADVICE.get(
                    type(operator), "this comparison is not in the language"
                )
                self.note(node.col_offset, advice, allowed="< <= > >= == !=")
        parts = self.below([node.left, *node.comparators])
        if any(type(operator) not in _COMPARISONS for operator in node.ops):
            raise _Refused
        for part in parts:
            self.want(part, "number")
        pairs = [
            Comparison(self.at(node), _COMPARISONS[type(operator)], left, right)
            for operator, left, right in zip(node.ops, parts, parts[1:], strict=False)
        ]
        return pairs[0] if len(pairs) == 1 else Logic(self.at(node), "and", tuple(pairs))

    def logic(self, node: ast.BoolOp) -> Node:
        """`and`, `or`."""
        parts = self.below(node.values)
        for part in parts:
            self.want(part, "boolean")
        return Logic(self.at(node), "and" if isinstance(node.op, ast.And) else "or", tuple(parts))

    def call(self, node: ast.Call) -> Node:
        """A function of the language with its arguments."""
        if not isinstance(node.func, ast.Name):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            advice = "x[1] is x one bar ago" if name == "shift" else ", ".join(FUNCTIONS)
            raise self.refuse(
                node, "only functions of the rule language can be called", name, advice
            )
        name = node.func.id
        function = FUNCTIONS.get(name)
        if function is None:
            self.unknown_function(node, name)
            raise _Refused
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            raise self.refuse(node, "arguments are given by place", name, function.signature)
        if len(node.args) != len(function.arguments):
            self.note(
                node.col_offset,
                f"`{name}` takes {len(function.arguments)} argument(s)",
                str(len(node.args)),
                function.signature,
            )
            self.below(node.args)
            raise _Refused
        return Call(self.at(node), name, self.arguments(node, function))

    def unknown_function(self, node: ast.Call, name: str) -> None:
        """A function that rules do not have; TA-Lib's are written in capitals."""
        if name.isupper():
            declared = f"{name.lower()}: {{function: {name}, ...}}"
            advice = f"declare it under `indicators`, as {declared}, and name that in the rule"
            self.note(node.col_offset, f"rules call no indicator such as `{name}`", name, advice)
            return
        nearest = nearest_name(name, list(FUNCTIONS))
        if name == "shift":
            nearest = "x[1]"
        advice = f"{', '.join(FUNCTIONS)}; indicators are declared under `indicators`"
        self.note(node.col_offset, f"unknown function `{name}`", name, advice, nearest)

    def arguments(self, node: ast.Call, function: Function) -> tuple[Node, ...]:
        """The arguments of a call, each of the kind its place wants."""
        parts = self.below(node.args)
        for part, (label, kind) in zip(parts, function.arguments, strict=True):
            self.argument(part, label, kind, function)
        return tuple(parts)

    def argument(self, part: Node, label: str, kind: Kind, function: Function) -> None:
        """Note it when an argument is not of its kind."""
        if kind == "number" or kind == "boolean":
            self.want(part, kind)
        elif kind == "window" and not self.is_window(part):
            shown = str(part.value) if isinstance(part, Number) else ""
            self.mistakes.append(
                Mistake(
                    part.offset,
                    f"`{label}` of {function.signature} must be a positive whole number",
                    shown,
                    "a whole number from 1 up, or a parameter that only takes such numbers",
                )
            )

    def is_window(self, part: Node) -> bool:
        """Whether a part may be the length of a window."""
        if isinstance(part, Number):
            return type(part.value) is int and 1 <= part.value <= MAX_WINDOW
        return isinstance(part, Parameter) and self.scope.parameters[part.name]
