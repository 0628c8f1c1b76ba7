"""The simulated broker keeps its stated rules."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from Backtest.sim_errors import CandleError, SettingError
from Backtest.simbroker import SimBroker
from tests.chance import examples

FLAT = (100, 100, 100, 100)
MINUTE = 60_000


def candle(prices: tuple[float, ...], number: int, symbol: str | None = None) -> dict[str, Any]:
    """A bar of the 15-minute grid."""
    bar: dict[str, Any] = dict(zip(("open", "high", "low", "close"), prices, strict=True))
    bar |= {"timestamp": number * 15 * MINUTE, "volume": 1.0}
    return bar if symbol is None else {**bar, "symbol": symbol}


def feed(broker: SimBroker, *bars: tuple[float, ...]) -> list[dict[str, Any]]:
    """Step bars one after the other; all their events."""
    start = len(broker.get_equity_curve())
    found = []
    for number, prices in enumerate(bars, start):
        found += broker.step_bar(candle(prices, number))
    return found


def order(action: str = "BUY", **more: Any) -> dict[str, Any]:
    return {"action": action, "symbol": "X", "volume": 1.0, "type": "MARKET", **more}


def mirror(prices: tuple[float, ...]) -> tuple[float, ...]:
    """The bar a short sees as a long sees `prices`, around 100."""
    o, h, low, c = (200.0 - price for price in prices)
    return (o, low, h, c)


def held(broker_settings: dict[str, Any] | None = None, **more: Any) -> SimBroker:
    """A broker with one position, opened at 100 on bar 1."""
    broker = SimBroker(**(broker_settings or {}))
    assert broker.place_order(order(**more))["success"]
    feed(broker, FLAT, FLAT)
    assert len(broker.get_positions()) == 1
    return broker


CASES = {
    "gap below the stop, trades back up": ((90, 96, 88, 91), 90, "stop_gap", False),
    "gap below, stays below": ((90, 94, 88, 91), 90, "stop_gap", False),
    "both levels in one bar": ((100, 106, 94, 101), 95, "stop", True),
    "both, open near target": ((104, 106, 94, 101), 95, "stop", True),
    "gap above the target": ((110, 112, 109, 111), 110, "target_gap", False),
    "stop alone": ((99, 101, 94, 96), 95, "stop", False),
    "target alone": ((101, 106, 100, 104), 105, "target", False),
    "stop touched exactly": ((99, 101, 95, 96), 95, "stop", False),
    "target touched exactly": ((101, 105, 100, 104), 105, "target", False),
    "opens at the stop": ((95, 97, 94, 96), 95, "stop_gap", False),
    "opens at the target": ((105, 107, 104, 106), 105, "target_gap", False),
}


class TestCaseTable:
    @pytest.mark.parametrize("case", CASES)
    def test_long(self, case: str) -> None:
        bar, price, rule, ambiguous = CASES[case]
        broker = held(sl=95, tp=105)
        (event,) = feed(broker, bar)
        assert (event["price"], event["rule"], event["ambiguous"]) == (price, rule, ambiguous)
        assert event["event"] == ("sl_hit" if rule.startswith("stop") else "tp_hit")
        assert broker.get_account()["cash"] == 10_000 + price - 100

    @pytest.mark.parametrize("case", CASES)
    def test_short_is_the_mirror(self, case: str) -> None:
        bar, price, rule, ambiguous = CASES[case]
        broker = held(action="SELL", sl=105, tp=95)
        (event,) = feed(broker, mirror(bar))
        assert (event["price"], event["rule"]) == (200 - price, rule)
        assert event["ambiguous"] is ambiguous
        assert broker.get_account()["cash"] == 10_000 + price - 100

    @pytest.mark.parametrize("action", ["BUY", "SELL"])
    def test_both_levels_on_the_entry_bar_take_the_stop(self, action: str) -> None:
        broker = SimBroker()
        broker.place_order(order(action, stop={"fraction": 0.05}, target={"fraction": 0.05}))
        bar = (100.0, 106.0, 94.0, 101.0)
        opened, closed = feed(broker, FLAT, bar)
        assert (opened["event"], opened["price"]) == ("position_opened", 100)
        assert closed["price"] == (95 if action == "BUY" else 105)
        assert closed["ambiguous"]

    def test_the_band_shows_the_best_reading(self) -> None:
        broker = held(sl=95, tp=105)
        feed(broker, (100, 106, 94, 101))
        band = broker.generate_report()["ambiguity_band"]
        assert band == {"ambiguous_trades": 1, "worst_pnl": -5.0, "best_pnl": 5.0}

    def test_a_quiet_bar_changes_nothing(self) -> None:
        assert feed(held(sl=95, tp=105), (100, 104, 96, 101)) == []


class TestTiming:
    @pytest.mark.parametrize("n", [0, 1, 4])
    def test_an_order_after_n_bars_fills_at_the_open_of_bar_n_plus_1(self, n: int) -> None:
        broker = SimBroker()
        bars = [(100.0 + i, 101.0 + i, 99.0 + i, 100.5 + i) for i in range(8)]
        feed(broker, *bars[:n])
        answer = broker.place_order(order())
        assert answer["fill_price"] is None
        assert feed(broker, bars[n]) == []
        (event,) = feed(broker, bars[n + 1])
        assert (event["price"], event["rule"]) == (bars[n + 1][0], "enter_long")
        assert event["position_id"] == answer["position_id"]
        assert (
            event["timestamp"] == f"1970-01-01T{(n + 1) * 15 // 60:02}:{(n + 1) * 15 % 60:02}:00Z"
        )

    def test_a_close_after_n_bars_fills_at_the_open_of_bar_n(self) -> None:
        broker = held()
        answer = broker.close_position("pos_1")
        assert answer["success"]
        assert answer["fill_price"] is None
        (event,) = feed(broker, (97, 99, 96, 98))
        assert (event["event"], event["price"]) == ("position_closed", 97)
        assert event["rule"] == "exit_long"

    def test_a_close_that_was_asked_for_comes_before_the_levels(self) -> None:
        broker = held({"slippage": 0.01}, sl=95, tp=105)
        broker.close_position("pos_1")
        (event,) = feed(broker, (110, 112, 94, 111))
        assert (event["rule"], event["price"]) == ("exit_long", pytest.approx(108.9))

    def test_this_close_fills_at_the_close_and_stops_count_from_the_next_bar(self) -> None:
        broker = SimBroker(execution="this_close")
        broker.place_order(order(stop={"fraction": 0.05}))
        (event,) = feed(broker, (110, 120, 80, 100))
        assert (event["price"], event["rule"]) == (100, "enter_long")
        (event,) = feed(broker, (100, 101, 94, 96))
        assert (event["price"], event["rule"]) == (95, "stop")

    def test_this_close_closes_at_the_last_close_at_once(self) -> None:
        broker = SimBroker(execution="this_close")
        broker.place_order(order())
        feed(broker, FLAT, (100, 104, 99, 103))
        assert broker.close_position("pos_1")["fill_price"] == 103
        assert broker.get_positions() == []
        (event,) = feed(broker, (103, 104, 102, 103))
        assert (event["event"], event["price"]) == ("position_closed", 103)

    def test_this_close_is_marked_in_the_report(self) -> None:
        assert SimBroker(execution="this_close").generate_report()["execution"] == "this_close"


class TestCosts:
    def test_market_and_stop_fills_pay_slippage_and_half_the_spread(self) -> None:
        broker = SimBroker(slippage=0.001, spread=0.002, commission=0.01)
        broker.place_order(order(sl=95.0))
        feed(broker, FLAT, FLAT, (100, 101, 94, 96))
        (trade,) = broker.get_trades()
        assert trade.entry_price == pytest.approx(100.2)
        assert trade.exit_price == pytest.approx(95 * 0.998)
        assert trade.fees == pytest.approx(0.01 * (100.2 + 94.81))
        assert trade.pnl == pytest.approx(94.81 - 100.2 - trade.fees)
        assert trade.cost == pytest.approx(trade.fees + 0.2 + 0.19)

    def test_targets_limits_and_roi_pay_neither(self) -> None:
        broker = SimBroker(slippage=0.01, spread=0.01)
        broker.place_order(order(type="LIMIT", price=98.0, tp=105.0))
        feed(broker, FLAT, (100, 101, 97, 99), (100, 106, 99, 104))
        (trade,) = broker.get_trades()
        assert (trade.entry_price, trade.exit_price) == (98.0, 105.0)

    def test_stops_count_from_the_price_that_was_paid(self) -> None:
        broker = SimBroker(slippage=0.01)
        broker.place_order(order(stop={"fraction": 0.1}, target={"distance": 5.0}))
        feed(broker, FLAT, FLAT)
        (position,) = broker.get_positions()
        assert position["sl"] == pytest.approx(90.9)
        assert position["tp"] == pytest.approx(106.0)

    @pytest.mark.parametrize(
        ("action", "paid", "left"), [("BUY", 100.1, 99.9), ("SELL", 99.9, 100.1)]
    )
    def test_ticks_round_against_the_trader(self, action: str, paid: float, left: float) -> None:
        broker = SimBroker(slippage=0.0001, tick=0.1)
        broker.place_order(order(action))
        feed(broker, FLAT, FLAT)
        broker.close_position("pos_1")
        feed(broker, FLAT)
        (trade,) = broker.get_trades()
        assert (trade.entry_price, trade.exit_price) == (paid, left)

    def test_a_limit_moves_to_the_tick_that_is_no_worse(self) -> None:
        broker = SimBroker(tick=0.1)
        broker.place_order(order(type="LIMIT", price=98.07))
        (event,) = feed(broker, FLAT, (100, 101, 98, 99))
        assert event["price"] == 98.0

    def test_an_entry_below_the_minimum_is_rejected(self) -> None:
        broker = SimBroker(min_notional=101.0)
        broker.place_order(order())
        (event,) = feed(broker, FLAT, FLAT)
        assert event["event"] == "order_rejected"
        assert "below the minimum of 101" in event["reason"]

    @pytest.mark.parametrize("action", ["BUY", "SELL"])
    def test_too_little_cash_rejects_and_never_shrinks(self, action: str) -> None:
        broker = SimBroker(capital=1_000, commission=0.001)
        broker.place_order(order(action, volume=10.0))
        broker.place_order(order(action, volume=9.0))
        rejected, opened = feed(broker, FLAT, FLAT)
        assert (rejected["event"], rejected["volume"]) == ("order_rejected", 10.0)
        assert "needs 1001 in cash, there is 1000" in rejected["reason"]
        assert (opened["event"], opened["volume"]) == ("position_opened", 9.0)
        report = broker.generate_report()
        assert (report["orders_rejected"], sum(report["rejections"].values())) == (1, 1)

    @pytest.mark.parametrize("volume", [18.64818291, 334.74722833, 41666666.66666666])
    def test_a_volume_in_very_small_lots_is_taken(self, volume: float) -> None:
        broker = SimBroker(capital=1e12, lot=1e-8)
        assert broker.place_order(order(volume=volume))["success"]
        assert not broker.place_order(order(volume=18.648182915))["success"]

    def test_a_volume_off_the_lot_is_refused(self) -> None:
        broker = SimBroker(lot=0.1)
        assert broker.place_order(order(volume=0.3))["success"]
        refused = broker.place_order(order(volume=0.25))
        assert not refused["success"]
        assert "no multiple of the lot" in refused["error"]


class TestTrailing:
    def test_it_follows_completed_bars_only_and_never_loosens(self) -> None:
        broker = held(sl=90.0, trail={"fraction": 0.05})
        assert broker.get_positions()[0]["sl"] == pytest.approx(95.0)  # bar 1's high was 100
        assert feed(broker, (100, 120, 99, 118)) == []  # 114 would be hit inside this bar
        assert broker.get_positions()[0]["sl"] == pytest.approx(114.0)
        feed(broker, (118, 119, 115, 116))
        assert broker.get_positions()[0]["sl"] == pytest.approx(114.0)
        (event,) = feed(broker, (116, 117, 113, 115))
        assert (event["event"], event["rule"]) == ("sl_hit", "trailing_stop")
        assert event["price"] == pytest.approx(114.0)

    def test_a_gap_through_it_fills_at_the_open(self) -> None:
        broker = held(trail={"fraction": 0.05})
        (event,) = feed(broker, (93, 94, 92, 93))
        assert (event["rule"], event["price"]) == ("trailing_gap", 93)

    def test_the_entry_bar_knows_only_the_stop(self) -> None:
        broker = SimBroker()
        broker.place_order(order(stop={"fraction": 0.1}, trail={"fraction": 0.01}))
        feed(broker, FLAT)
        (opened,) = feed(broker, (100, 110, 95, 108))
        assert opened["event"] == "position_opened"

    def test_before_activation_it_trails_by_the_stops_distance(self) -> None:
        trail = {"fraction": 0.01, "activate_at": 0.058}
        broker = held(stop={"fraction": 0.1}, trail=trail)
        feed(broker, (100, 105, 99, 104))
        assert broker.get_positions()[0]["sl"] == pytest.approx(94.5)
        feed(broker, (104, 106, 103, 105))
        assert broker.get_positions()[0]["sl"] == pytest.approx(104.94)

    def test_only_after_activation_it_waits(self) -> None:
        trail = {"fraction": 0.01, "activate_at": 0.058, "only_after_activation": True}
        broker = held(stop={"fraction": 0.1}, trail=trail)
        feed(broker, (100, 105, 99, 104))
        assert broker.get_positions()[0]["sl"] == pytest.approx(90.0)
        feed(broker, (104, 106, 103, 105))
        assert broker.get_positions()[0]["sl"] == pytest.approx(104.94)

    def test_the_tighter_of_stop_and_trail_holds(self) -> None:
        broker = held(stop={"fraction": 0.02}, trail={"fraction": 0.05})
        assert broker.get_positions()[0]["sl"] == pytest.approx(98.0)

    def test_a_short_trails_above_its_lows(self) -> None:
        broker = held(action="SELL", stop={"fraction": 0.1}, trail={"fraction": 0.05})
        feed(broker, (100, 101, 80, 82))
        (event,) = feed(broker, (82, 85, 81, 84))
        assert (event["rule"], event["price"]) == ("trailing_stop", pytest.approx(84.0))

    def test_a_trade_keeps_the_stop_that_it_began_with(self) -> None:
        broker = held(action="SELL", stop={"fraction": 0.1}, trail={"fraction": 0.05})
        feed(broker, (100, 101, 80, 82), (82, 85, 81, 84))
        assert broker.get_trades()[0].stop == pytest.approx(110.0)
        for wish, stop in (({"sl": 95}, 95.0), ({"tp": 105}, None)):
            broker = held(**wish)
            broker.close_position("pos_1")
            feed(broker, FLAT)
            assert broker.get_trades()[0].stop == stop


class TestRoi:
    def test_the_largest_key_reached_counts(self) -> None:
        broker = held(roi={0: 0.04, 30: 0.02})
        assert feed(broker, (100, 103, 99, 101)) == []  # 15 minutes: 4 % is 104
        (event,) = feed(broker, (101, 103, 100, 101))  # 30 minutes: 2 % is 102
        assert (event["event"], event["rule"], event["price"]) == ("tp_hit", "roi", 102)

    def test_none_before_the_first_key(self) -> None:
        assert feed(held(roi={"60": 0.0}), (100, 150, 99, 140)) == []

    def test_a_step_below_the_open_fills_at_the_open(self) -> None:
        broker = held(roi={0: 0.10, 30: 0.02})
        feed(broker, (100, 105, 99, 105))
        (event,) = feed(broker, (105, 106, 104, 105))
        assert (event["rule"], event["price"]) == ("roi_gap", 105)

    def test_it_is_net_of_both_commissions(self) -> None:
        broker = held({"commission": 0.001}, roi={0: 0.04})
        feed(broker, (100, 110, 99, 105))
        (trade,) = broker.get_trades()
        assert trade.pnl == pytest.approx(0.04 * 100 * 1.001)

    def test_held_roi_waits_one_bar(self) -> None:
        broker = held(roi={0: 0.04})
        assert broker.hold_roi("pos_1")
        assert feed(broker, (100, 110, 99, 103)) == []
        (event,) = feed(broker, (103, 110, 99, 105))
        assert event["rule"] == "roi"

    def test_the_nearer_of_target_and_roi_fills(self) -> None:
        (event,) = feed(held(tp=103.0, roi={0: 0.04}), (100, 110, 99, 103))
        assert (event["rule"], event["price"]) == ("target", 103)


class TestWaitingOrders:
    def test_a_limit_waits_and_takes_the_better_open(self) -> None:
        broker = SimBroker()
        broker.place_order(order(type="LIMIT", price=98.0))
        assert feed(broker, (100, 100, 90, 100)) == []  # the decision bar does not count
        assert feed(broker, (100, 101, 99, 100)) == []
        (event,) = feed(broker, (97, 99, 96, 98))
        assert (event["rule"], event["price"]) == ("limit_better_open", 97)

    def test_a_sell_stop_opens_a_short_at_the_gap(self) -> None:
        broker = SimBroker()
        broker.place_order(order("SELL", type="STOP", price=95.0))
        (event,) = feed(broker, FLAT, (92, 93, 91, 92))
        assert (event["rule"], event["price"], event["side"]) == ("stop_gap", 92, "short")

    def test_a_limit_filled_inside_a_bar_can_be_stopped_in_it(self) -> None:
        broker = SimBroker()
        broker.place_order(order(type="LIMIT", price=98.0, sl=95.0, tp=99.0))
        opened, closed = feed(broker, FLAT, (100, 101, 94, 96))
        assert (opened["price"], closed["price"], closed["ambiguous"]) == (98, 95, True)

    def test_an_older_high_is_no_target(self) -> None:
        broker = SimBroker()
        broker.place_order(order(type="LIMIT", price=98.0, tp=101.0))
        (opened,) = feed(broker, FLAT, (100, 102, 97, 99))
        assert opened["event"] == "position_opened"

    def test_a_cancelled_order_never_fills(self) -> None:
        broker = SimBroker()
        order_id = broker.place_order(order())["order_id"]
        assert broker.cancel_order(order_id)
        assert not broker.cancel_order(order_id)
        assert feed(broker, FLAT, FLAT, FLAT) == []

    def test_a_cancelled_close_keeps_the_position(self) -> None:
        broker = held()
        order_id = broker.close_position("pos_1")["order_id"]
        assert broker.cancel_order(order_id)
        assert feed(broker, FLAT) == []
        assert len(broker.get_positions()) == 1


class TestCloses:
    def test_a_part_leaves_the_rest_open_with_its_levels(self) -> None:
        broker = held({"commission": 0.001}, volume=4.0, sl=95.0)
        assert broker.close_position("pos_1", volume=1.0)["success"]
        (event,) = feed(broker, (102, 103, 101, 102))
        assert (event["volume"], event["remaining"]) == (1.0, 3.0)
        assert broker.get_positions()[0]["volume"] == 3.0
        feed(broker, (100, 101, 94, 95))
        first, second = broker.get_trades()
        assert (first.volume, second.volume) == (1.0, 3.0)
        assert first.position_id == second.position_id
        assert first.fees == pytest.approx(0.001 * 202)
        assert second.fees == pytest.approx(0.001 * 3 * 195)
        assert broker.get_account()["cash"] == pytest.approx(10_000 + first.pnl + second.pnl)

    def test_a_priced_close_rests_as_a_limit(self) -> None:
        broker = held()
        broker.close_position("pos_1", price=103.0)
        assert feed(broker, (100, 102, 99, 101)) == []
        (event,) = feed(broker, (101, 104, 100, 102))
        assert (event["event"], event["rule"]) == ("position_closed", "close_limit")
        assert event["price"] == 103

    @pytest.mark.parametrize(
        ("bar", "fills"),
        [
            ((104, 104.5, 94, 101), [("close_limit_gap", 104.0), ("stop", 95.0)]),
            ((100, 106, 99, 101), [("close_limit", 103.0), ("target", 105.0)]),
            ((106, 107, 94, 101), [("close_limit_gap", 106.0), ("target_gap", 106.0)]),
            ((100, 106, 94, 101), [("stop", 95.0)]),
            ((100, 104, 99, 101), [("close_limit", 103.0)]),
        ],
    )
    @pytest.mark.parametrize("action", ["BUY", "SELL"])
    def test_what_a_priced_close_leaves_meets_the_same_bar(
        self, action: str, bar: tuple[float, ...], fills: list[tuple[str, float]]
    ) -> None:
        is_long = action == "BUY"
        near, stop, target = (p if is_long else 200.0 - p for p in (103.0, 95.0, 105.0))
        broker = held(action=action, volume=2.0, sl=stop, tp=target)
        broker.close_position("pos_1", price=near, volume=1.0)
        events = feed(broker, bar if is_long else mirror(bar))
        found = [(event["rule"], event["price"]) for event in events]
        assert found == [(rule, p if is_long else 200.0 - p) for rule, p in fills]

    @pytest.mark.parametrize("lot", [None, 0.1])
    def test_parts_that_doubles_cannot_hold_add_up_to_the_whole(self, lot: float | None) -> None:
        broker = held({"lot": lot}, volume=0.3)
        for _ in range(3):
            assert broker.close_position("pos_1", volume=0.1)["success"]
            feed(broker, FLAT)
        assert broker.get_positions() == []
        if lot is not None:
            assert [event["remaining"] for event in broker.get_events()[1:]] == [0.2, 0.1, 0.0]

    def test_another_close_takes_the_place_of_one_that_waits(self) -> None:
        broker = held()
        first = broker.close_position("pos_1", price=110.0)
        broker.close_position("pos_1")
        assert not broker.cancel_order(first["order_id"])
        (event,) = feed(broker, FLAT)
        assert event["price"] == 100

    @pytest.mark.parametrize(
        ("more", "error"),
        [
            ({"pos_id": "pos_9"}, "no open position"),
            ({"pos_id": "pos_1", "volume": 2.0}, "more than the open"),
            ({"pos_id": "pos_1", "volume": 0.0}, "above 0"),
            ({"pos_id": "pos_1", "price": float("nan")}, "finite"),
        ],
    )
    def test_a_wrong_close_is_refused_with_its_reason(
        self, more: dict[str, Any], error: str
    ) -> None:
        answer = held().close_position(**more)
        assert not answer["success"]
        assert error in answer["error"]


class TestSymbols:
    def test_symbols_share_cash_and_have_their_own_bars(self) -> None:
        broker = SimBroker(capital=150)
        broker.place_order(order(symbol="A"))
        broker.place_order(order(symbol="B"))
        events = []
        for number in range(2):
            for symbol in ("A", "B"):
                events += broker.step_bar(candle(FLAT, number, symbol))
        assert [e["event"] for e in events] == ["position_opened", "order_rejected"]
        assert len(broker.get_equity_curve()) == 2

    def test_a_bar_of_another_symbol_fills_nothing(self) -> None:
        broker = SimBroker()
        broker.place_order(order(symbol="A"))
        for number in range(3):
            assert broker.step_bar(candle(FLAT, number, "B")) == []

    def test_a_bar_without_symbol_belongs_to_every_symbol_with_orders(self) -> None:
        broker = SimBroker()
        broker.place_order(order(symbol="A"))
        broker.place_order(order(symbol="B"))
        assert [event["symbol"] for event in feed(broker, FLAT, FLAT)] == ["A", "B"]

    def test_positions_never_net(self) -> None:
        broker = SimBroker()
        broker.place_order(order("BUY"))
        broker.place_order(order("SELL"))
        feed(broker, FLAT, FLAT)
        assert [position["side"] for position in broker.get_positions()] == ["long", "short"]

    def test_an_unlisted_symbol_is_refused_with_the_nearest(self) -> None:
        answer = SimBroker(symbols=["BTC/USDT"]).place_order(order(symbol="BTC/USD"))
        assert "Did you mean 'BTC/USDT'?" in answer["error"]


class TestReport:
    def test_forced_exits_are_marked_and_not_counted(self) -> None:
        broker = held({"commission": 0.001})
        feed(broker, (100, 111, 99, 110))
        report = broker.generate_report()
        (trade,) = broker.get_trades()
        assert (trade.forced, trade.rule_out, trade.exit_price) == (True, "end_of_data", 110)
        assert (report["total_trades"], report["total_pnl"]) == (0, 0.0)
        assert report["forced_exits"] == 1
        assert report["final_equity"] == pytest.approx(10_000 + 10 - 0.1)

    def test_asking_twice_gives_the_same_and_changes_nothing(self) -> None:
        broker = held()
        before = (broker.get_positions(), broker.get_account(), broker.get_equity_curve())
        assert broker.generate_report() == broker.generate_report()
        assert before == (broker.get_positions(), broker.get_account(), broker.get_equity_curve())

    def test_an_unused_broker_reports_nothing_happened(self) -> None:
        report = SimBroker().generate_report()
        assert (report["total_trades"], report["win_rate"], report["sharpe"]) == (0, 0.0, None)

    def test_events_and_views_cannot_reach_into_the_broker(self) -> None:
        broker = held()
        broker.get_events()[0]["price"] = -1.0
        broker.get_positions()[0]["volume"] = 99.0
        assert broker.get_events()[0]["price"] == 100
        assert broker.get_positions()[0]["volume"] == 1.0


class TestBars:
    def test_series_dicts_and_letter_cases_are_alike(self) -> None:
        stamp = pd.Timestamp("2024-01-01", tz="UTC")
        prices = {"Open": 100, "High": 101, "Low": 99, "Close": 100, "Volume": 5}
        bars = [
            pd.Series(prices, name=stamp),
            {**prices, "Date": "2024-01-01"},
            {key.upper(): value for key, value in prices.items()} | {"TIME": stamp.value // 10**6},
            pd.Series({**prices, "timestamp": stamp.to_pydatetime().replace(tzinfo=None)}),
            {**prices, "datetime": np.datetime64("2024-01-01")},
        ]
        for bar in bars:
            broker = SimBroker()
            broker.step_bar(bar)
            assert broker.get_equity_curve() == [(1704067200000, 10_000.0, 10_000.0)]

    def test_bars_without_time_are_counted(self) -> None:
        broker = SimBroker()
        for _ in range(3):
            broker.step_bar({"open": 1, "high": 1, "low": 1, "close": 1})
        assert broker.generate_report()["periods_per_year"] is None

    @pytest.mark.parametrize(
        ("change", "fault"),
        [
            ({"close": float("nan")}, "close is missing (NaN)"),
            ({"high": float("inf")}, "high is infinite"),
            ({"low": -1.0}, "low is -1.0"),
            ({"high": 98.0}, "high 98.0 is below low 99.0"),
            ({"open": 102.0}, "open 102.0 is outside"),
            ({"volume": -5.0}, "volume is -5.0"),
            ({"volume": float("nan")}, "volume is missing"),
            ({"timestamp": 0}, "repeats the last bar's"),
            ({"timestamp": -1}, "is before the last bar's"),
            ({"timestamp": 10**18}, "no timestamp in milliseconds"),
            ({"timestamp": "soon"}, "'soon' is no timestamp"),
            ({"close": "high"}, "close is 'high'"),
        ],
    )
    def test_a_malformed_bar_stops_the_run_with_its_number(
        self, change: dict[str, Any], fault: str
    ) -> None:
        broker = SimBroker()
        sound = {"open": 100.0, "high": 101.0, "low": 99.0, "close": 100.0, "volume": 1.0}
        broker.step_bar({**sound, "timestamp": 0})
        with pytest.raises(CandleError) as caught:
            broker.step_bar({**sound, "timestamp": 60_000, **change})
        assert fault in str(caught.value)
        assert "bar 1" in str(caught.value)
        assert caught.value.row == 1
        assert caught.value.exit_code == 2

    def test_a_bar_without_a_price_says_what_it_has(self) -> None:
        with pytest.raises(CandleError, match="bar 0 has no high"):
            SimBroker().step_bar({"open": 1.0, "low": 1.0, "close": 1.0})


class TestSettings:
    def test_an_unknown_setting_names_the_nearest(self) -> None:
        with pytest.raises(SettingError, match="Did you mean 'commission'"):
            SimBroker(comission=0.1)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"capital": 0},
            {"capital": True},
            {"commission": -0.1},
            {"slippage": 1.0},
            {"spread": float("nan")},
            {"execution": "yesterday"},
            {"lot": 0},
            {"symbols": []},
            {"compiled": "no"},
        ],
    )
    def test_a_value_out_of_range_is_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(SettingError, match=next(iter(wrong))):
            SimBroker(**wrong)


walks = st.lists(
    st.tuples(st.integers(-6, 6), st.integers(0, 5), st.integers(0, 5), st.integers(-4, 4)),
    min_size=6,
    max_size=40,
)
plans = st.lists(
    st.tuples(
        st.integers(0, 30),
        st.sampled_from(["BUY", "SELL"]),
        st.sampled_from(["MARKET", "LIMIT", "STOP"]),
        st.integers(-5, 5),
        st.sampled_from([1.0, 30.0, 70.0]),
    ),
    max_size=8,
)


def walk_bars(steps: list[tuple[int, int, int, int]]) -> list[tuple[float, ...]]:
    bars: list[tuple[float, ...]] = []
    price = 100.0
    for move, up, down, gap in steps:
        opened = max(30.0, price + gap)
        closed = max(30.0, opened + move)
        bars.append((opened, max(opened, closed) + up, min(opened, closed) - down, closed))
        price = closed
    return bars


def run_plan(bars: list[tuple[float, ...]], plan: list[tuple[Any, ...]], **costs: Any) -> SimBroker:
    broker = SimBroker(**costs)
    for number, prices in enumerate(bars):
        for when, action, kind, away, volume in plan:
            if when == number:
                price = prices[3] + away
                levels = {"stop": {"fraction": 0.03}, "target": {"fraction": 0.04}}
                wanted = order(action, type=kind, price=price, volume=volume, **levels)
                assert broker.place_order(wanted)["success"]
        broker.step_bar(candle(prices, number))
        account = broker.get_account()
        positions = broker.get_positions()
        value = sum(
            p["volume"] * (p["price"] if p["side"] == "long" else 2 * p["entry_price"] - p["price"])
            for p in positions
        )
        assert account["equity"] == pytest.approx(account["cash"] + value)
        open_pnl = sum(p["unrealized_pnl"] for p in positions)
        assert account["equity"] == pytest.approx(10_000 + account["realized_pnl"] + open_pnl)
    return broker


class TestInvariants:
    @examples(150)
    @given(walks, plans)
    def test_money_is_conserved_with_costs(self, steps: Any, plan: Any) -> None:
        run_plan(walk_bars(steps), plan, commission=0.001, slippage=0.001, spread=0.001)

    @examples(150)
    @given(walks, plans)
    def test_no_fill_is_outside_its_bar(self, steps: Any, plan: Any) -> None:
        bars = walk_bars(steps)
        for trade in run_plan(bars, plan).get_trades():
            assert bars[trade.entry_row][2] <= trade.entry_price <= bars[trade.entry_row][1]
            assert bars[trade.exit_row][2] <= trade.exit_price <= bars[trade.exit_row][1]

    @examples(150)
    @given(walks, plans, st.integers(3, 30))
    def test_the_future_cannot_change_the_past(self, steps: Any, plan: Any, cut: int) -> None:
        bars = walk_bars(steps)
        whole = run_plan(bars, plan).get_trades()
        part = run_plan(bars[:cut], plan).get_trades()
        past = [trade for trade in whole if trade.exit_row < cut and not trade.forced]
        assert [trade for trade in part if not trade.forced] == past

    @examples(60)
    @given(walks, plans)
    def test_costs_never_help(self, steps: Any, plan: Any) -> None:
        bars = walk_bars(steps)
        market = [step for step in plan if step[2] == "MARKET"][:1]
        free = run_plan(bars, market).get_account()["equity"]
        charged = run_plan(bars, market, commission=0.002).get_account()["equity"]
        assert charged <= free + 1e-9
