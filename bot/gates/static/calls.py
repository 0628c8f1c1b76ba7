"""Checks calls that are harmless in one form and not in another."""

import ast
import string

from bot.gates.static.attributes import check_assignment, check_attribute
from bot.gates.static.by_name import is_own_method
from bot.gates.static.class_values import in_annotation
from bot.gates.static.examined_file import Source
from bot.gates.static.kind_bits import Kind
from bot.gates.static.kinds import Kinds
from bot.gates.static.names import is_dunder
from bot.gates.static.patching import PATCH, check_patching, patches_object
from bot.gates.static.paths import check_path_method, opens_for_reading, reads_a_path
from bot.gates.static.syntax_tree import given, last_name

_MAIN = "adapters.strategy_cli.main"
_SHOWING = ("print", "repr", "str", "isinstance")
_LOGGING = {"debug", "info", "warning", "error", "exception", "critical"}
_LOG_SETTINGS = {"level", "format", "datefmt"}
_OPTIONS = {"pandas.set_option", "pandas.reset_option", "pandas.option_context"}
_SPOKEN = {
    "numpy.errstate", "numpy.printoptions", "numpy.set_printoptions", "numpy.seterr",
    "warnings.catch_warnings", "warnings.filterwarnings", "warnings.simplefilter",
}  # fmt: skip
_MA_TYPE = "adapters.series.ma_type"


def check_calls(source: Source, kinds: Kinds, node: ast.AST) -> None:
    """Refuse the forms that hide what is called, read or written."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        _check_method(source, kinds, node)
    if isinstance(node, (ast.Attribute, ast.Name)):
        _check_listed(source, kinds, node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        _check_builtin(source, kinds, node, node.func)


def _check_method(source: Source, kinds: Kinds, node: ast.Attribute) -> None:
    called = source.tree.call_of(node)
    if is_own_method(kinds, node):
        return
    if node.attr == "format":
        _check_format(source, node, called)
    elif node.attr == "to_string" and not _prints_only(called):
        why = "to_string writes a file when it is given one"
        source.refuse(node, "to_string", why, "write x.to_string() and print or return the text")
    elif node.attr == "setLevel" and not _is_own_logger(source, node.value):
        why = "it silences log lines of the whole process"
        source.refuse(node, "setLevel", why, "set it on logging.getLogger(__name__)")
    elif source.words.file_class in ("module", "test"):
        check_path_method(source, node, called)
    if source.words.file_class == "test" and node.attr in ("setattr", "patch"):
        check_patching(source, node, called)


def _is_own_logger(source: Source, node: ast.expr) -> bool:
    """Tell whether this is the logger that has the file's own name."""
    match node:
        case ast.Call(func=function, args=[ast.Name(id="__name__")]):
            return source.listed.get(function) == "logging.getLogger"
        case ast.Name():
            values = [source.tree.parent(item.node) for item in source.meaning(node)[1]]
            return bool(values) and all(
                isinstance(value, ast.Assign)
                and not isinstance(value.value, ast.Name)
                and _is_own_logger(source, value.value)
                for value in values
            )
    return False


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


def _check_listed(source: Source, kinds: Kinds, node: ast.Attribute | ast.Name) -> None:
    name, called = source.listed.get(node, ""), source.tree.call_of(node)
    if name in source.words.type_only and not _is_type_use(source, node):
        why = "made by hand, this opens any memory as an array"
        source.refuse(node, name, why, "use np.zeros, np.empty or np.asarray")
    elif name == "functools.wraps" and not _wraps_plainly(source, called):
        why = "wraps copies whatever attributes it is told to"
        source.refuse(node, "wraps", why, "write @functools.wraps(function)")
    elif name == _MAIN and not _is_main_guarded(source, node):
        why = "the command line starts when the file is run, never when it is imported"
        source.refuse(node, "main", why, 'call it under `if __name__ == "__main__":`')
    elif name == PATCH and not patches_object(source, node):
        why = "patch finds its target by a text, which may be any module"
        source.refuse(node, "patch", why, 'write patch.object(thing, "attribute", ...)')
    elif name == "logging.basicConfig" and not _keywords_within(called, _LOG_SETTINGS):
        why = "a file name or a handler would make the log a file"
        source.refuse(node, "basicConfig", why, "give level, format and datefmt only")
    elif name in _OPTIONS and not _sets_harmless_options(called):
        why = "some options of pandas load modules or change what everybody computes"
        source.refuse(node, name, why, 'write the option out: pd.set_option("display.width", 100)')
    elif name in _SPOKEN and not _is_spelled_out(called):
        why = "it changes the whole process, so that its arguments must be seen"
        source.refuse(node, name, why, f'write them out: {name}("ignore")')
    elif name == "numpy.vectorize" and not _vectorizes_own(kinds, node, called):
        why = "vectorize calls whatever it is given"
        source.refuse(node, name, why, "write np.vectorize(own_function)")
    elif name == _MA_TYPE and not _names_an_average(called):
        why = "the kind of moving average is looked up by this text"
        source.refuse(node, "ma_type", why, 'write the kind out: series.ma_type("EMA")')
    elif name.startswith("pandas.read_") and not reads_a_path(source, called):
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


def _keywords_within(call: ast.Call | None, allowed: set[str]) -> bool:
    if call is None or call.args:
        return False
    return all(keyword.arg in allowed for keyword in call.keywords)


def _sets_harmless_options(call: ast.Call | None) -> bool:
    if call is None or call.keywords or not call.args:
        return False
    for name in call.args[::2]:
        if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
            return False
        if not name.value.startswith("display.") and name.value != "mode.chained_assignment":
            return False
    return all(isinstance(value, (ast.Constant, ast.Lambda)) for value in call.args[1::2])


def _is_spelled_out(call: ast.Call | None) -> bool:
    """Tell whether a call has only texts, numbers and kinds of warnings for arguments."""
    if call is None:
        return False
    constants = [item for item in given(call) if isinstance(item, ast.Constant)]
    others = [item for item in given(call) if not isinstance(item, ast.Constant)]
    actions = {str(item.value) for item in constants}
    plain = all(last_name(item).endswith("Warning") for item in others)
    return plain and not {"error", "call", "log", "raise"} & actions


def _vectorizes_own(kinds: Kinds, node: ast.expr, call: ast.Call | None) -> bool:
    if call is None:
        return isinstance(kinds.source.tree.parent(node), ast.FunctionDef)
    return bool(call.args) and kinds.only(call.args[0], Kind.FUNCTION)


def _names_an_average(call: ast.Call | None) -> bool:
    match call:
        case ast.Call(args=[ast.Constant(value=str(name))], keywords=[]):
            return name.isalnum()
    return False


def _wraps_plainly(source: Source, call: ast.Call | None) -> bool:
    if call is None or not _has_one_argument(call):
        return False
    function = source.tree.parent(call)
    return isinstance(function, ast.FunctionDef) and call in function.decorator_list


def _has_one_argument(call: ast.Call) -> bool:
    return len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Starred)


def _is_main_guarded(source: Source, node: ast.AST) -> bool:
    return any(
        isinstance(parent, ast.If) and _is_main_test(parent.test)
        for parent in source.tree.above(node)
    )


def _is_main_test(test: ast.expr) -> bool:
    match test:
        case ast.Compare(ast.Name("__name__"), [ast.Eq()], [ast.Constant("__main__")]):
            return True
    return False


def _check_builtin(source: Source, kinds: Kinds, call: ast.Call, function: ast.Name) -> None:
    if source.meaning(function)[0] is not None:
        return
    name = function.id
    if name == "type" and not _tells_a_type(source, call):
        why = "type may only be compared or shown, never called or kept"
        source.refuse(call, "type", why, "name the class, or use isinstance")
    elif name in ("getattr", "hasattr", "setattr"):
        _check_named_attribute(source, kinds, call, name)
    elif name == "open" and "open" in source.words.call_only_builtins:
        if not (call.args and opens_for_reading(call, 1)):
            why = "a file may be opened for reading only"
            source.refuse(call, "open", why, "write open(path) or open(path, 'rb')")
    elif name == "super" and call.args and not _is_plain_super(source, call):
        source.refuse(call, "super", "super of another object", "write super()")


def _tells_a_type(source: Source, call: ast.Call) -> bool:
    if not _has_one_argument(call):
        return False
    match source.tree.parent(call):
        case ast.Compare() | ast.FormattedValue() | ast.Attribute(attr="__name__"):
            return True
        case ast.Call(func=ast.Name() as function):
            return any(source.is_builtin(function, word) for word in _SHOWING)
        case ast.Call(func=ast.Attribute(attr=word)):
            return word in _LOGGING
    return False


def _is_plain_super(source: Source, call: ast.Call) -> bool:
    return len(call.args) == 2 and source.owner(call.args[1]) is not None


def _check_named_attribute(source: Source, kinds: Kinds, call: ast.Call, name: str) -> None:
    match call.args:
        case [base, ast.Constant(value=str(attribute)), *_] if not call.keywords:
            if name == "setattr":
                check_assignment(source, kinds, call, base, attribute)
            elif is_dunder(attribute):
                why = "Python's own attributes are not for reading"
                source.refuse(call, attribute, why, "leave it out")
            else:
                check_attribute(source, kinds, call, base, attribute)
            return
        case [base, ast.JoinedStr(values=[ast.Constant(value=str(prefix)), *_]), *_]:
            readable = not call.keywords and name != "setattr" and kinds.only(base, Kind.OWN)
            if readable and _is_own_prefix(source, prefix):
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
