"""Turns rule text, a safe subset of Python expressions, into a typed tree.

The text is parsed with `ast` and never evaluated as Python. Every mistake of an expression is
collected, so that one look at the answer mends them all.
"""

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bot.contract.document.problems import nearest as nearest_name
from bot.contract.language import tree
from bot.contract.language.functions import FUNCTIONS, Function, Kind
from bot.contract.language.operators import SIGNS
from bot.contract.language.rule_text import Mistake, parse_text
from bot.contract.language.tree import Node, Type

MAX_DEPTH = 40
MAX_WINDOW = 100_000

HEIKIN_ASHI = ("ha_open", "ha_high", "ha_low", "ha_close")
PRICES = ("open", "high", "low", "close", "volume", "hl2", "hlc3", "ohlc4", *HEIKIN_ASHI)


@dataclass(frozen=True)
class Scope:
    """Holds the names an expression may use."""

    # Whether each parameter may be the length of a window: it only takes whole numbers from 1 up.
    parameters: Mapping[str, bool]
    # The output names of each indicator; None where the indicator itself is broken, so that its
    # own mistake is told once and not again wherever it is used.
    outputs: Mapping[str, tuple[str, ...] | None]
    booleans: frozenset[str] = frozenset()  # the indicators whose expression is a condition
    # The indicators that cannot be read from here, with the reason.
    elsewhere: Mapping[str, str] = field(default_factory=dict)

    def names(self) -> list[str]:
        """Says what may stand alone as a value."""
        return [*PRICES, *self.parameters, *self.outputs, "always", "never"]


class _Refused(Exception):
    """Ends the reading of one part; its mistake is already noted."""


_OPERATOR_ADVICE: dict[type[ast.AST], str] = {
    ast.BitAnd: "write `and` instead of `&`",
    ast.BitOr: "write `or` instead of `|`",
    ast.Pow: "write power(x, n) instead of `**`",
    ast.Invert: "write `not` instead of `~`",
    ast.Is: "write `==` instead of `is`",
    ast.IsNot: "write `!=` instead of `is not`",
}
_VALUES_ALLOWED = "numbers, prices, parameters, indicators, functions and + - * / < > == and or not"


def parse_rule(
    text: str, scope: Scope, wanted: Type | None = None
) -> tuple[Node | None, list[Mistake]]:
    """Turns rule text into a typed tree, or into every mistake that was found.

    There is neither where the text reads an indicator that is itself broken, which is said there.
    `wanted` is the type that the whole must have.
    """
    reader = _Reader(scope)
    tree = reader.read(text, wanted)
    return (None, reader.mistakes) if reader.mistakes else (tree, [])


class _Reader:
    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.mistakes: list[Mistake] = []
        self.depth = 0
        self.start = 0

    def read(self, text: str, wanted: Type | None) -> Node | None:
        """Parse the text and translate the tree, noting mistakes on the way."""
        parsed = parse_text(text)
        self.start = parsed.start
        if parsed.body is None:
            self.mistakes += [parsed.mistake] if parsed.mistake else []
            return None
        try:
            node = self.translate(parsed.body)
            self.want(node, wanted)
        except _Refused:
            return None
        return node

    def note(
        self, offset: int, message: str, found: str = "", allowed: str = "", nearest: str = ""
    ) -> None:
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
        self.depth += 1
        try:
            if self.depth > MAX_DEPTH:
                raise self.refuse(node, f"nested more than {MAX_DEPTH} deep")
            what = type(node).__name__
            read: Callable[[ast.expr], Node] | None = getattr(self, f"read_{what.lower()}", None)
            if read is None:
                message = "this is not part of the rule language"
                raise self.refuse(node, message, what, _VALUES_ALLOWED)
            return read(node)
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
        return self.start + node.col_offset

    def read_constant(self, node: ast.Constant) -> Node:
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
        return tree.Number(self.at(node), value)

    def read_name(self, node: ast.Name) -> Node:
        """Reads a price, a parameter, an indicator, always or never."""
        name = node.id
        if name in PRICES:
            return tree.Price(self.at(node), name)
        if name in ("always", "never"):
            return tree.Truth(self.at(node), name == "always")
        if name in self.scope.parameters:
            return tree.Parameter(self.at(node), name)
        if name in self.scope.outputs:
            outputs = self.scope.outputs[name]
            if outputs is None:
                raise _Refused
            if len(outputs) > 1:
                allowed = ", ".join(f"{name}.{output}" for output in outputs)
                raise self.refuse(node, f"`{name}` has several outputs: say which", name, allowed)
            return tree.Indicator(self.at(node), name, boolean=name in self.scope.booleans)
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

    def read_attribute(self, node: ast.Attribute) -> Node:
        """Reads `name.output`."""
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
        return tree.Indicator(self.at(node), name, node.attr if len(outputs) > 1 else "")

    def read_subscript(self, node: ast.Subscript) -> Node:
        """Reads `x[k]`."""
        bars: int | None = None
        match node.slice:
            case ast.Constant(value=int(number)) if type(number) is int:
                bars = number
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
                bars = -number if type(number) is int else None
        if bars is None:
            message = "x[k] wants a whole number of bars, written out"
            advice = "for example close[1]; a window whose length is a parameter: change(x, n)"
            self.note(node.slice.col_offset, message, ast.unparse(node.slice)[:40], advice)
        elif bars < 0:
            message = "no rule can name a future bar: x[k] looks k bars back"
            self.note(node.slice.col_offset, message, str(bars), "0 or more")
        elif bars > MAX_WINDOW:
            allowed = f"at most {MAX_WINDOW}"
            self.note(node.col_offset, "x[k] looks too far back", str(bars), allowed)
        part = self.translate(node.value)
        if bars is None or not 0 <= bars <= MAX_WINDOW:
            raise _Refused
        return tree.Shift(self.at(node), part, bars)

    def read_unaryop(self, node: ast.UnaryOp) -> Node:
        """Reads `-x` and `not x`; `+x` is refused."""
        if isinstance(node.op, ast.Not):
            part = self.translate(node.operand)
            self.want(part, "boolean")
            return tree.Not(self.at(node), part)
        if not isinstance(node.op, ast.USub):
            advice = _OPERATOR_ADVICE.get(type(node.op), "only `-` and `not` stand before a value")
            raise self.refuse(node, advice)
        part = self.translate(node.operand)
        self.want(part, "number")
        return tree.Negative(self.at(node), part)

    def read_binop(self, node: ast.BinOp) -> Node:
        """Reads `+ - * /`."""
        operator = SIGNS.get(type(node.op))
        if operator is None:
            advice = _OPERATOR_ADVICE.get(type(node.op), "this operator is not in the language")
            self.note(node.col_offset, advice, allowed="+ - * /")
        left, right = self.below([node.left, node.right])
        if operator is None:
            raise _Refused
        self.want(left, "number")
        self.want(right, "number")
        return tree.Arithmetic(self.at(node), operator, left, right)

    def read_compare(self, node: ast.Compare) -> Node:
        """Reads `a < b`, and chains of them."""
        unknown = [type(operator) for operator in node.ops if type(operator) not in SIGNS]
        for kind in unknown:
            advice = _OPERATOR_ADVICE.get(kind, "this comparison is not in the language")
            self.note(node.col_offset, advice, allowed="< <= > >= == !=")
        parts = self.below([node.left, *node.comparators])
        if unknown:
            raise _Refused
        for part in parts:
            self.want(part, "number")
        pairs = [
            tree.Comparison(self.at(node), SIGNS[type(operator)], left, right)
            for operator, left, right in zip(node.ops, parts, parts[1:], strict=False)
        ]
        return pairs[0] if len(pairs) == 1 else tree.Logic(self.at(node), "and", tuple(pairs))

    def read_boolop(self, node: ast.BoolOp) -> Node:
        """Reads `and` and `or`."""
        parts = self.below(node.values)
        for part in parts:
            self.want(part, "boolean")
        return tree.Logic(
            self.at(node), "and" if isinstance(node.op, ast.And) else "or", tuple(parts)
        )

    def read_call(self, node: ast.Call) -> Node:
        """Reads a function of the language with its arguments."""
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
        return tree.Call(self.at(node), name, self.arguments(node, function))

    def unknown_function(self, node: ast.Call, name: str) -> None:
        """Notes a function that rules do not have; TA-Lib's are written in capitals."""
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
        """Gives the arguments of a call, each of the kind its place wants."""
        parts = self.below(node.args)
        for part, (label, kind) in zip(parts, function.arguments, strict=True):
            self.argument(part, label, kind, function)
        return tuple(parts)

    def argument(self, part: Node, label: str, kind: Kind, function: Function) -> None:
        """Note it when an argument is not of its kind."""
        if kind == "number" or kind == "boolean":
            self.want(part, kind)
        elif kind == "window" and not self.is_window(part):
            shown = str(part.value) if isinstance(part, tree.Number) else ""
            self.mistakes.append(
                Mistake(
                    part.offset,
                    f"`{label}` of {function.signature} must be a positive whole number",
                    shown,
                    "a whole number from 1 up, or a parameter that only takes such numbers",
                )
            )

    def is_window(self, part: Node) -> bool:
        if isinstance(part, tree.Number):
            return type(part.value) is int and 1 <= part.value <= MAX_WINDOW
        return isinstance(part, tree.Parameter) and self.scope.parameters[part.name]
