"""Rule text becomes a typed tree, or every mistake in it is told."""

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.contract.language.functions import FUNCTIONS
from bot.contract.language.rule_text import MAX_TEXT, Mistake
from bot.contract.language.rules import MAX_DEPTH, Scope, parse_rule
from bot.contract.language.tree import Comparison, Indicator, Logic, Number, Price, Shift
from tests.bot.contract.language import worlds
from tests.chance import examples

SCOPE = Scope(
    {"oversold": True, "width": False},
    {"rsi": ("real",), "trend": ("real",), "bands": ("upperband", "lowerband"), "made": ()},
    frozenset(),
)


def mistakes_of(text: str, wanted: str | None = "boolean") -> list[Mistake]:
    return parse_rule(text, SCOPE, wanted)[1]  # type: ignore[arg-type]


def test_a_comparison_becomes_a_tree() -> None:
    tree, mistakes = parse_rule("rsi < oversold", SCOPE, "boolean")
    assert mistakes == []
    assert isinstance(tree, Comparison)
    assert tree.left == Indicator(0, "rsi")
    assert tree.offset == 0


def test_a_chain_becomes_comparisons_joined_by_and() -> None:
    tree, _ = parse_rule("20 < rsi <= 30", SCOPE, "boolean")
    assert tree == Logic(
        0,
        "and",
        (
            Comparison(0, "<", Number(0, 20), Indicator(0, "rsi")),
            Comparison(0, "<=", Indicator(0, "rsi"), Number(0, 30)),
        ),
    )


def test_any_expression_can_be_shifted() -> None:
    tree, _ = parse_rule("(close - open)[2] > close[0]", SCOPE, "boolean")
    assert isinstance(tree, Comparison)
    assert isinstance(tree.left, Shift)
    assert tree.right == Shift(0, Price(0, "close"), 0)


def test_every_example_of_a_function_parses() -> None:
    for function in FUNCTIONS.values():
        _, mistakes = parse_rule(function.example, SCOPE, "boolean")
        assert mistakes == [], function.example


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rsi < overold", "unknown name `overold`"),
        ("rsii < 30", "unknown name `rsii`"),
        ("bands > 3", "several outputs"),
        ("bands.uperband > 3", "no output"),
        ("close.shift(1) > 3", "only functions of the rule language"),
        ("oversold.x > 3", "not an indicator"),
        ("rsi", "a boolean is wanted"),
        ("rsi < 30 and close", "a boolean is wanted"),
        ("not close", "a boolean is wanted"),
        ("(rsi < 30) + 1 > 0", "a number is wanted"),
        ("close[-1] > open", "no rule can name a future bar"),
        ("close[oversold] > open", "whole number of bars"),
        ("close[1.0] > open", "whole number of bars"),
        ("mean(close, 0) > 1", "positive whole number"),
        ("mean(close, 2.5) > 1", "positive whole number"),
        ("mean(close, width) > 1", "positive whole number"),
        ("mean(close, rsi) > 1", "positive whole number"),
        ("mean(close) > 1", "takes 2 argument(s)"),
        ("maen(close, 3) > 1", "unknown function `maen`"),
        ("mean(close, n=3) > 1", "arguments are given by place"),
        ("mean(*close) > 1", "arguments are given by place"),
        ("rsi < 30 & close > trend", "write `and`"),
        ("rsi < 30 | close > trend", "write `or`"),
        ("close ** 2 > 3", "power(x, n)"),
        ("close % 2 > 3", "not in the language"),
        ("~(rsi < 30)", "write `not`"),
        ("+close > 1", "only `-` and `not`"),
        ("rsi is 30", "write `==`"),
        ("rsi in bands", "not in the language"),
        ("True", "write `always`"),
        ("close > 'x'", "only numbers"),
        ("close > 1e400", "too large"),
        ("close > 10000000000000000", "too large"),
        ("close > 1j", "only numbers"),
        ("close if rsi > 3 else open", "not part of the rule language"),
        ("lambda: close", "not part of the rule language"),
        ("[close]", "not part of the rule language"),
        ("(close := 3) > 1", "not part of the rule language"),
        ("__import__('os')", "unknown function"),
        ("close.__class__", "not an indicator"),
        ("rsi <", "not an expression"),
        ("", "empty"),
        ("   ", "empty"),
        ("rsi < 30 # comment", "no rule may contain"),
        ("rsi \u2039 30", "no rule may contain"),
        ("r\uff53i < 30", "no rule may contain"),
        ("rsi < 30; close > 1", "no rule may contain"),
        ("rsi < 30\\\n", "no rule may contain"),
        ("a) or (b", "not an expression"),
        ("ha_volume > open", "unknown name"),
        ("mean > 3", "is a function"),
        ("always > 3", "a number is wanted"),
        ("-" * 500 + "1 > 0", "deep"),
        ("(" * 150 + "1" + ")" * 150, "a boolean is wanted"),
        ("close > " + "9" * 5000, "longer"),
        ("close > " + "9" * 1000, "too large"),
    ],
)
def test_a_mistake_is_told(text: str, words: str) -> None:
    found = mistakes_of(text)
    assert found, text
    assert any(words in mistake.message for mistake in found), [m.message for m in found]


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("rsi < 30 && close > trend", "`and` instead of &&"),
        ("rsi < 30 || close > trend", "`or` instead of ||"),
        ("rsi = 30", "`==` instead of ="),
        ("rsi =< 30", "`<=` instead of =<"),
        ("rsi => 30", "`>=` instead of =>"),
        ("rsi <> 30", "`!=` instead of <>"),
        ("!(rsi < 30)", "`not` instead of !"),
        ("rsi < 30 and", "a condition after"),
        ("RSI(close, 14) < 30", "as rsi: {function: RSI, ...}"),
    ],
)
def test_what_other_languages_write_gets_advice(text: str, advice: str) -> None:
    (found,) = mistakes_of(text)
    assert advice in found.allowed


def test_all_mistakes_of_one_rule_are_told_with_their_places() -> None:
    text = "rsii < 30 and crosed_above(close, trend) or close[-1] > opn"
    found = {mistake.offset: mistake for mistake in mistakes_of(text)}
    assert sorted(found) == [0, text.index("crosed"), text.index("-1"), text.index("opn")]
    assert found[0].nearest == "rsi"
    assert found[text.index("crosed")].nearest == "crossed_above"
    assert found[text.index("opn")].nearest == "open"


def test_offsets_count_leading_space() -> None:
    assert mistakes_of("  nope < 1")[0].offset == 2


def test_line_breaks_count_as_spaces() -> None:
    tree, mistakes = parse_rule("rsi < 30\nand close\n > trend", SCOPE, "boolean")
    assert mistakes == []
    assert isinstance(tree, Logic)


def test_a_broken_indicator_is_not_told_again_where_it_is_used() -> None:
    scope = Scope({}, {"broken": None})
    assert parse_rule("broken < 3 or broken", scope, "boolean") == (None, [])


def test_limits_are_where_they_are_said_to_be() -> None:
    longest = "close > 1" + " or close > 1" * ((MAX_TEXT - 9) // 13)
    assert mistakes_of(longest) == []
    assert mistakes_of(longest + " or close > 1")
    nested = "not " * (MAX_DEPTH - 2) + "close > 1"
    assert mistakes_of(nested) == []
    assert mistakes_of("not " + nested)


@examples(1500)
@given(st.text(alphabet=string.printable, max_size=60))
def test_no_text_raises_anything(text: str) -> None:
    tree, mistakes = parse_rule(text, SCOPE, "boolean")
    assert (tree is None) == bool(mistakes)


@pytest.mark.parametrize("seed", range(200))
def test_damaged_rules_raise_nothing(seed: int) -> None:
    rng = random.Random(seed)
    text = list(worlds.random_condition(rng, 5))
    for _ in range(rng.randrange(1, 5)):
        place = rng.randrange(len(text))
        text[place] = rng.choice(string.printable)
    tree, mistakes = parse_rule("".join(text), SCOPE, "boolean")
    assert (tree is None) == bool(mistakes)
