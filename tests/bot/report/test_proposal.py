import html
import re
from collections.abc import Callable
from dataclasses import replace

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.contract.document.characters import hidden_kind
from bot.report.behaviour import compare_trades
from bot.report.hidden_block import MARK, read_hidden_block
from bot.report.page import report_html
from bot.report.proposal import MOST_CHARACTERS, pull_request_body
from bot.report.terminal import gate_table
from tests.bot.report.hostile import TEXTS, poisoned
from tests.bot.report.stories import PASSED, REFUSED, Answer, told
from tests.bot.report.test_page import Shape
from tests.chance import examples

IMAGE = "https://github.com/o/r/blob/main/equity.svg?raw=true"


def by_cmark(body: str) -> str:
    """GitHub's own parser, which links bare addresses too."""
    return str(cmarkgfm.github_flavored_markdown_to_html(body, options=Options.CMARK_OPT_UNSAFE))


def by_markdown_it(body: str) -> str:
    return str(
        MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(body)
    )


RENDERERS = (by_cmark, by_markdown_it)
# What GitHub looks for in the rendered text, outside of code.
ACTS = re.compile(
    r"@[A-Za-z0-9]|#\d|\bGH-\d|\b[A-Z]+-\d|\w://|www\.\w|:[a-z]+:"
    r"|(?<![\w.])(?=\d*[a-f])[0-9a-f]{7,40}\b"
)


def prose_of(rendered: str) -> str:
    """The text outside of code, attributes and comments, as GitHub's filters see it."""
    bare = re.sub(r"<!--.*?-->", "", rendered, flags=re.DOTALL)
    bare = re.sub(r"<(code|pre)[ >].*?</\1>", " ", bare, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]*>", " ", bare))


def outline(rendered: str) -> list[str]:
    """The elements; the command may be a block or, with an odd tag, a line of code."""
    aside = {"pre", "/pre", "p", "/p"}
    return [tag for tag in Shape(rendered).tags if tag not in aside]


@pytest.mark.parametrize("render", RENDERERS)
@pytest.mark.parametrize("text", TEXTS)
def test_a_hostile_text_is_only_text(text: str, render: Callable[[str], str]) -> None:
    rendered = render(pull_request_body(poisoned(text)))
    assert outline(rendered) == outline(render(pull_request_body(poisoned("plain"))))
    assert not {"a", "img", "script", "svg", "input"} & set(outline(rendered))
    assert len(Shape(rendered).comments) == 1
    assert not ACTS.search(prose_of(rendered)), ACTS.search(prose_of(rendered))


@examples(60)
@given(st.text(alphabet="ab1 @#:/.-_*`~<>[]()!|$&\\\n\r\t+={}\"'%^", max_size=30))
def test_no_punctuation_adds_markup(text: str) -> None:
    for render in RENDERERS:
        rendered = render(pull_request_body(poisoned(f"{text}x")))
        assert outline(rendered) == outline(render(pull_request_body(poisoned("plain"))))


@pytest.mark.parametrize("text", TEXTS)
def test_the_raw_body_holds_nothing_that_other_programs_obey(text: str) -> None:
    body = pull_request_body(poisoned(text))
    assert "${{" not in body
    assert "[skip ci]" not in body
    assert body.count("<!--") == body.count("-->") == body.count(MARK) == 1
    assert not re.search(r"^\s*(/|@|::)", body, re.MULTILINE)
    assert not re.search(r"@[A-Za-z]", body)
    assert not [char for char in body if hidden_kind(char)]


@pytest.mark.parametrize("text", TEXTS)
def test_the_hidden_block_cannot_be_broken_out_of(text: str) -> None:
    story = poisoned(text)
    found = read_hidden_block(pull_request_body(story))
    assert found is not None
    assert found["accepted"] is False
    if len(text) <= 255:
        assert found["trailers"]["Correlation-Id"] == text
        assert found["tag"] == text


def test_a_body_is_always_below_githubs_limit() -> None:
    for char in ("@", "<", "a ", "\u202e", "ß"):
        story = poisoned(char * 20_000)
        verdicts = [Answer(f"{char * 99}{n}", False, *[char * 5000] * 4) for n in range(500)]
        trades = [replace(story.trades[0], entry_time=n * 1000) for n in range(3000)]
        change = compare_trades([], trades, char * 9999)
        huge = replace(story, verdicts=verdicts, behaviour_change=change)
        body = pull_request_body(huge, IMAGE)
        assert len(body) < MOST_CHARACTERS
        assert read_hidden_block(body) is not None


def test_an_ordinary_body_has_everything() -> None:
    body = pull_request_body(told(), IMAGE)
    for words in (
        "## ✅ Accepted: asked min_trades 10, max_drawdown 0.3, and met; all 13 gates passed",
        f"]({IMAGE})",
        "commission 0.1% of the value of every fill",
        "Buy when rsi is below oversold and close is above trend.",
        "| ✅ passed | lookahead | 40 cuts |",
        "2 trades added, 1 gone",
        "stratwright verify ai/oversold-dip/strategy/corr_5f1c0a9be3d2",
        "`sha256:" + "4e" * 32 + "`",
    ):
        assert words in body, words
    assert "&#" not in body, "an ordinary contract reads well unrendered too"


def test_a_contract_of_a_form_closes_its_issue_and_is_among_the_files() -> None:
    body = pull_request_body(replace(told(), contract_path="contracts/issue_7.yaml"))
    assert "\nCloses #7\n" in body
    assert read_hidden_block(body) is not None
    assert "issue_7.yaml` | the contract" in body
    assert "Closes" not in pull_request_body(told())
    odd = "contracts/issue_7.yaml.yaml"
    assert "Closes" not in pull_request_body(replace(told(), contract_path=odd))


def test_a_clause_that_no_test_decides_is_named_in_every_form() -> None:
    why = [
        f"enter_long: `close is above {n}` holds wherever its other clauses do" for n in range(9)
    ]
    figure = f"47 tests; no market decides, so no test: {'; '.join(why)}"
    story = replace(told(), verdicts=[Answer("pytest", True, figure)])
    shown = re.sub(r"\s+", " ", gate_table(story.verdicts))
    page, body = html.unescape(report_html(story)), html.unescape(pull_request_body(story))
    for words in why:
        assert words in shown
        assert words in page
        assert words in body.replace("\\", "")


def test_a_refused_body_leads_with_the_reasons() -> None:
    body = pull_request_body(replace(told(), verdicts=REFUSED))
    assert body.startswith("## ❌ Refused: 2 of 13 gates failed")
    assert body.index("missing a return type annotation") < body.index("### Result")


def test_a_picture_comes_from_the_web_or_a_path_only() -> None:
    assert "![" not in pull_request_body(told())
    assert "](a/b.svg)" in pull_request_body(told(), "a/b.svg")
    assert "](https://x/y%29%20z)" in pull_request_body(told(), "https://x/y) z")
    for address in ("javascript:alert(1)", "data:image/svg+xml,x", "file:///etc/passwd"):
        with pytest.raises(ValueError, match="no address of an image"):
            pull_request_body(told(), address)


@pytest.mark.parametrize("base", [True, False])
def test_what_changed_is_told(base: bool) -> None:
    trades = told().trades
    change = compare_trades(trades, trades, "main") if base else None
    body = pull_request_body(replace(told(), behaviour_change=change, verdicts=PASSED))
    expected = "Nothing: all 14 trades are the same as in main." if base else "no earlier version"
    assert expected in body
