"""Turns our own sources into mutants, one small change each, and counts those that tests notice.

The same seed makes the same mutants of the same sources, so that two suites can be compared:
`python -m tools.mutants --count 60 --seed 1 [--tests OTHER_TREE]`. Each mutant lives in a copy of
the tree, and the tests that answer to its file (`tools.quick` chooses) run until the first fails.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tools.quick import HOUSE, choose

ROOMS = ("bot/gates", "bot/proof", "bot/contract", "Backtest")
_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
_KEPT = ("__pycache__", ".git", ".venv", "build", "dist", ".mypy_cache", ".hypothesis")


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    path: str
    line: int
    what: str
    text: str


def _change(node: ast.AST, change: str) -> str:
    if change == "operator":
        if isinstance(node, ast.Compare):
            other = _SWAPS.get(type(node.ops[0]))
            if other is not None:
                before, node.ops[0] = type(node.ops[0]).__name__, other()  # type: ignore[call-overload]
                return f"{before} -> {other.__name__}"
        elif isinstance(node, ast.BinOp | ast.BoolOp):
            other = _SWAPS.get(type(node.op))
            if other is not None:
                before, node.op = type(node.op).__name__, other()  # type: ignore[assignment]
                return f"{before} -> {other.__name__}"
    elif change == "constant" and isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            node.value = not node.value
            return f"-> {node.value}"
        if isinstance(node.value, int | float):
            node.value += 1
            return f"-> {node.value}"
    elif change == "not" and isinstance(node, ast.If | ast.While | ast.IfExp):
        node.test = ast.UnaryOp(ast.Not(), node.test)
        return "negated condition"
    elif change == "return" and isinstance(node, ast.Return) and node.value is not None:
        node.value = ast.Constant(None)
        return "return None"
    return ""


def seeded(rooms: tuple[str, ...], count: int, seed: int) -> list[Mutant]:
    """That many mutants, each file as likely as its length."""
    chance = random.Random(seed)
    paths = sorted(path for room in rooms for path in (HOUSE / room).rglob("*.py"))
    paths = [p for p in paths if not {"codes", "freqtrade_files", "templates"} & set(p.parts)]
    weights = [len(path.read_bytes()) for path in paths]
    found: list[Mutant] = []
    while len(found) < count:
        path = chance.choices(paths, weights)[0]
        made = _one(path.relative_to(HOUSE).as_posix(), path.read_text("utf-8"), chance)
        if made is not None and made not in found:
            found.append(made)
    return found


def _one(path: str, source: str, chance: random.Random) -> Mutant | None:
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    for _ in range(200):
        node = chance.choice(nodes)
        what = _change(node, chance.choice(("operator", "constant", "not", "return")))
        if what:
            line = getattr(node, "lineno", 0)
            return Mutant(path, line, what, ast.unparse(ast.fix_missing_locations(tree)))
    return None


def killed(mutant: Mutant, tests: Path, limit_s: float) -> str:
    """How a mutant ended: killed, survived, or with no test that answers to its file."""
    chosen = choose([mutant.path], tests)
    if not chosen:
        return "no test"
    with tempfile.TemporaryDirectory(prefix="stratwright-mutant-") as folder:
        place = Path(folder) / "tree"
        shutil.copytree(HOUSE, place, ignore=shutil.ignore_patterns(*_KEPT), symlinks=True)
        if tests != HOUSE:
            shutil.rmtree(place / "tests")
            shutil.copytree(tests / "tests", place / "tests", symlinks=True)
        (place / "build").symlink_to(HOUSE / "build")
        (place / mutant.path).write_text(mutant.text, "utf-8")
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *chosen]
        names = {"PYTHONPATH": str(place), "PYTHONSAFEPATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(
                command,
                cwd=place,
                env={**os.environ, **names},
                capture_output=True,
                timeout=limit_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "killed"
    return "survived" if done.returncode == 0 else "killed"


def main() -> int:
    """Make the mutants, try each, say how many were killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", nargs="*", default=ROOMS)
    parser.add_argument("--tests", type=Path, default=HOUSE, help="a tree with another suite")
    parser.add_argument("--limit-s", type=float, default=300.0, help="for the tests of one mutant")
    args = parser.parse_args()
    ends: list[str] = []
    for mutant in seeded(tuple(args.rooms), args.count, args.seed):
        ends.append(killed(mutant, args.tests.resolve(), args.limit_s))
        print(f"{ends[-1]:9} {mutant.path}:{mutant.line} {mutant.what}", flush=True)
    dead = ends.count("killed")
    print(f"mutants: {len(ends)}, killed {dead}, survived {len(ends) - dead}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
