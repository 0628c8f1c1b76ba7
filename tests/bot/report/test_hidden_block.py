import json

import pytest

from bot.report.hidden_block import MARK, hidden_block, read_hidden_block
from tests.bot.report.stories import told

GOOD = hidden_block(told())


def with_values(**changes: object) -> str:
    values = json.loads(GOOD.split("\n")[1])
    values.update(changes)
    return f"{MARK}\n{json.dumps(values)}\n-->"


def test_what_was_written_is_read() -> None:
    story = told()
    found = read_hidden_block(f"text\n\n{GOOD}\n\nmore text\n")
    assert found is not None
    assert found["trailers"] == story.trailers
    assert (found["branch"], found["tag"]) == (story.branch, story.tag)
    assert found["accepted"] is True


def test_windows_line_ends_are_read() -> None:
    assert read_hidden_block(f"text\n{GOOD}\n".replace("\n", "\r\n")) is not None


@pytest.mark.parametrize(
    "body",
    [
        "",
        "no block",
        GOOD + "\n" + GOOD,
        f"{GOOD}\n{MARK}",
        "  " + GOOD,
        "> " + GOOD.replace("\n", "\n> "),
        GOOD.replace("-->", "-- >"),
        GOOD.replace('"version":1', '"version":1,"version":1'),
        GOOD.replace('"version":1', '"version":NaN'),
        GOOD.replace('"version":1', '"version":1.0'),
        GOOD.replace('"version":1', '"version":true'),
        GOOD.replace('"version":1', '"version":2'),
        GOOD.replace('"accepted":true', '"accepted":"true"'),
        with_values(extra="x"),
        with_values(trailers={}),
        with_values(trailers="x"),
        with_values(branch=None),
        with_values(tag="x" * 31_000),
        f"{MARK}\n{'[' * 5000}\n-->",
        f'{MARK}\n{{"a":{"[" * 7000}}}\n-->',
        f"{MARK}\n{{}}\n-->",
    ],
)
def test_anything_else_is_no_block(body: str) -> None:
    assert read_hidden_block(body) is None
