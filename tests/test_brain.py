"""The brain's index and its pages agree, and every page says what it is."""

import re
from pathlib import Path

import pytest

from bot.gates.static.vocabulary import vocabulary
from bot.knowledge.pages import read_page
from sandbox_runner.rules import USUAL_LIMITS

BRAIN = Path(__file__).parents[1] / "brain"
ENTRANCES = {"INIT.md", "INDEX-MASTER.md", "SESSION-HANDOFF.md"}
PAGES = sorted(
    str(path.relative_to(BRAIN)) for path in BRAIN.rglob("*.md") if path.name not in ENTRANCES
)


def indexed():
    return re.findall(r"\]\(([^)]+)\)", (BRAIN / "INDEX-MASTER.md").read_text("utf-8"))


def number_of(page):
    return "-".join(Path(page).name.removesuffix(".md").split("-")[:2])


def test_the_index_lists_every_page_once_and_nothing_else():
    assert sorted(indexed()) == PAGES


def test_the_entrances_are_there():
    assert {path.name for path in BRAIN.glob("*.md")} == ENTRANCES


@pytest.mark.parametrize("page", PAGES)
def test_a_page_opens_with_its_own_number(page):
    assert read_page(page, BRAIN / page).text.startswith(f"# {number_of(page)}: ")


@pytest.mark.parametrize("page", [*PAGES, *sorted(ENTRANCES)])
def test_a_page_has_its_front_matter(page):
    about = read_page(page, BRAIN / page).about
    assert about.keys() >= {"id", "title", "source", "version", "date", "tags"}
    assert about["id"] == (page.removesuffix(".md") if page in ENTRANCES else number_of(page))
    assert about["version"] != "none"


@pytest.mark.parametrize("page", PAGES)
def test_a_promised_later_page_is_not_there_yet(page):
    later = (BRAIN / "INDEX-MASTER.md").read_text("utf-8").split("Come later", 1)[1]
    assert number_of(page) not in later


def test_what_rule_001_lists_is_what_the_gate_lets_in():
    text = (BRAIN / "rules/RULE-001-import-whitelist.md").read_text("utf-8")
    for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE):
        file_class = "freqtrade" if "freqtrade" in row else "strategy"
        known = vocabulary(file_class)
        for module in re.findall(r"`([\w.]+)`", row):
            assert known.module(module) is not None, module
    for module in ("os", "requests", "pytest", "pathlib", "json"):
        assert vocabulary("strategy").module(module) is None
    for module in ("pathlib", "json", "csv"):
        assert vocabulary("module").module(module) is not None


def test_the_limits_of_rule_004_are_those_of_the_sandbox():
    text = (BRAIN / "rules/RULE-004-security.md").read_text("utf-8")
    assert (USUAL_LIMITS.time_s, USUAL_LIMITS.memory_mb) == (300.0, 1024)
    assert "a job has 300 s, 1 GB of memory" in text
