"""Turns a strategy's source into its mutants: the same file with one small mistake in each.

A mistake is what a careless hand could make: a comparison the wrong way round, `and` for `or`, a
value one bar late, a number a step off, a clause forgotten. Tests that pass on a mutant would
have passed on that mistake.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

CONFIGURATION = "DEFAULT_CFG"
_CLASS = "Strategy"
_MOST_SHOWN = 70
_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_SWAPPED: dict[type[ast.operator], type[ast.operator]] = {
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
}
_TWINS = {"crossed_above": "crossed_below", "highest": "lowest", "rising": "falling"}
_OPPOSITES = {**_TWINS, **{theirs: ours for ours, theirs in _TWINS.items()}}


@dataclass(frozen=True)
class Mutant:
    """Holds a strategy with one mistake."""

    number: int  # its place in the list; the same source has the same list
    kind: str  # flip, swap, shift, step or drop
    line: int  # where
    before: str  # the part as it was
    after: str  # the part as it is now
    source: str  # the whole file

    def __str__(self) -> str:
        return f"line {self.line}: {self.kind}: {self.before} -> {self.after}"


def make_mutants(source: str) -> list[Mutant]:
    """Gives every mutant of a generated strategy, in the order of the file.

    Raises:
        SyntaxError: the source is not Python.
    """
    tree = ast.parse(source)
    places = _Places(source)
    found: dict[str, Mutant] = {}
    for node, kind, changed in _changes(tree):
        before, after = places.text(node), ast.unparse(changed)
        whole = places.replaced(node, f"({after})")
        mutant = Mutant(0, kind, node.lineno, _short(before), _short(after), whole)
        if ast.dump(ast.parse(whole)) != ast.dump(tree):
            found.setdefault(whole, mutant)
    ordered = sorted(found.values(), key=lambda each: each.line)
    return [replace(each, number=number) for number, each in enumerate(ordered, 1)]


_Change = tuple[ast.expr, str, ast.expr]


def _changes(tree: ast.Module) -> Iterator[_Change]:
    """Says where a mistake can be made: in the class's methods and in the configuration."""
    for statement in tree.body:
        if isinstance(statement, ast.AnnAssign) and statement.value is not None:
            if isinstance(statement.target, ast.Name) and statement.target.id == CONFIGURATION:
                yield from _expressions(statement.value, frozenset())
        elif isinstance(statement, ast.ClassDef) and statement.name == _CLASS:
            for method in statement.body:
                if isinstance(method, ast.FunctionDef):
                    yield from _method(method)


def _method(method: ast.FunctionDef) -> Iterator[_Change]:
    arrays = _arrays(method)
    for statement in method.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        for node in _outermost(statement):
            yield from _expressions(node, arrays)


def _outermost(statement: ast.stmt) -> Iterator[ast.expr]:
    """Gives the expressions that run; annotations do not."""
    for name, value in ast.iter_fields(statement):
        if name in ("annotation", "targets", "target"):
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.expr):
                yield part
            elif isinstance(part, ast.stmt):
                yield from _outermost(part)


def _arrays(method: ast.FunctionDef) -> frozenset[str]:
    """Gives the names that hold a value for every bar."""
    if method.name != "prepare_indicators":
        return frozenset()
    names: set[str] = set()
    for statement in method.body:
        if not isinstance(statement, ast.Assign) or _is_setting(statement.value):
            continue
        for target in statement.targets:
            names |= {part.id for part in ast.walk(target) if isinstance(part, ast.Name)}
    return frozenset(names)


def _is_setting(value: ast.expr) -> bool:
    """Tells whether a value is read from the configuration: a number, not a series."""
    return isinstance(value, ast.Subscript) and ast.unparse(value.value) == "self.cfg"


def _expressions(root: ast.expr, arrays: frozenset[str]) -> Iterator[_Change]:
    for node in ast.walk(root):
        if isinstance(node, ast.Compare):
            yield from _flips(node)
        elif isinstance(node, ast.BoolOp):
            yield from _clauses(node)
        elif isinstance(node, ast.BinOp):
            yield from _operands(node)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert | ast.USub):
            kind = "flip" if isinstance(node.op, ast.USub) else "drop"
            if not isinstance(node.operand, ast.Constant):
                yield node, kind, node.operand
        elif isinstance(node, ast.Constant):
            yield from _steps(node)
        elif isinstance(node, ast.Name):
            if node.id in arrays and isinstance(node.ctx, ast.Load):
                ago = ast.parse("series.ago", mode="eval").body
                yield node, "shift", ast.Call(ago, [node, ast.Constant(1)], [])
            elif node.id == "idx":
                yield node, "shift", ast.BinOp(node, ast.Sub(), ast.Constant(1))
        elif isinstance(node, ast.Attribute) and node.attr in _OPPOSITES:
            yield node, "flip", ast.Attribute(node.value, _OPPOSITES[node.attr], ast.Load())


def _flips(node: ast.Compare) -> Iterator[_Change]:
    for place, operator in enumerate(node.ops):
        ops = list(node.ops)
        ops[place] = _FLIPPED[type(operator)]()
        yield node, "flip", ast.Compare(node.left, ops, node.comparators)


def _clauses(node: ast.BoolOp) -> Iterator[_Change]:
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield node, "swap", ast.BoolOp(other, node.values)
    for place in range(len(node.values)):
        rest = [*node.values[:place], *node.values[place + 1 :]]
        yield node, "drop", rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


def _operands(node: ast.BinOp) -> Iterator[_Change]:
    other = _SWAPPED.get(type(node.op))
    if other is not None:
        yield node, "swap", ast.BinOp(node.left, other(), node.right)
    if isinstance(node.op, ast.BitAnd | ast.BitOr):
        yield node, "drop", node.left
        yield node, "drop", node.right


def _steps(node: ast.Constant) -> Iterator[_Change]:
    value = node.value
    if isinstance(value, bool):
        yield node, "flip", ast.Constant(not value)
    elif isinstance(value, int):
        yield node, "step", ast.Constant(value + 1)
    elif isinstance(value, float):
        yield node, "step", ast.Constant(value * 1.1 if value else 0.1)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MOST_SHOWN else f"{line[: _MOST_SHOWN - 1]}…"


class _Places:
    """A source whose parts can be replaced one at a time."""

    def __init__(self, source: str) -> None:
        self._data = source.encode()
        self._starts = [0]
        for line in self._data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def text(self, node: ast.expr) -> str:
        first, last = self._span(node)
        return self._data[first:last].decode()

    def replaced(self, node: ast.expr, text: str) -> str:
        first, last = self._span(node)
        return (self._data[:first] + text.encode() + self._data[last:]).decode()

    def _span(self, node: ast.expr) -> tuple[int, int]:
        if node.end_lineno is None or node.end_col_offset is None:
            raise ValueError("the part has no place")
        first = self._starts[node.lineno - 1] + node.col_offset
        return first, self._starts[node.end_lineno - 1] + node.end_col_offset
