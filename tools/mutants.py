"""Turns our own sources into mutants, one small change each, and counts those that tests notice.

The same seed makes the same mutants of the same sources, so that two suites can be compared:
`python -m tools.mutants --count 60 --seed 1 [--against OTHER_TREE] [--minutes 25]`. Each mutant
stands in a copy of the tree, and the tests that answer to its file (`tools.quick` chooses; not
those of whole lines) run until the first fails. A test that fails without any mutant kills none.
"""

import argparse
import ast
import importlib
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.quick import HOUSE, WITHOUT, choose

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
_BROKEN = 70  # of a process in which pytest did not begin
_OURS = {"adapters", "Backtest", "benchmarks", "bot", "sandbox_runner", "tests", "tools"}
_LIBRARIES = ("pytest", "numpy", "numba", "pandas", "talib", "pydantic", "jsonschema")


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


class Suite:
    """A copy of the tree with a suite of tests, in which one mutant at a time stands."""

    def __init__(self, tests: Path, folder: Path) -> None:
        self.place = folder
        shutil.copytree(HOUSE, folder, ignore=shutil.ignore_patterns(*_KEPT), symlinks=True)
        if tests != HOUSE:
            shutil.rmtree(folder / "tests")
            ignored = shutil.ignore_patterns(*_KEPT)
            shutil.copytree(tests / "tests", folder / "tests", ignore=ignored, symlinks=True)
        if (HOUSE / "build").exists():
            (folder / "build").symlink_to(HOUSE / "build")
        self._stamp = time.time()

    def attempt(self, mutant: Mutant, limit_s: float) -> tuple[str, str]:
        """How a mutant ended, and the test that killed it."""
        chosen = choose([mutant.path], self.place)
        if not chosen:
            return "no test", ""
        path = self.place / mutant.path
        before = path.read_text("utf-8")
        self._write(path, mutant.text)
        try:
            code, failed = self.run(chosen, limit_s)
        finally:
            self._write(path, before)
        ends = {0: "survived", 5: "no test", None: "killed"}
        end = ends.get(code, "killed")
        return end, (failed or chosen[0]) if end == "killed" and code is not None else ""

    def sound(self, test: str, limit_s: float) -> bool:
        """Whether a test passes without any mutant."""
        return self.run([test], limit_s)[0] == 0

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text, "utf-8")
        self._stamp += 2  # bytecode is told apart by whole seconds
        os.utime(path, (self._stamp, self._stamp))

    def run(self, chosen: list[str], limit_s: float) -> tuple[int | None, str]:
        """Run tests in a process of their own; its exit code, None without one in time."""
        said = self.place / "failed.txt"
        said.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            code = _BROKEN
            try:
                code = _run_here(self.place, chosen, said)
            finally:
                os._exit(code)
        until = time.monotonic() + limit_s
        while time.monotonic() < until:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                if code == _BROKEN:
                    raise RuntimeError(f"pytest could not be started for {chosen}")
                return code, _read(said)
            time.sleep(0.02)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return None, ""


def _read(path: Path) -> str:
    return path.read_text("utf-8") if path.exists() else ""


class _Told:
    """Writes down the test that failed; pytest calls it."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Hear of a stage of a test."""
        if report.failed:
            self.place.write_text(report.nodeid, "utf-8")


def _run_here(place: Path, chosen: list[str], said: Path) -> int:
    import pytest

    os.setsid()
    os.chdir(place)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    for name in [name for name in sys.modules if name.partition(".")[0] in _OURS]:
        del sys.modules[name]
    sys.path.insert(0, str(place))
    os.environ["PYTHONPATH"] = str(place)
    command = ["-x", "-q", "-p", "no:cacheprovider", "-m", WITHOUT, *chosen]
    return int(pytest.main(command, [_Told(said)]))


def compare(suites: dict[str, Suite], mutants: list[Mutant], limit_s: float, until: float) -> str:
    """Try each mutant in each suite, as many as time permits; the counts as text."""
    for name in _LIBRARIES:  # read once, for each process begins as a copy of this one
        importlib.import_module(name)
    ends: dict[str, list[tuple[str, str]]] = {name: [] for name in suites}
    for mutant in mutants:
        if time.monotonic() > until:
            break
        for name, suite in suites.items():
            ends[name].append(suite.attempt(mutant, limit_s))
        told = ", ".join(f"{name}: {found[-1][0]}" for name, found in ends.items())
        print(f"{told:30} {mutant.path}:{mutant.line} {mutant.what}", flush=True)
    lines = []
    for name, found in ends.items():
        killers = {test for end, test in found if end == "killed" and test}
        broken = {test for test in sorted(killers) if not suites[name].sound(test, limit_s)}
        fair = [end for end, test in found if test not in broken]
        lines.append(
            f"{name}: {len(found)} mutants, killed {fair.count('killed')}, "
            f"survived {fair.count('survived')}, no quick test {fair.count('no test')}, "
            f"not counted {len(found) - len(fair)} (their test fails by itself)"
        )
    return "\n".join(lines)


def main() -> int:
    """Make the mutants, try each, say how many were killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", nargs="*", default=ROOMS)
    parser.add_argument("--against", type=Path, help="a tree with another suite")
    parser.add_argument("--limit-s", type=float, default=120.0, help="for the tests of one mutant")
    parser.add_argument("--minutes", type=float, default=600.0, help="begin no mutant after these")
    args = parser.parse_args()
    until = time.monotonic() + 60 * args.minutes
    with tempfile.TemporaryDirectory(prefix="stratwright-mutants-") as folder:
        suites = {"this suite": Suite(HOUSE, Path(folder, "this"))}
        if args.against:
            suites["the other"] = Suite(args.against.resolve(), Path(folder, "other"))
        mutants = seeded(tuple(args.rooms), args.count, args.seed)
        print(compare(suites, mutants, args.limit_s, until))
    return 0


if __name__ == "__main__":
    sys.exit(main())
