"""Finds the parts of a strategy that only the template may write.

A strategy decides: `prepare_indicators`, `find_entries`, `find_exits` and helpers of its own. How
orders reach a broker, what a back-test is, which settings there are and what the arrays say is the
template's, word for word, and nothing may take its place.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

CLASS = "Strategy"
# Free, but called as the template calls them.
_DECIDE = ("prepare_indicators", "find_entries", "find_exits")
PINNED_METHODS = ("__init__", "signals")
PINNED_FUNCTIONS = ("run_backtest", "run_live")
_PLAIN = (ast.Constant, ast.Tuple, ast.UnaryOp, ast.USub, ast.Load)


@dataclass(frozen=True)
class Strange:
    """Something that may not be there."""

    line: int
    reason: str
    next_step: str


def find_strange_parts(tree: ast.Module, template: ast.Module) -> Iterator[Strange]:
    """Finds everything at the level of the module and of the class that is not the template's."""
    yield from _statements(tree, template)
    ours, theirs = _class_of(template), _class_of(tree)
    if ours is None or theirs is None:
        yield Strange(1, f"there is no class {CLASS}", "write it as the template does")
        return
    yield from _methods(theirs, ours)
    for node in ast.walk(tree):
        if isinstance(node, ast.Global | ast.Nonlocal):
            yield Strange(node.lineno, "names of another scope are bound again", "use a local name")


def find_missing_tests(content: bytes, template: str) -> Iterator[Strange]:
    """Finds what of the contract's tests is not in a test file as it was written."""
    names: set[str] = set()
    known = {ast.dump(node) for node in ast.parse(template).body}
    wanted = {name for node in ast.parse(template).body for name in _bound(node)}
    for place, node in enumerate(ast.parse(content).body):
        found = set(_bound(node))
        if ast.dump(node) in known:
            names |= found
        elif not _is_more(node, found & wanted) and (place or not isinstance(node, ast.Expr)):
            what = min(found, default="this statement")
            step = "keep the contract's tests as they are; add functions test_... of your own"
            yield Strange(node.lineno, f"{what} is not the contract's", step)
    for name in sorted(wanted - names):
        yield Strange(1, f"{name} of the contract's tests is missing", "keep the contract's tests")


def _is_more(node: ast.stmt, taken: set[str]) -> bool:
    """Tells whether a statement of a test file is a test or a helper beside the contract's."""
    return isinstance(node, ast.FunctionDef) and not node.decorator_list and not taken


def _statements(tree: ast.Module, template: ast.Module) -> Iterator[Strange]:
    pinned = {name: node for node in template.body for name in _bound(node)}
    needed = _needed(template)
    seen: set[str] = set()
    block = next(node for node in template.body if isinstance(node, ast.If))
    blocks = 0
    for place, node in enumerate(tree.body):
        if place == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.If):
            blocks += 1
            if not _same(node, block) or place != len(tree.body) - 1:
                reason = "only the template's last `if` may be there"
                yield Strange(node.lineno, reason, "remove this one")
            continue
        names = _bound(node)
        if not names:
            reason = "a file consists of imports, constants, functions and classes"
            yield Strange(node.lineno, reason, "move this into a method")
        for name in names:
            if name in seen:
                yield Strange(node.lineno, f"{name} is bound a second time", "use another name")
            seen.add(name)
            if name in pinned and name != CLASS and not _same_binding(node, pinned[name], name):
                yield _another(node, name)
            elif name not in pinned and not _harmless(node):
                reason = f"{name} is neither an import, a constant nor a plain function"
                step = "use constants of numbers and text, and functions without decorators"
                yield Strange(node.lineno, reason, step)
    for name in sorted(needed - seen):
        yield Strange(1, f"{name} is missing", f"write {name} as the template does")
    if blocks != 1:
        yield Strange(1, "the last block is missing", "end with the template's `if __name__` block")


def _another(node: ast.stmt, name: str) -> Strange:
    step = f"write {name} as the template does"
    return Strange(node.lineno, f"{name} is not the template's", step)


def _bound(node: ast.stmt) -> list[str]:
    """Names what a statement of the module binds; nothing for one that may not be there."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name for alias in node.names]
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        targets = [node.target]
    if len(targets) == 1 and isinstance(targets[0], ast.Name):
        return [targets[0].id]
    return []


def _needed(template: ast.Module) -> set[str]:
    """Gives the template's own functions, settings and class, and what their text names."""
    found: set[str] = set()
    for node in template.body:
        if isinstance(node, ast.FunctionDef | ast.If):
            found |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            found |= {node.name} if isinstance(node, ast.FunctionDef) else set()
    bound = {name for node in template.body for name in _bound(node)}
    return (found | {"DEFAULT_CFG"}) & bound


def _same_binding(node: ast.stmt, pinned: ast.stmt, name: str) -> bool:
    """Tells whether a name means what it means in the template."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return type(node) is type(pinned) and _origin(node, name) == _origin(pinned, name)
    return _same(node, pinned)


def _origin(node: ast.stmt, name: str) -> tuple[str, str]:
    for alias in getattr(node, "names", []):
        if (alias.asname or alias.name) == name:
            return (getattr(node, "module", None) or "", alias.name)
    return ("", "")


def _harmless(node: ast.stmt) -> bool:
    if isinstance(node, ast.FunctionDef):
        return not node.decorator_list and _plain_defaults(node)
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        return all(isinstance(part, _PLAIN) for part in ast.walk(node.value))
    return isinstance(node, ast.Import | ast.ImportFrom)


def _plain_defaults(node: ast.FunctionDef) -> bool:
    """Tells whether no default of a parameter could remember something."""
    return all(
        isinstance(default, ast.Constant)
        for default in (*node.args.defaults, *node.args.kw_defaults)
        if default is not None
    )


def _methods(theirs: ast.ClassDef, ours: ast.ClassDef) -> Iterator[Strange]:
    if theirs.bases or theirs.keywords or theirs.decorator_list:
        yield Strange(theirs.lineno, f"{CLASS} stands alone", "no bases, no decorators")
    template = {node.name: node for node in ours.body if isinstance(node, ast.FunctionDef)}
    seen: set[str] = set()
    for place, node in enumerate(theirs.body):
        if place == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if not isinstance(node, ast.FunctionDef) or node.decorator_list:
            step = "a class that keeps something remembers it between bars"
            yield Strange(node.lineno, f"{CLASS} has plain methods and nothing else", step)
            continue
        name = node.name
        known = template.get(name)
        if name in seen:
            yield Strange(node.lineno, f"{name} is there twice", "keep one")
        seen.add(name)
        if name in PINNED_METHODS and (known is None or not _same(node, known)):
            yield _another(node, name)
        elif name in _DECIDE and (known is None or not _same(node.args, known.args)):
            yield Strange(node.lineno, f"{name} is called otherwise", "keep its parameters")
        elif known is None and (name.startswith("__") or not _plain_defaults(node)):
            yield Strange(node.lineno, f"{name} is no plain helper", "name it like _helper")
    for name in (*PINNED_METHODS, *_DECIDE):
        if name in template and name not in seen:
            yield Strange(theirs.lineno, f"{name} is missing", f"write {name}")


def _class_of(tree: ast.Module) -> ast.ClassDef | None:
    return next((n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == CLASS), None)


def _same(left: ast.AST, right: ast.AST) -> bool:
    """Tells whether two parts are the same but for what they say of themselves."""
    return ast.dump(_without_docs(left)) == ast.dump(_without_docs(right))


def _without_docs(node: ast.AST) -> ast.AST:
    if not isinstance(node, ast.FunctionDef) or ast.get_docstring(node) is None:
        return node
    fields = {name: getattr(node, name) for name in node._fields if name != "body"}
    return ast.FunctionDef(**fields, body=node.body[1:])
