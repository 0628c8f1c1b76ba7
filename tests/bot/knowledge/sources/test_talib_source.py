"""What the brain says of TA-Lib is what the installed library does."""

import pytest
import talib

from bot.contract.language.catalog import describe, lookback, refusal
from bot.knowledge.sources.talib_source import bounds, read_talib, warmup_measured

FACTS = {fact.symbol: fact for fact in read_talib().facts}


def test_every_function_has_one_fact():
    assert sorted(FACTS) == sorted([*talib.get_functions(), "MA_Type"])


def test_a_fact_gives_inputs_arguments_ranges_outputs_and_warm_up():
    assert FACTS["ATR"].call == "ATR(high, low, close, timeperiod=14) -> real"
    assert FACTS["ATR"].says == (
        "Average True Range; timeperiod 1 to 100000; warm-up 14 bars; "
        "unstable: depends on where history begins"
    )
    assert FACTS["CORREL"].call.startswith("CORREL(price0, price1, timeperiod=30)")


@pytest.mark.parametrize("name", ["RSI", "BBANDS", "MAVP", "MAMA", "STOCH", "SAREXT", "CCI"])
def test_the_library_takes_what_a_range_allows_and_refuses_what_lies_outside(name):
    function = describe(name)
    for argument in function.arguments:
        if argument.kind == "matype":
            continue
        low, high = bounds(function, argument).split(" to ")
        for edge, step in ((low, -1), (high, 1)):
            if edge != "any":
                assert not refusal(name, ((argument.name, type(argument.default)(float(edge))),))
                if argument.kind == "integer":
                    assert refusal(name, ((argument.name, int(edge) + step),))


def test_a_measured_warm_up_is_at_least_what_the_library_names():
    differ = set()
    for name in talib.get_functions():
        function = describe(name)
        asked = lookback(name, tuple((item.name, item.default) for item in function.arguments))
        if warmup_measured(function) != asked:
            differ.add(name)
    assert len(differ) < 10, differ
