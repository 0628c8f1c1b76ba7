"""Names, TA-Lib functions and risk numbers of a contract are checked together."""

from typing import Any

import pytest

from bot.contract.document.problems import Fault
from bot.contract.language import catalog
from bot.contract.language.program import check_language, read_program
from bot.contract.language.program_steps import TalibStep
from bot.contract.language.tree import Indicator, Parameter, Price


def document(**sections: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "market": {"type": "spot"},
        "parameters": {"period": {"default": 14, "range": [7, 28]}, "width": {"default": 2.5}},
        "indicators": {"rsi": {"function": "RSI", "timeperiod": "period"}},
        "rules": {"enter_long": "rsi < 30"},
        "risk": {"stop_loss": 0.02},
    }
    return {**base, **sections}


def faults(**sections: Any) -> list[Fault]:
    return check_language(document(**sections))


def only(**sections: Any) -> Fault:
    (fault,) = faults(**sections)
    return fault


def test_a_sound_document_has_no_findings() -> None:
    assert faults() == []


@pytest.mark.parametrize(
    "name",
    ["Rsi", "1rsi", "r-si", "close", "hl2", "ha_x", "date", "enter_x", "exit_long", "always",
     "class", "x" * 49, "\uff52si", ""],
)  # fmt: skip
def test_a_name_outside_the_grammar_is_refused(name: str) -> None:
    assert only(indicators={name: {"function": "SMA"}}, rules={}).on_key


@pytest.mark.parametrize("name", ["ema", "long", "short", "mean", "np", "df", "match", "l", "size"])
def test_functions_and_soft_keywords_are_free_names(name: str) -> None:
    found = faults(indicators={name: {"function": "SMA"}}, rules={"enter_long": f"{name} > 1"})
    assert found == []


def test_parameters_and_indicators_share_one_space_of_names() -> None:
    fault = only(indicators={"period": {"function": "SMA"}}, rules={})
    assert "parameter has this name" in fault.message


def test_an_unknown_function_gets_the_nearest_name() -> None:
    fault = only(indicators={"x": {"function": "BBAND"}}, rules={})
    assert fault.nearest == "BBANDS"
    assert only(indicators={"x": {"function": "rsi"}}, rules={}).nearest == "RSI"


def test_an_unknown_argument_gets_the_nearest_name() -> None:
    fault = only(indicators={"x": {"function": "RSI", "timeperid": 14}}, rules={})
    assert fault.where == ("indicators", "x", "timeperid")
    assert fault.nearest == "timeperiod"
    assert fault.on_key


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (14.5, "whole number"),
        ("width", "whole number"),
        ("nope", "not a parameter"),
        (True, "wants a number"),
        ([1], "wants a number"),
        (1, "out of TA-Lib's range"),
        (-5, "out of TA-Lib's range"),
        (10**7, "out of TA-Lib's range"),
    ],
)
def test_a_wrong_argument_is_refused(value: object, words: str) -> None:
    indicators = {"x": {"function": "RSI", "timeperiod": value}}
    assert words in only(indicators=indicators, rules={}).message


def test_both_ends_of_a_range_must_be_taken_by_talib() -> None:
    parameters = {"period": {"default": 14, "range": [1, 28]}}
    fault = only(parameters=parameters)
    assert "out of TA-Lib's range" in fault.message
    assert "timeperiod=1" in fault.found


def test_arguments_are_coerced_to_the_declared_type() -> None:
    bands = {"function": "BBANDS", "timeperiod": 20.0, "nbdevup": 2, "matype": "EMA"}
    (step,) = read_program(document(indicators={"b": bands}, rules={})).steps
    assert isinstance(step, TalibStep)
    assert step.arguments == (("timeperiod", 20), ("nbdevup", 2.0), ("matype", 1))
    assert [type(value) for _, value in step.arguments] == [int, float, int]


def test_a_moving_average_is_given_by_number_or_name() -> None:
    assert faults(indicators={"b": {"function": "MA", "matype": 1}}, rules={}) == []
    fault = only(indicators={"b": {"function": "MA", "matype": "EMAA"}}, rules={})
    assert fault.nearest == "EMA"
    assert (
        "no moving average"
        in only(indicators={"b": {"function": "MA", "matype": 99}}, rules={}).message
    )


def test_inputs_may_be_prices_indicators_and_outputs_in_any_order() -> None:
    indicators = {
        "late": {"function": "RSI", "input": "bands.middleband"},
        "bands": {"function": "BBANDS", "input": "high"},
        "both": {"function": "CORREL", "input": ["late", "hl2"]},
        "volume_flow": {"function": "OBV", "input": "open"},
    }
    program = read_program(document(indicators=indicators, rules={}))
    steps = {step.name: step for step in program.steps}
    assert [step.name for step in program.steps] == ["bands", "late", "both", "volume_flow"]
    assert steps["both"].inputs == (Indicator(0, "late"), Price(0, "hl2"))
    assert steps["volume_flow"].inputs == (Price(0, "open"), Price(0, "volume"))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"function": "ATR", "input": "close"}, "takes no input"),
        ({"function": "RSI", "input": ["close", "open"]}, "takes one series"),
        ({"function": "CORREL", "input": "close"}, "takes a list of 2"),
        ({"function": "MAVP"}, "needs an `input`"),
        ({"function": "RSI", "input": "period"}, "wants a series"),
        ({"function": "RSI", "input": "nope"}, "unknown name"),
        ({"function": "RSI", "input": "close + 1"}, "names a series"),
        ({"function": "RSI", "input": "calm"}, "a number is wanted"),
        ({"function": "CDLDOJI", "penetration": 0.3}, "no argument"),
    ],
)
def test_a_wrong_input_is_refused(body: dict[str, Any], words: str) -> None:
    indicators = {"calm": {"expression": "close > open"}, "x": body}
    assert words in only(indicators=indicators, rules={}).message


def test_a_circle_is_told_once_and_does_not_hang() -> None:
    indicators = {
        "a": {"function": "SMA", "input": "b"},
        "b": {"expression": "c + 1"},
        "c": {"function": "SMA", "input": "a"},
        "own": {"expression": "own + 1"},
    }
    found = faults(indicators=indicators, rules={"enter_long": "a > 1 and own > 2"})
    assert [fault.found for fault in found] == ["a -> b -> c -> a", "own -> own"]


def test_a_long_chain_of_indicators_is_no_deep_recursion() -> None:
    indicators: dict[str, Any] = {"i0": {"function": "SMA"}}
    for number in range(1, 3000):
        indicators[f"i{number}"] = {"expression": f"i{number - 1} + 1"}
    reverse = dict(reversed(indicators.items()))
    assert faults(indicators=reverse, rules={"enter_long": "i2999 > 1"}) == []


def test_conditions_may_have_names() -> None:
    indicators = {"calm": {"expression": "close > open"}, "n": {"expression": "close * 2"}}
    assert faults(indicators=indicators, rules={"enter_long": "calm and n > 1"}) == []
    assert faults(indicators=indicators, rules={"enter_long": "calm > 1"})


@pytest.mark.parametrize("ends", [[0, 5], [-3, 5], [1, 10**6]])
def test_a_window_parameter_must_stay_a_window_over_its_range(ends: list[int]) -> None:
    parameters = {"n": {"default": 3, "range": ends}}
    fault = only(parameters=parameters, indicators={}, rules={"enter_long": "mean(close, n) > 1"})
    assert "positive whole number" in fault.message


def test_shorts_need_futures() -> None:
    assert "futures" in only(rules={"enter_short": "rsi > 70"}).message
    assert faults(rules={"enter_short": "rsi > 70"}, market={"type": "futures"}) == []


@pytest.mark.parametrize(
    "risk",
    [
        {"stop_loss": "nope"},
        {"stop_loss": {"atr": "nope"}},
        {"stop_loss": {"atr": 2.0, "timeperiod": "width"}},
        {"stop_loss": 0.1, "take_profit": "nope"},
        {"stop_loss": 0.1, "trailing_stop": {"distance": "nope"}},
        {"stop_loss": 0.1, "roi": {0: "nope"}},
        {"stop_loss": 0.1, "size": {"risk": "nope"}},
    ],
)
def test_risk_numbers_name_parameters_that_fit(risk: dict[str, Any]) -> None:
    assert only(risk=risk).where[0] == "risk"


def test_risk_numbers_may_name_parameters() -> None:
    risk = {"stop_loss": {"atr": "width", "timeperiod": "period"}, "take_profit": "width"}
    program = read_program(document(risk=risk))
    assert program.atr_periods == {"stop_loss": Parameter(0, "period")}


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"parameters": 3, "indicators": [], "rules": "x", "risk": None, "market": 1},
        {"parameters": {"a": 1}, "indicators": {"b": None}, "rules": {"enter_long": 5}},
        {"parameters": {3: {}}, "indicators": {None: {}}, "rules": {"enter_long": {"prose": 1}}},
        {"indicators": {"b": {"function": 3}, "c": {"expression": []}, "d": {"input": {}}}},
    ],
)
def test_documents_of_another_shape_are_left_to_the_model(raw: dict[str, Any]) -> None:
    assert check_language(raw) == []


@pytest.mark.parametrize("name", catalog.function_names())
def test_every_function_of_the_installed_talib_can_be_declared(name: str) -> None:
    body: dict[str, Any] = {"function": name}
    if name == "MAVP":
        body["input"] = ["close", "volume"]
    assert faults(indicators={"x": body}, rules={}) == []


@pytest.mark.parametrize(
    "indicators",
    [
        {"ema": {"expression": "ema(close, 3)"}},
        {"hour": {"expression": "hour() + 1"}},
        {"e5": {"expression": "close * 1e5"}},
        {"b": {"function": "BBANDS"}, "upperband": {"expression": "b.upperband * 1.01"}},
        {"b": {"function": "BBANDS"}, "middleband": {"function": "SMA", "input": "b.middleband"}},
        {"highest": {"expression": "mean(close, 5)"}, "mean": {"expression": "highest(high, 5)"}},
    ],
)
def test_functions_and_outputs_are_no_circle(indicators: dict[str, Any]) -> None:
    assert faults(indicators=indicators, rules={}) == []


def test_names_of_settings_are_reserved() -> None:
    parameters = {"contract_lot": {"default": 1}}
    assert "reserved" in only(parameters=parameters, indicators={}, rules={}).message


@pytest.mark.parametrize("body", [None, "fast", {"default": "fast"}, {"range": []}])
def test_a_parameter_without_a_number_does_not_stop_the_check_of_its_users(body: object) -> None:
    sections = {"parameters": {"width": body}}
    bands = {"function": "BBANDS", "nbdevup": "width"}
    assert faults(indicators={"bands": bands}, rules={}, **sections) == []
    unknown = {"function": "BBANDS", "nbdevup": "widht"}
    assert only(indicators={"bands": unknown}, rules={}, **sections).nearest == "width"
