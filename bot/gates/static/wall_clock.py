"""Checks that what a file computes does not depend on when it runs."""

import ast
import re

from bot.gates.static.attributes import ASKING
from bot.gates.static.by_name import is_own_method
from bot.gates.static.class_values import in_annotation
from bot.gates.static.examined_file import Source
from bot.gates.static.kind_bits import DEPTH, Kind
from bot.gates.static.kinds import Kinds
from bot.gates.static.syntax_tree import given
from bot.gates.static.texts import CLOCK_WORDS, SPELLING

_OF_PYTHON = ("datetime.datetime.", "datetime.date.")
_WORDS = {*CLOCK_WORDS}
_LOCAL_ZONE = re.compile(r"dateutil/.*|tzlocal\(\)", re.DOTALL)
_TIME_OF_DAY = re.compile(r"\d{1,2}:\d{2}.*", re.DOTALL)
_TIMES = {"date", "datetime", "index", "time", "timestamp"}
# They turn a text into a time, and know the words of the clock.
_PARSERS = {
    "numpy.datetime64", "pandas.DatetimeIndex", "pandas.Index", "pandas.Period",
    "pandas.PeriodIndex", "pandas.Timestamp", "pandas.bdate_range", "pandas.date_range",
    "pandas.interval_range", "pandas.period_range", "pandas.to_datetime",
}  # fmt: skip
_BY_VALUE = {"pandas.Index"}
# Of these a column of the candles is an ordinary argument.
_OF_COLUMNS = {"pandas.DatetimeIndex", "pandas.Index", "pandas.PeriodIndex", "pandas.to_datetime"}
_TEXTS_OF = {None, "arg", "data", "end", "origin", "start", "ts_input", "tz", "value"}
# They take a text for a time where their column, array or dtype is one of times.
_FILLERS = {
    "numpy.arange", "numpy.array", "numpy.asarray", "numpy.concatenate", "numpy.copyto",
    "numpy.fromiter", "numpy.full", "numpy.full_like", "numpy.insert", "numpy.place", "numpy.put",
    "pandas.Categorical", "pandas.DataFrame", "pandas.Grouper", "pandas.Series", "pandas.array",
}  # fmt: skip
_OFFSETS = "pandas.tseries.offsets."
_MEETING = {
    "asfreq", "asof", "between", "clip", "combine_first", "difference", "fill", "fillna", "ge",
    "get_indexer", "gt", "insert", "intersection", "isin", "item", "itemset", "le", "lt", "mask",
    "put", "putmask", "reindex", "replace", "rollback", "rollforward", "searchsorted", "shift",
    "truncate", "type", "tz_convert", "tz_localize", "union", "update", "where",
}  # fmt: skip
_NAMES_OF = {"columns", "index", "name", "names"}
_SHOWING = {"print", "debug", "info", "warning", "error", "exception", "critical", "log"}
_INSTEAD = "take the time from the candles, as df.index[-1]"
_MAY_BE = "a text that is not written out may be the wall clock"
_WRITE = 'write the date out, as pd.Timestamp("2024-01-01", tz="UTC")'
_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def check_clock(source: Source, kinds: Kinds, node: ast.AST) -> None:
    """Refuse to ask for the time, and texts that pandas and numpy read as the time."""
    if source.words.file_class == "test":
        return
    match node:
        case ast.Attribute(ctx=ast.Load(), attr=name) if name in ASKING:
            if not _may_ask(source, kinds, node):
                source.refuse(node, name, "it reads the wall clock", _INSTEAD)
        case ast.Constant(value=str(text)):
            _check_text(source, kinds, node, text)
        case ast.Constant(value=bytes(text)):
            _check_text(source, kinds, node, text.decode("latin-1"))
        case ast.Attribute() | ast.Name() if source.listed.get(node) in _PARSERS - _BY_VALUE:
            _check_parser_as_value(source, kinds, node)
        case ast.Attribute(ctx=ast.Load(), attr="type"):
            if _may_hold(kinds, node.value) and source.tree.call_of(node) is None:
                why = "the class of a dtype reads texts as times"
                source.refuse(node, "type", why, "compare the dtype itself")
        case ast.keyword(arg=str(name)) if name in _WORDS and not _is_parameter(source, name):
            why = "a name that is read as text, and pandas reads it as the wall clock"
            source.refuse(node.value, name, why, "choose another name")
        case ast.ClassDef():
            _check_fields(source, node)
        case ast.Call(func=function) if source.listed.get(function) in _PARSERS:
            _check_parser(source, kinds, node)
        case ast.Call():
            _check_zone(source, kinds, node)
            _check_meeting(source, kinds, node)
        case ast.Compare():
            _check_order(source, kinds, node)
        case ast.Assign(targets=targets, value=value):
            if any(isinstance(target, ast.Subscript) and _may_hold(kinds, target.value)
                   for target in targets):  # fmt: skip
                _refuse_made(source, kinds, value)


def _may_ask(source: Source, kinds: Kinds, node: ast.Attribute) -> bool:
    if kinds.only(node.value, Kind.OWN | Kind.CLASS) and source.defines(node.value, node.attr):
        return True
    of_python = source.listed.get(node, "").startswith(_OF_PYTHON)
    return of_python and source.words.file_class != "strategy"


def _check_text(source: Source, kinds: Kinds, node: ast.Constant, text: str) -> None:
    if text.strip().lower() in _WORDS and not _is_label(source, kinds, node):
        why = "pandas and numpy read this text as the wall clock"
        source.refuse(node, text, why, _INSTEAD)
    if _LOCAL_ZONE.fullmatch(text):
        why = "it reads the time zone of this machine, or a file"
        source.refuse(node, text, why, 'name the zone, as "UTC" or "America/New_York"')


def _is_label(source: Source, kinds: Kinds, node: ast.Constant) -> bool:
    """Tell whether a text is only a key, a docstring, a line for people or one side of `==`.

    The names of a frame's columns can be read as texts, so they are no labels.
    """
    parent = source.tree.parent(node)
    match parent:
        case ast.Expr() | ast.JoinedStr() | ast.MatchValue():
            return True
        case ast.Dict(keys=keys):
            call = source.tree.parent(parent)
            return node in keys and not (isinstance(call, ast.Call) and call.func in source.listed)
        case ast.Subscript(value=base, ctx=ast.Store()):
            return not _may_hold(kinds, base)
        case ast.Subscript(value=base):
            return not (isinstance(base, ast.Attribute) and base.attr in ("loc", "at"))
        case ast.Compare(ops=operators):
            return all(
                isinstance(item, (ast.Eq, ast.NotEq, ast.In, ast.NotIn)) for item in operators
            )
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _SHOWING
    return False


def _is_parameter(source: Source, name: str) -> bool:
    """Tell whether a function of the file has a parameter of this name."""
    return source.remember(
        "parameter", name,
        lambda: any(isinstance(item, ast.arg) and item.arg == name for item in source.tree.nodes),
    )  # fmt: skip


def _check_fields(source: Source, node: ast.ClassDef) -> None:
    """Names of classes, members of an Enum and fields of tuples can be read as texts."""
    if node.name.lower() in _WORDS:
        why = "a name that is read as text, and pandas reads it as the wall clock"
        source.refuse(node, node.name, why, "choose another name")
    bound = source.scopes.inside(node).names
    for name in [each for each in bound if each.lower() in _WORDS]:
        if any(item.kind == "value" for item in source.scopes.inside(node).names[name]):
            why = "a name that is read as text, and pandas reads it as the wall clock"
            source.refuse(node, name, why, "choose another name")


def _check_parser(source: Source, kinds: Kinds, call: ast.Call) -> None:
    texts = [*call.args, *(item.value for item in call.keywords if item.arg in _TEXTS_OF)]
    columns = source.listed[call.func] in _OF_COLUMNS
    formed = any(item.arg == "format" for item in call.keywords)
    for item in texts:
        if not formed:
            _check_time_of_day(source, item)
        mask = kinds.of(item)
        made = (mask | mask >> DEPTH) & Kind.MADE
        if columns and mask & (Kind.FRAME | Kind.OUTSIDE) and not made:
            continue
        if not _is_plain(source, kinds, item, 0):
            source.refuse(item, source.listed[call.func], _MAY_BE, _WRITE)


def _check_parser_as_value(source: Source, kinds: Kinds, node: ast.expr) -> None:
    """A parser is called where it stands, or given to a column without texts put together."""
    if source.words.file_class != "strategy" or source.tree.call_of(node) is not None:
        return
    parent = source.tree.parent(node)
    match parent:
        case ast.Call(func=ast.Attribute(value=base, attr="apply" | "map")):
            mask = kinds.of(base)
            known = mask & Kind.FRAME and not (mask | mask >> DEPTH) & Kind.MADE
        case ast.Call(func=ast.Name(id="isinstance")) | ast.Tuple() | ast.Attribute():
            known = True
        case _:
            known = in_annotation(source, node)
    if not known:
        why = "it reads texts as times, so what it is given must be seen"
        source.refuse(node, source.listed[node], why, "call it where it stands")


def _check_time_of_day(source: Source, node: ast.expr) -> None:
    match node:
        case ast.Constant(value=str(text)) if _TIME_OF_DAY.fullmatch(text):
            why = "pandas takes a time without a date for that of today"
            source.refuse(node, text, why, "write the date too, or compare dt.strftime('%H:%M')")
        case ast.List(elts=items) | ast.Tuple(elts=items):
            for item in items:
                _check_time_of_day(source, item)
        case ast.Name():
            for binding in source.meaning(node)[1]:
                match source.tree.parent(binding.node):
                    case ast.Assign(value=ast.Constant() | ast.List() | ast.Tuple() as value):
                        _check_time_of_day(source, value)


def _check_zone(source: Source, kinds: Kinds, call: ast.Call) -> None:
    """Refuse what takes the time zone of the machine where none is given."""
    function = call.func
    if source.words.file_class != "strategy" or not isinstance(function, ast.Attribute):
        return
    if is_own_method(kinds, function):
        return
    zones = [item for item in given(call) if not _is_none(item)]
    match function.attr:
        case "astimezone":
            local = not zones
        case "fromtimestamp":
            local = len(zones) < 2 or source.listed.get(function, "").startswith("datetime.date.")
        case "timestamp":  # of Python's own times; pandas takes them for UTC
            local = kinds.only(function.value, Kind.PLAIN) and not _names_zone(function.value)
        case "strftime":
            local = any(isinstance(item, ast.Constant) and "%s" in str(item.value)
                        for item in given(call))  # fmt: skip
        case _:
            return
    if local:
        why = "without a zone it takes that of this machine"
        source.refuse(function, function.attr, why, "name the zone, as datetime.UTC")


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _names_zone(node: ast.expr) -> bool:
    """Tell whether a time is made with a zone where it stands: datetime(2024, 1, 1, tzinfo=UTC)."""
    words = ("tz", "tzinfo")
    return isinstance(node, ast.Call) and any(item.arg in words for item in node.keywords)


def _check_meeting(source: Source, kinds: Kinds, call: ast.Call) -> None:
    """Refuse texts put together where pandas or numpy would read them as times."""
    listed = source.listed.get(call.func, "")
    if listed in _FILLERS or listed.startswith((_OFFSETS, "numpy.")):
        names = {item.value for item in call.keywords if item.arg in _NAMES_OF}
        texts = [item for item in given(call) if item not in names]
    elif isinstance(call.func, ast.Attribute) and call.func.attr in _MEETING:
        own = is_own_method(kinds, call.func) or not _may_hold(kinds, call.func.value)
        texts = [] if own else given(call)
        if _is_of_times(call.func.value):
            for item in texts:
                _check_time_of_day(source, item)
    elif isinstance(call.func, ast.Attribute) and call.func.attr == "resample":
        texts = [item.value for item in call.keywords if item.arg in (None, "origin")]
    elif isinstance(call.func, ast.Attribute) and call.func.attr in ("astype", "view"):
        texts = [call.func.value]
    else:
        return
    for item in texts:
        _refuse_made(source, kinds, item)


def _may_hold(kinds: Kinds, node: ast.expr) -> bool:
    """Tell whether a value may have times in it."""
    return bool(kinds.of(node) & (Kind.FRAME | Kind.OUTSIDE | Kind.OTHER))


def _refuse_made(source: Source, kinds: Kinds, node: ast.expr) -> None:
    if source.words.file_class != "strategy":
        return  # there datetime.now() may be asked
    if isinstance(node, ast.Dict):  # its keys are columns
        for value in node.values:
            _refuse_made(source, kinds, value)
        return
    mask = kinds.of(node)
    if (mask | mask >> DEPTH) & Kind.MADE and not _is_plain(source, kinds, node, 0):
        source.refuse(node, "text", _MAY_BE, "write the text out, or a part of it that is no time")


def _check_order(source: Source, kinds: Kinds, node: ast.Compare) -> None:
    if not any(isinstance(item, _ORDERED) for item in node.ops):
        return
    sides = [node.left, *node.comparators]
    for side in sides:
        others = [item for item in sides if item is not side]
        if kinds.of(side) & Kind.MADE and any(_may_hold(kinds, item) for item in others):
            _refuse_made(source, kinds, side)
        if any(_is_of_times(item) for item in others):
            _check_time_of_day(source, side)


def _is_of_times(node: ast.expr) -> bool:
    match node:
        case ast.Subscript(slice=ast.Constant(value=str(name))) if name in _TIMES:
            return True
        case ast.Attribute(attr=name) if name in _TIMES:
            return True
        case ast.Call(func=ast.Attribute(value=base, attr=name)):
            return name not in SPELLING and _is_of_times(base)
    return False


def _is_plain(source: Source, kinds: Kinds, node: ast.expr, depth: int) -> bool:
    mask = kinds.of(node)
    if not (mask | mask >> DEPTH) & (Kind.TEXT | Kind.FUNCTION | Kind.MADE):
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
                return not kinds.of(node) & (Kind.TEXT | Kind.MADE)
    return True
