"""Functions given to pandas: a text chooses a method by name, so texts must be listed words."""

import ast

from bot.gates.static.scopes import Binding
from bot.gates.static.source import Source
from bot.gates.static.unbound import methods_escape

_WINDOWS = {"rolling", "expanding"}
_READING = {"keys", "items", "get", "values", "copy"}
_DEEPEST = 8
_CONTAINERS = (ast.Dict, ast.List, ast.DictComp, ast.ListComp)


def check_functions_by_name(source: Source) -> None:
    """Refuse apply, agg and transform with anything but functions and listed words."""
    for node in source.tree.nodes:
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
            continue
        if node.attr in source.words.by_name and not is_own_method(source, node):
            _check_use(source, node)
        elif (
            node.attr in ("pivot_table", "crosstab") or source.listed.get(node) == "pandas.crosstab"
        ):
            _check_table(source, node)
    for node in source.tree.nodes:
        if isinstance(node, ast.Name) and source.listed.get(node) in (
            "pandas.pivot_table",
            "pandas.crosstab",
        ):
            _check_table(source, node)


def is_own_method(source: Source, node: ast.Attribute) -> bool:
    """Tell whether self.name is the class's own, and self nobody else."""
    owner = source.owner(node.value)
    if owner is None or node.attr not in source.family(owner):
        return False
    return not methods_escape(source)


def _check_use(source: Source, node: ast.Attribute) -> None:
    call = source.tree.parent(node)
    if not isinstance(call, ast.Call) or call.func is not node:
        why = f"{node.attr} may only be called, so that what it is given can be seen"
        source.refuse(node, node.attr, why, f"write x.{node.attr}(...) where it is used")
        return
    if node.value in source.listed and "." in source.listed[node.value]:
        why = f"{node.attr} is taken from a class, so that what it is given cannot be seen"
        source.refuse(node, node.attr, why, f"call it on the value: x.{node.attr}(...)")
        return
    if node.attr == "apply" and _is_window(source, node.value):
        return
    for given in _functions_given(call):
        if not _is_safe(source, given, 0):
            why = f"{node.attr} would run a method chosen by a text that cannot be checked"
            source.refuse(
                given,
                node.attr,
                why,
                'give a function, as lambda x: x.mean(), or a word such as "mean"',
            )


def _is_window(source: Source, node: ast.expr) -> bool:
    """rolling(...).apply takes functions only, never names; unless rolling is the file's own."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr in _WINDOWS and not source.declares(node.func.attr)


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


def _check_table(source: Source, node: ast.expr) -> None:
    call = source.tree.parent(node)
    if not isinstance(call, ast.Call) or call.func is not node:
        source.refuse(node, "aggfunc", "this may only be called", "call it where it is used")
        return
    hidden = any(isinstance(item, ast.Starred) for item in call.args) or len(call.args) > 3
    given = [item.value for item in call.keywords if item.arg in ("aggfunc", None)]
    if hidden or not all(_is_safe(source, item, 0) for item in given):
        why = "aggfunc would run a method chosen by a text that cannot be checked"
        source.refuse(node, "aggfunc", why, 'write aggfunc="mean" or another listed word')


def _is_safe(source: Source, node: ast.expr, depth: int) -> bool:
    if depth > _DEEPEST:
        return False
    match node:
        case ast.Lambda() | ast.Constant(value=None):
            return True
        case ast.Constant(value=str(text)):
            return text in source.words.by_name_words
        case ast.Dict(values=values):
            return all(_is_safe(source, value, depth + 1) for value in values)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return all(_is_safe(source, item, depth + 1) for item in items)
        case ast.IfExp(body=first, orelse=second):
            return _is_safe(source, first, depth + 1) and _is_safe(source, second, depth + 1)
        case ast.DictComp(value=value) | ast.ListComp(elt=value):
            return _is_safe(source, value, depth + 1)
        case ast.Call(func=function, args=[first, *_]) if (
            source.listed.get(function) == "functools.partial"
        ):
            return _is_safe(source, first, depth + 1)
        case ast.Call(func=function, args=[], keywords=keywords) if source.is_builtin(
            function, "dict"
        ):
            return all(_is_safe(source, keyword.value, depth + 1) for keyword in keywords)
        case ast.Call(func=ast.Attribute(value=base, attr="fromkeys"), args=[_, value]) if (
            source.is_builtin(base, "dict")
        ):
            return _is_safe(source, value, depth + 1)
        case ast.Attribute():
            return _is_safe_attribute(source, node, depth)
        case ast.Name():
            return _is_safe_name(source, node, depth)
    return False


def _is_safe_attribute(source: Source, node: ast.Attribute, depth: int) -> bool:
    if "." in source.listed.get(node, ""):
        return True
    key = f"{node.attr} of {id(source.owner(node.value))}"
    if source.remember("method", key, lambda: _is_method(source, node)):
        return True
    if node.attr in source.words.values and not source.declares(node.attr):
        return True  # a bound method of a value, as mapping.get
    return source.remember("constant", key, lambda: _is_class_constant(source, node, depth))


def _is_class_constant(source: Source, node: ast.Attribute, depth: int) -> bool:
    """Tell whether self.NAME is a dictionary of listed words that the class body writes once."""
    owner = source.owner(node.value)
    made = [
        statement.value
        for statement in (owner.body if owner is not None else [])
        if isinstance(statement, ast.Assign)
        and any(
            isinstance(target, ast.Name) and target.id == node.attr for target in statement.targets
        )
    ]
    uses = [
        source.tree.parent(item)
        for item in source.tree.nodes
        if isinstance(item, ast.Attribute) and item.attr == node.attr
    ]
    read = all(
        isinstance(use, ast.Call)
        and isinstance(use.func, ast.Attribute)
        and use.func.attr in source.words.by_name
        for use in uses
    )
    if len(made) != 1 or not read or not _is_fixed(source, node.attr, "value"):
        return False
    named = any(
        isinstance(item, ast.Name) and item.id == node.attr and isinstance(item.ctx, ast.Load)
        for item in source.tree.nodes
    )
    return not named and _is_safe(source, made[0], depth + 1)


def _is_method(source: Source, node: ast.Attribute) -> bool:
    """Tell whether self.name is a method that nothing replaces."""
    owner = source.owner(node.value)
    if owner is None:
        return False
    stored = any(
        isinstance(item, ast.Attribute)
        and item.attr == node.attr
        and isinstance(item.ctx, ast.Store)
        for item in source.tree.nodes
    )
    methods = {item.name for item in owner.body if isinstance(item, ast.FunctionDef)}
    return node.attr in methods and not stored and _is_fixed(source, node.attr, "function")


def _is_fixed(source: Source, name: str, kind: str) -> bool:
    """Tell whether no class of the file and no text can put something else under this name."""
    for owner in source.attributes_of:
        bindings = source.scopes.inside(owner).names.get(name, [])
        if len(bindings) > 1 or any(binding.kind != kind for binding in bindings):
            return False
    return name not in source.spoken


def _is_safe_name(source: Source, node: ast.Name, depth: int) -> bool:
    scope, bindings = source.meaning(node)
    if scope is None:
        return node.id in source.words.builtins
    key = f"{node.id} in {id(scope)}"
    return source.remember(
        "safe",
        key,
        lambda: all(_is_safe_binding(source, item, node.id, depth) for item in bindings),
    )


def _is_safe_binding(source: Source, binding: Binding, name: str, depth: int) -> bool:
    if binding.kind in ("function", "class"):
        return True
    if binding.kind == "import":
        return True
    parent = source.tree.parent(binding.node)
    match parent:
        case (
            ast.Assign(targets=[ast.Name()], value=value) | ast.AnnAssign(value=ast.expr() as value)
        ):
            if not _is_safe(source, value, depth + 1):
                return False
            return not isinstance(value, _CONTAINERS) or _stays(source, name, value, depth)
        case ast.For(iter=ast.List(elts=items) | ast.Tuple(elts=items), target=ast.Name()):
            return all(_is_safe(source, item, depth + 1) for item in items)
    return False


def _stays(source: Source, name: str, value: ast.expr, depth: int) -> bool:
    """Tell whether a dictionary keeps the listed words that it was made with."""
    return source.remember("stays", name, lambda: _keeps_words(source, name, value, depth))


def _keeps_words(source: Source, name: str, value: ast.expr, depth: int) -> bool:
    own = set().union(*source.attributes_of.values(), set())
    if own & source.words.by_name:
        return False
    nested = any(isinstance(part, _CONTAINERS) for part in ast.walk(value) if part is not value)
    loads = [
        node
        for node in source.tree.nodes
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    ]
    return all(_leaves_alone(source, node, nested, depth) for node in loads)


def _leaves_alone(source: Source, node: ast.Name, nested: bool, depth: int) -> bool:
    parent = source.tree.parent(node)
    match parent:
        case ast.Call(func=ast.Attribute(attr=attr)):
            return attr in source.words.by_name
        case ast.keyword(arg="aggfunc" | "func"):
            return True
        case ast.Compare():
            return True
        case ast.Dict():
            return not nested
        case ast.Attribute(attr=attr):
            return attr in _READING and not nested
        case ast.Subscript(ctx=ast.Load()) | ast.For() | ast.comprehension():
            return not nested
        case ast.Subscript(ctx=ast.Store()):
            statement = source.tree.parent(parent)
            if isinstance(statement, ast.Assign):
                return _is_safe(source, statement.value, depth + 1)
    return False
