"""The same seed makes the same mutants; each differs from its source and is Python."""

import ast

import pytest

from tools import mutants
from tools.mutants import HOUSE, seeded


def test_a_seed_makes_the_same_mutants_again() -> None:
    first = seeded(("bot/plan",), 5, 7)
    assert first == seeded(("bot/plan",), 5, 7)
    assert first != seeded(("bot/plan",), 5, 8)


def test_each_mutant_is_one_change_of_its_file() -> None:
    for mutant in seeded(("bot/plan",), 8, 1):
        source = (HOUSE / mutant.path).read_text("utf-8")
        assert ast.dump(ast.parse(mutant.text)) != ast.dump(ast.parse(source))
        assert mutant.line
        assert mutant.what


@pytest.mark.parametrize(
    ("source", "change", "becomes"),
    [
        ("a < b", "operator", "a <= b"),
        ("a + b", "operator", "a - b"),
        ("a and b", "operator", "a or b"),
        ("3", "constant", "4"),
        ("True", "constant", "False"),
        ("1 if a else 2", "not", "1 if not a else 2"),
    ],
)
def test_an_operator_changes_what_it_says(source: str, change: str, becomes: str) -> None:
    tree = ast.parse(source, mode="eval")
    assert mutants._change(tree.body, change)
    assert ast.unparse(tree) == becomes


def test_a_mutant_is_killed_by_a_test_that_fails_and_survives_one_that_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = "bot/plan/__init__.py"
    sound = mutants.Mutant(path, 1, "nothing", (HOUSE / path).read_text("utf-8"))
    broken = mutants.Mutant(path, 1, "all", "raise RuntimeError\n")
    monkeypatch.setattr(mutants, "choose", lambda changed, house: ["tests/bot/plan"])
    assert mutants.killed(sound, HOUSE, 120) == "survived"
    assert mutants.killed(broken, HOUSE, 120) == "killed"
    monkeypatch.setattr(mutants, "choose", lambda changed, house: [])
    assert mutants.killed(sound, HOUSE, 120) == "no test"
