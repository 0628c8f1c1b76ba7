"""Expressions are put behind prose in the author's own text, and nothing else of it changes."""

import pytest

from bot.contract.answering import prose_of, with_answers
from bot.contract.document.source import Form, read_source
from bot.errors import InputError

HEAD = 'version: "1.0"\nrules:\n'


ADDED = 'expression: "rsi < 30"'


@pytest.mark.parametrize(
    ("form", "text", "end"),
    [
        ("yaml", HEAD + '  enter_long: {prose: "buy, now: yes"}\n', ', expression: "rsi < 30"}\n'),
        ("yaml", HEAD + "  enter_long: {'prose': 'x'}  # why\n", ADDED + "}  # why\n"),
        ("yaml", HEAD + "  enter_long:\n    prose: a b # c\n", f"\n    {ADDED}\n"),
        ("yaml", HEAD + "  enter_long:\n    prose: >-\n      a\n      b", f"{ADDED}\n"),
        ("yaml", HEAD + '  enter_long:\n    prose: "a\n      b"\nrisk: 1\n', '30"\nrisk: 1\n'),
        ("yaml", HEAD + "  enter_long:\r\n    prose: a\r\nrisk: 1\r\n", "risk: 1\r\n"),
        ("json", '{"rules":\n\t{"enter_long": {"prose": "\\"b\\""}}}', ': "rsi < 30"}}}'),
    ],
)  # fmt: skip
def test_an_answer_stands_behind_its_prose(form: Form, text: str, end: str) -> None:
    written = with_answers(text.encode(), form, {"enter_long": "rsi < 30"})
    before, after = read_source(text.encode(), form).root, read_source(written, form).root
    assert before is not None
    assert after is not None
    assert written.decode().endswith(end)
    assert after["rules"] == {
        "enter_long": {**before["rules"]["enter_long"], "expression": "rsi < 30"}  # type: ignore[index]
    }
    assert {k: v for k, v in after.items() if k != "rules"} == {
        k: v for k, v in before.items() if k != "rules"
    }


def test_several_rules_are_answered_at_once() -> None:
    text = HEAD + "  enter_long: {prose: a}\n  exit_long:\n    prose: |\n      b\n\nrisk: 1\n"
    root = read_source(text.encode(), "yaml").root
    assert root is not None
    assert prose_of(root) == {"enter_long": "a", "exit_long": "b\n"}
    written = with_answers(text.encode(), "yaml", {"enter_long": "x", "exit_long": "y"})
    answered = read_source(written, "yaml").root
    assert answered is not None
    assert prose_of(answered) == {}


def test_what_cannot_be_read_is_not_answered() -> None:
    with pytest.raises(InputError, match="cannot be read"):
        with_answers(b"{", "yaml", {"enter_long": "x"})
