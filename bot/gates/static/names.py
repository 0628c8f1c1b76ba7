"""Checks bare names: builtins by list, modules never as values, nothing undefined, no dunders."""

import ast

from bot.gates.static.class_values import in_annotation
from bot.gates.static.examined_file import Source
from bot.gates.static.import_lines import unlisted_name
from bot.gates.static.kinds import Kinds
from bot.gates.static.syntax_tree import last_name

_READABLE = {"__name__"}
_FILE = "__file__"


def is_dunder(name: str) -> bool:
    """Tell whether a name is one of Python's own."""
    return name.startswith("__") and name.endswith("__") and len(name) > 4


def trace_origins(source: Source) -> None:
    """Follow each chain of dots from an imported name to the listed name that it stands for."""
    for node in reversed(source.tree.nodes):
        if isinstance(node, ast.Name):
            _trace_name(source, node)
        elif isinstance(node, ast.Attribute):
            _trace_attribute(source, node)


def _trace_name(source: Source, node: ast.Name) -> None:
    meanings = source.kinds(node)
    modules = {origin for kind, origin in meanings if kind == "module"}
    if len(modules) == 1:
        source.modules[node] = modules.pop()
    elif modules:
        source.refuse(node, node.id, "this name stands for two modules", "give each its own name")
        source.refused_chains.add(node)
    elif meanings and all(kind == "import" for kind, _ in meanings):
        origins = {origin for _, origin in meanings}
        if "?" in origins:
            source.refused_chains.add(node)
        elif len({origin.rsplit(".", 1)[1] for origin in origins}) == 1:
            source.listed[node] = min(origins)
    elif not meanings:
        source.listed[node] = node.id


def _trace_attribute(source: Source, node: ast.Attribute) -> None:
    base = node.value
    if base in source.refused_chains:
        source.refused_chains.add(node)
        return
    module = source.modules.get(base)
    if module is None:
        if base in source.listed and "." in source.listed[base]:
            source.listed[node] = f"{source.listed[base]}.{node.attr}"
        return
    inner = source.words.module(f"{module}.{node.attr}")
    if inner is not None:
        source.modules[node] = inner
    elif source.words.offers(module, node.attr):
        source.listed[node] = f"{module}.{node.attr}"
    else:
        source.refused_chains.add(node)
        source.refuse(node, f"{module}.{node.attr}", *unlisted_name(source, module, node.attr))


def check_names(source: Source, kinds: Kinds, node: ast.AST) -> None:
    """Refuse names that are not the file's own and not on the list of builtins."""
    match node:
        case ast.Name(id=name):
            _check_name(source, node, name)
        case ast.Attribute():
            _check_module_value(source, node)
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            for name in filter(is_dunder, names):
                _refuse_dunder(source, node, name)
        case ast.arg(arg=name) | ast.keyword(arg=str(name)):
            _check_bound(source, node, name)
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            _check_bound(source, node, name)
        case ast.MatchMapping(rest=str(name)) | ast.ExceptHandler(name=str(name)):
            _check_bound(source, node, name)
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            for alias in aliases:
                bound = alias.asname or alias.name.split(".")[0]
                _check_bound(source, node, bound)
                if bound.startswith("__") and not is_dunder(bound):
                    # Inside a class Python writes such a name differently than outside.
                    why = "an import under a name that classes change"
                    source.refuse(node, bound, why, "choose a name without underscores")
        case ast.AsyncFunctionDef() | ast.AsyncFor() | ast.AsyncWith() | ast.Await():
            source.refuse(node, "async", "nothing here awaits", "write a plain function")


def _check_name(source: Source, node: ast.Name, name: str) -> None:
    scope = source.meaning(node)[0]
    if not isinstance(node.ctx, ast.Load):
        _check_bound(source, node, name)
        module = any(kind == "module" for kind, _ in source.kinds(node))
        if isinstance(node.ctx, ast.Store) and module and not _becomes_none(source, node):
            source.refuse(node, name, "this name stands for a module", "choose another name")
        return
    if is_dunder(name):
        relaxed = source.words.file_class in ("module", "test") and name == _FILE
        if name not in _READABLE and not relaxed:
            _refuse_dunder(source, node, name)
        return
    if node in source.modules:
        _check_module_value(source, node)
    elif node in source.refused_chains:
        return
    elif name in source.words.python_builtins and name not in source.words.builtins:
        # Module and class names fall through to the builtin while they are unbound.
        if scope is None or scope.is_module or scope.is_class:
            _check_builtin(source, node, name, bound=scope is not None)
    elif scope is None and name in source.words.caught_only:
        if not in_annotation(source, node):
            why = "it ends the program that runs this file"
            source.refuse(node, name, why, "raise an Exception, as ValueError; catch Exception")
    elif scope is None and name not in source.words.builtins:
        why = "the file never defines this name"
        source.refuse(node, name, why, "define it, or import it by a listed line")


def _check_builtin(source: Source, node: ast.Name, name: str, *, bound: bool) -> None:
    if name in source.words.call_only_builtins:
        parent = source.tree.parent(node)
        if name == "type" and isinstance(parent, (ast.Subscript, ast.arg, ast.AnnAssign)):
            return
        if source.tree.call_of(node) is None:
            why = f"{name} may only be called, in the forms that can be checked"
            source.refuse(node, name, why, f"write {name}(...) where it is used")
        return
    if bound:
        why = f"{name} is a builtin that is not allowed, and this use may reach it"
        source.refuse(node, name, why, f"rename your own {name}")
        return
    source.refuse(node, name, "this builtin is not on the list", _ADVICE.get(name, "do without it"))


def _check_module_value(source: Source, node: ast.Name | ast.Attribute) -> None:
    if node not in source.modules:
        return
    parent = source.tree.parent(node)
    if isinstance(parent, ast.Attribute) and parent.value is node:
        return
    if _is_compared_with_none(parent):
        return
    name = source.modules[node]
    shown = last_name(node)
    why = f"the module {name} is used as a value; it may only stand before a dot"
    source.refuse(node, shown, why, f"use one of its names: {shown}.name")


def _becomes_none(source: Source, node: ast.AST) -> bool:
    """An optional library: try to import it, else its name is None."""
    match source.tree.parent(node):
        case ast.Assign(value=ast.Constant(value=None)):
            return True
    return False


def _is_compared_with_none(node: ast.AST | None) -> bool:
    match node:
        case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return True
    return False


def _check_bound(source: Source, node: ast.AST, name: str) -> None:
    if name in source.words.refused_bindings and not isinstance(node, (ast.keyword, ast.arg)):
        why = "test runners look for this name and change what they run"
        source.refuse(node, name, why, "choose another name")
    if (
        is_dunder(name)
        and name not in source.words.dunder_names
        and not _is_note(source, node, name)
    ):
        _refuse_dunder(source, node, name)


def _is_note(source: Source, node: ast.AST, name: str) -> bool:
    """Tell whether this is a note about the file, as __author__ = "..." is."""
    parent = source.tree.parent(node)
    if name in source.words.dunder_names_of_python or not source.scopes.of(node).is_module:
        return False
    return isinstance(parent, ast.Assign) and isinstance(parent.value, ast.Constant)


def _refuse_dunder(source: Source, node: ast.AST, name: str) -> None:
    why = "names with two underscores on both sides are Python's own"
    source.refuse(node, name, why, 'only `if __name__ == "__main__":` may read one')


_ADVICE = {
    "open": "a strategy gets its candles from the caller",
    "eval": "write the expression in Python",
    "exec": "write the code in Python",
    "compile": "write the code in Python",
    "__import__": "import the module by name at the top",
    "globals": "use a parameter or an attribute of self",
    "locals": "name the values",
    "vars": "name the values",
    "dir": "name the values",
    "input": "take the value from cfg",
    "breakpoint": "remove it",
    "exit": "raise an exception",
    "quit": "raise an exception",
    "id": "compare values, which are the same in every run",
    "delattr": "assign None",
    "help": "remove it",
    "memoryview": "use a numpy array",
}
