"""Checks that chance in a strategy has a seed, so that every run computes the same."""

import ast

from bot.gates.static.examined_file import Source
from bot.gates.static.kind_bits import Kind
from bot.gates.static.kinds import Kinds

_SEEDED = {
    "numpy.random.Generator", "numpy.random.MT19937", "numpy.random.PCG64",
    "numpy.random.PCG64DXSM", "numpy.random.Philox", "numpy.random.RandomState",
    "numpy.random.SFC64", "numpy.random.SeedSequence", "numpy.random.default_rng",
    "random.Random",
}  # fmt: skip
_SEEDS = {"bit_generator", "entropy", "random_state", "seed", "x"}
_WHY = "without a seed every run computes something else"


def check_chance(source: Source, kinds: Kinds, node: ast.AST) -> None:
    """Refuse random numbers without a seed, and `hash`, which differs from process to process."""
    if source.words.file_class != "strategy":
        return
    match node:
        case ast.Call(func=ast.Name() as function) if source.is_builtin(function, "hash"):
            method = source.scopes.of(node).node
            if not (isinstance(method, ast.FunctionDef) and method.name == "__hash__"):
                source.refuse(node, "hash", "its answer for texts differs in every run",
                              "compare the values themselves")  # fmt: skip
        case ast.Call(func=ast.Attribute(value=base, attr="sample"), keywords=keywords):
            seeds = [item.value for item in keywords if item.arg == "random_state"]
            frame = kinds.of(base) & Kind.FRAME and len(node.args) < 2  # Random.sample takes two
            if frame and not _is_seed(kinds, seeds):
                source.refuse(node, "sample", _WHY, "write x.sample(n, random_state=7)")
        case ast.Name() | ast.Attribute():
            _check_listed(source, kinds, node, source.listed.get(node, ""))


def _check_listed(source: Source, kinds: Kinds, node: ast.Name | ast.Attribute, name: str) -> None:
    if not name.startswith(("random.", "numpy.random.")) or "random" in _parent(source, node):
        return
    call = source.tree.call_of(node)
    if name not in _SEEDED:
        source.refuse(node, name, _WHY, "draw from np.random.default_rng(7)")
    elif call is not None:
        given = call.args[:1] + [item.value for item in call.keywords if item.arg in _SEEDS]
        if not _is_seed(kinds, given):
            source.refuse(node, name, _WHY, "give it a number: np.random.default_rng(7)")


def _parent(source: Source, node: ast.AST) -> str:
    """Give the listed name of the chain that this is a part of."""
    parent = source.tree.parent(node)
    return source.listed.get(parent, "") if isinstance(parent, ast.Attribute) else ""


def _is_seed(kinds: Kinds, given: list[ast.expr]) -> bool:
    """Tell whether the first argument is a value, not None, nothing, or what may be missing."""
    match given:
        case []:
            return False
        case [ast.Constant(value=None) | ast.Starred(), *_]:
            return False
        case [ast.Call(func=ast.Attribute(attr="get"), args=[_], keywords=[]), *_]:
            return False
    return kinds.of(given[0]) != Kind.NONE
