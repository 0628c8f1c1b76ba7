import base64
import hashlib
import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from html.parser import HTMLParser
from itertools import cycle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from Backtest.candles import Candles
from Backtest.metrics.report_files import summary_json
from bot.contract.document.characters import hidden_kind
from bot.report.curve import NO_CURVE
from bot.report.figures import count, decimal, percent
from bot.report.page import MOST_TRADES, report_html
from tests.bot.report.hostile import TEXTS, poisoned
from tests.bot.report.stories import REFUSED, told
from tests.chance import examples

ATTRIBUTES = {
    *("lang", "charset", "http-equiv", "content", "name", "class", "scope"),
    *("xmlns", "viewbox", "width", "height", "role", "aria-labelledby", "font-family", "font-size"),
    *("fill", "id", "x", "y", "rx", "d", "stroke-width", "stroke-dasharray", "stroke-linejoin"),
    *("fill-opacity", "text-anchor", "cx", "cy", "r", "tabindex", "aria-label", "aria-hidden"),
    *("stroke-linecap", "stroke-opacity", "preserveaspectratio"),
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
    assert set(re.findall(r"https?://[^\s\"<]+", page)) == {"http://www.w3.org/2000/svg"}


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
    page = report_html(replace(told(), summary={}, trades=(), equity=NO_CURVE, held=NO_CURVE))
    assert "There is no backtest: no candle was played." in page
    assert "No candles, no curve" in page
    assert "nan" not in Shape(page).text


def numbers_in(value: object) -> Iterator[float]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from numbers_in(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield float(value)


def ways_to_write(value: float) -> set[str]:
    ways = {percent(value), percent(value, sign=True), count(value), f"{decimal(value, 1)} bps"}
    ways |= {decimal(value), decimal(value, sign=True), decimal(value, 1)}
    return ways | {decimal(value * 100, 1, sign=True)}


@pytest.mark.parametrize("name", ["oversold_dip", "channel_breakout", "trend_follow"])
def test_every_number_of_the_figures_is_in_the_summary(name: str) -> None:
    story = told(name)
    summary = json.loads(summary_json(dict(story.summary)))
    known = set().union(*(ways_to_write(value) for value in numbers_in(summary)))
    figures = report_html(story).partition("<h2>Result</h2>")[2].partition("<h3>Indicators</h3>")[0]
    cells = re.findall(r'<td class="n[^"]*">(?:<bdi>)?([^<]*)', figures)
    shown = [part for cell in cells for part in re.findall(r"[+-]?[\d,.]*\d(?:%| bps)?", cell)]
    assert len(shown) > 90
    assert [part for part in shown if part not in known] == []


def test_every_rule_and_clause_is_told_with_how_often_it_held() -> None:
    story = told()
    page = html.unescape(report_html(story))
    for rule in story.summary["signals"]["rules"].values():
        for clause in rule["clauses"]:
            assert f'<td>{clause["words"]}</td><td class="n">{clause["held"]:,}</td>' in page


def test_rejected_orders_are_counted_by_reason() -> None:
    assert "<p>No order was rejected.</p>" in report_html(told())
    summary = {**told().summary, "orders_rejected": 3, "rejections": {"too little cash": 3}}
    page = report_html(replace(told(), summary=summary))
    assert "<th>too little cash</th>" in page
    assert '<td class="n">3</td>' in page


def test_a_doubtful_run_shows_both_readings() -> None:
    story = told()
    sheet = {**story.summary["tear_sheet"]}
    sheet["ambiguity"] = {"trades": 2, "final_equity": 12_345.0, "return": 0.2345}
    band = {"ambiguous_trades": 2, "worst_pnl": -101.0, "best_pnl": 2_345.0}
    page = report_html(
        replace(story, summary={**story.summary, "tear_sheet": sheet, "ambiguity_band": band})
    )
    for words in ("The worse came first (taken)", "12,345.00", "+23.45%", "+2,345.00"):
        assert words in page


def test_several_symbols_have_a_picture_each() -> None:
    story = told()
    (candles,) = story.candles.values()
    page = report_html(replace(story, candles={"BTC/USDT": candles, "A<b>/USDT": candles}))
    assert page.count("<title>A&lt;b&gt;/USDT with its trades</title>") == 2


def test_the_page_of_a_million_candles_is_small() -> None:
    story, rows = told(), np.arange(1_000_000)
    times, prices = 1_500_000_000_000 + 60_000 * rows, 50_000.0 + 900.0 * np.sin(rows / 999.0)
    candles = Candles(times, prices, prices + 9.0, prices - 9.0, prices, np.ones(len(rows)))
    first = [
        replace(t, entry_time=int(times[n]), exit_time=int(times[n + 9]))
        for n, t in zip(range(0, 900_000, 300), cycle(story.trades), strict=False)
    ]
    curve = times, prices / 5.0
    many = replace(story, candles={"BTC/USDT": candles}, equity=curve, held=curve, trades=first)
    assert len(report_html(replace(many, behaviour_change=None))) < 200_000
