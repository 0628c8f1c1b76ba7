"""What may stand after a dot, and what may be assigned there."""

import ast
import re

from bot.gates.static.names import is_dunder
from bot.gates.static.source import Source
from bot.gates.static.unbound import methods_escape

# A column of a higher timeframe, as merge_informative_pair names it: close_1h.
_HIGHER_TIMEFRAME = re.compile(r"[a-z]\w*_\d+[mhdwM]")
_OF_NAMED_TUPLES = {"_asdict", "_fields", "_replace", "_make"}
_ROW_INDEX = "Index"


def check_attributes(source: Source) -> None:
    """Refuse attributes that are not listed and that the file does not declare itself."""
    for node in source.tree.nodes:
        match node:
            case ast.Attribute(ctx=ast.Load()) if node not in source.refused_chains:
                if node.value not in source.modules:
                    check_attribute(source, node, node.value, node.attr)
            case ast.Attribute(ctx=ast.Store() | ast.Del()):
                _check_assignment(source, node)
            case ast.MatchClass(kwd_attrs=names):
                for name in names:
                    check_attribute(source, node, None, name)


def check_attribute(source: Source, node: ast.AST, base: ast.expr | None, name: str) -> None:
    """Refuse one attribute of a value, however it is reached."""
    if is_dunder(name):
        if not _allowed_dunder(source, node, base, name):
            why = "attributes with two underscores on both sides lead into the interpreter"
            source.refuse(node, name, why, "use the value's ordinary methods")
        return
    owner = source.owner(base) if base is not None else None
    if owner is not None or (base is not None and source.is_class_argument(base)):
        _check_own(source, node, owner, name)
    elif _is_super(source, base):
        if name in source.words.refused or name.startswith("_"):
            _refuse(source, node, name)
    elif not isinstance(node, ast.Attribute) and name in source.words.call_only:
        why = "this method may only be called where it stands, so that its arguments can be seen"
        source.refuse(node, name, why, f"write x.{name}(...)")
    elif name.startswith("_"):
        _check_private(source, node, name)
    elif name in source.words.refused:
        _refuse(source, node, name)
    elif not _is_known(source, base, name):
        source.refuse(
            node,
            name,
            "this attribute is not on the list, and the file does not define it",
            f'for a column write ["{name}"]',
        )


def _is_known(source: Source, base: ast.expr | None, name: str) -> bool:
    words = source.words
    if name in words.values or name == _ROW_INDEX:
        return True
    imported = base is not None and "." in source.listed.get(base, "")
    if source.declares(name) and not imported:
        return True
    if words.file_class == "test":
        return name not in words.doors
    return words.file_class == "freqtrade" and _HIGHER_TIMEFRAME.fullmatch(name) is not None


def _check_own(source: Source, node: ast.AST, owner: ast.ClassDef | None, name: str) -> None:
    """Judge `self.name`: its own names are free, as long as self cannot be somebody else."""
    libraries = name in source.words.refused or name in source.words.private
    if not libraries and not name.startswith("_"):
        return
    own = owner is not None and name in source.family(owner)
    if name.startswith("_") and not own and not source.declares(name):
        why = "the class does not define this name, and a private name is nobody else's"
        source.refuse(node, name, why, "define it in __init__")
    elif libraries and not own:
        _refuse(source, node, name)
    elif libraries and methods_escape(source):
        why = (
            f"pandas or numpy has {name} too, and this file takes methods from their class, "
            "so that self may be a frame"
        )
        source.refuse(node, name, why, f"rename {name}")


def _check_private(source: Source, node: ast.AST, name: str) -> None:
    if name in _OF_NAMED_TUPLES:
        return
    if name in source.words.private or not source.declares(name):
        source.refuse(node, name, "a private name of another object", "use its public names")


def _refuse(source: Source, node: ast.AST, name: str) -> None:
    review = source.words.review_of(name)
    if review is not None:
        source.refuse(node, name, review.why, review.instead)
    else:
        why = "it reaches files, the database or the test runner"
        source.refuse(node, name, why, "leave it to the trusted side")


def _allowed_dunder(source: Source, node: ast.AST, base: ast.expr | None, name: str) -> bool:
    parent = source.tree.parent(node)
    if name == "__init__":
        return _is_super(source, base) and isinstance(parent, ast.Call) and parent.func is node
    if name == "__class__":
        named = isinstance(parent, ast.Attribute) and parent.attr == "__name__"
        return named and base is not None and source.owner(base) is not None
    if name == "__name__":
        if isinstance(base, ast.Call):
            return source.is_builtin(base.func, "type")
        return isinstance(base, ast.Attribute) and base.attr == "__class__"
    return False


def _is_super(source: Source, base: ast.expr | None) -> bool:
    return isinstance(base, ast.Call) and source.is_builtin(base.func, "super")


def _check_assignment(source: Source, node: ast.Attribute) -> None:
    name = node.attr
    if is_dunder(name):
        source.refuse(node, name, "nobody may assign Python's own attributes", "leave it out")
    elif source.owner(node.value) is not None or _is_option(source, node.value):
        return
    elif _root_is_shared(source, node.value):
        why = "it changes a module or a class for everybody"
        source.refuse(node, name, why, "keep the value in an attribute of self or a variable")
    elif source.words.file_class == "test" and name not in source.words.refused:
        return
    elif name not in source.words.assigned and not _is_field(source, name):
        why = "attributes may be assigned on self only"
        source.refuse(node, name, why, f'for a column write ["{name}"] = ..., else use self.{name}')


def _is_option(source: Source, node: ast.expr) -> bool:
    """Tell whether this is how pandas shows frames, which anybody may set."""
    return source.modules.get(node, "").startswith("pandas.options.")


def _is_field(source: Source, name: str) -> bool:
    """Tell whether a class of this file has the attribute."""
    if name in source.words.refused or name.startswith("_"):
        return False
    return any(name in attributes for attributes in source.attributes_of.values())


def _root_is_shared(source: Source, node: ast.expr) -> bool:
    """Tell whether a chain of dots begins at an import or a class."""
    current = node
    while isinstance(current, (ast.Attribute, ast.Subscript, ast.Call)):
        if current in source.modules or current in source.refused_chains:
            return True
        if isinstance(current, ast.Call):
            return False
        current = current.value
    if not isinstance(current, ast.Name):
        return False
    kinds = {kind for kind, _ in source.kinds(current)}
    shared = bool(kinds & {"module", "import", "class", "function"})
    return shared or not kinds or source.is_class_argument(current)
