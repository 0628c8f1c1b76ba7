"""The semantics of the rule language, one line each, on candles small enough to check by hand."""

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.contract.language.interpreter import Candle, Interpreter
from bot.contract.language.program import read_program
from bot.contract.language.warmup import warmup

NAN = math.nan


def answers(text: str, closes: list[float], parameters: dict[str, Any] | None = None) -> list[Any]:
    """What an expression answers at each bar; open is the close before, volume 0, 10, 20, ..."""
    raw = {
        "parameters": parameters or {},
        "indicators": {"x": {"expression": text}},
        "rules": {},
    }
    interpreter = Interpreter(read_program(raw))
    found = []
    before = closes[0]
    for bar, close in enumerate(closes):
        moment = datetime(2024, 2, 28, 22, tzinfo=UTC) + timedelta(hours=bar)
        high, low = max(before, close) + 1, min(before, close) - 1
        reading = interpreter.step(Candle(moment, before, high, low, close, 10.0 * bar))
        found.append(reading.indicators["x"])
        before = close
    return found


def same(found: list[Any], expected: list[Any]) -> bool:
    return len(found) == len(expected) and all(
        (math.isnan(a) and math.isnan(b)) or (a == b and type(a) is type(b))
        for a, b in zip(found, expected, strict=True)
    )


@pytest.mark.parametrize(
    ("text", "closes", "expected"),
    [
        ("close[1]", [1, 2, 3], [NAN, 1.0, 2.0]),
        ("close[0]", [1, 2], [1.0, 2.0]),
        ("previous(close)", [1, 2], [NAN, 1.0]),
        ("(close > 1)[1]", [1, 2, 3], [False, False, True]),
        ("not (close > 1)[1]", [2, 2], [True, False]),
        ("close[1] != 5", [1, 2], [False, True]),
        ("not (close[1] != 5)", [1, 2], [True, False]),
        ("close[1] == close[1]", [1, 2], [False, True]),
        ("close / (close - 2)", [1, 2, 4], [-1.0, NAN, 2.0]),
        ("sqrt(close - 2)", [1, 2, 6], [NAN, 0.0, 2.0]),
        ("log(close - 2)", [1, 2, 3], [NAN, NAN, 0.0]),
        ("exp(close)", [0, 1000], [1.0, NAN]),
        ("power(close - 4, 0.5)", [4, 8, 3], [0.0, 2.0, NAN]),
        ("power(close, -1)", [2, 0], [0.5, NAN]),
        ("highest(close, 2)", [1, 3, 2, 1], [NAN, 3.0, 3.0, 2.0]),
        ("lowest(close, 2)", [1, 3, 2, 1], [NAN, 1.0, 2.0, 1.0]),
        ("highest(close, 1)", [1, 3], [1.0, 3.0]),
        ("mean(close, 2)", [1, 3, 5], [NAN, 2.0, 4.0]),
        ("sum(close, 3)", [1, 3, 5, 7], [NAN, NAN, 9.0, 15.0]),
        ("stdev(close, 2)", [1, 3, 3], [NAN, math.sqrt(2), 0.0]),
        ("stdev(close, 1)", [1, 3], [NAN, NAN]),
        ("mean(1 / (close - 2), 2)", [1, 2, 3, 3], [NAN, NAN, NAN, 1.0]),
        ("change(close, 2)", [1, 3, 6], [NAN, NAN, 5.0]),
        ("rising(close, 2)", [1, 2, 3, 3, 4, 5], [False, False, True, False, False, True]),
        ("falling(close, 1)", [2, 1, 1, 0], [False, True, False, True]),
        ("crossed_above(close, 2)", [3, 2, 3, 3, 1, 4], [False, False, True, False, False, True]),
        ("crossed_below(close, 2)", [1, 3, 2, 1, 2, 1], [False, False, False, True, False, True]),
        ("crossed_above(close, close[1])", [1, 2, 3], [False, False, False]),
        ("bars_since(close > 2)", [1, 3, 1, 1, 5], [NAN, 0.0, 1.0, 2.0, 0.0]),
        ("count(close > 2, 3)", [3, 1, 3, 3, 3], [1.0, 1.0, 2.0, 2.0, 3.0]),
        ("abs(close - 2)", [1, 4], [1.0, 2.0]),
        ("min(close, close[1])", [3, 1, 2], [NAN, 1.0, 1.0]),
        ("max(close, 2)", [3, 1], [3.0, 2.0]),
        ("-close", [3], [-3.0]),
        ("hl2", [3], [3.0]),
        ("hlc3 * 3", [3, 6], [9.0, 15.0]),
        ("ohlc4", [4], [4.0]),
        # Bars 4 5 3 4 and 4 9 3 8: the bar is then 4, (4 + 4) / 2 and 4, (4 + 9 + 3 + 8) / 4.
        ("ha_open", [4, 8, 8], [4.0, 4.0, 5.0]),
        ("ha_close", [4, 8, 8], [4.0, 6.0, 8.0]),
        ("ha_high", [4, 8, 8], [5.0, 9.0, 9.0]),
        ("ha_low", [4, 8, 8], [3.0, 3.0, 5.0]),
        ("hour()", [1, 1, 1], [22.0, 23.0, 0.0]),
        ("weekday()", [1, 1, 1], [2.0, 2.0, 3.0]),
        ("volume", [1, 1], [0.0, 10.0]),
        ("always", [1], [True]),
        ("never or close > 0", [1], [True]),
        ("always[1]", [1, 1], [False, True]),
        ("1 < close < 3", [1, 2, 3], [False, True, False]),
        ("close > 1 and close < 3 or close > 4", [2, 3, 5], [True, False, True]),
        ("sum(close, n)", [1, 2, 3], [NAN, 3.0, 5.0]),
    ],
)
def test_semantics(text: str, closes: list[float], expected: list[Any]) -> None:
    found = answers(text, [float(close) for close in closes], {"n": {"default": 2}})
    assert same(found, expected), found


def test_sums_are_added_oldest_first() -> None:
    closes = [1e16, 1.0, 1.0]
    assert answers("sum(close, 3)", closes)[-1] == (1e16 + 1.0) + 1.0
    assert answers("sum(close, 3)", closes[::-1])[-1] == (1.0 + 1.0) + 1e16


@pytest.mark.parametrize(
    ("indicators", "rule", "expected"),
    [
        ({}, "close > open", 0),
        ({}, "close > close[3]", 3),
        ({}, "close > highest(high, 20)[1]", 20),
        ({}, "crossed_above(close, mean(close, 10))", 10),
        ({}, "rising(close, 3)", 3),
        ({}, "count(change(close, 5) > 0, 4) > 2", 8),
        ({}, "close > ema(close, 10)", 9 + 30),
        ({"s": {"function": "SMA", "timeperiod": 200}}, "close > s", 199),
        ({"r": {"function": "RSI", "timeperiod": 14}}, "r < 30", 14 + 42),
        (
            {
                "b": {"function": "BBANDS", "timeperiod": 20},
                "r": {"function": "RSI", "input": "b.middleband", "timeperiod": 5},
            },
            "r[2] < 30",
            19 + 5 + 15 + 2,
        ),
    ],
)
def test_warm_up_is_the_longest_chain(indicators: dict[str, Any], rule: str, expected: int) -> None:
    program = read_program({"indicators": indicators, "rules": {"enter_long": rule}})
    assert warmup(program) == expected


def test_an_atr_level_counts_in_the_warm_up() -> None:
    raw = {"rules": {"enter_long": "always"}, "risk": {"stop_loss": {"atr": 2.0}}}
    assert warmup(read_program(raw)) == 14 + 42
