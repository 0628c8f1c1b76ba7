from integration.signal_gen import generate_signal
from integration.tests.conftest import candles_of


def test_generate_signal_no_trade() -> None:
    assert generate_signal(candles_of([100.0] * 40)) is None
    # At the highest high is not above it.
    assert generate_signal(candles_of([100.0] * 30 + [101.0])) is None
    assert generate_signal(candles_of([100.0] * 30 + [101.01])) is not None


def test_a_high_of_the_nineteen_candles_before_stands_in_the_way() -> None:
    for place, found in ((19, False), (20, True)):
        candles = candles_of([100.0] * 30 + [104.0])
        candles[-1 - place]["high"] = 105.0
        assert (generate_signal(candles) is not None) == found


def test_too_few_candles_are_no_breakout() -> None:
    assert generate_signal(candles_of([100.0] * 18 + [104.0])) is None
    assert generate_signal(candles_of([100.0] * 19 + [104.0])) is not None
    assert generate_signal([]) is None
