"""Stored answers give the same expressions again, and a changed transcript gives none."""

from typing import Any

import pytest

from bot.coder.model.replay import fits, replay_trouble
from bot.coder.model.transcript import Transcript, read_transcript
from bot.errors import InputError
from tests.bot.coder.model.talks import asking, document
from tests.doubles.model.messages_api import answers, fails, serving


@pytest.fixture
def told() -> Transcript:
    script = [answers("rs < 30"), fails(529), answers("rsi < oversold", "as usual")]
    with serving(script) as server:
        return asking(server).ask(document())


def test_a_transcript_is_read_back_as_it_was_written(told: Transcript) -> None:
    assert read_transcript(told.content) == told


def test_the_stored_answers_give_the_same_without_a_model(told: Transcript) -> None:
    assert replay_trouble(document(), told) == ""
    assert fits(document(), told)


def test_another_contract_is_not_answered_by_it(told: Transcript) -> None:
    other = document(enter_long={"prose": "buy when it is cheap"})
    assert "does not hold this question" in replay_trouble(other, told)
    assert not fits(other, told)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"answers": {"enter_long": {"expression": "always"}}}, "other expressions"),
        ({"asked": "sha256:0"}, "other expressions"),
        ({"calls": ()}, "holds no call"),
        ({"model": "another"}, "does not hold this question"),
    ],
)
def test_a_forged_part_is_found(told: Transcript, change: dict[str, Any], words: str) -> None:
    plain = {**told.model_dump(), **change}
    forged = Transcript.model_validate(plain)
    assert words in replay_trouble(document(), forged)


def test_a_forged_answer_follows_only_from_a_forged_reply(told: Transcript) -> None:
    last = told.calls[-1]
    assert last.reply is not None
    text = '{"expression": "always", "assumptions": [], "cannot": ""}'
    reply = last.reply.model_copy(update={"text": text})
    calls = (*told.calls[:-1], last.model_copy(update={"reply": reply}))
    forged = told.model_copy(update={"calls": calls})
    assert "other expressions" in replay_trouble(document(), forged)


def test_calls_that_nobody_asked_for_are_found(told: Transcript) -> None:
    forged = told.model_copy(update={"calls": (*told.calls, told.calls[-1])})
    assert "1 calls that nobody asks for" in replay_trouble(document(), forged)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[:-2],
        lambda data: data.replace(b'"version": 1', b'"version": 2'),
        lambda data: data.replace(b'"agent"', b'"cli"'),
        lambda data: data.replace(b"\n", b"\n ", 1),
        lambda data: data.replace(b'"model"', b'"other"', 1),
        lambda data: b" " * 1_000_001,
    ],
)
def test_what_stratwright_does_not_write_is_not_read(told: Transcript, spoil: Any) -> None:
    with pytest.raises(InputError, match="not as stratwright writes it"):
        read_transcript(spoil(told.content))
