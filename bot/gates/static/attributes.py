"""Checks what stands after a dot, and what is assigned there, by the kind of its value."""

import ast
import re

from bot.gates.static.examined_file import Source
from bot.gates.static.kind_bits import Kind
from bot.gates.static.kinds import Kinds
from bot.gates.static.names import is_dunder

# A column of a higher timeframe, as merge_informative_pair names it: close_1h.
_HIGHER_TIMEFRAME = re.compile(r"[a-z]\w*_\d+[mhdwM]")
_ROW_INDEX = "Index"
# Methods that ask for the time.
ASKING = {"now", "today", "utcnow"}
# Python lets nobody assign an attribute of these.
_DATA = Kind.PLAIN | Kind.TEXT | Kind.WORD | Kind.KEYED
_COLUMNS = Kind.FRAME | Kind.OUTSIDE | _DATA
_OWN = Kind.OWN | Kind.CLASS


def check_attributes(source: Source, kinds: Kinds, node: ast.AST) -> None:
    """Refuse attributes that the value before the dot is not known to have."""
    match node:
        case ast.Attribute(ctx=ast.Load()) if node not in source.refused_chains:
            if node.value not in source.modules:
                check_attribute(source, kinds, node, node.value, node.attr)
        case ast.Attribute(ctx=ast.Store() | ast.Del()):
            check_assignment(source, kinds, node, node.value, node.attr)
        case ast.Subscript(ctx=ast.Store() | ast.Del(), value=base):
            if base in source.modules or "." in source.listed.get(base, ""):
                why = "it changes a table of a library for everybody"
                source.refuse(node, source.listed.get(base, ""), why, "copy it: dict(table)")
        case ast.MatchClass(cls=wanted, kwd_attrs=names):
            for name in names:
                _check_pattern(source, kinds, node, wanted, name)


def check_attribute(source: Source, kinds: Kinds, node: ast.AST, base: ast.expr, name: str) -> None:
    """Refuse one attribute of a value, however it is reached."""
    if is_dunder(name):
        if not _allowed_dunder(source, kinds, node, base, name):
            why = "attributes with two underscores on both sides lead into the interpreter"
            source.refuse(node, name, why, "use the value's ordinary methods")
    elif kinds.only(base, _OWN | Kind.PLAIN) and kinds.of(base) & _OWN:
        _check_own(source, node, base, name)
    elif is_super(source, base):
        if name in source.words.refused or name.startswith("_"):
            _refuse(source, node, name)
    elif not isinstance(node, ast.Attribute) and name in source.words.call_only:
        why = "this method may only be called where it stands, so that its arguments can be seen"
        source.refuse(node, name, why, f"write x.{name}(...)")
    elif name.startswith("_") or name in source.words.refused:
        _refuse(source, node, name)
    elif not _is_known(source, kinds, base, name):
        why = "this attribute is not on the list, and nothing shows that the value has it"
        source.refuse(node, name, why, f'for a column write ["{name}"]')


def _is_known(source: Source, kinds: Kinds, base: ast.expr, name: str) -> bool:
    words = source.words
    if name in words.values or name == _ROW_INDEX or kinds.only(base, Kind.MOCK):
        return True
    if source.owner(base) is not None and name in source.own_names:
        return True  # self of a method that a decorator of this file may call
    if kinds.only(base, _COLUMNS | Kind.OWN):
        own = bool(kinds.of(base) & Kind.OWN) and name in source.own_names
        if own or source.speaks_of(name):
            return True
        if words.file_class == "freqtrade" and _HIGHER_TIMEFRAME.fullmatch(name) is not None:
            return True
    return words.file_class == "test" and name not in words.doors


def _check_own(source: Source, node: ast.AST, base: ast.expr, name: str) -> None:
    """Judge an attribute of an own instance: its own names are free."""
    own = source.defines(base, name)
    private = name.startswith("_") and name not in source.words.tuple_methods
    if private and not own:
        why = "the class does not define this name, and a private name is nobody else's"
        source.refuse(node, name, why, "define it in __init__")
    elif name in source.words.refused and not own:
        _refuse(source, node, name)


def _check_pattern(
    source: Source, kinds: Kinds, node: ast.AST, wanted: ast.expr, name: str
) -> None:
    """Judge an attribute that a pattern reads: own names of own classes, else listed ones."""
    own = bool(kinds.of(wanted) & Kind.CLASS) and name in source.own_names
    if not own and name in ASKING:
        source.refuse(node, name, "it reads the wall clock", "take the time from the candles")
    elif not own and (name.startswith("_") or name not in source.words.values):
        why = "this attribute is not on the list"
        source.refuse(node, name, why, "match own classes, or read the value by its name")
    elif name in source.words.call_only:
        why = "this method may only be called where it stands, so that its arguments can be seen"
        source.refuse(node, name, why, f"write x.{name}(...)")


def _refuse(source: Source, node: ast.AST, name: str) -> None:
    review = source.words.review_of(name)
    if name.startswith("_") and name in source.words.tuple_methods:
        return
    if review is not None:
        source.refuse(node, name, review.why, review.instead)
    elif name.startswith("_"):
        source.refuse(node, name, "a private name of another object", "use its public names")
    else:
        why = "it reaches files, the database or the test runner"
        source.refuse(node, name, why, "leave it to the trusted side")


def _allowed_dunder(source: Source, kinds: Kinds, node: ast.AST, base: ast.expr, name: str) -> bool:
    parent = source.tree.parent(node)
    if name == "__init__":
        return is_super(source, base) and source.tree.call_of(node) is not None
    if name == "__class__":
        named = isinstance(parent, ast.Attribute) and parent.attr == "__name__"
        return named and kinds.only(base, Kind.OWN)
    if name == "__name__":
        if isinstance(base, ast.Call):
            return source.is_builtin(base.func, "type")
        return isinstance(base, ast.Attribute) and base.attr == "__class__"
    return False


def is_super(source: Source, base: ast.expr | None) -> bool:
    """Tell whether this is super()."""
    return isinstance(base, ast.Call) and source.is_builtin(base.func, "super")


def check_assignment(
    source: Source, kinds: Kinds, node: ast.AST, base: ast.expr, name: str
) -> None:
    """Refuse to assign an attribute of anything but an instance of an own class."""
    mask = kinds.of(base)
    if is_dunder(name):
        source.refuse(node, name, "nobody may assign Python's own attributes", "leave it out")
    elif (
        (mask & Kind.OWN and kinds.only(base, Kind.OWN | _DATA))
        or kinds.only(base, Kind.MOCK)
        or _is_option(source, node, base)
        or (kinds.only(base, _COLUMNS) and name in source.words.assigned)
    ):
        return
    elif base in source.modules or base in source.listed or mask & Kind.CLASS:
        why = "it changes a module or a class for everybody"
        source.refuse(node, name, why, "keep the value in an attribute of self or a variable")
    else:
        why = "attributes are assigned only on self and on values that are instances of own classes"
        source.refuse(node, name, why, f'for a column write ["{name}"] = ..., else use self.{name}')


def _is_option(source: Source, node: ast.AST, base: ast.expr) -> bool:
    """Tell whether this is how pandas shows frames, which anybody may set to a plain value."""
    statement = source.tree.parent(node)
    plain = isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)
    return plain and source.modules.get(base, "").startswith("pandas.options.")
