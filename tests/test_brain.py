"""The brain's index and its pages agree."""

import re
from pathlib import Path

import pytest

BRAIN = Path(__file__).parents[1] / "brain"
ENTRANCES = {"INIT.md", "INDEX-MASTER.md", "SESSION-HANDOFF.md"}
PAGES = sorted(
    str(path.relative_to(BRAIN)) for path in BRAIN.rglob("*.md") if path.name not in ENTRANCES
)


def indexed():
    return re.findall(r"\]\(([^)]+)\)", (BRAIN / "INDEX-MASTER.md").read_text("utf-8"))


def test_the_index_lists_every_page_once_and_nothing_else():
    assert sorted(indexed()) == PAGES


def test_the_entrances_are_there():
    assert {path.name for path in BRAIN.glob("*.md")} == ENTRANCES


@pytest.mark.parametrize("page", PAGES)
def test_a_page_opens_with_its_own_number(page):
    number = "-".join(Path(page).name.split("-")[:2])
    assert (BRAIN / page).read_text("utf-8").startswith(f"# {number}: ")


@pytest.mark.parametrize("page", PAGES)
def test_a_promised_later_page_is_not_there_yet(page):
    number = "-".join(Path(page).name.split("-")[:2])
    later = (BRAIN / "INDEX-MASTER.md").read_text("utf-8").split("Come later", 1)[1]
    assert number not in later
