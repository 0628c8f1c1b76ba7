"""Calls that are harmless in one form and not in another."""

import ast
import string

from bot.gates.static.attributes import check_attribute
from bot.gates.static.by_name import is_own_method
from bot.gates.static.names import is_dunder
from bot.gates.static.source import Source
from bot.gates.static.unbound import in_annotation

_READ_MODES = {"r", "rb", "rt"}
_MAIN = "adapters.strategy_cli.main"
_LOGGING = {"debug", "info", "warning", "error", "exception", "critical"}
_MA_TYPE = "adapters.series.ma_type"
_PATCHERS = {"unittest.mock.patch"}


def check_calls(source: Source) -> None:
    """Refuse the forms that hide what is called, read or written."""
    for node in source.tree.nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            _check_method(source, node)
        if isinstance(node, (ast.Attribute, ast.Name)):
            _check_listed(source, node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            _check_builtin(source, node, node.func)


def _check_method(source: Source, node: ast.Attribute) -> None:
    call = source.tree.parent(node)
    called = call if isinstance(call, ast.Call) and call.func is node else None
    if is_own_method(source, node):
        return
    if node.attr == "format":
        _check_format(source, node, called)
    elif node.attr == "to_string" and not _prints_only(called):
        why = "to_string writes a file when it is given one"
        source.refuse(node, "to_string", why, "write x.to_string() and print or return the text")
    elif source.words.file_class in ("module", "test"):
        _check_path_method(source, node, called)
    if source.words.file_class == "test" and node.attr in ("setattr", "patch"):
        _check_patching(source, node, called)


def _check_format(source: Source, node: ast.Attribute, call: ast.Call | None) -> None:
    template = node.value
    if call is not None and isinstance(template, ast.Constant) and isinstance(template.value, str):
        if _plain_fields(template.value, 0):
            return
        why = "this template reads attributes or items of its arguments"
    else:
        why = "a template that is not written out can read any attribute"
    source.refuse(node, "format", why, 'use an f-string: f"{price:.2f}"')


def _plain_fields(template: str, depth: int) -> bool:
    if depth > 2:
        return False
    try:
        fields = list(string.Formatter().parse(template))
    except ValueError:
        return False
    for _, name, spec, _ in fields:
        if name is not None and ("." in name or "[" in name):
            return False
        if spec and not _plain_fields(spec, depth + 1):
            return False
    return True


def _prints_only(call: ast.Call | None) -> bool:
    if call is None or call.args:
        return False
    return all(keyword.arg not in (None, "buf") for keyword in call.keywords)


def _check_path_method(source: Source, node: ast.Attribute, call: ast.Call | None) -> None:
    """Keep a Path to reading: open for reading, and neither replace nor rename another file."""
    uses_paths = "pathlib" in _imported(source)
    if (
        node.attr == "open"
        and uses_paths
        and not (call is not None and _opens_for_reading(call, 0))
    ):
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


def _opens_for_reading(call: ast.Call, position: int) -> bool:
    modes = list(call.args[position : position + 1])
    modes += [keyword.value for keyword in call.keywords if keyword.arg == "mode"]
    if any(keyword.arg in (None, "opener") for keyword in call.keywords):
        return False
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return False
    return all(isinstance(mode, ast.Constant) and mode.value in _READ_MODES for mode in modes)


def _check_listed(source: Source, node: ast.Attribute | ast.Name) -> None:
    name = source.listed.get(node, "")
    call = source.tree.parent(node)
    called = call if isinstance(call, ast.Call) and call.func is node else None
    if name in source.words.type_only and not _is_type_use(source, node):
        why = "made by hand, this opens any memory as an array"
        source.refuse(node, name, why, "use np.zeros, np.empty or np.asarray")
    elif name == "functools.wraps" and not _wraps_plainly(source, called):
        why = "wraps copies whatever attributes it is told to"
        source.refuse(node, "wraps", why, "write @functools.wraps(function)")
    elif name == _MAIN and not _is_main_guarded(source, node):
        why = "the command line starts when the file is run, never when it is imported"
        source.refuse(node, "main", why, 'call it under `if __name__ == "__main__":`')
    elif name in _PATCHERS and not _patches_object(source, node):
        why = "patch finds its target by a text, which may be any module"
        source.refuse(node, "patch", why, 'write patch.object(thing, "attribute", ...)')
    elif name == _MA_TYPE and not _names_an_average(called):
        why = "the kind of moving average is looked up by this text"
        source.refuse(node, "ma_type", why, 'write the kind out: series.ma_type("EMA")')
    elif name.startswith("pandas.read_") and not _reads_a_path(source, called):
        why = "a text may be an address on the network"
        source.refuse(node, name, why, "give a path: pd.read_csv(Path(name))")


def _is_type_use(source: Source, node: ast.expr) -> bool:
    parent = source.tree.parent(node)
    if isinstance(parent, ast.Tuple):
        parent = source.tree.parent(parent)
    match parent:
        case ast.Attribute() | ast.MatchClass():
            return True
        case ast.Call(func=ast.Name() as function):
            return function is not node and any(
                source.is_builtin(function, name) for name in ("isinstance", "issubclass")
            )
    return in_annotation(source, node)


def _names_an_average(call: ast.Call | None) -> bool:
    match call:
        case ast.Call(args=[ast.Constant(value=str(name))], keywords=[]):
            return name.isalnum()
    return False


def _wraps_plainly(source: Source, call: ast.Call | None) -> bool:
    if (
        call is None
        or len(call.args) != 1
        or call.keywords
        or isinstance(call.args[0], ast.Starred)
    ):
        return False
    function = source.tree.parent(call)
    return isinstance(function, ast.FunctionDef) and call in function.decorator_list


def _is_main_guarded(source: Source, node: ast.AST) -> bool:
    return any(
        isinstance(parent, ast.If) and _is_main_test(parent.test)
        for parent in source.tree.above(node)
    )


def _is_main_test(test: ast.expr) -> bool:
    match test:
        case ast.Compare(
            left=ast.Name(id="__name__"),
            ops=[ast.Eq()],
            comparators=[ast.Constant(value="__main__")],
        ):
            return True
    return False


def _patches_object(source: Source, node: ast.AST) -> bool:
    method = source.tree.parent(node)
    if not isinstance(method, ast.Attribute) or method.attr != "object":
        return False
    call = source.tree.parent(method)
    return isinstance(call, ast.Call) and call.func is method and _names_plain_attribute(call)


def _names_plain_attribute(call: ast.Call) -> bool:
    """Tell whether the first argument is an object and the second a plain attribute's name."""
    match call.args:
        case [ast.Constant() | ast.Starred(), *_]:
            return False
        case [_, ast.Constant(value=str(name)), *_]:
            return name.isidentifier() and not is_dunder(name)
    return False


def _check_patching(source: Source, node: ast.Attribute, call: ast.Call | None) -> None:
    if node.attr == "patch":
        method = source.tree.parent(node)
        outer = source.tree.parent(method) if method is not None else None
        by_object = isinstance(method, ast.Attribute) and method.attr == "object"
        if by_object and isinstance(outer, ast.Call) and _names_plain_attribute(outer):
            return
    elif call is not None and _names_plain_attribute(call):
        return
    why = "the target is found by a text, which may be any module"
    source.refuse(
        node, node.attr, why, 'name the object and its attribute: (thing, "attribute", value)'
    )


def _reads_a_path(source: Source, call: ast.Call | None) -> bool:
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


def _check_builtin(source: Source, call: ast.Call, function: ast.Name) -> None:
    if source.meaning(function)[0] is not None:
        return
    name = function.id
    if name == "type" and not _tells_a_type(source, call):
        why = "type may only be compared or shown, never called or kept"
        source.refuse(call, "type", why, "name the class, or use isinstance")
    elif name in ("getattr", "hasattr", "setattr"):
        _check_named_attribute(source, call, name)
    elif name == "open" and "open" in source.words.call_only_builtins:
        if not (call.args and _opens_for_reading(call, 1)):
            why = "a file may be opened for reading only"
            source.refuse(call, "open", why, "write open(path) or open(path, 'rb')")
    elif name == "super" and call.args and not _is_plain_super(source, call):
        source.refuse(call, "super", "super of another object", "write super()")


def _tells_a_type(source: Source, call: ast.Call) -> bool:
    if len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred):
        return False
    match source.tree.parent(call):
        case ast.Compare() | ast.FormattedValue() | ast.Attribute(attr="__name__"):
            return True
        case ast.Call(func=ast.Name() as function):
            return any(source.is_builtin(function, word) for word in ("print", "repr", "str"))
        case ast.Call(func=ast.Attribute(attr=word)):
            return word in _LOGGING
    return False


def _is_plain_super(source: Source, call: ast.Call) -> bool:
    return len(call.args) == 2 and source.owner(call.args[1]) is not None


def _check_named_attribute(source: Source, call: ast.Call, name: str) -> None:
    match call.args:
        case [base, ast.Constant(value=str(attribute)), *_] if not call.keywords:
            if name == "setattr" and source.owner(base) is None:
                source.refuse(
                    call, name, "attributes may be assigned on self only", "use self.name = value"
                )
            elif is_dunder(attribute):
                source.refuse(
                    call, attribute, "Python's own attributes are not for reading", "leave it out"
                )
            else:
                check_attribute(source, call, base, attribute)
            return
        case [base, ast.JoinedStr(values=[ast.Constant(value=str(prefix)), *_]), *_]:
            if (
                not call.keywords
                and source.owner(base) is not None
                and _is_own_prefix(source, prefix)
            ):
                return
    why = f"{name} with a computed name reaches any attribute"
    instead = f'write the name out: {name}(x, "name"), or keep the values in a dict'
    if call.args and source.modules.get(call.args[0]) in ("talib", "talib.abstract"):
        instead = "write talib.abstract.Function(name)(df), which reaches indicators only"
    source.refuse(call, name, why, instead)


def _is_own_prefix(source: Source, prefix: str) -> bool:
    """Tell whether a computed name begins so that only the file's own names can follow."""
    if len(prefix) < 2 or prefix.startswith("_"):
        return False
    return not any(word.startswith(prefix) for word in source.words.refused)
