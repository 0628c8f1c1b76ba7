"""Checks bases, decorators and special methods against the lists."""

import ast

from bot.gates.static.examined_file import Source
from bot.gates.static.flows import is_property
from bot.gates.static.kinds import Kinds
from bot.gates.static.names import is_dunder
from bot.gates.static.syntax_tree import last_name

_PROPERTY_PARTS = ("setter", "getter", "deleter")
_TEXT_WITH_ENUM = ("str", "int", "float")
# What a type in quotes consists of.
_OF_TYPES = (ast.Expression, ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List,
             ast.Constant, ast.BinOp, ast.BitOr, ast.Load)  # fmt: skip


def check_classes(source: Source, kinds: Kinds, node: ast.AST) -> None:
    """Refuse bases, decorators and special methods that are not listed."""
    match node:
        case ast.ClassDef():
            _check_class(source, node)
        case ast.FunctionDef():
            _check_method_name(source, node)
            for decorator in node.decorator_list:
                _check_decorator(source, decorator)
            _check_text_annotations(source, node.returns)
        case ast.arg(annotation=annotation):
            _check_text_annotations(source, annotation)
        case ast.AnnAssign(annotation=annotation):
            _check_text_annotations(source, annotation)


def _check_class(source: Source, node: ast.ClassDef) -> None:
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if source.listed.get(called, "") not in source.words.decorators:
            why = "a decorator of a class holds the class and can change it"
            source.refuse(decorator, _shown(called), why, "write what it does into the class")
    for name in source.scopes.inside(node).names:
        if _is_sunder(name):
            why = "names with one underscore on both sides are hooks of enum"
            source.refuse(node, name, why, "choose another name")
    names = [_base_name(source, base) for base in node.bases]
    for base, name in zip(node.bases, names, strict=True):
        if name in source.words.bases or name == "own" or _is_exception(source, name):
            continue
        why = "classes may only build on listed ones and on the file's own"
        source.refuse(base, _shown(base), why, "hold the object in an attribute instead")
    if any(name in _TEXT_WITH_ENUM for name in names) and not any(
        "enum." in name for name in names
    ):
        why = "a number or text with its own rules can fool whoever reads it"
        source.refuse(node, node.name, why, "use a dataclass")
    for keyword in node.keywords:
        total = keyword.arg == "total"
        meta = keyword.arg == "metaclass" and source.listed.get(keyword.value) == "abc.ABCMeta"
        if not total and not meta:
            why = "metaclasses and class arguments run code when a class is made"
            source.refuse(keyword.value, keyword.arg or "**", why, "leave it out")


def _is_sunder(name: str) -> bool:
    return len(name) > 2 and name[0] == name[-1] == "_" and not is_dunder(name)


def _base_name(source: Source, base: ast.expr) -> str:
    if isinstance(base, ast.Subscript):
        base = base.value
    if isinstance(base, ast.Call):
        base = base.func
        listed = source.listed.get(base, "")
        return listed if listed.endswith("namedtuple") else ""
    if isinstance(base, ast.Name):
        _, bindings = source.meaning(base)
        if source.kinds(base) == {("class", "")}:
            return "own"
        if len(bindings) == 1 and _is_named_tuple(source, bindings[0].node):
            return "own"
    return source.listed.get(base, "")


def _is_named_tuple(source: Source, node: ast.AST) -> bool:
    parent = source.tree.parent(node)
    if not isinstance(parent, ast.Assign) or not isinstance(parent.value, ast.Call):
        return False
    return source.listed.get(parent.value.func, "") == "collections.namedtuple"


def _is_exception(source: Source, name: str) -> bool:
    short = name.rsplit(".", 1)[-1]
    ends = short.endswith(("Error", "Exception", "Warning")) or short == "StopIteration"
    return ends and (name in source.words.builtins or "." in name)


def _check_decorator(source: Source, node: ast.expr) -> None:
    called = node.func if isinstance(node, ast.Call) else node
    if called in source.refused_chains:
        return
    if isinstance(called, ast.Attribute) and called.attr in _PROPERTY_PARTS:
        known = is_property(source, called.value)
    else:
        known = isinstance(called, ast.Name) and source.kinds(called) == {("function", "")}
    if known:
        return
    if source.listed.get(called, "") in source.words.decorators:
        return
    why = "a decorator calls what it is given, so decorators are listed"
    source.refuse(node, _shown(called), why, "call the function in the body instead")


def _check_method_name(source: Source, node: ast.FunctionDef) -> None:
    name = node.name
    if name.startswith("pytest_") and source.scopes.of(node).is_module:
        why = "a hook changes what the test runner does"
        source.refuse(node, name, why, "write a test or a fixture")
    if not is_dunder(name):
        return
    if not source.scopes.of(node).is_class or name not in source.words.dunder_methods:
        why = "Python calls this method on its own, and it is not on the list"
        source.refuse(node, name, why, "use an ordinary method")


def _check_text_annotations(source: Source, node: ast.expr | None) -> None:
    """An annotation in quotes is code that some library may run: it must look like a type."""
    for part in ast.walk(node) if node is not None else ():
        if not isinstance(part, ast.Constant) or not isinstance(part.value, str):
            continue
        if _in_literal(source, part):
            continue
        if not _looks_like_type(part.value):
            why = "a quoted annotation that is no type would be run as code"
            source.refuse(part, part.value, why, "write the type, as pd.DataFrame")


def _in_literal(source: Source, node: ast.AST) -> bool:
    return any(
        isinstance(parent, ast.Subscript) and last_name(parent.value) in ("Literal", "Annotated")
        for parent in source.tree.above(node)
    )


def _looks_like_type(text: str) -> bool:
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    for node in ast.walk(tree):
        if not isinstance(node, _OF_TYPES):
            return False
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            return False
        if isinstance(node, ast.Name) and is_dunder(node.id):
            return False
    return True


def _shown(node: ast.expr) -> str:
    try:
        return ast.unparse(node)
    except (RecursionError, ValueError):
        return type(node).__name__
