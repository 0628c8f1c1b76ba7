"""Checks functions given to pandas: a text chooses a method, so texts must be listed words."""

import ast

from bot.gates.static.examined_file import Source
from bot.gates.static.kind_bits import DEPTH, Kind
from bot.gates.static.kinds import Kinds

_WINDOWS = {"rolling", "expanding"}
_LOOKING_UP = {"get"}
_STARS = -1 << DEPTH
_SAFE = Kind.FUNCTION | Kind.WORD | Kind.PLAIN | Kind.KEYED | Kind.NONE
_SAFE |= Kind.MADE | Kind.PIECE


# Methods that may compile what they compute, and the engines that do not.
_COMPILED = {"agg", "aggregate", "apply", "corr", "cov", "map", "max", "mean", "median", "min",
             "prod", "std", "sum", "transform", "var"}  # fmt: skip
_ENGINES = {None, "cython", "python"}
_MAY_NAME = Kind.TEXT | Kind.OUTSIDE | Kind.OTHER
_TABLES = {"pandas.crosstab", "pandas.pivot_table"}
_NAMED = "pandas.NamedAgg"


def check_functions_by_name(source: Source, kinds: Kinds, node: ast.AST) -> None:
    """Refuse apply, agg, pipe and transform with anything but functions and listed words."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name) as method) if name in _COMPILED:
            of_module = source.listed.get(method, "").startswith(("adapters.", "numpy."))
            if not of_module and not is_own_method(kinds, method):
                _check_engine(kinds, node, name)
    listed = source.listed.get(node, "")
    if listed in _TABLES:
        _check_table(kinds, node)
    elif listed == _NAMED:
        _check_named(kinds, node)
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        if is_own_method(kinds, node):
            return
        if node.attr in kinds.source.words.by_name:
            _check_use(kinds, node)
        elif node.attr in ("pivot_table", "crosstab"):
            _check_table(kinds, node)


def _check_engine(kinds: Kinds, call: ast.Call, name: str) -> None:
    """Refuse machine code: numba reads and writes beyond an array's end without a word."""
    # rolling(...).mean(False, "numba"): places of an engine are not the first.
    texts = [item for item in call.args[1:] if kinds.of(item) & _MAY_NAME]
    for keyword in call.keywords:
        if keyword.arg in ("engine", "engine_kwargs") or (
            keyword.arg is None and name not in ("agg", "aggregate", "transform")
        ):
            texts.append(keyword.value)
    for item in texts:
        if not isinstance(item, ast.Constant) or item.value not in _ENGINES:
            why = "the engine must be seen: numba's machine code reads memory beyond an array"
            kinds.source.refuse(item, "engine", why, 'leave engine out, or write engine="cython"')


def is_own_method(kinds: Kinds, node: ast.Attribute) -> bool:
    """Tell whether a name after a dot is that of an own instance or class."""
    own = kinds.of(node.value) & (Kind.OWN | Kind.CLASS)
    if not own or not kinds.only(node.value, Kind.OWN | Kind.CLASS | Kind.PLAIN):
        return False
    return kinds.source.defines(node.value, node.attr)


def _check_use(kinds: Kinds, node: ast.Attribute) -> None:
    call = kinds.source.tree.call_of(node)
    if call is None:
        why = f"{node.attr} may only be called, so that what it is given can be seen"
        kinds.source.refuse(node, node.attr, why, f"write x.{node.attr}(...) where it is used")
        return
    if node.value in kinds.source.listed and "." in kinds.source.listed[node.value]:
        why = f"{node.attr} is taken from a class, so that what it is given cannot be seen"
        kinds.source.refuse(node, node.attr, why, f"call it on the value: x.{node.attr}(...)")
        return
    if node.attr == "pipe":
        _check_pipe(kinds, node, call)
        return
    if node.attr == "apply" and _is_window(kinds, node.value):
        return
    for given in _functions_given(call):
        if not _is_safe(kinds, given):
            why = f"{node.attr} would run a method chosen by a text that cannot be checked"
            kinds.source.refuse(
                given,
                node.attr,
                why,
                'give a function, as lambda x: x.mean(), or a word such as "mean"',
            )


def _check_pipe(kinds: Kinds, node: ast.Attribute, call: ast.Call) -> None:
    """Let pipe call a function of this file, and nothing else."""
    given = call.args[:1] or [item.value for item in call.keywords if item.arg == "func"]
    if len(given) != 1 or not kinds.only(given[0], Kind.FUNCTION):
        why = "pipe calls whatever it is given, and this is not a function of this file"
        kinds.source.refuse(node, "pipe", why, "write x.pipe(own_function) or own_function(x)")


def _check_named(kinds: Kinds, node: ast.AST) -> None:
    """Let NamedAgg name a column and a listed word or a function."""
    call = kinds.source.tree.call_of(node)
    given: list[ast.expr] = []
    if call is not None:
        given = call.args[1:] + [item.value for item in call.keywords if item.arg != "column"]
    if len(given) != 1 or not _is_safe(kinds, given[0]):
        why = "NamedAgg would run a method chosen by a text that cannot be checked"
        instead = 'write pd.NamedAgg(column="high", aggfunc="max")'
        kinds.source.refuse(node, "NamedAgg", why, instead)


def _is_window(kinds: Kinds, node: ast.expr) -> bool:
    """rolling(...).apply takes functions only, never names; unless rolling is the file's own."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    strange = kinds.of(node.func.value) & (Kind.OWN | Kind.CLASS | Kind.OTHER)
    return node.func.attr in _WINDOWS and not strange


def _functions_given(call: ast.Call) -> list[ast.expr]:
    given = list(call.args[:1])
    attr = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    for keyword in call.keywords:
        if keyword.arg in (None, "func"):
            given.append(keyword.value)
        elif attr in ("agg", "aggregate") and isinstance(keyword.value, ast.Tuple):
            given += keyword.value.elts[1:]
        elif attr in ("agg", "aggregate") and keyword.arg not in _OPTIONS:
            given.append(keyword.value)
    given += [argument for argument in call.args[1:] if isinstance(argument, ast.Starred)]
    return given


_OPTIONS = {"axis", "engine", "engine_kwargs", "raw", "args", "min_count", "numeric_only", "ddof"}


def _check_table(kinds: Kinds, node: ast.AST) -> None:
    call = kinds.source.tree.call_of(node)
    if call is None:
        kinds.source.refuse(node, "aggfunc", "this may only be called", "call it where it is used")
        return
    hidden = any(isinstance(item, ast.Starred) for item in call.args) or len(call.args) > 3
    given = [item.value for item in call.keywords if item.arg in ("aggfunc", None)]
    if hidden or not all(_is_safe(kinds, item) for item in given):
        why = "aggfunc would run a method chosen by a text that cannot be checked"
        kinds.source.refuse(node, "aggfunc", why, 'write aggfunc="mean" or another listed word')


def _is_safe(kinds: Kinds, node: ast.expr) -> bool:
    """Tell whether pandas gets functions and listed words only, however they are packed."""
    if isinstance(node, ast.Starred):
        return False
    if isinstance(node, (ast.List, ast.Tuple)):
        return all(_is_safe(kinds, item) for item in node.elts)
    if isinstance(node, ast.Dict):
        return all(_is_safe(kinds, item) for item in node.values)
    if isinstance(node, (ast.Name, ast.Attribute)) and node in kinds.source.listed:
        return True  # a function of a library, or a builtin
    if isinstance(node, ast.Call):
        listed = kinds.source.listed.get(node.func, "")
        if listed == "functools.partial" and node.args:
            return _is_safe(kinds, node.args[0])
        if listed == _NAMED:
            return True  # judged where it stands
    if isinstance(node, ast.Attribute) and node.attr in _LOOKING_UP:
        return kinds.only(node.value, Kind.PLAIN | Kind.KEYED)
    mask = kinds.of(node)
    if mask & Kind.PLAIN:
        mask |= kinds.mutated
    return mask != 0 and not (mask | mask >> DEPTH) & ~_STARS & ~_SAFE
