"""How far a trade ran counts what the trade saw, and nothing after it was out."""

import numpy as np
import pytest

from Backtest.candles import Candles
from Backtest.metrics.tear_sheet import excursion
from tests.Backtest.metrics.test_run_figures import trade

HOUR = 3_600_000
# Entered at 100 in candle 1; candles 0 and 3 run far beyond what happens in between.
OPEN = [100.0, 100.0, 101.0, 102.0]
HIGH = [150.0, 104.0, 103.0, 140.0]
LOW = [50.0, 98.0, 99.0, 60.0]
CLOSE = [100.0, 101.0, 102.0, 100.0]
CANDLES = Candles(
    np.arange(4) * HOUR, *(np.array(each) for each in (OPEN, HIGH, LOW, CLOSE, [1.0] * 4))
)


@pytest.mark.parametrize(
    ("rule", "price", "against", "along"),
    [
        ("exit_long", 102.0, 0.02, 0.04),  # at the open of candle 3
        ("stop", 95.0, 0.05, 0.04),  # it fell to 60 after the stop
        ("stop_gap", 102.0, 0.02, 0.04),
        ("trailing_stop", 101.5, 0.02, 0.04),
        ("target", 120.0, 0.40, 0.20),  # it may have fallen before
        ("roi", 120.0, 0.40, 0.20),
        ("roi_gap", 102.0, 0.02, 0.04),
    ],
)
def test_a_trade_runs_until_it_is_out(
    rule: str, price: float, against: float, along: float
) -> None:
    times = {"entry_time": HOUR, "exit_time": 3 * HOUR, "rule_out": rule, "exit_price": price}
    assert excursion(trade(1.0, **times), CANDLES, at_close=False) == pytest.approx(
        (against, along)
    )


def test_a_short_runs_the_other_way() -> None:
    short = {"side": "short", "entry_time": HOUR, "exit_time": 3 * HOUR}
    stopped = trade(1.0, **short, rule_out="stop", exit_price=105.0)
    assert excursion(stopped, CANDLES, at_close=False) == pytest.approx((0.05, 0.02))
    reached = trade(1.0, **short, rule_out="target", exit_price=80.0)
    assert excursion(reached, CANDLES, at_close=False) == pytest.approx((0.40, 0.20))


def test_at_the_close_the_entrys_candle_is_over_and_the_exits_is_whole() -> None:
    times = {"entry_time": 0, "exit_time": 2 * HOUR}
    closed = trade(1.0, **times, rule_out="exit_long", exit_price=102.0)
    assert excursion(closed, CANDLES, at_close=True) == pytest.approx((0.02, 0.04))
    stopped = trade(1.0, **times, rule_out="stop", exit_price=99.5)
    assert excursion(stopped, CANDLES, at_close=True) == pytest.approx((0.02, 0.04))
    later = trade(1.0, entry_time=0, exit_time=3 * HOUR, rule_out="exit_long", exit_price=100.0)
    assert excursion(later, CANDLES, at_close=True) == pytest.approx((0.40, 0.40))


def test_in_and_out_in_one_candle_is_the_way_to_the_exit() -> None:
    times = {"entry_time": 3 * HOUR, "exit_time": 3 * HOUR}
    stopped = trade(1.0, **times, rule_out="stop", exit_price=95.0)
    assert excursion(stopped, CANDLES, at_close=False) == pytest.approx((0.05, 0.0))
