"""Turns the files that a change touches into the tests that answer to them, run in a minute.

Chosen are changed test files, then tests whose name answers to a changed file, then tests that
import or name it, and where no test does, those of its folder; without a change, the tests of the
contract language, the gates and the engine.
Left out are tests that run a whole line, act, Docker or Freqtrade: `make test` has all.
"""

import ast
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

HOUSE = Path(__file__).resolve().parent.parent
SECONDS = 45.0  # of the minute; the rest is for the start and for what runs when it is over
CORE = ("tests/bot/contract", "tests/bot/gates", "tests/Backtest", "tests/bot/proof")
_MAIN = ("origin/main", "main")
WITHOUT = "not line and not act and not docker and not freqtrade"


def changed_files(house: Path) -> list[str]:
    """What differs from the main branch, committed or not."""
    base = next(filter(None, (_git(house, "merge-base", "HEAD", ref) for ref in _MAIN)), "HEAD")
    listed = _git(house, "diff", "--name-only", base).splitlines()
    return sorted({*listed, *_git(house, "ls-files", "-o", "--exclude-standard").splitlines()})


def _git(house: Path, *arguments: str) -> str:
    command = ["git", "-C", str(house), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def choose(changed: Iterable[str], house: Path) -> list[str]:
    """The test files for a change, nearest first."""
    tests = {path.relative_to(house).as_posix(): path.read_text("utf-8") for path in _tests(house)}
    imports = {name: _imported(text) for name, text in tests.items()}
    near: dict[str, int] = {}
    answered: set[str] = set()
    for path in changed:
        name = Path(path)
        module = name.with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
        answering = f"test_{name.stem}.py"
        for test, text in tests.items():
            if test == path:
                distance = 0
            elif Path(test).name == answering and Path(test).parent.name == name.parent.name:
                distance = 1
            elif name.suffix == ".py" and module in imports[test]:
                distance = 2
            elif name.suffix != ".py" and name.name in text:
                distance = 3
            else:
                continue
            near[test] = min(near.get(test, 9), distance)
            answered.add(path)
        if name.suffix == ".py" and path not in answered:
            near = {**dict.fromkeys(_of_folder(name.parent, tests), 4), **near}
    return sorted(near, key=lambda test: (near[test], test))


def _of_folder(folder: Path, tests: Iterable[str]) -> list[str]:
    """The tests that mirror a folder, or the nearest one above it that has tests."""
    while folder.name:
        found = [test for test in tests if Path(test).parent == Path("tests") / folder]
        if found:
            return found
        folder = folder.parent
    return []


def _tests(house: Path) -> list[Path]:
    return sorted(path for path in (house / "tests").rglob("test_*.py") if path.is_file())


@cache
def _imported(text: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def none_ran(report: Path) -> bool:
    """Says whether pytest's own report has tests, and all of them were left out."""
    cases = list(ElementTree.parse(report).iter("testcase"))  # noqa: S314 - pytest wrote it
    return bool(cases) and all(case.find("skipped") is not None for case in cases)


def main(arguments: list[str]) -> int:
    """Run ruff on the change, then its tests."""
    until = time.time() + SECONDS
    changed = [path for path in changed_files(HOUSE) if (HOUSE / path).exists()]
    sources = [path for path in changed if path.endswith(".py")]
    chosen = choose(changed, HOUSE)
    print(f"quick: {len(changed)} changed files, {len(chosen)} test files answer to them")
    if sources:
        lint = [sys.executable, "-m", "ruff", "check", "--force-exclude", *sources]
        if subprocess.run(lint, cwd=HOUSE, check=False).returncode:
            return 1
    command = [sys.executable, "-m", "pytest", "-q", "-m", WITHOUT, *arguments]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "quick.xml"
        done = subprocess.run(
            [*command, f"--junitxml={report}", *(chosen or CORE)],
            cwd=HOUSE,
            env={**os.environ, "STRATWRIGHT_TEST_SECONDS": str(until)},
            check=False,
        )
        if done.returncode == 0 and none_ran(report):
            print("quick: the minute was over before any test ran; `make test` has the time")
            return 1
    # 5: pytest found nothing to run, because all that was chosen needs more than a minute.
    return 0 if done.returncode == 5 else done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
