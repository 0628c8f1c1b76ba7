"""Finds what a strategy reads and may not read, where the template did not write it.

No sample of candles finds a trap that waits for one day of 2031, or for one price. So the strategy
gets nothing to wait for: it reads prices, volumes and settings, by name, as the template does; the
times of candles only through the functions that the contract's own rules need; and every number and
text in it is the contract's, or so small that the places elsewhere have seen both sides of it.
Nothing is kept from one question to the next.
"""

import ast
from collections.abc import Iterator
from typing import TypeGuard

from bot.gates.foreign.strange_parts import CLASS, PINNED_FUNCTIONS, PINNED_METHODS, Strange

PRICES = ("open", "high", "low", "close", "volume")
_SMALL = {0, 1, 2, 3, 0.5, 100, 1e-12, 1e-9}
_TYPES = {"float64", "int64", "bool", "float", "int"}
_TIMES = {"hour", "weekday", "times", "open_times", "resampled", "merged", "combined"}
_OF_FRAMES = {*_TIMES, "column", "at", "by_name", "constant", "always", "never"}
_TEXT_MAKERS = {"str", "repr", "format", "chr", "ord", "hash", "id", "bytes", "bytearray", "ascii"}
_FRAME, _TABLE = "pd.DataFrame", "dict[str, pd.Series]"
_POSITION, _BAR = "position", "idx"
# What tells candles of one origin from those of another, and nothing of prices.
_ORIGIN = {"attrs", "base", "dtype", "dtypes", "flags", "memory_usage", "name", "nbytes", "strides"}
_QUESTIONS = ("find_entries", "find_exits")
_POWERS = (ast.Pow, ast.LShift)
_AS_PARAMETER = "make it a parameter of the contract and read it from self.cfg"


def find_strange_reading(tree: ast.Module, template: ast.Module) -> Iterator[Strange]:
    """Finds everything that a strategy reads, keeps or knows beyond the template's means."""
    rules = _Rules(tree, template)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name not in PINNED_FUNCTIONS:
            yield from rules.function(node)
        elif isinstance(node, ast.ClassDef) and node.name == CLASS:
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and method.name not in PINNED_METHODS:
                    yield from rules.function(method, is_method=True)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            named = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(named, ast.Name) and named.id not in ("DEFAULT_CFG", "DESCRIPTION"):
                yield from rules.values(node.value)


class _Rules:
    """The rules for one file."""

    def __init__(self, tree: ast.Module, template: ast.Module) -> None:
        ours = [n for n in template.body if isinstance(n, ast.ClassDef) and n.name == CLASS]
        parts = [part for node in ours for part in ast.walk(node)]
        constants = [part.value for part in parts if isinstance(part, ast.Constant)]
        self._numbers = _SMALL | {v for v in constants if isinstance(v, int | float)}
        self._texts = {*PRICES, *_TYPES, *(v for v in constants if isinstance(v, str))}
        self._texts -= {ast.get_docstring(n, clean=False) for n in parts if _has_doc(n)}
        self._keys = {
            part.slice.value
            for part in parts
            if isinstance(part, ast.Subscript)
            and ast.unparse(part.value) == "self.cfg"
            and isinstance(part.slice, ast.Constant)
        }
        self._asked = {
            part.slice.value
            for part in parts
            if isinstance(part, ast.Subscript)
            and ast.unparse(part.value) == _POSITION
            and isinstance(part.slice, ast.Constant)
        }
        self._attributes = {part.attr for part in parts if isinstance(part, ast.Attribute)}
        self._of_series = {part.attr for part in parts if _is_of_series(part)}
        self._folded = {ast.dump(part) for part in parts if isinstance(part, ast.BinOp)}
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        bodies = [*tree.body, *(part for node in classes for part in node.body)]
        self._own = {node.name: node for node in bodies if isinstance(node, ast.FunctionDef)}

    def function(self, node: ast.FunctionDef, is_method: bool = False) -> Iterator[Strange]:
        yield from self.values(node)
        yield from self._use(node, _kinds(node, is_method))
        yield from self._stores(node)

    def values(self, node: ast.AST) -> Iterator[Strange]:
        """Numbers and texts that neither the contract nor the template has."""
        told = _told(node)
        for part in ast.walk(node):
            if part in told:
                continue
            if isinstance(part, ast.Constant) and not self._known(part.value):
                shown = repr(str(part.value)[:40])
                reason = f"{shown} is neither the contract's nor the template's"
                yield Strange(part.lineno, reason, _AS_PARAMETER)
            elif isinstance(part, ast.JoinedStr):
                yield Strange(part.lineno, "text is put together", "name columns and keys plainly")
            elif isinstance(part, ast.BinOp) and self._is_made_up(part):
                reason = f"{ast.unparse(part)[:40]} makes a number that the contract does not have"
                yield Strange(part.lineno, reason, _AS_PARAMETER)
            elif isinstance(part, ast.Name) and part.id in _TEXT_MAKERS:
                yield Strange(part.lineno, f"{part.id} is not for strategies", "compare numbers")

    def _known(self, value: object) -> bool:
        if value is None or isinstance(value, bool) or value is ...:
            return True
        if isinstance(value, int | float):
            return value in self._numbers
        return isinstance(value, str) and value in self._texts

    def _is_made_up(self, part: ast.BinOp) -> bool:
        constant = all(isinstance(side, ast.Constant) for side in (part.left, part.right))
        return (constant or isinstance(part.op, _POWERS)) and ast.dump(part) not in self._folded

    def _use(self, node: ast.FunctionDef, kinds: dict[str, str]) -> Iterator[Strange]:
        """Judges how candles, indicators and settings are read."""
        above = {child: part for part in ast.walk(node) for child in ast.iter_child_nodes(part)}
        for part in ast.walk(node):
            if _is_of_series(part) and part.attr in _TIMES - self._of_series:
                reason = f"series.{part.attr} reads times, which the contract's rules do not"
                yield Strange(part.lineno, reason, "decide by prices, volumes and settings")
            if isinstance(part, ast.Attribute) and part.attr in _ORIGIN - self._attributes:
                reason = f"{part.attr} tells where candles come from, not what they say"
                yield Strange(part.lineno, reason, "decide by prices, volumes and settings")
            if not isinstance(part, ast.Name) or not isinstance(part.ctx, ast.Load):
                continue
            if part.id == "DEFAULT_CFG":
                yield Strange(part.lineno, "DEFAULT_CFG is read", "read self.cfg")
            kind = kinds.get(part.id)
            if kind is not None and not self._is_usual(part, kind, above):
                yield Strange(part.lineno, _WORDS[kind][0].format(part.id), _WORDS[kind][1])

    def _is_usual(self, name: ast.Name, kind: str, above: dict[ast.AST, ast.AST]) -> bool:
        parent = above[name]
        if kind == _POSITION:
            asked = parent.slice if isinstance(parent, ast.Subscript) else None
            return isinstance(asked, ast.Constant) and asked.value in self._asked
        if kind == _BAR:
            return self._is_place(name, above)
        if isinstance(parent, ast.Call) and name in parent.args:
            return self._is_handed_on(parent, name, kind)
        if isinstance(parent, ast.Subscript) and parent.value is name:
            key = parent.slice.value if isinstance(parent.slice, ast.Constant) else None
            if kind == "self" or not isinstance(parent.ctx, ast.Load):
                return False
            return kind == _TABLE or (isinstance(key, str) and key.lower() in PRICES)
        if not isinstance(parent, ast.Attribute):
            return False
        if kind == "self":
            return self._is_own(parent, above)
        if kind == _FRAME and parent.attr == "index":
            return isinstance(above[parent], ast.keyword)
        return kind == _FRAME and parent.attr in PRICES

    def _is_place(self, name: ast.Name, above: dict[ast.AST, ast.AST]) -> bool:
        """Tells whether a bar's number only says which bar is read, or is held to 0, 1, 2 or 3."""
        child: ast.AST = name
        parent = above[name]
        if isinstance(parent, ast.Compare):
            sides = [side for side in (parent.left, *parent.comparators) if side is not name]
            return all(isinstance(side, ast.Constant) for side in sides) and not any(
                isinstance(side, ast.Constant) and side.value not in (0, 1, 2, 3) for side in sides
            )
        while isinstance(parent, ast.BinOp | ast.Slice):
            child, parent = parent, above[parent]
        if isinstance(parent, ast.Call):
            return child in parent.args
        return isinstance(parent, ast.Subscript) and parent.slice is child

    def _is_own(self, parent: ast.Attribute, above: dict[ast.AST, ast.AST]) -> bool:
        """Tells whether `self` leads to a setting of the template's, or to an own method."""
        use = above[parent]
        if parent.attr == "cfg":
            key = use.slice if isinstance(use, ast.Subscript) and use.value is parent else None
            stored = isinstance(use, ast.Subscript) and not isinstance(use.ctx, ast.Load)
            return isinstance(key, ast.Constant) and key.value in self._keys and not stored
        return parent.attr in self._own and isinstance(use, ast.Call) and use.func is parent

    def _is_handed_on(self, call: ast.Call, name: ast.Name, kind: str) -> bool:
        """Tells whether candles or indicators go to somebody who reads them by the same rules."""
        called = ast.unparse(call.func)
        if kind == _FRAME and called == "len":
            return True
        module, _, function = called.rpartition(".")
        if kind == _FRAME and module == "series":
            return function in _OF_FRAMES
        own = self._own.get(function) if module in ("", "self") else None
        if own is None or kind == "self" or call.keywords:
            return False
        place = call.args.index(name) + (1 if module == "self" else 0)
        parameters = [*own.args.posonlyargs, *own.args.args]
        if place >= len(parameters):
            return False
        annotation = parameters[place].annotation
        return annotation is not None and ast.unparse(annotation) == kind

    def _stores(self, node: ast.FunctionDef) -> Iterator[Strange]:
        """Finds what outlives a call."""
        given = {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}
        local = {
            part.id
            for part in ast.walk(node)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        } - given
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute) and not isinstance(part.ctx, ast.Load):
                yield Strange(part.lineno, "an attribute is set", "keep values in local names")
            elif isinstance(part, ast.Subscript) and not isinstance(part.ctx, ast.Load):
                base = part.value
                while isinstance(base, ast.Subscript):
                    base = base.value
                if not isinstance(base, ast.Name) or base.id not in local:
                    reason = f"{ast.unparse(part)[:40]} changes what the caller gave"
                    step = "change only what the function itself has made"
                    yield Strange(part.lineno, reason, step)
            elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                if part.id in given:
                    yield Strange(part.lineno, f"{part.id} is bound again", "use another name")
            elif isinstance(part, ast.FunctionDef | ast.Lambda | ast.ClassDef) and part is not node:
                yield Strange(part.lineno, "a function inside a function", "make it a helper")


_WORDS = {
    _POSITION: (
        "{} is asked for more than the template asks",
        'read position["action"] and position["position_id"]; stops and sizes are the contract\'s',
    ),
    _BAR: ("{} is used otherwise than to name a bar", "read the bar: series.at(df, name, idx)"),
    _FRAME: (
        "{} is used otherwise than by its columns",
        'read prices as df["close"] or series.column(df, "close"); times only as the contract does',
    ),
    _TABLE: ("{} is used otherwise than by name", 'read indicators["name"]'),
    "self": (
        "{} is used otherwise than for the template's settings and own helpers",
        'read self.cfg["name"] of a setting that the contract\'s rules use',
    ),
}


def _kinds(node: ast.FunctionDef, is_method: bool) -> dict[str, str]:
    """Gives names that hold candles, indicators or the strategy itself."""
    kinds = {}
    for place, part in enumerate((*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)):
        written = "" if part.annotation is None else ast.unparse(part.annotation)
        if is_method and place == 0:
            kinds[part.arg] = "self"
        elif written in (_FRAME, _TABLE):
            kinds[part.arg] = written
        elif is_method and node.name in _QUESTIONS and part.arg in (_POSITION, _BAR):
            kinds[part.arg] = part.arg
    for step in ast.walk(node):
        if isinstance(step, ast.Assign) and ast.unparse(step.value).startswith("series.resampled("):
            kinds |= {t.id: _FRAME for t in step.targets if isinstance(t, ast.Name)}
    return kinds


def _told(node: ast.AST) -> set[ast.AST]:
    """Documentation and the words of errors: they decide nothing."""
    found: set[ast.AST] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Raise):
            found |= set(ast.walk(part))
        elif isinstance(part, ast.AnnAssign):
            found |= set(ast.walk(part.annotation))
        elif _has_doc(part):
            found |= set(ast.walk(part.body[0]))
    if isinstance(node, ast.FunctionDef):
        for annotation in (node.returns, *(arg.annotation for arg in node.args.args)):
            found |= set(ast.walk(annotation)) if annotation is not None else set()
    return found


def _has_doc(node: ast.AST) -> TypeGuard[ast.FunctionDef | ast.ClassDef]:
    kinds = ast.FunctionDef | ast.ClassDef
    return isinstance(node, kinds) and ast.get_docstring(node) is not None


def _is_of_series(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and ast.unparse(node.value) == "series"
