"""The freqtrade profile fills as Freqtrade's specification says, case by case.

Freqtrade itself is the judge in tests/freqtrade; these cases say in words what it does.
"""

from dataclasses import replace
from typing import Any

import pytest

from Backtest.freqtrade_fills.profile import ClosedTrade, Pair, Rules, Trailing, freqtrade_trades
from Backtest.freqtrade_fills.rounding import (
    TickByMonth,
    decimals,
    nearest_tick,
    tick_above,
    tick_below,
    whole_steps,
)
from Backtest.freqtrade_fills.trade import Tier

HOUR = 3_600_000
RULES = Rules(
    timeframe_minutes=60,
    startup=0,
    fee=0.0,
    wallet=1000.0,
    max_open_trades=1,
    stop=0.05,
    size=("units", 1.0),
)
FLAT = (100.25, 100.25, 100.25, 100.25)
ENTRY = (100.0, 101.0, 99.0, 100.5)


def pair(*candles: tuple[float, float, float, float], **signals: list[int]) -> Pair:
    """A market whose first candle gives the signal, unless told otherwise."""
    columns: dict[str, Any] = dict(
        zip(("open", "high", "low", "close"), map(list, zip(*candles, strict=True)), strict=True)
    )
    given = {"enter_long": [0], **signals}
    for name in ("enter_long", "exit_long", "enter_short", "exit_short"):
        columns[name] = [bar in given.get(name, []) for bar in range(len(candles))]
    times = [bar * HOUR for bar in range(len(candles))]
    return Pair("BTC/USDT", times, tick=0.01, step=0.001, min_cost=1.0, **columns)


def only_trade(rules: Rules, *candles: tuple[float, float, float, float], **signals: Any) -> Any:
    (trade,) = freqtrade_trades([pair(FLAT, ENTRY, *candles, FLAT, **signals)], rules)
    return trade


def test_a_signal_enters_at_the_next_open_and_the_end_closes_at_the_last_open() -> None:
    trade = only_trade(RULES)
    assert trade == ClosedTrade(
        "BTC/USDT", HOUR, 2 * HOUR, False, 100.0, 100.25, 1.0, 100.0, 0.25, "force_exit", 95.0
    )


FUTURES = replace(RULES, futures=True, stop=0.99)


@pytest.mark.parametrize(
    ("bar", "price"),
    [((90.0, 91.0, 3.0, 50.0), 5.0), ((4.0, 4.5, 3.0, 4.0), 4.0), ((4.0, 6.0, 3.0, 4.0), 5.0)],
)
def test_a_long_future_is_liquidated_before_a_stop_that_is_wider(bar: Any, price: float) -> None:
    trade = only_trade(FUTURES, bar)
    assert (trade.exit_reason, trade.close_rate) == ("liquidation", price)


def test_a_short_is_liquidated_at_the_margin_of_its_tier() -> None:
    bar, signals = (150.0, 198.0, 140.0, 150.0), {"enter_long": [], "enter_short": [0]}
    trade = only_trade(FUTURES, bar, **signals)
    assert (trade.exit_reason, trade.close_rate) == ("liquidation", 195.0)
    market = pair(FLAT, ENTRY, bar, FLAT, **signals)
    tiers = (Tier(0.0, 0.004, 0.0), Tier(100.0, 0.05, 2.0), Tier(101.0, 0.5, 9.0))
    (trade,) = freqtrade_trades([replace(market, tiers=tiers)], FUTURES)
    # (100 + 2 + 100) / 1.05 is 192.38; a twentieth of the way back to 100 is 4.62.
    assert trade.close_rate == 187.76


def test_a_stop_that_is_hit_comes_before_the_liquidation_and_spot_has_none() -> None:
    trade = only_trade(replace(FUTURES, stop=0.9), (90.0, 91.0, 3.0, 50.0))
    assert (trade.exit_reason, trade.close_rate) == ("stop_loss", 10.0)
    trade = only_trade(replace(RULES, stop=0.99), (90.0, 91.0, 3.0, 50.0))
    assert trade.exit_reason == "force_exit"


def test_a_flat_last_candle_off_its_tick_fills_no_forced_exit() -> None:
    raw = 100.123456789012345
    assert freqtrade_trades([pair(FLAT, ENTRY, (raw, raw, raw, raw))], RULES) == []
    wide = (raw, raw + 1, raw - 1, raw)
    assert len(freqtrade_trades([pair(FLAT, ENTRY, wide)], RULES)) == 1


def test_ticks_of_negative_prices_are_those_beside_them() -> None:
    assert (tick_above(-764.07545, 0.0001), tick_below(-764.07545, 0.0001)) == (
        -764.0754,
        -764.0755,
    )
    assert (tick_above(-3.2, 0.1), tick_below(-3.2, 0.1)) == (-3.2, -3.2)


def test_a_stop_is_filled_at_the_stop_even_where_the_candle_opened_beyond_it() -> None:
    trade = only_trade(RULES, (90.0, 96.0, 88.0, 91.0))
    assert (trade.exit_reason, trade.close_rate) == ("stop_loss", 95.0)


def test_a_candle_that_stays_beyond_the_stop_is_filled_at_its_open() -> None:
    trade = only_trade(RULES, (90.0, 94.0, 88.0, 91.0))
    assert (trade.exit_reason, trade.close_rate) == ("stop_loss", 90.0)


def test_the_exit_rule_comes_before_the_stop_and_fills_at_the_open() -> None:
    trade = only_trade(RULES, (97.0, 98.0, 90.0, 91.0), exit_long=[1])
    assert (trade.exit_reason, trade.close_rate) == ("exit_signal", 97.0)


def test_a_profit_is_counted_after_both_fees() -> None:
    rules = replace(RULES, roi={0: 0.02}, fee=0.001)
    trade = only_trade(rules, (101.0, 103.0, 100.0, 102.0))
    assert trade.exit_reason == "roi"
    assert trade.close_rate == pytest.approx(100 * 1.001 * 1.02 / 0.999, abs=0.01)


def test_a_step_that_begins_with_the_candle_pays_the_open_if_that_is_better() -> None:
    rules = replace(RULES, roi={60: 0.01})
    assert only_trade(rules, (102.0, 103.0, 101.5, 102.0)).close_rate == 102.0


def test_a_target_is_a_price_whatever_the_fees() -> None:
    for fee in (0.0, 0.001, 0.01):
        trade = only_trade(replace(RULES, target=0.04, fee=fee), (101.0, 105.0, 100.0, 104.5))
        assert (trade.exit_reason, trade.close_rate) == ("roi", 104.0)


def test_a_high_may_raise_the_stop_and_the_low_of_the_same_candle_hit_it() -> None:
    calm = (100.0, 100.0, 99.5, 99.75)
    market = pair(FLAT, calm, (101.0, 110.0, 100.0, 109.0), FLAT)
    (trade,) = freqtrade_trades([market], replace(RULES, trailing=Trailing(0.01)))
    assert (trade.exit_reason, trade.close_rate) == ("trailing_stop_loss", 108.9)


def test_a_trailing_stop_on_the_candle_of_the_entry_takes_the_worst_way() -> None:
    trade = only_trade(replace(RULES, trailing=Trailing(0.01)))
    assert (trade.exit_reason, trade.close_rate) == ("trailing_stop_loss", 99.0)


def test_a_stop_in_ranges_is_measured_at_the_decision() -> None:
    market = replace(pair(FLAT, ENTRY, (99.0, 99.5, 90.0, 91.0), FLAT), stop_atr=[2.0, 9, 9, 9])
    (trade,) = freqtrade_trades([market], replace(RULES, stop=0.99, stop_atr=1.5))
    assert (trade.exit_reason, trade.close_rate) == ("stop_loss", 97.0)


def test_a_short_mirrors_a_long() -> None:
    rules = replace(RULES, futures=True)
    trade = only_trade(rules, (104.0, 106.0, 103.0, 104.0), enter_long=[], enter_short=[0])
    assert (trade.is_short, trade.exit_reason, trade.close_rate) == (True, "stop_loss", 105.0)
    assert trade.profit_abs == -5.0


def test_with_shorts_an_opposite_signal_turns_the_trade_round_on_one_candle() -> None:
    candles = [FLAT, ENTRY, (101.0, 102.0, 100.0, 101.0), FLAT]
    market = pair(*candles, exit_long=[1], enter_short=[1])
    trades = freqtrade_trades([market], replace(RULES, futures=True))
    assert [(trade.is_short, trade.open_date // HOUR) for trade in trades] == [
        (False, 1),
        (True, 2),
    ]


def test_too_little_cash_means_no_trade() -> None:
    assert freqtrade_trades([pair(FLAT, ENTRY, FLAT)], replace(RULES, wallet=99.0)) == []


def test_the_warm_up_takes_its_signals_with_it() -> None:
    market = pair(FLAT, ENTRY, FLAT, ENTRY, FLAT, enter_long=[0, 1, 2])
    (trade,) = freqtrade_trades([market], replace(RULES, startup=2))
    assert trade.open_date == 3 * HOUR


def test_numbers_are_rounded_by_their_decimal_text() -> None:
    assert nearest_tick(0.125, 0.01) == 0.13
    assert tick_above(95.001, 0.01) == 95.01
    assert tick_above(95.0, 0.01) == 95.0
    assert tick_below(105.009, 0.01) == 105.0
    assert whole_steps(0.2999, 0.1) == 0.2
    assert [decimals(price) for price in (100.0, 0.5, 1e-8, 123456.789)] == [0, 1, 8, 3]


def test_a_month_of_whole_prices_has_the_tick_of_the_month_before() -> None:
    january, february, march = 0, 32 * 24 * HOUR, 62 * 24 * HOUR
    ticks = TickByMonth([january, february, march], [[1.25, 2.0, 3.5]], 0.001)
    assert [ticks.at(time) for time in (january, february, march)] == [0.01, 0.01, 0.1]
    assert TickByMonth([january], [[5.0]], 0.001).at(january) == 0.001
