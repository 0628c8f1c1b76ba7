import ast
import re
from pathlib import Path

HOUSE = Path(__file__).parents[1]
PAGE = (HOUSE / "docs/security.md").read_text("utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", PAGE)


def test_every_threat_names_a_test_that_is_there() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and "---" not in line][1:]
    assert len(rows) >= 20
    assert all(re.search(r"`tests/[\w/]+\.py::test_\w+` \|$", row) for row in rows)
    missing = [f"{path}::{name}" for path, name in NAMED if name not in names_in(HOUSE / path)]
    assert missing == []


def test_every_promise_names_a_test() -> None:
    promises = PAGE.split("## What it never does\n")[1].split("\n## ")[0]
    lines = promises.strip().removeprefix("- ").split("\n- ")
    assert len(lines) >= 6
    assert [line for line in lines if "::test_" not in line] == []


def names_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_the_pages_are_reached_from_the_readme() -> None:
    readme = (HOUSE / "README.md").read_text("utf-8")
    for page in ("docs/security.md", "docs/runbook.md"):
        assert f"]({page})" in readme
