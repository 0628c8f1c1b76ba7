"""Entries are gathered into their page, each once."""

import pytest

from bot.errors import InputError
from bot.knowledge.growth import consolidate

HEAD = "# LOG-001: x\n\n| date | contract | outcome | lesson |\n|---|---|---|---|\n"
ROW = "| 2026-11 | c.yaml | refused | too few trades |"


@pytest.fixture
def brain(tmp_path):
    (tmp_path / "logs/entries").mkdir(parents=True)
    (tmp_path / "logs/LOG-001-generation.md").write_text(HEAD, "utf-8")
    return tmp_path


def test_new_entries_come_in_the_order_of_their_names_and_their_files_go(brain):
    for name, row in {"corr_b": ROW, "corr_a": ROW.replace("11", "12"), "corr_c": ROW}.items():
        (brain / f"logs/entries/{name}.md").write_text(f"---\nid: {name}\n---\n{row}\n", "utf-8")
    assert consolidate(brain) == ["brain/logs/LOG-001-generation.md: 2 of 3 entries were new"]
    page = (brain / "logs/LOG-001-generation.md").read_text("utf-8")
    assert page == HEAD + ROW.replace("11", "12") + "\n" + ROW + "\n"
    assert list((brain / "logs/entries").iterdir()) == []
    assert consolidate(brain) == []


def test_an_entry_that_is_no_row_changes_nothing(brain):
    (brain / "logs/entries/corr_a.md").write_text(ROW, "utf-8")
    (brain / "logs/entries/corr_b.md").write_text("# not a row\n", "utf-8")
    with pytest.raises(InputError, match=r"corr_b\.md is not one line"):
        consolidate(brain)
    assert (brain / "logs/LOG-001-generation.md").read_text("utf-8") == HEAD
