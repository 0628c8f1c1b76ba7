"""Checks that classes are called and named, and never given away.

Whoever holds a class can patch it, or call its methods with another object as `self`.
"""

import ast

from bot.gates.static.examined_file import Source
from bot.gates.static.kind_bits import Kind
from bot.gates.static.kinds import Kinds
from bot.gates.static.syntax_tree import last_name
from bot.gates.static.texts import CLOCK_WORDS

# They call the class, or compare with it, and nothing else.
_CALLING = {
    "adapters.strategy_cli.main", "adapters.strategy_loop.replay", "collections.defaultdict",
    "dataclasses.field", "isinstance", "issubclass", "pytest.raises", "pytest.warns", "super",
    "typing.TypeVar", "typing.cast", "unittest.mock.MagicMock", "unittest.mock.Mock",
    "unittest.mock.create_autospec",
}  # fmt: skip
_CAST = "typing.cast"  # its last argument comes out again
_GOING_THROUGH = {"list", "len", "sorted", "tuple", "set", "enumerate", "reversed", "zip"}
_NO_ALIAS = {"typing.Union", "typing.Annotated", "typing.Type", "typing.ClassVar", "typing.Final",
             "typing.Optional", "type"}  # fmt: skip
_FLAGS = {"init", "repr", "eq", "order", "unsafe_hash", "frozen", "match_args", "kw_only", "slots"}


def check_class_values(source: Source, kinds: Kinds, node: ast.AST) -> None:
    """Refuse classes as values, methods without their instance, and classes made by a call."""
    match node:
        case ast.Name(ctx=ast.Load()) | ast.Attribute(ctx=ast.Load()):
            _check_use(source, kinds, node)
        case ast.Call(func=function) if kinds.of(function) & Kind.CLASS:
            _check_made(source, node, function)


def _check_use(source: Source, kinds: Kinds, node: ast.Name | ast.Attribute) -> None:
    listed = source.listed.get(node, "")
    if listed in source.words.class_makers:
        _check_maker(source, node, listed)
    own = bool(kinds.of(node) & Kind.CLASS)
    if own and _is_method(source, node) and not _has_instance(source, kinds, node):
        why = "this method is taken from its class, so that self could be any object"
        source.refuse(node, _shown(node), why, "call it on an instance, or make it a staticmethod")
    elif isinstance(node, ast.Name) and _is_raw_method(source, node):
        why = "a method inside its class is a function without its instance"
        source.refuse(node, node.id, why, "use it in a method, as self.name")
    elif (own or listed in source.words.classes) and not _may_stand(source, node, own):
        why = "a class is used as a value; whoever holds it can change it for everybody"
        source.refuse(node, _shown(node), why, "call it, or name it in an annotation or isinstance")


def _may_stand(source: Source, node: ast.expr, own: bool) -> bool:
    parent = source.tree.parent(node)
    enum = own and isinstance(node, ast.Name) and node.id in source.enums
    match parent:
        case ast.Attribute() | ast.MatchClass() | ast.Raise() | ast.ClassDef():
            return True
        case ast.Call(func=function, args=[*_, last]) if source.listed.get(function) == _CAST:
            return last is not node or function is node
        case ast.Call(func=function):
            return function is node or _may_be_given(source, function, own, enum)
        case ast.keyword(arg="default"):
            return False
        case ast.keyword(arg=name):
            call = source.tree.parent(parent)
            if isinstance(call, ast.ClassDef):
                return True
            given = isinstance(call, ast.Call) and _may_be_given(source, call.func, own, enum)
            return given or (not own and name in ("dtype", "func", "aggfunc"))
        case ast.Compare(ops=[ast.Is() | ast.IsNot() | ast.Eq() | ast.NotEq()]):
            return True
        case ast.Compare(ops=[ast.In() | ast.NotIn()]) | ast.For() | ast.comprehension():
            return enum
        case ast.Subscript(value=base) if base is node:
            return enum or _is_named(source, parent)
        case ast.FunctionDef(decorator_list=decorators):
            return not own or node not in decorators
    return in_annotation(source, node) or _is_named(source, node)


def _may_be_given(source: Source, function: ast.expr, own: bool, enum: bool) -> bool:
    listed = source.listed.get(function, "")
    if listed in _CALLING or (enum and listed in _GOING_THROUGH):
        return True
    if own or not isinstance(function, ast.Attribute):
        return False
    return function.attr in source.words.by_name or function.attr in ("astype", "map")


def _is_named(source: Source, node: ast.expr) -> bool:
    """Tell whether a class stands in a type: a base, a tuple of isinstance, list[Own]."""
    child: ast.AST = node
    for parent in source.tree.above(node):
        match parent:
            case ast.Tuple() | ast.BinOp(op=ast.BitOr()):
                child = parent
            case ast.Subscript(value=base):
                if base is not child and source.listed.get(base, "") not in _NO_ALIAS:
                    return _is_generic(source, base) or in_annotation(source, parent)
                child = parent
            case ast.ClassDef():
                return True
            case ast.Call(func=function, args=given) if child in given:
                return source.listed.get(function, "") in ("isinstance", "issubclass")
            case ast.Call(func=function):
                return function is child and isinstance(child, ast.Subscript)
            case ast.ExceptHandler():
                return True
            case _:
                return in_annotation(source, node)
    return False


def _is_generic(source: Source, base: ast.expr) -> bool:
    listed = source.listed.get(base, "")
    return listed in ("dict", "list", "tuple", "set", "frozenset") or listed.startswith(
        ("typing.", "collections.")
    )


def in_annotation(source: Source, node: ast.AST) -> bool:
    """Tell whether an expression is part of a type, of an argument, a result or a variable."""
    child = node
    for parent in source.tree.above(node):
        match parent:
            case ast.arg() | ast.ExceptHandler():
                return True
            case ast.FunctionDef(returns=returns):
                return returns is child
            case ast.AnnAssign(annotation=annotation):
                return annotation is child
            case ast.expr():
                child = parent
            case _:
                return False
    return False


def _is_method(source: Source, node: ast.expr) -> bool:
    """Tell whether this is a class whose method is taken: Own.method."""
    parent = source.tree.parent(node)
    return isinstance(parent, ast.Attribute) and parent.attr in source.methods


def _has_instance(source: Source, kinds: Kinds, node: ast.expr) -> bool:
    """Tell whether a method taken from a class is called with an own instance."""
    method = source.tree.parent(node)
    call = source.tree.parent(method) if method is not None else None
    match call:
        case ast.Call(func=function, args=[first, *_]) if function is method:
            return not isinstance(first, ast.Starred) and kinds.only(first, Kind.OWN)
    return False


def _is_raw_method(source: Source, node: ast.Name) -> bool:
    scope = source.meaning(node)[0]
    if scope is None or not scope.is_class or ("function", "") not in source.kinds(node):
        return False
    parent = source.tree.parent(node)
    if isinstance(parent, ast.Call):
        return not source.is_builtin(parent.func, "property")
    part = isinstance(parent, ast.Attribute) and parent.attr in ("setter", "getter", "deleter")
    return not part


def _check_made(source: Source, call: ast.Call, function: ast.expr) -> None:
    """An Enum called with more than a value makes a class of what it is given."""
    named = isinstance(function, ast.Name) and ("class", "") in source.kinds(function)
    possible = _shown(function) in source.enums if named else bool(source.enums)
    plain = len(call.args) == 1 and not isinstance(call.args[0], ast.Starred)
    if possible and (not plain or call.keywords):
        why = "an Enum that is called with more than one value makes a class"
        source.refuse(call, _shown(function), why, "write a class statement")


def _check_maker(source: Source, node: ast.expr, name: str) -> None:
    """Class makers stand where a reader sees the whole class: bases, decorators, class bodies."""
    call = source.tree.call_of(node)
    outer = source.tree.parent(call or node)
    if name == "dataclasses.dataclass":
        plain = call is None or _has_flags(call)
        known = plain and isinstance(outer, ast.ClassDef)
        known = known and (call or node) in getattr(outer, "decorator_list", ())
        instead = "write @dataclass above a class statement, with True and False only"
    elif name == "dataclasses.field":
        place = source.tree.parent(outer) if outer is not None else None
        known = call is not None and isinstance(outer, ast.AnnAssign)
        known = known and isinstance(place, ast.ClassDef)
        instead = "write it in the class: name: list[int] = field(default_factory=list)"
    elif name == "collections.namedtuple":
        known = call is not None and _names_fields(call)
        instead = 'write the names out: namedtuple("Band", ["low", "high"])'
    else:
        known = call is None and (isinstance(outer, (ast.ClassDef, ast.Subscript)))
        known = known or in_annotation(source, node)
        instead = f"write a class statement: class Name({name.rsplit('.', 1)[1]}):"
    if not known:
        why = "it makes a class out of data, and runs what stands there"
        source.refuse(node, name, why, instead)


def _has_flags(call: ast.Call) -> bool:
    return not call.args and all(
        keyword.arg in _FLAGS
        and isinstance(keyword.value, ast.Constant)
        and isinstance(keyword.value.value, bool)
        for keyword in call.keywords
    )


def _names_fields(call: ast.Call) -> bool:
    match call.args:
        case [ast.Constant(value=str(name)), ast.Constant(value=str(fields))]:
            words = fields.replace(",", " ").split()
        case [ast.Constant(value=str(name)), ast.List(elts=items) | ast.Tuple(elts=items)]:
            words = [str(item.value) if isinstance(item, ast.Constant) else "" for item in items]
        case _:
            return False
    plain = all(word.isidentifier() and word[0] != "_" for word in words)
    plain = plain and not {word.lower() for word in words} & {*CLOCK_WORDS}
    return plain and name.isidentifier() and all(item.arg == "defaults" for item in call.keywords)


def _shown(node: ast.expr) -> str:
    return last_name(node) or "class"
