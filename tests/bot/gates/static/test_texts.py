"""Which texts may come to read as the clock, and what makes texts of other values."""

import ast

import pytest

from bot.gates.static.texts import is_of_texts, is_piece, speaks, speaks_anywhere, spells_letters


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@pytest.mark.parametrize("text", ["n", "ow", "NOW", "day", b"to", "now\0", "%snow"])
def test_a_part_of_a_word_of_the_clock_is_a_piece(text: object) -> None:
    assert is_piece(text)
    assert not speaks(text)


@pytest.mark.parametrize("text", ["k", "know", "_", "2024-", "%H:%M", b"x", "nowhere", " now"])
def test_any_other_text_speaks_for_itself(text: object) -> None:
    assert speaks(text)
    assert not is_piece(text)


def test_what_is_filled_in_says_nothing() -> None:
    assert not speaks("%s{}")
    assert not is_piece("")


@pytest.mark.parametrize(
    "text", ["f'rsi_{n}'", "'rsi_' + name", "'%s-01' % year", "'x{}'.format(n)"]
)
def test_one_written_part_is_enough(text: str) -> None:
    assert speaks_anywhere(expression(text))


@pytest.mark.parametrize(
    "text", ["f'{a}{b}'", "'no' + name", "'%s' % name", "name", "'{}'.format(n)"]
)
def test_without_one_nobody_knows(text: str) -> None:
    assert not speaks_anywhere(expression(text))


@pytest.mark.parametrize("text", ["'U3'", "'<U3'", "'S'", "'str'", "'O'", "kind", "str", "x()"])
def test_these_dtypes_may_hold_texts(text: str) -> None:
    assert is_of_texts(expression(text))


@pytest.mark.parametrize("text", ["'int64'", "'f8'", "'M8[s]'", "float", "np.int64", "bool"])
def test_these_dtypes_hold_none(text: str) -> None:
    assert not is_of_texts(expression(text))


def test_a_format_may_make_a_letter_of_a_number() -> None:
    def spec(text: str) -> ast.expr | None:
        joined = expression(text)
        assert isinstance(joined, ast.JoinedStr)
        value = joined.values[0]
        assert isinstance(value, ast.FormattedValue)
        return value.format_spec

    assert spells_letters(spec("f'{110:c}'"))
    assert spells_letters(spec("f'{110:{kind}}'"))
    assert not spells_letters(spec("f'{110:.2f}'"))
    assert not spells_letters(spec("f'{110}'"))
