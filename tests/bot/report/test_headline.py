"""The one line of figures, and the sentence that says why there are no trades."""

from dataclasses import replace
from typing import Any

import pytest

from bot.report.headline import collision_words, figure_line, no_trade_words, told_lines
from bot.report.page import report_html
from bot.report.proposal import pull_request_body
from bot.report.wording import open_end_words
from tests.bot.report.stories import told

RULE = {"held": 0, "clauses": [{"words": "rsi is below 2", "held": 0}]}


def summary(**changes: Any) -> dict[str, Any]:
    signals = {"candles": 3000, "warmup": 14, "entries": 0, "collisions": 0}
    signals |= {"rules": {"enter_long": RULE}}
    return {
        "bars": 3000,
        "total_trades": 0,
        "forced_exits": 0,
        "orders_rejected": 0,
        "rejections": {},
        "return": -0.0101,
        "max_drawdown": 0.0101,
        "sharpe": None,
        "buy_and_hold": {"return": 0.1894},
        "signals": {**signals, **changes.pop("signals", {})},
        **changes,
    }


def test_the_line_of_the_example() -> None:
    line = "-1.0 % · hold +18.9 % · dd 1.0 % · Sharpe -2.2 · 14 trades"
    assert figure_line(told().summary) == line.replace("-", "\N{MINUS SIGN}")


def test_what_has_no_meaning_is_a_dash_and_zero_has_no_sign() -> None:
    line = figure_line(summary(**{"return": -0.0001}))
    assert line.startswith("0.0 % · hold +18.9 %")
    assert "Sharpe \N{EN DASH} · 0 trades" in line
    assert figure_line({}) == ""


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "never held in 3,000 candles. Its clauses held: “rsi is below 2” on 0."),
        ({"signals": {"warmup": 3000}}, "complete after 3,000 candles, the data has 3,000."),
        (
            {"orders_rejected": 156, "rejections": {"too little cash": 156}},
            "every order was rejected. 156 orders were rejected: 156 for too little cash.",
        ),
        ({"forced_exits": 1}, "1 position was still open after the last candle."),
        (
            {"signals": {"collisions": 5, "rules": {"enter_long": {"held": 5, "clauses": []}}}},
            "it was cancelled. 5 candles ask for an entry and for its exit",
        ),
        (
            {"signals": {"entries": 1, "rules": {"enter_long": {"held": 1, "clauses": []}}}},
            "enter_long held on 1 candle, and no order could fill",
        ),
        ({"signals": {"rules": {"enter_long": {"held": 0, "clauses": []}}}}, "3,000 candles."),
    ],
)
def test_no_trades_have_a_reason(changes: dict[str, Any], words: str) -> None:
    assert words in no_trade_words(summary(**changes))


def test_a_warm_up_longer_than_the_data_is_told_beside_trades_too() -> None:
    told_of = summary(total_trades=17, signals={"warmup": 7014})
    assert told_lines(told_of)[1:] == [
        "The indicators are complete after 7,014 candles, the data has 3,000."
    ]
    story = replace(told(), summary=told_of)
    assert "complete after 7,014 candles" in open_end_words(story)
    assert "complete after 7,014 candles" in pull_request_body(story)
    assert "complete after 7,014 candles" in report_html(story)


def test_clauses_that_exclude_each_other_are_named() -> None:
    parts = ("rsi is below 30", "rsi is above 70")
    rule = {
        "held": 0,
        "clauses": [{"words": words, "held": 9} for words in parts],
        "never_together": list(parts),
    }
    said = no_trade_words(summary(signals={"rules": {"enter_long": rule}}))
    assert said.endswith("“rsi is below 30” and “rsi is above 70” never held on the same candle.")


def test_trades_need_no_reason_and_nothing_is_said_twice() -> None:
    assert no_trade_words(told().summary) == ""
    assert collision_words(told().summary) == ""
    lines = told_lines(summary(orders_rejected=2, rejections={"smaller than one lot": 2}))
    assert len(lines) == 2
    lines = told_lines(summary(total_trades=3, orders_rejected=2, rejections={}))
    assert lines[1] == "2 orders were rejected."
