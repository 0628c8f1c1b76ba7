"""Pages say what is installed; an upgrade is told as a readable difference."""

import json
from datetime import date
from importlib.util import find_spec
from pathlib import Path

import pytest

from bot.cli import main
from bot.errors import InputError
from bot.knowledge.facts import Fact, Finding, read_row
from bot.knowledge.ingest import (
    SOURCES,
    compare,
    endangered_by,
    in_own_words,
    ingest,
    ingest_folder,
    with_facts,
)
from bot.knowledge.pages import SHIPPED, read_page

TODAY = date(2026, 11, 17)
MODULES = {"ccxt": "ccxt", "talib": "talib", "stratwright": "bot", "pytest": "pytest",
           "optuna": "optuna", "vectorbt": "vectorbt"}  # fmt: skip
# Seconds to import: checked by `stratwright brain check` and not here.
SLOW = {"vectorbt"}
HERE = [name for name, module in MODULES.items() if find_spec(module) and name not in SLOW]


def assert_true(name: str) -> None:
    source = SOURCES[name]
    page = read_page(source.page, SHIPPED / source.page)
    difference = compare(page, in_own_words(source.read()), endangered_by(SHIPPED))
    assert difference.lines[1:] == [], f"run `stratwright brain ingest {name}` and review it"
    assert page.about["version"] == difference.after


@pytest.mark.parametrize("name", HERE)
def test_a_page_is_what_the_installed_package_says(name):
    assert_true(name)


@pytest.mark.freqtrade
def test_the_page_of_freqtrade_has_the_whole_interface():
    assert_true("freqtrade")
    text = (SHIPPED / SOURCES["freqtrade"].page).read_text("utf-8")
    for symbol in ("custom_stoploss", "can_short", "config.exchange.name", "freqtrade trade"):
        assert f"| `{symbol}` |" in text


def test_a_row_is_read_as_it_was_written():
    fact = Fact("a|b", "method", "a(x='|', *, y=None)", "one | two")
    assert read_row(fact.row) == fact
    assert read_row("| `x` | only three | cells |") is None


def a_brain(folder: Path, rsi: str) -> Path:
    write = {
        "learnings/LEARN-003-talib.md": "---\nid: LEARN-003\nversion: 0.1\n---\n# LEARN-003: x\n",
        "code/CODE-009-x.md": f"```python\n{rsi}\n```\n",
        "code/CODE-010-y.md": "RSI in words endangers nothing\n",
    }
    for path, text in write.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    return folder


def test_an_upgrade_lists_what_changed_and_the_code_that_names_it(tmp_path):
    brain = a_brain(tmp_path, "talib.RSI(close)")
    page = read_page("learnings/LEARN-003-talib.md", brain / "learnings/LEARN-003-talib.md")
    old = (Fact("RSI", "f", "RSI(price, timeperiod=14)"), Fact("GONE", "f", "GONE()"))
    page = type(page)(page.path, page.about, with_facts(page.text, "talib", old))
    new = Finding(
        "TA-Lib", "0.2", (Fact("RSI", "f", "RSI(price, timeperiod=21)"), Fact("NEW", "f"))
    )
    assert compare(page, new, endangered_by(brain)).lines == [
        "LEARN-003: 0.2 (was 0.1)",
        "  + NEW",
        "  - GONE",
        "  ~ RSI",
        "      was RSI(price, timeperiod=14)",
        "      is  RSI(price, timeperiod=21)",
        "  ! code/CODE-009-x.md names what changed",
    ]


def test_taking_in_twice_changes_nothing(tmp_path):
    first = ingest("stratwright", tmp_path, TODAY)
    content = (tmp_path / SOURCES["stratwright"].page).read_bytes()
    again = ingest("stratwright", tmp_path, date(2027, 1, 1))
    assert first.added
    assert again.lines == [f"LEARN-008: {again.after}, nothing changed"]
    assert (tmp_path / SOURCES["stratwright"].page).read_bytes() == content


def test_what_stands_around_the_facts_stays(tmp_path):
    text = with_facts("# x\n\nbefore\n", "talib", (Fact("A", "f"),)) + "after\n"
    changed = with_facts(text, "talib", (Fact("B", "f"),))
    assert changed.startswith("# x\n\nbefore\n")
    assert changed.endswith("after\n")
    assert "`A`" not in changed


def test_a_folder_of_markdown_becomes_notes_that_are_found(tmp_path, monkeypatch, capsys):
    (tmp_path / "desk/deep").mkdir(parents=True)
    (tmp_path / "desk/deep/gap.md").write_text("# Weekend gaps\nWe fade zorgle gaps.\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    assert main(["brain", "ingest", "desk"]) == 0
    assert capsys.readouterr().out == "brain/notes/desk/deep/gap.md\n"
    assert main(["brain", "search", "zorgle", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["passages"]
    assert found["page"] == "desk/deep/gap.md"
    with pytest.raises(InputError, match="0 Markdown files"):
        ingest_folder(tmp_path / "brain/notes/desk/deep/none", tmp_path, TODAY)


def test_an_unknown_source_is_named_with_those_that_are_known(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["brain", "ingest", "nothing-here"]) == 2
    assert "talib" in capsys.readouterr().err
