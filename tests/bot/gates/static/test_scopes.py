"""Names mean what Python says they mean: compared with Python's own symbol tables."""

import ast
import symtable

import pytest

from bot.gates.static.scopes import Scopes
from bot.gates.static.syntax_tree import read_tree

SOURCES = [
    "x = 1\ndef f():\n    return x\n",
    "def f():\n    x = 1\n    def g():\n        return x\n    return g\n",
    "def f():\n    x = 1\n    def g():\n        global x\n        def h():\n            return x\n",
    "def f():\n    def g():\n        nonlocal x\n        x = 2\n    x = 1\n    return x\n",
    "class A:\n    x = 1\n    def f(self):\n        return x\n",
    "def f(x, *y, z=1, **w):\n    return x, y, z, w\n",
    "def f():\n    return lambda x: x + y\n",
    "def f():\n    import numpy as x\n    return x\n",
    "def f():\n    try:\n        pass\n    except ValueError as x:\n        pass\n    return x\n",
    "def f():\n    for x in y:\n        pass\n    with z as w:\n        return x, w\n",
]


def functions(table: symtable.SymbolTable) -> list[symtable.SymbolTable]:
    found = [table] if table.get_type() == "function" else []
    for child in table.get_children():
        found += functions(child)
    return found


@pytest.mark.parametrize("source", SOURCES)
def test_locals_are_those_of_python(source: str) -> None:
    tree, offences = read_tree(source.encode())
    assert tree is not None, offences
    scopes = Scopes(tree)
    for node in tree.nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                scopes.bind_import(alias.asname or alias.name, node, "module", alias.name)
    tables = {
        (table.get_name(), table.get_lineno()): table
        for table in functions(symtable.symtable(source, "x", "exec"))
    }
    for node in tree.nodes:
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            name = node.name if isinstance(node, ast.FunctionDef) else "lambda"
            expected = {
                s.get_name() for s in tables[name, node.lineno].get_symbols() if s.is_local()
            }
            assert set(scopes.inside(node).names) == expected


def test_a_global_in_between_hides_the_outer_local() -> None:
    tree, _ = read_tree(SOURCES[2].encode())
    assert tree is not None
    scopes = Scopes(tree)
    name = next(
        node for node in tree.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    )
    assert scopes.resolve("x", scopes.of(name)) == (None, [])
