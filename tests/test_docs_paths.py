"""Every file that a page for contributors names is there."""

import re
from pathlib import Path

import pytest

HOUSE = Path(__file__).resolve().parent.parent
PAGES = sorted([*(HOUSE / "docs/adding").glob("*.md"), HOUSE / "docs/architecture.md"])
ROOMS = ("bot", "Backtest", "adapters", "sandbox_runner", "tests", "tools", "benchmarks", "docs")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_on_a_page_exists(page: Path) -> None:
    text = page.read_text("utf-8")
    named = {
        path for path in re.findall(r"`([A-Za-z_]+/[\w./-]*)`", text) if path.split("/")[0] in ROOMS
    }
    missing = sorted(path for path in named if not (HOUSE / path).exists())
    # Where generated files go; made by the first run.
    assert set(missing) <= {"Backtest/freqtrade/", "Backtest/codes/"}
    for link in re.findall(r"\]\(([\w./-]+)\)", text):
        assert (page.parent / link).exists(), link


def test_every_page_is_in_the_list() -> None:
    text = (HOUSE / "docs/adding/README.md").read_text("utf-8")
    for page in (HOUSE / "docs/adding").glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in text, page.name


def test_everything_that_the_readme_links_to_is_there_and_its_pictures_are_small() -> None:
    text = (HOUSE / "README.md").read_text("utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    assert [link for link in links if not (HOUSE / link).exists()] == []
    pictures = [HOUSE / link for link in links if link.endswith(".png")]
    assert len(pictures) == 2
    assert all(picture.stat().st_size < 150_000 for picture in pictures)


def test_nobody_is_told_to_install_a_package_that_the_index_does_not_have() -> None:
    """Until there is a release, an extra is installed from a checkout or from its address."""
    pages = [HOUSE / "README.md", *HOUSE.glob("docs/**/*.md")]
    sources = [file for room in ROOMS[:4] for file in (HOUSE / room).rglob("*.py")]
    told = re.compile(r"pip install\s+(?:-\S+\s+)*[\"']?stratwright(?!\[\w+\] @ git\+https)\b.*")
    extra = re.compile(r"stratwright\[\w+\](?! @ git\+https)")
    assert len(sources) > 300
    for file in (*pages, *sources):
        text = file.read_text("utf-8")
        assert told.findall(text) + extra.findall(text) == [], file
