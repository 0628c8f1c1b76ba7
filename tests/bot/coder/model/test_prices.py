"""Money is counted by a dated table, up, and no call can cost more than was set aside for it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.coder.model.calls import Message, Request
from bot.coder.model.prices import TABLE, price_of
from bot.errors import InputError
from tests.chance import examples


def test_the_table_has_a_date_and_all_prices() -> None:
    table = json.loads(TABLE.read_text())
    assert len(table["date"]) == 10
    for name in table["models"]:
        price = price_of(name)
        assert 0 < price.cache_read < price.input < price.cache_write < price.output
        assert price.date == table["date"]


def test_a_dated_version_has_the_price_of_its_model() -> None:
    assert price_of("claude-sonnet-4-5-20250929") == price_of("claude-sonnet-4-5")
    with pytest.raises(InputError, match="no price is known") as unknown:
        price_of("claude-sonnet-4-5-turbo")
    assert "claude-sonnet-5-5" in unknown.value.hint


def test_every_kind_of_token_is_paid() -> None:
    price = price_of("claude-sonnet-5-5")
    used = {"input_tokens": 1, "output_tokens": 1, "cache_creation_input_tokens": 1}
    assert price.of({**used, "cache_read_input_tokens": 1, "unknown": 5}) == 17  # 16.1, up
    assert price.of({}) == 0


@given(st.text(max_size=300), st.integers(1, 8_000), st.floats(0, 1))
@examples(40)
def test_no_answer_costs_more_than_was_set_aside(text: str, most: int, part: float) -> None:
    message = Message(role="user", content=text)
    request = Request(model="m", max_tokens=most, system="", messages=(message,))
    price = price_of("m", (3.0, 15.0))
    tokens = len(text.encode())  # no token is shorter than a byte
    used = {"input_tokens": tokens, "output_tokens": int(most * part)}
    assert price.of(used) <= price.at_most(request.size, most)
