"""Checks that a Freqtrade file reads of the host's settings what trading needs, and no keys.

Freqtrade gives a strategy all its settings, with the exchange's keys and the tokens of Telegram and
of its own server in them. Like classes, they are named and never given away.
"""

import ast

from bot.gates.static.examined_file import Source
from bot.gates.static.kind_bits import Kind
from bot.gates.static.kinds import Kinds

_SETTINGS = "config"
# Settings that hold others, of which only these are read.
_INSIDE = {"exchange": {"name", "pair_whitelist", "pair_blacklist"}}
_WHY = "the host's settings hold the exchange's keys and the tokens of its services"
_INSTEAD = 'read one that trading needs, where it stands: self.config["stake_currency"]'


def check_host_settings(source: Source, kinds: Kinds, node: ast.AST) -> None:
    """Refuse settings that are no figures of trading, and settings that are given away."""
    if source.words.file_class != "freqtrade":
        return
    match node:
        case ast.MatchClass(kwd_attrs=names) if _SETTINGS in names:
            source.refuse(node, _SETTINGS, _WHY, _INSTEAD)
        case ast.Call(func=function, args=[_, ast.Constant(value="config"), *_]):
            if source.listed.get(function) in ("getattr", "setattr"):
                source.refuse(node, _SETTINGS, _WHY, _INSTEAD)
        case ast.Attribute(attr="config", ctx=ast.Load()) if _is_theirs(source, kinds, node):
            _check_place(source, node, source.words.host_settings)
        case ast.Name(ctx=ast.Load()) if _is_given(source, node):
            _check_place(source, node, source.words.host_settings)


def _is_theirs(source: Source, kinds: Kinds, node: ast.Attribute) -> bool:
    """Tell whether this is what Freqtrade put there, not a field of an own, plain class."""
    owner = source.owner(node.value)
    if owner is not None:
        return _is_strategy(source, owner)
    own = kinds.only(node.value, Kind.OWN) and not any(
        _is_strategy(source, each) for each in source.attributes_of
    )
    return not own


def _is_strategy(source: Source, node: ast.ClassDef) -> bool:
    """Tell whether a class, or an own class below it, builds on Freqtrade's."""
    for base in node.bases:
        if source.listed.get(base, "").startswith("freqtrade."):
            return True
        named = base.id if isinstance(base, ast.Name) else ""
        above = [each for each in source.attributes_of if each.name == named]
        if any(_is_strategy(source, each) for each in above if each.lineno < node.lineno):
            return True
    # A mixin of the file may be a part of the strategy.
    mixed = (base for each in source.attributes_of for base in each.bases)
    return any(isinstance(base, ast.Name) and base.id == node.name for base in mixed)


def _is_given(source: Source, node: ast.Name) -> bool:
    """Tell whether this is an argument of a strategy's __init__: the settings, or all arguments."""
    scope, bindings = source.meaning(node)
    if scope is None or not isinstance(scope.node, ast.FunctionDef):
        return False
    function, owner = scope.node, source.tree.parent(scope.node)
    if function.name != "__init__" or not isinstance(owner, ast.ClassDef):
        return False
    places = [*function.args.posonlyargs, *function.args.args][1:]
    rest = [function.args.vararg, function.args.kwarg]
    arguments = [*places, *function.args.kwonlyargs, *(item for item in rest if item)]
    is_argument = any(binding.node in arguments for binding in bindings)
    return is_argument and _is_strategy(source, owner)


def _check_place(source: Source, node: ast.expr, allowed: frozenset[str]) -> None:
    parent = source.tree.parent(node)
    key, whole = _read_key(source, node)
    if key is not None and whole is not None:
        if key in allowed:
            return
        if key in _INSIDE and allowed is source.words.host_settings:
            _check_place(source, whole, frozenset(_INSIDE[key]))
            return
    elif _is_passed_on(source, node, parent) or _is_asked(parent, node):
        return
    source.refuse(node, key or _SETTINGS, _WHY, _INSTEAD)


def _read_key(source: Source, node: ast.expr) -> tuple[str | None, ast.expr | None]:
    """Give the written key that is read here, and the expression that reads it."""
    match source.tree.parent(node):
        case ast.Subscript(slice=ast.Constant(value=str(key)), ctx=ast.Load()) as read:
            return key, read
        case ast.Attribute(attr="get") as method:
            match source.tree.call_of(method):
                case ast.Call(args=[ast.Constant(value=str(key)), *_]) as whole:
                    return key, whole
    return None, None


def _is_asked(parent: ast.AST | None, node: ast.expr) -> bool:
    """Tell whether it is only asked whether a setting is there."""
    match parent:
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[many]):
            return many is node
    return False


def _is_passed_on(source: Source, node: ast.expr, parent: ast.AST | None) -> bool:
    """Tell whether the settings go where Freqtrade puts them: super().__init__, self.config."""
    match parent:
        case ast.Assign(targets=[ast.Attribute(attr="config", value=base)], value=value):
            return value is node and source.owner(base) is not None
        case ast.Starred() | ast.keyword():
            return _is_passed_on(source, node, source.tree.parent(parent))
        case ast.Call(func=ast.Attribute(attr="__init__", value=ast.Call(func=function))):
            return source.is_builtin(function, "super")
    return False
