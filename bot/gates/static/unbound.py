"""Whether a file takes methods from their class, so that `self` could be any object."""

import ast

from bot.gates.static.source import Source, method_of_class

# They call the class and nothing else.
_TRUSTED = {
    "adapters.strategy_loop.replay",
    "adapters.strategy_cli.main",
    "pytest.raises",
    "dataclasses.fields",
}
_TYPE_TESTS = {"isinstance", "issubclass"}
_HARMLESS_DECORATORS = (
    "abc.",
    "dataclasses.",
    "enum.",
    "functools.cache",
    "functools.lru_cache",
    "functools.total_ordering",
    "typing.",
    "freqtrade.",
    "pytest.",
    "property",
    "staticmethod",
    "classmethod",
)


def methods_escape(source: Source) -> bool:
    """Tell whether some method may be called with another object as self."""
    return source.remember("methods escape", "", lambda: _methods_escape(source))


def _methods_escape(source: Source) -> bool:
    methods = {
        node.name
        for node in source.tree.nodes
        if isinstance(node, ast.FunctionDef) and method_of_class(source.tree, node)
    }
    return any(_escapes(source, node, methods) for node in source.tree.nodes)


def _escapes(source: Source, node: ast.AST, methods: set[str]) -> bool:
    match node:
        case ast.Name(id="type", ctx=ast.Load()):
            call = source.tree.parent(node)
            use = source.tree.parent(call) if call is not None else None
            return (
                isinstance(call, ast.Call)
                and not isinstance(use, (ast.Compare, ast.FormattedValue))
                and not (isinstance(use, ast.Attribute) and use.attr == "__name__")
            )
        case ast.Name(ctx=ast.Load()):
            scope = source.meaning(node)[0]
            if source.is_class_argument(node):
                return not _harmless_use(source, node, methods)
            if scope is not None and scope.is_class and node.id in methods:
                return not isinstance(source.tree.parent(node), ast.Attribute)
            is_class = ("class", "") in source.kinds(node)
            return is_class and not _harmless_use(source, node, methods)
        case ast.FunctionDef() | ast.ClassDef():
            method = isinstance(node, ast.ClassDef) or method_of_class(source.tree, node)
            return method and any(
                not _harmless_decorator(source, item) for item in node.decorator_list
            )
    return False


def _harmless_use(source: Source, node: ast.Name, methods: set[str]) -> bool:
    parent = source.tree.parent(node)
    match parent:
        case ast.Attribute(attr=name):
            return name not in methods
        case ast.Call(func=function) if function is node:
            return True
        case ast.Call(func=function):
            called = source.listed.get(function, "")
            return called in _TRUSTED or called in _TYPE_TESTS or called == "super"
        case ast.ClassDef() | ast.ExceptHandler() | ast.Raise() | ast.arg() | ast.AnnAssign():
            return True
        case ast.FunctionDef(returns=returns):
            return returns is node
        case ast.Tuple() | ast.Subscript() | ast.BinOp():
            return in_annotation(source, parent)
        case ast.MatchClass():
            return True
    return False


def in_annotation(source: Source, node: ast.AST) -> bool:
    """Tell whether an expression is part of a type, of an argument, a result or a variable."""
    child = node
    for parent in source.tree.above(node):
        match parent:
            case ast.arg():
                return True
            case ast.FunctionDef(returns=returns):
                return returns is child
            case ast.AnnAssign(annotation=annotation):
                return annotation is child
            case ast.ExceptHandler():
                return True
            case ast.expr():
                child = parent
            case _:
                return False
    return False


def _harmless_decorator(source: Source, node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    if isinstance(called, ast.Attribute) and called.attr in ("setter", "getter", "deleter"):
        return True
    return source.listed.get(called, "").startswith(_HARMLESS_DECORATORS)
