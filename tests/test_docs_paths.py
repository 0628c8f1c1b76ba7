"""Every file that a page for contributors names is there."""

import ast
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


def test_three_lines_set_it_up_on_github() -> None:
    page = (HOUSE / "docs/github.md").read_text("utf-8")
    lines = page.split("```bash\n", 1)[1].split("```")[0].strip().splitlines()
    assert [line.split("#")[0].split()[0].partition("=")[0] for line in lines] == [
        *("pip", "GITHUB_TOKEN", "git")
    ]


def product_files() -> list[Path]:
    rooms = ("bot", "Backtest", "adapters", "sandbox_runner", "integration")
    listed = [file for room in rooms for file in (HOUSE / room).rglob("*")]
    files = [file for file in listed if file.suffix in (".py", ".j2", ".yml", ".yaml")]
    assert len(files) > 300
    return files


def test_nobody_is_told_to_install_a_package_that_the_index_does_not_have() -> None:
    """Until there is a release, an extra is installed from a checkout or from its address."""
    pages = [HOUSE / "README.md", *HOUSE.glob("docs/**/*.md")]
    told = re.compile(r"pip install\s+(?:-\S+\s+)*[\"']?stratwright(?!\[\w+\] @ git\+https)\b.*")
    extra = re.compile(r"stratwright\[\w+\](?! @ git\+https)")
    for file in (*pages, *product_files()):
        text = file.read_text("utf-8")
        assert told.findall(text) + extra.findall(text) == [], file


def test_no_message_names_a_page_that_a_users_repository_does_not_have() -> None:
    """It names the address instead, of a page that is there."""
    for file in product_files():
        text = file.read_text("utf-8")
        for page in re.findall(r"\{(?:MANUAL|manual)\}/(\w+\.md)", text):
            assert (HOUSE / "docs" / page).exists(), (file, page)
        said = _strings(text) if file.suffix == ".py" else [text]
        named = [page for words in said for page in re.findall(r"(?<!\w)docs/\w+\.md", words)]
        assert file == HOUSE / "bot/contract/reference.py" or named == [], (file, named)


def _strings(source: str) -> list[str]:
    """Gives the strings of a module that are no docstrings."""
    nodes = list(ast.walk(ast.parse(source)))
    unsaid = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in unsaid
    ]
