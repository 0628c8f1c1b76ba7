from hypothesis import given
from hypothesis import strategies as st

from bot.contract.document.characters import hidden_kind
from bot.report.inert import BREAK, clip, html_text, markdown_code, markdown_text, one_line, visible
from tests.chance import examples


@examples(300)
@given(st.text())
def test_nothing_hidden_is_left(text: str) -> None:
    for shown in (visible(text), html_text(text), markdown_text(text), markdown_code(text)):
        assert not [char for char in shown if hidden_kind(char)]


@examples(300)
@given(st.text(), st.integers(1, 80))
def test_written_text_stays_near_its_limit(text: str, limit: int) -> None:
    assert len(one_line(text, limit)) <= limit
    assert len(markdown_text(text, limit)) <= 2 * limit + 1
    assert len(markdown_code(text, limit)) <= 2 * limit + 1 + len("<code></code>")


def test_ordinary_text_is_left_alone() -> None:
    plain = "Buy BTC/USDT dips (RSI below rsi_low), 2.5% stop; sell at 14:30, 2024-01-31. Why not?"
    assert markdown_text(plain) == plain
    assert visible("naïve – größer 日本語") == "naïve – größer 日本語"  # noqa: RUF001


def test_hidden_characters_get_a_name() -> None:
    assert visible("a\u202eb\x1b") == "a⟨U+202E⟩b⟨U+001B⟩"


def test_mentions_and_references_are_parted_and_coded() -> None:
    assert markdown_text("@me") == f"&#64;{BREAK}me"
    assert markdown_text("see #12") == f"see &#35;{BREAK}12"
    assert markdown_text("GH-12") == f"GH&#45;{BREAK}12"
    assert markdown_text("deadbeef1") == f"deadbe{BREAK}ef1"
    assert markdown_text("/approve") == "&#47;approve"


def test_ordinary_code_is_a_code_span_and_other_code_is_coded() -> None:
    assert markdown_code("rsi[1] < 30 and close > trend") == "`rsi[1] < 30 and close > trend`"
    assert markdown_code("a | b") == "<code>a &#124; b</code>"
    assert markdown_code("") == ""
    for text in ("[skip ci]", "<!-- x", "a --> b", "http://x", "`", "${{ x }}"):
        assert markdown_code(text).startswith("<code>")


def test_what_is_cut_off_shows_it() -> None:
    assert clip("abcdef", 4) == "abc…"
    assert clip("abcd", 4) == "abcd"
