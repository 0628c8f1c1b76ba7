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


def test_a_test_that_fails_without_a_mutant_is_left_out_and_the_next_one_judges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = mutants.Suite(HOUSE, tmp_path / "tree")
    test = "tests/bot/plan/test_added.py"
    (suite.place / test).write_text(
        "import bot.plan\n\n\ndef test_it() -> None:\n    assert not 'sound'\n\n\n"
        "def test_other() -> None:\n    assert not hasattr(bot.plan, 'CHANGED')\n"
    )
    changed = mutants.Mutant(PATH, 1, "a name", SOUND.text + "CHANGED = 1\n")
    monkeypatch.setattr(mutants, "choose", lambda changed, house: [test])
    assert suite.attempt(SOUND, 120) == ("survived", "")
    assert suite.attempt(changed, 120) == ("killed", f"{test}::test_other")
    (suite.place / test).write_text("import nowhere.at_all\n")
    assert suite.attempt(SOUND, 120) == ("no test", "")


def test_a_journal_goes_on_where_it_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = mutants.Suite(HOUSE, tmp_path / "tree")
    monkeypatch.setattr(mutants, "choose", lambda changed, house: ["tests/bot/plan"])
    journal, made = tmp_path / "journal", [{"these": SOUND}, {"these": BROKEN}]
    told = mutants.compare({"these": suite}, made[:1], 120, float("inf"), journal)
    assert told == "these: 1 mutants, killed 0 (0.0%), survived 1, no quick test 0"
    monkeypatch.setattr(suite, "attempt", lambda mutant, limit_s: (mutant.what, ""))
    made[1] = {"these": mutants.Mutant(PATH, 1, "killed", "")}
    told = mutants.compare({"these": suite}, made, 120, float("inf"), journal)
    assert told == "these: 2 mutants, killed 1 (50.0%), survived 1, no quick test 0"


def test_two_trees_get_the_same_changes_of_the_functions_they_share(tmp_path: Path) -> None:
    (tmp_path / "bot").mkdir()
    source = (HOUSE / "bot/plan/milestones.py").read_text("utf-8")
    (tmp_path / "bot/moved.py").write_text(f"FIRST = 1\n\n\n{source}")
    for mine, other in mutants.paired(("bot/plan",), 5, 1, tmp_path):
        assert (mine.path, other.path) == ("bot/plan/milestones.py", "bot/moved.py")
        assert (mine.what, mine.line) == (other.what, other.line - 3)
        assert ast.dump(ast.Module(ast.parse(other.text).body[1:], [])) == ast.dump(
            ast.parse(mine.text)
        )


def test_without_pytest_nothing_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise OSError

    suite = mutants.Suite(HOUSE, tmp_path / "tree")
    monkeypatch.setattr(mutants, "choose", lambda changed, house: ["tests/bot/plan"])
    monkeypatch.setattr(mutants, "_run_here", fail)
    with pytest.raises(RuntimeError, match="could not be started"):
        suite.attempt(SOUND, 120)
