"""Checks what tests replace: an object and its attribute, never a target found by text."""

import ast

from bot.gates.static.examined_file import Source
from bot.gates.static.names import is_dunder

PATCH = "unittest.mock.patch"


def patches_object(source: Source, node: ast.AST) -> bool:
    """Tell whether patch stands in patch.object(thing, "attribute", ...)."""
    method = source.tree.parent(node)
    if not isinstance(method, ast.Attribute) or method.attr != "object":
        return False
    call = source.tree.call_of(method)
    return call is not None and _names_plain_attribute(call)


def _names_plain_attribute(call: ast.Call) -> bool:
    """Tell whether the first argument is an object and the second a plain attribute's name."""
    match call.args:
        case [ast.Constant() | ast.Starred(), *_]:
            return False
        case [_, ast.Constant(value=str(name)), *_]:
            return name.isidentifier() and not is_dunder(name)
    return False


def check_patching(source: Source, node: ast.Attribute, call: ast.Call | None) -> None:
    """Refuse mocker.patch and monkeypatch.setattr with a target given as text."""
    if node.attr == "patch":
        known = patches_object(source, node)
    else:
        known = call is not None and _names_plain_attribute(call)
    if known:
        return
    why = "the target is found by a text, which may be any module"
    instead = 'name the object and its attribute: (thing, "attribute", value)'
    source.refuse(node, node.attr, why, instead)
