"""Turns our own sources into mutants, one small change each, and counts those that tests notice.

The same seed makes the same mutants of the same sources: `python -m tools.mutants --count 60
--seed 1 [--against OTHER_TREE] [--limit-s 30] [--minutes 25] [--journal FILE]`.
Two trees are compared by mutants of functions that stand in both. Each mutant stands in a copy of
its tree, and the tests that answer to its file (`tools.quick` chooses; not those of whole lines)
run until the first fails or `--limit-s` is over. A test that fails without any mutant is left out.
A journal keeps what was found, and the next run with it goes on from there.
"""

import argparse
import ast
import importlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
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
# Whole lines, which the marks of an older tree do not tell.
_LINES = (
    *("tests/e2e/", "tests/fire/", "tests/security/", "tests/freqtrade/"),
    *("tests/bot/server/", "tests/bot/events/", "tests/bot/workflow/"),
)
_SKIPPED = {"codes", "freqtrade_files", "templates"}
_CHANGES = ("operator", "constant", "not", "return")
_HANGS_S = 60.0  # how long a test may go on after its time
_KEPT = ("__pycache__", ".git", ".venv", "build", "dist", ".mypy_cache", ".hypothesis")
_NOTHING = 5  # pytest found no test to run
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
    paths = _sources(HOUSE, rooms)
    weights = [len(path.read_bytes()) for path in paths]
    found: list[Mutant] = []
    while len(found) < count:
        path = chance.choices(paths, weights)[0]
        made = _one(path.relative_to(HOUSE).as_posix(), path.read_text("utf-8"), chance)
        if made is not None and made not in found:
            found.append(made)
    return found


def _sources(tree: Path, rooms: Iterable[str]) -> list[Path]:
    paths = sorted(path for room in rooms for path in (tree / room).rglob("*.py"))
    return [path for path in paths if not _SKIPPED & set(path.relative_to(tree).parts)]


def paired(
    rooms: tuple[str, ...], count: int, seed: int, other: Path
) -> list[tuple[Mutant, Mutant]]:
    """That many mutants, each of a function that stands word for word in the other tree too."""
    chance = random.Random(seed)
    there = {key: place for place, key in _functions(other, ("bot", "Backtest"))}
    here = [(place, there[key]) for place, key in _functions(HOUSE, rooms) if key in there]
    weights = [len(ast.unparse(_function(HOUSE, *mine)[1])) for mine, _ in here]
    found: list[tuple[Mutant, Mutant]] = []
    while len(found) < count:
        mine, twin = chance.choices(here, weights)[0]
        _, function = _function(HOUSE, *mine)
        nodes = list(ast.walk(function))
        spot, change = chance.randrange(len(nodes)), chance.choice(_CHANGES)
        if _change(nodes[spot], change):
            pair = (_at(HOUSE, *mine, spot, change), _at(other, *twin, spot, change))
            if pair not in found:
                found.append(pair)
    return found


def _functions(tree: Path, rooms: Iterable[str]) -> list[tuple[tuple[str, int], str]]:
    """Where each function stands (file, number in it), and what tells whether two are the same."""
    return [
        ((path.relative_to(tree).as_posix(), number), ast.dump(node))
        for path in _sources(tree, rooms)
        for number, node in enumerate(_defined(ast.parse(path.read_text("utf-8"))))
    ]


def _defined(module: ast.Module) -> list[ast.AST]:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    inner = [part for node in module.body for part in getattr(node, "body", ())]
    return [node for node in [*module.body, *inner] if isinstance(node, kinds)]


def _function(tree: Path, path: str, number: int) -> tuple[ast.Module, ast.AST]:
    module = ast.parse(_text(tree, path))
    return module, _defined(module)[number]


@cache
def _text(tree: Path, path: str) -> str:
    return (tree / path).read_text("utf-8")


def _at(tree: Path, path: str, number: int, spot: int, change: str) -> Mutant:
    module, function = _function(tree, path, number)
    node = list(ast.walk(function))[spot]
    what = _change(node, change)
    text = ast.unparse(ast.fix_missing_locations(module))
    return Mutant(path, getattr(node, "lineno", 0), what, text)


def _one(path: str, source: str, chance: random.Random) -> Mutant | None:
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    for _ in range(200):
        node = chance.choice(nodes)
        what = _change(node, chance.choice(_CHANGES))
        if what:
            line = getattr(node, "lineno", 0)
            return Mutant(path, line, what, ast.unparse(ast.fix_missing_locations(tree)))
    return None


class Suite:
    """A copy of a tree with its suite of tests, in which one mutant at a time stands."""

    def __init__(self, tree: Path, folder: Path) -> None:
        self.place = folder
        self.broken: dict[str, bool] = {}
        shutil.copytree(tree, folder, ignore=shutil.ignore_patterns(*_KEPT), symlinks=True)
        if (HOUSE / "build").exists():
            (folder / "build").symlink_to(HOUSE / "build")
        self._stamp = time.time()

    def attempt(self, mutant: Mutant, limit_s: float) -> tuple[str, str]:
        """How a mutant ended, and the test that killed it."""
        near = [test for test in choose([mutant.path], self.place) if not test.startswith(_LINES)]
        while chosen := [test for test in near if not self.broken.get(test)]:
            code, failed = self._with(mutant, chosen, limit_s)
            if code == 0:
                return "survived", ""
            if code == _NOTHING:
                break
            if code is None or not failed or not self._fails_alone(failed, limit_s):
                return "killed", failed
        return "no test", ""

    def _with(self, mutant: Mutant, chosen: list[str], limit_s: float) -> tuple[int | None, str]:
        path = self.place / mutant.path
        before = path.read_text("utf-8")
        self._write(path, mutant.text)
        try:
            return self.run(chosen, limit_s)
        finally:
            self._write(path, before)

    def _fails_alone(self, test: str, limit_s: float) -> bool:
        """Whether a test, or a file that cannot be read, fails without any mutant."""
        if test not in self.broken:
            self.broken[test] = self.run([test], limit_s)[0] != 0
        return self.broken[test]

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
                broken = [test for test, fails in self.broken.items() if fails]
                code = _run_here(self.place, chosen, _Told(said, broken, limit_s))
            finally:
                os._exit(code)
        until = time.monotonic() + limit_s + _HANGS_S
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
    """Leaves out what is broken or too late, writes down the test that failed; pytest calls it."""

    def __init__(self, place: Path, broken: list[str], limit_s: float) -> None:
        self.place = place
        self.broken = set(broken)
        self.until = time.monotonic() + limit_s

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Leave out what fails by itself; a failing property is not made smaller."""
        from hypothesis import Phase, settings

        items[:] = [item for item in items if item.nodeid not in self.broken]
        for item in items:
            test: Any = getattr(item, "obj", None)
            known = getattr(test, "_hypothesis_internal_use_settings", None)
            if known is not None:
                phases = (Phase.explicit, Phase.generate)
                found = settings(known, phases=phases, database=None, deadline=None)
                test._hypothesis_internal_use_settings = found

    def pytest_runtest_setup(self) -> None:
        """Begin no test when the time is over."""
        import pytest

        if time.monotonic() > self.until:
            pytest.skip("time is over")

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Hear of a stage of a test."""
        if report.failed:
            self.place.write_text(report.nodeid, "utf-8")

    pytest_collectreport = pytest_runtest_logreport


def _run_here(place: Path, chosen: list[str], told: _Told) -> int:
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
    return int(pytest.main(command, [told]))


Ends = dict[str, tuple[str, str]]


def compare(
    suites: dict[str, Suite],
    mutants: list[dict[str, Mutant]],
    limit_s: float,
    until: float,
    journal: Path | None = None,
) -> str:
    """Try each mutant in each suite, as many as time permits; the counts as text."""
    for name in _LIBRARIES:  # read once, for each process begins as a copy of this one
        importlib.import_module(name)
    lines = journal.read_text("utf-8").splitlines() if journal and journal.exists() else []
    ends: list[Ends] = [json.loads(line) for line in lines]
    for mutant in mutants[len(ends) :]:
        if time.monotonic() > until:
            break
        ends.append({name: suites[name].attempt(mutant[name], limit_s) for name in suites})
        one = next(iter(mutant.values()))
        told = ", ".join(f"{name}: {end}" for name, (end, _) in ends[-1].items())
        print(f"{told:30} {one.path}:{one.line} {one.what}", flush=True)
        if journal:
            with journal.open("a", encoding="utf-8") as file:
                file.write(json.dumps(ends[-1]) + "\n")
    return "\n".join(_count(name, [found[name][0] for found in ends]) for name in suites)


def _count(name: str, ends: list[str]) -> str:
    killed = ends.count("killed")
    return (
        f"{name}: {len(ends)} mutants, killed {killed} ({killed / max(1, len(ends)):.1%}), "
        f"survived {ends.count('survived')}, no quick test {ends.count('no test')}"
    )


def main() -> int:
    """Make the mutants, try each, say how many were killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", nargs="*", default=ROOMS)
    parser.add_argument("--against", type=Path, help="another tree, to compare with")
    parser.add_argument("--limit-s", type=float, default=30.0, help="for the tests of one mutant")
    parser.add_argument("--minutes", type=float, default=600.0, help="begin no mutant after these")
    parser.add_argument("--journal", type=Path, help="a file of what was found, to go on from")
    args = parser.parse_args()
    until = time.monotonic() + 60 * args.minutes
    rooms, made = tuple(args.rooms), list[dict[str, Mutant]]()
    with tempfile.TemporaryDirectory(prefix="stratwright-mutants-") as folder:
        suites = {"this suite": Suite(HOUSE, Path(folder, "this"))}
        if args.against:
            there = args.against.resolve()
            suites["the other"] = Suite(there, Path(folder, "other"))
            pairs = paired(rooms, args.count, args.seed, there)
            made = [dict(zip(suites, pair, strict=True)) for pair in pairs]
        else:
            made = [{"this suite": one} for one in seeded(rooms, args.count, args.seed)]
        print(compare(suites, made, args.limit_s, until, args.journal))
    return 0


if __name__ == "__main__":
    sys.exit(main())
