"""Whatever comes out of a sandbox is an answer of the agreed form, or none."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.gates.answer_reader import Answer, NoAnswer, plain_text, read_answers, same_decisions
from sandbox_runner.port import Outcome
from sandbox_runner.request import DECISIONS_FILE, Run
from tests.chance import examples

RUNS = (Run("whole", "btc", "BTC/USDT", passes=2), Run("cut", "btc", "BTC/USDT", 2, (1,)))
LENGTHS = {"btc": 2}
ORDER: dict[str, Any] = {
    "action": "BUY",
    "symbol": "BTC/USDT",
    "type": "MARKET",
    "volume": 0.5,
    "sl": 98.0,
    "tp": 104.0,
    "comment": "enter_long",
    "stop": {"fraction": 0.02},
    "target": {"distance": 4.0},
    "trail": {"fraction": 0.01, "activate_at": 0.05, "only_after_activation": True},
    "roi": {"0": 0.04, "60": 0},
    "size": {"equity": 0.1},
}
QUIET = [None, None, None]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from([*ORDER, "x", "passes", "error", "runs"]), inner, max_size=5
        )
    ),
    max_leaves=12,
)


def outcome(content: bytes | None, **changes: Any) -> Outcome:
    outputs = {} if content is None else {DECISIONS_FILE: content}
    values = {"exit_code": 0, "timed_out": False, "out_of_memory": False, **changes}
    return Outcome(
        stdout=b"", stderr=b"", truncated=False, outputs=outputs, refused={}, seconds=1.0, **values
    )


def document(first: Any = None) -> dict[str, Any]:
    bars = [[first, None, None], QUIET]
    return {"runs": [{"passes": [bars, [QUIET, QUIET]]}, {"passes": [[QUIET]]}]}


def read(content: Any) -> Any:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return read_answers(outcome(data), RUNS, LENGTHS)


def test_a_quiet_bar_is_null_and_a_later_pass_may_have_fewer_bars() -> None:
    run = Run("whole", RUNS[0].candles, RUNS[0].symbol, passes=2, later=(1,))
    raw = {"runs": [{"passes": [[None, [ORDER, None, None]], [None]]}]}
    [answers] = read_answers(outcome(json.dumps(raw).encode()), [run], LENGTHS)
    assert answers.passes[0][0] == answers.passes[1][0] == Answer(None, False, False)
    assert answers.record()["entries"].keys() == {"1"}
    assert tuple(answers.later) == (1,)
    raw["runs"][0]["passes"][1] = [None, None]
    with pytest.raises(NoAnswer, match="answers for 1 bars"):
        read_answers(outcome(json.dumps(raw).encode()), [run], LENGTHS)


def test_an_order_of_the_agreed_form_is_read() -> None:
    whole, cut = read(document(ORDER))
    assert whole.passes[0][0].order == {**ORDER, "roi": {0: 0.04, 60: 0}}
    assert (tuple(whole.bars), cut.bars) == ((0, 1), (1,))
    assert whole.record()["entries"].keys() == {"0"}


@pytest.mark.parametrize(
    "change",
    [
        {"action": "HOLD"},
        {"action": []},
        {"type": "LIMIT"},
        {"symbol": "ETH/USDT"},
        {"symbol": None},
        {"volume": True},
        {"volume": "1"},
        {"volume": None},
        {"volume": 2**63},
        {"volume": -(10**300)},
        {"sl": []},
        {"tp": {}},
        {"comment": "x" * 201},
        {"comment": 7},
        {"stop": {}},
        {"stop": {"fraction": 0.1, "distance": 1}},
        {"stop": {"fraction": "0.1"}},
        {"stop": {"percent": 2}},
        {"target": 7},
        {"trail": {}},
        {"trail": {"fraction": 0.1, "x": 1}},
        {"trail": {"fraction": 0.1, "only_after_activation": 1}},
        {"roi": {"-1": 0.1}},
        {"roi": {"07": 0.1}},
        {"roi": {"\u00b2": 0.1}},
        {"roi": {"\u0663": 0.1}},
        {"roi": {"9" * 5000: 0.1}},
        {"roi": {"1": None}},
        {"roi": [1]},
        {"size": {"equity": 1, "units": 1}},
        {"size": {"all": 1}},
        {"hold_roi": True},
        {"\ud800": 1},
    ],
    ids=lambda change: ascii(change)[:40],
)
def test_an_order_of_another_form_is_no_answer(change: dict[str, Any]) -> None:
    with pytest.raises(NoAnswer, match="the order at bar 0"):
        read(document({**ORDER, **change}))


@pytest.mark.parametrize("gone", ["action", "symbol", "type", "volume"])
def test_an_order_without_its_needs_is_no_answer(gone: str) -> None:
    with pytest.raises(NoAnswer, match=f"has no {gone}"):
        read(document({key: value for key, value in ORDER.items() if key != gone}))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[",
        b"NaN",
        b'{"runs": NaN}',
        b"[" * 100_000,
        b'{"runs":[' * 5000,
        b"\xff\xfe",
        b'{"runs": 1' + b"0" * 10_000 + b"}",
        json.dumps(document(ORDER)).replace("0.5", "1e999").encode(),
        json.dumps(document(ORDER)).replace("0.5", "NaN").encode(),
        json.dumps(document(ORDER)).encode("utf-16"),
    ],
    ids=range(11),
)
def test_what_is_not_plain_json_is_no_answer(content: bytes) -> None:
    try:
        read(content)
    except NoAnswer:
        return
    assert content.startswith(b"\xff\xfe{")  # UTF-16 is JSON too, and says the same


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"timed_out": True}, "time limit"),
        ({"out_of_memory": True}, "memory limit"),
        ({"exit_code": None}, "was stopped"),
    ],
)
def test_a_job_that_was_ended_has_no_answer(changes: dict[str, Any], words: str) -> None:
    content = json.dumps(document(ORDER)).encode()
    with pytest.raises(NoAnswer, match=words):
        read_answers(outcome(content, **changes), RUNS, LENGTHS)


def test_nothing_written_is_no_answer() -> None:
    with pytest.raises(NoAnswer, match="no decisions came out"):
        read_answers(outcome(None), RUNS, LENGTHS)


@pytest.mark.parametrize(
    "error",
    [
        None,
        7,
        {},
        {"type": 7, "message": [[[]]], "line": "x"},
        {"type": "E\x1b[31m", "message": "a\nb\u202e" * 500, "line": 10**40},
        {"type": "E", "message": "::error::", "line": True},
    ],
    ids=range(6),
)
def test_an_error_of_the_strategy_is_told_on_one_plain_line(error: Any) -> None:
    with pytest.raises(NoAnswer) as stop:
        read({"runs": [{"error": error}, {"passes": [[QUIET]]}]})
    assert stop.value.reason.isprintable()
    assert len(stop.value.reason) < 400
    assert stop.value.line is None


@examples(300)
@given(JSON)
def test_no_document_does_worse_than_no_answer(content: Any) -> None:
    for inside in (content, {"runs": content}, document(content), {"runs": [content, content]}):
        try:
            answers = read(inside)
        except NoAnswer:
            continue
        assert [len(each.passes) for each in answers] == [2, 1]


@examples(200)
@given(st.binary(max_size=200))
def test_no_bytes_do_worse_than_no_answer(content: bytes) -> None:
    with pytest.raises(NoAnswer):
        read(content)


@examples(200)
@given(st.sampled_from(sorted(ORDER)), JSON)
def test_one_changed_part_of_an_order_is_read_or_refused(key: str, value: Any) -> None:
    try:
        (whole, _) = read(document({**ORDER, key: value}))
    except NoAnswer:
        return
    found = whole.record()
    assert same_decisions(found, found) == ""


def record(**changes: Any) -> dict[str, Any]:
    order = {**ORDER, "roi": {0: 0.04}, **changes}
    return {"entries": {"3": order}, "exit_long": [5], "exit_short": []}


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (record(volume=0.5 + 1e-6), "volume"),
        (record(stop={"fraction": 0.03}), "stop.fraction"),
        (record(stop={"distance": 0.02}), "stop"),
        (record(action="SELL"), "action"),
        (record(trail={"fraction": 0.01}), "trail"),
        ({**record(), "exit_long": [4, 5]}, "bar 4"),
        ({**record(), "exit_short": [9]}, "bar 9"),
        ({**record(), "entries": {}}, "bar 3: the contract wants an entry"),
        ({**record(), "entries": {**record()["entries"], "1": ORDER}}, "bar 1"),
    ],
)
def test_decisions_that_differ_are_told_with_their_bar(found: dict[str, Any], words: str) -> None:
    assert words in same_decisions(found, record())


def test_the_last_digit_of_a_number_makes_no_difference() -> None:
    assert same_decisions(record(volume=0.5 + 1e-13), record()) == ""
    assert same_decisions(record(volume=True), record(volume=1.0)) != ""


def test_a_strangers_text_becomes_one_plain_line() -> None:
    assert plain_text("a\x1b[2Jb\n::error::c\u202e\u2028 d") == "a [2Jb ::error::c d"
    assert len(plain_text("x" * 10_000)) == 200
