"""A change is answered by the tests of its place, nearest first."""

import subprocess
from pathlib import Path

import pytest

from tools.quick import changed_files, choose, none_ran


@pytest.fixture
def house(tmp_path: Path) -> Path:
    files = {
        "bot/gates/names.py": "",
        "bot/plan.py": "",
        "docs/gates.md": "",
        "tests/bot/gates/test_names.py": "x = 1\n",
        "tests/bot/test_plan.py": "from bot import plan\n",
        "tests/bot/test_far.py": "import bot.gates.names\n",
        "tests/bot/test_from.py": "from bot.gates.names import one\n",
        "tests/test_pages.py": "PAGE = 'docs/gates.md'\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_file_that_answers_by_name_comes_before_those_that_import(house: Path) -> None:
    found = choose(["bot/gates/names.py"], house)
    assert found == [
        "tests/bot/gates/test_names.py",
        "tests/bot/test_far.py",
        "tests/bot/test_from.py",
    ]


def test_a_file_that_no_test_names_is_answered_by_those_of_its_folder(house: Path) -> None:
    assert choose(["bot/gates/alone.py"], house) == ["tests/bot/gates/test_names.py"]
    assert choose(["bot/gates/deeper/alone.py"], house) == ["tests/bot/gates/test_names.py"]
    both = choose(["bot/gates/alone.py", "bot/plan.py"], house)
    assert both == ["tests/bot/test_plan.py", "tests/bot/gates/test_names.py"]
    assert choose(["elsewhere/alone.py"], house) == []


def test_a_changed_test_comes_first_and_nothing_comes_twice(house: Path) -> None:
    changed = ["bot/gates/names.py", "tests/bot/test_far.py"]
    assert choose(changed, house)[0] == "tests/bot/test_far.py"
    assert len(choose(changed, house)) == 3


def test_a_page_is_answered_by_who_names_it(house: Path) -> None:
    assert choose(["docs/gates.md"], house) == ["tests/test_pages.py"]
    assert choose(["bot/plan.py"], house) == ["tests/bot/test_plan.py"]
    assert choose(["LICENSE"], house) == []


def test_committed_uncommitted_and_new_files_are_the_change(house: Path) -> None:
    def git(*arguments: str) -> None:
        person = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        subprocess.run(["git", *person, *arguments], cwd=house, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    assert changed_files(house) == []
    git("checkout", "-q", "-b", "change")
    (house / "bot/plan.py").write_text("a = 1\n")
    git("commit", "-q", "-a", "-m", "second")
    (house / "docs/gates.md").write_text("more\n")
    (house / "new.py").write_text("\n")
    assert changed_files(house) == ["bot/plan.py", "docs/gates.md", "new.py"]


@pytest.mark.parametrize(
    ("cases", "expected"),
    [
        ("<testcase/><testcase><skipped/></testcase>", False),
        ("<testcase><skipped/></testcase><testcase><skipped/></testcase>", True),
        ("", False),
    ],
)
def test_a_minute_in_which_no_test_ran_is_no_success(
    cases: str, expected: bool, tmp_path: Path
) -> None:
    report = tmp_path / "quick.xml"
    report.write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    assert none_ran(report) is expected
