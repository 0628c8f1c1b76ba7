"""Checks that what a file computes does not depend on when it runs."""

import ast

from bot.gates.static.examined_file import Source
from bot.gates.static.kinds import DEPTH, Kind, Kinds

_ASKING = {"now", "today", "utcnow"}
_OF_PYTHON = ("datetime.datetime.", "datetime.date.")
_WORDS = {"now", "today"}
# They turn a text into a time, and know the words of the clock.
_PARSERS = {
    "numpy.datetime64", "pandas.DatetimeIndex", "pandas.Index", "pandas.Period",
    "pandas.PeriodIndex", "pandas.Timestamp", "pandas.bdate_range", "pandas.date_range",
    "pandas.interval_range", "pandas.period_range", "pandas.to_datetime",
}  # fmt: skip
# Of these a column of the candles is an ordinary argument.
_OF_COLUMNS = {"pandas.DatetimeIndex", "pandas.Index", "pandas.PeriodIndex", "pandas.to_datetime"}
_TEXTS_OF = {None, "arg", "data", "end", "start", "ts_input", "value"}
_SHOWING = {"print", "debug", "info", "warning", "error", "exception", "critical", "log"}
_INSTEAD = "take the time from the candles, as df.index[-1]"


def check_clock(source: Source, kinds: Kinds) -> None:
    """Refuse to ask for the time, and texts that pandas and numpy read as the time."""
    if source.words.file_class == "test":
        return
    for node in source.tree.nodes:
        match node:
            case ast.Attribute(ctx=ast.Load(), attr=name) if name in _ASKING:
                if not _may_ask(source, kinds, node):
                    source.refuse(node, name, "it reads the wall clock", _INSTEAD)
            case ast.Constant(value=str(text)) if text.strip().lower() in _WORDS:
                if not _is_label(source, node):
                    why = "pandas and numpy read this text as the wall clock"
                    source.refuse(node, text, why, _INSTEAD)
            case ast.Call(func=function) if source.listed.get(function) in _PARSERS:
                _check_parser(source, kinds, node)


def _may_ask(source: Source, kinds: Kinds, node: ast.Attribute) -> bool:
    if kinds.only(node.value, Kind.OWN | Kind.CLASS) and source.defines(node.value, node.attr):
        return True
    of_python = source.listed.get(node, "").startswith(_OF_PYTHON)
    return of_python and source.words.file_class != "strategy"


def _is_label(source: Source, node: ast.Constant) -> bool:
    """Tell whether a text is only a key, a docstring, a line for people or one side of `==`."""
    parent = source.tree.parent(node)
    match parent:
        case ast.Expr() | ast.JoinedStr() | ast.MatchValue():
            return True
        case ast.Dict(keys=keys):
            return node in keys
        case ast.Subscript(value=base):
            return not (isinstance(base, ast.Attribute) and base.attr in ("loc", "at"))
        case ast.Compare(ops=operators):
            return all(
                isinstance(item, (ast.Eq, ast.NotEq, ast.In, ast.NotIn)) for item in operators
            )
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _SHOWING
    return False


def _check_parser(source: Source, kinds: Kinds, call: ast.Call) -> None:
    given = [*call.args, *(item.value for item in call.keywords if item.arg in _TEXTS_OF)]
    columns = source.listed[call.func] in _OF_COLUMNS
    for item in given:
        if columns and kinds.of(item) & (Kind.FRAME | Kind.OUTSIDE):
            continue
        if not _is_plain(source, kinds, item, 0):
            why = "a text that is not written out may be the wall clock"
            instead = 'write the date out, as pd.Timestamp("2024-01-01", tz="UTC")'
            source.refuse(item, source.listed[call.func], why, instead)


def _is_plain(source: Source, kinds: Kinds, node: ast.expr, depth: int) -> bool:
    mask = kinds.of(node)
    if not (mask | mask >> DEPTH) & (Kind.TEXT | Kind.FUNCTION):
        return True
    if depth > 4:
        return False
    match node:
        case ast.Constant():
            return True
        case ast.JoinedStr(values=parts):
            texts = [str(part.value) for part in parts if isinstance(part, ast.Constant)]
            return any(letter.isdigit() or letter in "-:/" for text in texts for letter in text)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return all(_is_plain(source, kinds, item, depth + 1) for item in items)
        case ast.Name():
            return _is_constant(source, kinds, node, depth)
    return False


def _is_constant(source: Source, kinds: Kinds, node: ast.Name, depth: int) -> bool:
    """Tell whether a name stands for nothing but texts that are written out."""
    for binding in source.meaning(node)[1]:
        match source.tree.parent(binding.node):
            case ast.Assign(value=value, targets=[ast.Name()]):
                if not _is_plain(source, kinds, value, depth + 1):
                    return False
            case _:
                return not kinds.of(node) & Kind.TEXT
    return True
