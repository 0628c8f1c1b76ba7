"""Checks the use of files in modules and tests: they are read, never written or moved."""

import ast

from bot.gates.static.examined_file import Source

_READ_MODES = {"r", "rb", "rt"}


def check_path_method(source: Source, node: ast.Attribute, call: ast.Call | None) -> None:
    """Keep a Path to reading: open for reading, and neither replace nor rename another file."""
    uses_paths = "pathlib" in _imported(source)
    if node.attr == "open" and uses_paths and not (call is not None and opens_for_reading(call, 0)):
        why = "a file may be opened for reading only"
        source.refuse(node, "open", why, 'write path.open() or path.open("rb")')
    if node.attr in ("replace", "rename") and uses_paths and not _is_no_path(call):
        why = f"{node.attr} of a path moves a file"
        source.refuse(node, node.attr, why, "for text give two arguments, for a frame keywords")


def _imported(source: Source) -> set[str]:
    found = set()
    for names in source.scopes.module.names.values():
        found |= {binding.origin.split(".")[0] for binding in names}
    return found


def _is_no_path(call: ast.Call | None) -> bool:
    if call is None or any(isinstance(item, ast.Starred) for item in call.args):
        return False
    if any(keyword.arg in (None, "target") for keyword in call.keywords):
        return False
    return len(call.args) != 1 or isinstance(call.args[0], ast.Dict)


def opens_for_reading(call: ast.Call, position: int) -> bool:
    """Tell whether the mode at this position is written out and only reads."""
    modes = list(call.args[position : position + 1])
    modes += [keyword.value for keyword in call.keywords if keyword.arg == "mode"]
    if any(keyword.arg in (None, "opener") for keyword in call.keywords):
        return False
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return False
    return all(isinstance(mode, ast.Constant) and mode.value in _READ_MODES for mode in modes)


def reads_a_path(source: Source, call: ast.Call | None) -> bool:
    """Tell whether a reader of pandas gets a path and not an address."""
    if call is None or not call.args:
        return False
    if any(keyword.arg in (None, "storage_options", "engine") for keyword in call.keywords):
        return False
    return _is_path(source, call.args[0], 0)


def _is_path(source: Source, node: ast.expr, depth: int) -> bool:
    if depth > 8:
        return False
    match node:
        case ast.Constant(value=str(text)):
            return "://" not in text and not text.startswith(("/", "~", "\\")) and ".." not in text
        case ast.Call(func=function) if source.listed.get(function, "").startswith("pathlib."):
            return True
        case ast.Call(func=ast.Attribute(value=base, attr="joinpath" | "with_suffix" | "resolve")):
            return _is_path(source, base, depth + 1)
        case ast.BinOp(op=ast.Div(), left=left):
            return _is_path(source, left, depth + 1)
        case ast.Attribute(value=base, attr="parent"):
            return _is_path(source, base, depth + 1)
        case ast.Name():
            return _is_path_name(source, node, depth)
    return False


def _is_path_name(source: Source, node: ast.Name, depth: int) -> bool:
    _, bindings = source.meaning(node)
    if not bindings:
        return False
    for binding in bindings:
        parent = source.tree.parent(binding.node)
        match binding.node, parent:
            case ast.arg(arg=name, annotation=annotation), _:
                listed = source.listed.get(annotation, "") if annotation is not None else ""
                if name != "tmp_path" and not listed.startswith("pathlib."):
                    return False
            case _, ast.Assign(value=value):
                if not _is_path(source, value, depth + 1):
                    return False
            case _, ast.For(
                iter=ast.Call(func=ast.Attribute(value=base, attr="glob" | "iterdir" | "rglob"))
            ):
                if not _is_path(source, base, depth + 1):
                    return False
            case _:
                return False
    return True
