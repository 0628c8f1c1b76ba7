"""The loop places, withdraws and closes as the collisions' rules say."""

import json
import random
from typing import Any

import pandas as pd
import pytest

from adapters.loop.feeds import setting
from adapters.loop.strategy_decisions import AskedDecisions
from adapters.simbroker_adapter import SimBrokerAdapter
from adapters.strategy_loop import replay, replay_decisions
from Backtest.candles import tidy_candles
from Backtest.positions import Trade
from Backtest.sim_errors import BacktestError, CandleError, OrderError
from Backtest.simbroker import SimBroker
from tests.decisions import record

HOUR = 3_600_000


def candles(
    closes: list[float], symbol: str | None = None, wild: dict[int, Any] | None = None
) -> pd.DataFrame:
    """Hourly candles that open at the last close; `wild` replaces whole bars."""
    rows = []
    last = closes[0]
    for number, close in enumerate(closes):
        bar = (last, max(last, close), min(last, close), close)
        o, h, low, c = (wild or {}).get(number, bar)
        rows.append(
            {"timestamp": number * HOUR, "open": o, "high": h, "low": low, "close": c, "volume": 1}
        )
        last = c
    frame = pd.DataFrame(rows)
    return frame if symbol is None else frame.assign(symbol=symbol)


class Scripted:
    """A strategy that reads its signals from its settings: symbol -> rule -> bars."""

    def __init__(self, cfg: dict[str, Any]) -> None:
        self.cfg = cfg
        self.script = cfg["script"].get(cfg["symbol"], {})

    def prepare_indicators(self, df: pd.DataFrame) -> dict[str, Any]:
        rules = ("enter_long", "exit_long", "enter_short", "exit_short")
        return {
            rule: pd.Series([idx in self.script.get(rule, ()) for idx in range(len(df))])
            for rule in rules
        }

    def find_entries(
        self, df: pd.DataFrame, indicators: dict[str, Any], idx: int
    ) -> dict[str, Any] | None:
        for rule, action in (("enter_long", "BUY"), ("enter_short", "SELL")):
            if indicators[rule].iloc[idx]:
                order = {"action": action, "symbol": self.cfg["symbol"], "volume": 1.0}
                return {**order, "type": "MARKET", "comment": rule, **self.cfg.get("order", {})}
        return None

    def find_exits(
        self, position: dict[str, Any], df: pd.DataFrame, indicators: dict[str, Any], idx: int
    ) -> dict[str, Any] | None:
        rule = "exit_long" if position["action"] == "BUY" else "exit_short"
        if indicators[rule].iloc[idx]:
            return {"position_id": position["position_id"], "reason": rule}
        return None


def run(
    df: pd.DataFrame, script: dict[str, Any], broker: dict[str, Any] | None = None, **cfg: Any
) -> list[Trade]:
    """Replay a script; the trades."""
    sim = SimBroker(**(broker or {}))
    whole = {"symbol": "X", "script": script, **cfg}
    replay(Scripted, SimBrokerAdapter(sim), df, whole)
    return sim.get_trades()


def rows(trades: list[Trade]) -> list[tuple[int, int, str]]:
    return [(trade.entry_row, trade.exit_row, trade.rule_out) for trade in trades]


UP = [100.0 + i for i in range(10)]
LEVEL = [100.0] * 10


class TestTiming:
    def test_a_decision_of_bar_t_fills_at_the_open_of_the_next(self) -> None:
        (trade,) = run(candles(UP), {"X": {"enter_long": [2], "exit_long": [5]}})
        assert (trade.entry_row, trade.entry_price) == (3, 102.0)
        assert (trade.exit_row, trade.exit_price, trade.rule_out) == (6, 105.0, "exit_long")

    def test_under_this_close_it_fills_at_the_close_of_the_bar_itself(self) -> None:
        broker = {"execution": "this_close"}
        (trade,) = run(candles(UP), {"X": {"enter_long": [2], "exit_long": [5]}}, broker)
        assert (trade.entry_row, trade.entry_price) == (2, 102.0)
        assert (trade.exit_row, trade.exit_price) == (5, 105.0)

    def test_a_signal_on_the_last_bar_opens_nothing(self) -> None:
        assert run(candles(UP), {"X": {"enter_long": [9]}}) == []


class TestCollisions:
    def test_entry_and_exit_of_one_side_on_one_bar_is_no_entry(self) -> None:
        assert run(candles(LEVEL), {"X": {"enter_long": [2], "exit_long": [2]}}) == []

    def test_both_entries_on_one_bar_is_no_entry(self) -> None:
        assert run(candles(LEVEL), {"X": {"enter_long": [2], "enter_short": [2]}}) == []

    def test_an_exit_of_the_other_side_does_not_stop_an_entry(self) -> None:
        found = run(candles(LEVEL), {"X": {"enter_long": [2], "exit_short": [2]}})
        assert rows(found) == [(3, 9, "end_of_data")]

    def test_an_opposite_entry_in_a_position_is_ignored(self) -> None:
        script = {"X": {"enter_long": [1], "enter_short": [3], "exit_long": [6]}}
        assert rows(run(candles(LEVEL), script)) == [(2, 7, "exit_long")]

    def test_no_reversal_on_the_bar_of_the_exit_rule(self) -> None:
        script = {"X": {"enter_long": [1], "exit_long": [4], "enter_short": [4]}}
        assert rows(run(candles(LEVEL), script)) == [(2, 5, "exit_long")]

    def test_the_bar_on_which_the_exit_fills_may_decide_the_next_entry(self) -> None:
        script = {"X": {"enter_long": [1, 5], "exit_long": [4]}}
        assert rows(run(candles(LEVEL), script)) == [(2, 5, "exit_long"), (6, 9, "end_of_data")]

    def test_a_stop_inside_a_bar_frees_the_slot_for_that_bars_decision(self) -> None:
        script = {"X": {"enter_long": [1, 4]}}
        df = candles(LEVEL, wild={4: (100, 100, 90, 100)})
        found = run(df, script, order={"stop": {"fraction": 0.05}})
        assert rows(found) == [(2, 4, "stop"), (5, 9, "end_of_data")]

    def test_repeated_signals_open_one_position(self) -> None:
        script = {"X": {"enter_long": [1, 2, 3, 4]}}
        assert rows(run(candles(LEVEL), script)) == [(2, 9, "end_of_data")]

    def test_a_rejected_entry_may_be_tried_again(self) -> None:
        script = {"X": {"enter_long": [1, 2]}}
        df = candles([100, 100, 200, 100, 100, 100], wild={2: (200, 200, 100, 100)})
        found = run(df, script, {"capital": 150})
        assert rows(found) == [(3, 5, "end_of_data")]


class TestSeveralSymbols:
    def both(self, **cfg: Any) -> list[Trade]:
        df = pd.concat([candles(LEVEL, "B"), candles(LEVEL, "A")])
        script = {"A": {"enter_long": [2]}, "B": {"enter_long": [2]}}
        return run(df, script, symbols=["A", "B"], **cfg)

    def test_ties_go_in_list_order(self) -> None:
        assert [trade.symbol for trade in self.both()] == ["A"]

    def test_max_positions_counts_over_all_symbols(self) -> None:
        assert sorted(trade.symbol for trade in self.both(max_positions=2)) == ["A", "B"]

    def test_a_slot_freed_in_a_later_symbol_counts_on_the_same_bar(self) -> None:
        wild = {4: (100, 100, 90, 100)}
        df = pd.concat([candles(LEVEL, "A"), candles(LEVEL, "B", wild)])
        script = {"A": {"enter_long": [4]}, "B": {"enter_long": [1]}}
        order = {"stop": {"fraction": 0.05}}
        found = run(df, script, symbols=["A", "B"], order=order)
        assert [(t.symbol, t.entry_row) for t in found] == [("B", 2), ("A", 5)]

    def test_cash_is_shared(self) -> None:
        df = pd.concat([candles(LEVEL, "A"), candles(LEVEL, "B")])
        script = {"A": {"enter_long": [2]}, "B": {"enter_long": [2]}}
        found = run(df, script, {"capital": 150}, symbols=["A", "B"], max_positions=2)
        assert [trade.symbol for trade in found] == ["A"]

    def test_a_symbol_may_lack_bars(self) -> None:
        df = pd.concat([candles(LEVEL, "A"), candles(LEVEL, "B").drop(index=[3, 4])])
        script = {"B": {"enter_long": [2], "exit_long": [4]}}
        (trade,) = run(df, script, symbols=["A", "B"])
        assert (trade.entry_time // HOUR, trade.exit_time // HOUR) == (5, 7)

    def test_a_symbol_without_candles_is_an_error(self) -> None:
        with pytest.raises(BacktestError, match="no candles of 'C'"):
            run(candles(LEVEL, "A"), {}, symbols=["A", "C"])

    def test_candles_must_say_whose_they_are(self) -> None:
        with pytest.raises(BacktestError, match="Add a column 'symbol'"):
            run(candles(LEVEL), {}, symbols=["A", "C"])


class TestSize:
    @pytest.mark.parametrize(
        ("size", "volume"),
        [
            ({"units": 3.0}, 3.0),
            ({"equity": 0.1}, 10.0),
            ({"risk": 0.01}, 20.0),
            ({"risk": 0.01, "cap": 0.5}, 20.0),
            ({"risk": 0.01, "cap": 0.15}, 15.0),
        ],
    )
    def test_sizes_by_hand(self, size: dict[str, float], volume: float) -> None:
        order = {"size": size, "stop": {"fraction": 0.05}}
        (trade,) = run(candles(LEVEL), {"X": {"enter_long": [1]}}, order=order)
        assert trade.volume == pytest.approx(volume)

    def test_risk_counts_from_an_absolute_stop_too(self) -> None:
        order = {"size": {"risk": 0.01}, "sl": 98.0}
        (trade,) = run(candles(LEVEL), {"X": {"enter_long": [1]}}, order=order)
        assert trade.volume == pytest.approx(50.0)

    def test_equity_grows_with_the_account(self) -> None:
        script = {"X": {"enter_long": [0, 5], "exit_long": [3]}}
        order = {"size": {"equity": 0.5}}
        first, second = run(candles([100.0] * 3 + [200.0] * 6), script, order=order)
        assert first.volume == 50.0
        assert second.volume == pytest.approx(0.5 * 15_000 / 200)

    def test_volumes_are_rounded_down_to_the_lot(self) -> None:
        order = {"size": {"equity": 0.1}}
        (trade,) = run(candles([103.0] * 5), {"X": {"enter_long": [1]}}, lot=0.5, order=order)
        assert trade.volume == 9.5

    def test_less_than_a_lot_is_rejected_openly(self) -> None:
        sim = SimBroker(lot=50.0)
        cfg = {"symbol": "X", "script": {"X": {"enter_long": [1]}}, "lot": 50.0}
        report = replay(
            Scripted, SimBrokerAdapter(sim), candles(LEVEL), {**cfg, "order": {"volume": 3.0}}
        )
        assert report["orders_rejected"] == 1
        assert report["rejections"] == {"smaller than one lot": 1}

    @pytest.mark.parametrize(
        ("order", "fault"),
        [
            ({"size": {"risk": 0.2}, "sl": 95.0}, "at most 0.1"),
            ({"size": {"risk": 0.01}}, "needs a stop"),
            ({"size": {"lots": 2}}, "'lots'"),
            ({"size": {"equity": -1}}, "above 0"),
            ({"size": {"equity": 0.5, "cap": 0.1}}, "one of: equity, units, risk"),
            ({"size": {"risk": 0.01, "cap": 0}, "sl": 95.0}, "above 0"),
            ({"speed": 3}, "no key 'speed'"),
        ],
    )
    def test_a_wrong_order_stops_the_run(self, order: dict[str, Any], fault: str) -> None:
        with pytest.raises(OrderError, match=fault):
            run(candles(LEVEL), {"X": {"enter_long": [1]}}, order=order)


class TestExits:
    def test_exit_profit_only_waits_for_a_profit_after_fees(self) -> None:
        closes = [100.0, 100.0, 100.0, 100.1, 100.1, 100.3, 100.3, 100.3]
        script = {"X": {"enter_long": [0], "exit_long": [2, 3, 5]}}
        cfg = {"exit_profit_only": True, "commission": 0.001}
        (trade,) = run(candles(closes), script, {"commission": 0.001}, **cfg)
        assert (trade.exit_row, trade.rule_out) == (6, "exit_long")

    def test_exit_profit_only_mirrors_for_shorts(self) -> None:
        closes = [100.0, 100.0, 101.0, 101.0, 99.0, 99.0, 99.0]
        script = {"X": {"enter_short": [0], "exit_short": [2, 4]}}
        (trade,) = run(candles(closes), script, exit_profit_only=True)
        assert (trade.exit_row, trade.rule_out) == (5, "exit_short")

    def test_roi_waits_while_the_entry_signal_stands(self) -> None:
        wild = {2: (100, 110, 100, 100), 3: (100, 110, 100, 100), 5: (100, 110, 100, 100)}
        script = {"X": {"enter_long": [1, 2]}}
        order = {"roi": {0: 0.05}}
        usual = run(candles(LEVEL, wild=wild), script, order=order)
        waits = run(candles(LEVEL, wild=wild), script, order=order, ignore_roi_if_entry_signal=True)
        assert rows(usual)[0] == (2, 2, "roi")
        assert rows(waits)[0] == (2, 5, "roi")


class TestDecisionsAsData:
    @pytest.mark.parametrize("seed", range(6))
    def test_recorded_decisions_give_the_same_report(self, seed: int) -> None:
        rng = random.Random(seed)
        closes = [100.0]
        for _ in range(200):
            closes.append(round(closes[-1] * (1 + rng.gauss(0, 0.02)), 2))
        rules = ("enter_long", "exit_long", "enter_short", "exit_short")
        script = {"X": {rule: rng.sample(range(200), 40) for rule in rules}}
        order = {"stop": {"fraction": 0.03}, "target": {"fraction": 0.05}, "size": {"equity": 0.3}}
        cfg = {"symbol": "X", "script": script, "order": order}
        df = candles(closes)
        asked = SimBroker(commission=0.001)
        report = replay(Scripted, SimBrokerAdapter(asked), df, cfg)
        written = record(AskedDecisions(Scripted(cfg), df), len(df))
        data = {"X": json.loads(json.dumps(written))}
        told = SimBroker(commission=0.001)
        assert replay_decisions(SimBrokerAdapter(told), df, cfg, data) == report
        assert told.get_trades() == asked.get_trades()
        assert report["total_trades"] > 10

    @pytest.mark.parametrize(
        "data",
        [
            {},
            {"X": {"entries": {}, "exit_long": []}},
            {"X": {"entries": [], "exit_long": [], "exit_short": []}},
            {"X": {"entries": {"99": {}}, "exit_long": [], "exit_short": []}},
            {"X": {"entries": {"-1": {}}, "exit_long": [], "exit_short": []}},
            {"X": {"entries": {"1": "BUY"}, "exit_long": [], "exit_short": []}},
            {"X": {"entries": {}, "exit_long": [10], "exit_short": []}},
            {"X": {"entries": {}, "exit_long": [True], "exit_short": []}},
            {"X": {"entries": {}, "exit_long": "12", "exit_short": []}},
        ],
    )
    def test_a_malformed_record_is_refused(self, data: dict[str, Any]) -> None:
        with pytest.raises(BacktestError, match="decisions"):
            replay_decisions(SimBrokerAdapter(SimBroker()), candles(LEVEL), {"symbol": "X"}, data)


class PlainAdapter:
    """An adapter with seed 001's methods and nothing else."""

    def __init__(self, broker: SimBroker) -> None:
        self.calls: list[str] = []
        self._broker = broker

    def place_order(self, order_request: dict[str, Any]) -> dict[str, Any]:
        self.calls.append("place_order")
        return self._broker.place_order(order_request)

    def cancel_order(self, order_id: str) -> bool:
        return self._broker.cancel_order(order_id)

    def close_position(self, pos_id: str, price: float | None = None) -> dict[str, Any]:
        self.calls.append("close_position")
        return self._broker.close_position(pos_id, price)

    def step_bar(self, bar: Any) -> list[dict[str, Any]]:
        self.calls.append("step_bar")
        return self._broker.step_bar(bar)

    def get_positions(self) -> list[dict[str, Any]]:
        return self._broker.get_positions()

    def get_account(self) -> dict[str, Any]:
        return self._broker.get_account()

    def generate_report(self) -> dict[str, Any]:
        return self._broker.generate_report()

    def save_report(self, out_dir: str) -> dict[str, str]:
        return self._broker.save_report(out_dir)


def test_the_bare_interface_is_enough_and_keeps_the_seeds_order() -> None:
    script = {"X": {"enter_long": [0], "exit_long": [2]}}
    plain, sim = PlainAdapter(SimBroker()), SimBroker()
    cfg = {"symbol": "X", "script": script}
    report = replay(Scripted, plain, candles(UP), cfg)
    assert report == replay(Scripted, SimBrokerAdapter(sim), candles(UP), cfg)
    assert plain.calls[:5] == ["place_order", "step_bar", "step_bar", "step_bar", "close_position"]


def test_bad_candles_stop_the_run() -> None:
    df = candles(UP)
    df.loc[4, "close"] = float("nan")
    with pytest.raises(CandleError, match="row 4"):
        run(df, {})


def test_the_strategy_sees_tidy_candles() -> None:
    seen: list[pd.DataFrame] = []

    class Looking(Scripted):
        def prepare_indicators(self, df: pd.DataFrame) -> dict[str, Any]:
            seen.append(df)
            return super().prepare_indicators(df)

    df = candles(UP).rename(columns=str.upper)
    replay(Looking, SimBrokerAdapter(SimBroker()), df, {"symbol": "X", "script": {}})
    pd.testing.assert_frame_equal(seen[0], tidy_candles(df))


def test_a_setting_with_a_parameters_name_is_prefixed() -> None:
    assert setting({"lot": 5, "contract_lot": 0.1}, "lot") == 0.1
    assert setting({"lot": 5}, "lot") == 5
    assert setting({"lot": None}, "lot", 1.0) == 1.0


def test_the_seeds_own_loop_over_frame_rows_gives_the_same_trades() -> None:
    script = {"X": {"enter_long": [1], "exit_long": [4]}}
    cfg = {"symbol": "X", "script": script}
    df = candles(UP).rename(columns=str.title)
    strategy, broker = Scripted(cfg), SimBroker()
    adapter = SimBrokerAdapter(broker)
    indicators = strategy.prepare_indicators(df)
    for idx in range(len(df)):
        request = strategy.find_entries(df, indicators, idx)
        if request:
            adapter.place_order(request)
        adapter.step_bar(df.iloc[idx])
        for position in adapter.get_positions():
            wanted = strategy.find_exits(position, df, indicators, idx)
            if wanted:
                adapter.close_position(wanted["position_id"])
    assert broker.get_trades() == run(df, script)
