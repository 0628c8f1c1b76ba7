import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.contract.document.characters import hidden_kind
from bot.report.page import MOST_TRADES, report_html
from tests.bot.report.hostile import TEXTS, poisoned
from tests.bot.report.stories import REFUSED, told
from tests.chance import examples

ATTRIBUTES = {
    *("lang", "charset", "http-equiv", "content", "name", "class", "scope"),
    *("xmlns", "viewbox", "width", "height", "role", "aria-labelledby", "font-family", "font-size"),
    *("fill", "id", "x", "y", "rx", "d", "stroke-width", "stroke-dasharray", "stroke-linejoin"),
    *("fill-opacity", "text-anchor", "cx", "cy", "r"),
}


class Shape(HTMLParser):
    """The elements of a page, in order, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.values: set[str] = set()
        self.comments: list[str] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.values |= {value or "" for name, value in attrs if name not in ("d", "content")}

    def handle_endtag(self, tag: str) -> None:
        self.tags.append("/" + tag)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    @property
    def outline(self) -> list[str]:
        """The elements without those that only keep a text's direction to itself."""
        return [tag for tag in self.tags if tag not in ("bdi", "/bdi")]


@pytest.mark.parametrize("text", TEXTS)
def test_a_hostile_text_adds_no_element_and_no_attribute(text: str) -> None:
    shape = Shape(report_html(poisoned(text)))
    assert shape.outline == Shape(report_html(poisoned("plain"))).outline
    assert shape.attributes <= ATTRIBUTES
    assert shape.values == Shape(report_html(poisoned("plain"))).values
    assert not shape.comments


@examples(40)
@given(st.text(max_size=40))
def test_no_text_at_all_changes_the_page_around_it(text: str) -> None:
    shape = Shape(report_html(poisoned(f"a{text}b")))
    assert shape.outline == Shape(report_html(poisoned("plain"))).outline
    assert not shape.comments


@pytest.mark.parametrize("text", TEXTS)
def test_hidden_characters_are_shown_not_obeyed(text: str) -> None:
    page = report_html(poisoned(text))
    assert not [char for char in page if hidden_kind(char)]
    page.encode("utf-8")


def test_the_page_loads_and_runs_nothing() -> None:
    page = report_html(told())
    shape = Shape(page)
    assert not {"script", "link", "img", "iframe", "a", "form", "object"} & set(shape.tags)
    assert "default-src 'none'" in page
    assert not re.search(r"url\(|@import|href=|src=", page)
    assert re.findall(r"https?://[^\s\"<]+", page) == ["http://www.w3.org/2000/svg"]


def test_every_style_sheet_is_allowed_by_its_digest() -> None:
    page = report_html(told())
    for sheet in re.findall(r"<style>(.*?)</style>", page, re.DOTALL):
        digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in page
    assert " style=" not in page


def test_elements_are_closed_in_order() -> None:
    open_tags: list[str] = []
    for tag in Shape(report_html(poisoned("plain"))).tags:
        if tag.startswith("/"):
            assert open_tags.pop() == tag[1:]
        elif tag not in ("meta", "br"):
            open_tags.append(tag)
    assert not open_tags


def test_the_trades_are_capped_and_the_rest_is_counted() -> None:
    story = told()
    many = [story.trades[0]] * (MOST_TRADES + 1234)
    page = report_html(replace(story, trades=many, behaviour_change=None))
    assert "1,234 trades are left out; trades.csv has all of them" in page


def test_a_refused_page_says_why_and_what_next() -> None:
    page = report_html(replace(told(), verdicts=REFUSED))
    for words in (
        "Refused: 2 of 13 gates failed",
        "Function is missing a return type annotation.",
        "Backtest/codes/oversold_dip.py:41",
        "Next: Annotate the function",
    ):
        assert words in page


def test_no_gates_means_refused() -> None:
    page = report_html(replace(told(), verdicts=()))
    assert "Refused: no gate has judged it" in page
    assert "No gate has run, so nothing is proven." in page


def test_a_story_without_candles_has_a_page() -> None:
    page = report_html(replace(told(), summary={}, trades=(), equity=(), held=()))
    assert "There is no back-test: no candle was played." in page
    assert "No candles, no curve" in page
    assert "nan" not in Shape(page).text
