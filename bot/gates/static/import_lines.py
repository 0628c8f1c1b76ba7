"""Checks import lines: which modules and names a file may use, and what they are from then on."""

import ast
import difflib
from functools import lru_cache

from bot.gates.static.examined_file import Source
from bot.gates.static.vocabulary import FILE_CLASSES, vocabulary


def check_imports(source: Source) -> None:
    """Refuse what is not listed and bind what is."""
    for node in source.tree.nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)) and source.scopes.of(node).is_class:
            why = "an import inside a class makes a module an attribute"
            source.refuse(node, "import", why, "import at the top of the file")
        elif isinstance(node, ast.Import):
            for alias in node.names:
                _check_import(source, node, alias)
        elif isinstance(node, ast.ImportFrom):
            _check_import_from(source, node)


def _check_import(source: Source, node: ast.Import, alias: ast.alias) -> None:
    name = alias.name
    if name not in source.words.modules:
        source.refuse(node, name, *_unlisted_module(source, name))
        # Bound nevertheless, so that its uses are not reported a second time as unknown names.
        source.scopes.bind_import(alias.asname or name.split(".")[0], node, "import", "?")
    elif "." in name and alias.asname is None:
        why, instead = "a dotted import binds the whole package", f"write: import {name} as "
        source.refuse(node, name, why, instead + name.rsplit(".", 1)[1])
        source.scopes.bind_import(name.split(".")[0], node, "import", "?")
    else:
        source.scopes.bind_import(alias.asname or name, node, "module", name)


def _check_import_from(source: Source, node: ast.ImportFrom) -> None:
    module = node.module or ""
    for alias in node.names:
        shown = f"{'.' * node.level}{module}.{alias.name}"
        bound = alias.asname or alias.name
        if node.level:
            source.refuse(node, shown, "a relative import", "import the module by its full name")
        elif alias.name == "*":
            why = "a star import brings in names that nobody has listed"
            source.refuse(node, shown, why, "import each name that is used")
            continue
        elif source.words.module(f"{module}.{alias.name}") is not None:
            full = source.words.module(f"{module}.{alias.name}") or ""
            source.scopes.bind_import(bound, node, "module", full)
            continue
        elif source.words.offers(module, alias.name):
            source.scopes.bind_import(bound, node, "import", f"{module}.{alias.name}")
            continue
        elif module in source.words.modules or module in source.words.rooms:
            source.refuse(node, shown, *_unlisted_name(source, module, alias.name))
        else:
            source.refuse(node, shown, *_unlisted_module(source, module))
        source.scopes.bind_import(bound, node, "import", "?")


def _unlisted_module(source: Source, name: str) -> tuple[str, str]:
    others = [file_class for file_class in FILE_CLASSES if name in vocabulary(file_class).modules]
    if others:
        listed = " and ".join(others)
        why = f"this module is for {listed} files, not for {source.words.file_class} files"
        return why, "move the code, or do without it"
    top = name.split(".")[0]
    if any(module.split(".")[0] == top for module in source.words.modules):
        near = difflib.get_close_matches(name, source.words.modules, n=1, cutoff=0.5)
        return f"{name} is an inner room of {top}", f"import from {near[0] if near else top}"
    why = f"{name} is not on the list of modules for {source.words.file_class} files"
    return why, "use numpy, pandas, talib and the listed modules of Python"


def _unlisted_name(source: Source, module: str, name: str) -> tuple[str, str]:
    if name in source.words.stdlib:
        why = f"{module} only happens to hold {name}, which is a module of its own"
        if name in source.words.modules:
            return why, f"write: import {name}"
        return why, "do without it"
    return unlisted_name(source, module, name)


def unlisted_name(source: Source, module: str, name: str) -> tuple[str, str]:
    """Say that a module's name is not listed, and which one is near."""
    review = source.words.review_of(name)
    near = _nearest(name, source.words.modules.get(module, frozenset()))
    instead = f"did you mean {module}.{near}?" if near else "use a listed name"
    if review is not None:
        return f"{module}.{name} is left out: {review.why}", review.instead
    return f"{name} is not on the list of names of {module}", instead


@lru_cache(maxsize=256)
def _nearest(name: str, words: frozenset[str]) -> str:
    return next(iter(difflib.get_close_matches(name[:60], sorted(words), n=1)), "")
