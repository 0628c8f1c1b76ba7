"""A reader is shown where a rule fires, and where it just does not and why."""

from dataclasses import replace

from bot.contract.language.program import read_program
from bot.data.market_data import read_market_data
from bot.report.answered import Answered, example_bars
from bot.report.proposal import pull_request_body
from tests.bot.report.stories import ROOT, told

STORY = told()
FRAMES = read_market_data(STORY.contract, ROOT).frames


def test_three_bars_fire_and_one_misses_a_clause() -> None:
    bars = example_bars(STORY.program, FRAMES, "enter_long")
    assert [bar.fires for bar in bars] == [True, True, True, False]
    assert [bar.time for bar in bars[:3]] == sorted(bar.time for bar in bars[:3])
    assert bars[3].missing in ("close is above trend", "rsi is below oversold")
    assert all(bar.values.startswith("rsi ") for bar in bars)


def test_a_rule_that_never_fires_shows_the_nearest_miss_alone() -> None:
    raw = {
        "market": {"timeframe": "1h"},
        "indicators": {"rsi": {"function": "RSI", "timeperiod": 14}},
        "rules": {"enter_long": "rsi < 1 and close > 0"},
    }
    (bar,) = example_bars(read_program(raw), FRAMES, "enter_long")
    assert (bar.fires, bar.missing) == (False, "rsi is below 1")


def test_a_rule_that_always_fires_misses_nothing() -> None:
    raw = {"market": {"timeframe": "1h"}, "rules": {"enter_long": "close > 0"}}
    bars = example_bars(read_program(raw), FRAMES, "enter_long")
    assert [bar.fires for bar in bars] == [True, True, True]


def test_the_pull_request_tells_what_a_model_said_and_what_it_cost() -> None:
    bars = {"enter_long": example_bars(STORY.program, FRAMES, "enter_long")}
    answered = Answered(
        "claude-x", "0.003200", "2026-10-10", 1, False, {"enter_long": ["as usual"]}, bars
    )
    body = pull_request_body(replace(STORY, answered=answered))
    for words in ("claude", "0.003200", "as usual", "| fires |", "| just does not |", "only you"):
        assert words in body
    assert "Nobody signed it" in body
    assert "transcript.json" not in pull_request_body(STORY)
