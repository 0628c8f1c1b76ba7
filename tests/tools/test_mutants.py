"""The same seed makes the same mutants; each differs from its source and is Python."""

import ast
from pathlib import Path

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


PATH = "bot/plan/__init__.py"
SOUND = mutants.Mutant(PATH, 1, "nothing", (HOUSE / PATH).read_text("utf-8"))
BROKEN = mutants.Mutant(PATH, 1, "all", "raise RuntimeError\n")


def test_a_mutant_is_killed_by_a_test_that_fails_and_survives_one_that_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = mutants.Suite(HOUSE, tmp_path / "tree")
    monkeypatch.setattr(mutants, "choose", lambda changed, house: ["tests/bot/plan"])
    assert suite.attempt(SOUND, 120) == ("survived", "")
    assert suite.attempt(BROKEN, 120)[0] == "killed"
    assert (suite.place / PATH).read_text("utf-8") == SOUND.text
    monkeypatch.setattr(mutants, "choose", lambda changed, house: [])
    assert suite.attempt(SOUND, 120) == ("no test", "")


def test_a_test_that_fails_without_a_mutant_kills_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = mutants.Suite(HOUSE, tmp_path / "tree")
    test = "tests/bot/plan/test_added.py"
    (suite.place / test).write_text("def test_it() -> None:\n    assert not 'sound'\n")
    monkeypatch.setattr(mutants, "choose", lambda changed, house: [test])
    assert suite.attempt(SOUND, 120) == ("killed", f"{test}::test_it")
    told = mutants.compare({"these": suite}, [SOUND], 120, float("inf"))
    assert told.startswith("these: 1 mutants, killed 0, survived 0, no quick test 0, not counted 1")


def test_without_pytest_nothing_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise OSError

    suite = mutants.Suite(HOUSE, tmp_path / "tree")
    monkeypatch.setattr(mutants, "choose", lambda changed, house: ["tests/bot/plan"])
    monkeypatch.setattr(mutants, "_run_here", fail)
    with pytest.raises(RuntimeError, match="could not be started"):
        suite.attempt(SOUND, 120)
