"""Shows a strategy one bar after the other and sends what it decides to an adapter.

For every bar t: entries decided on t are placed, the bar is stepped, then exits decided on t are
asked for; both fill at the open of t + 1 (or at the close of t under `this_close`). The rules
answer without knowing what is held; collisions are settled here:

- both enter rules, or an enter rule and the exit rule of the same side, on one bar: no entry;
- an entry while the symbol has a position after bar t, or no slot of `max_positions` is free then:
  withdrawn before it can fill. Under `this_close` the entry fills inside bar t, so there the
  positions before bar t count;
- `exit_profit_only`: an exit is left out while the close, net of commission, is not above entry.

An entry is sized with the account as it is known when it is placed, before bar t is stepped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from adapters.base_adapter import BaseAdapter
from adapters.loop.array_path import run_arrays
from adapters.loop.entries import may_leave, placed_id, sized_order
from adapters.loop.feeds import Feed, Moment, by_symbol, moments, series_of, setting
from adapters.loop.quiet_bars import quiet_bars
from adapters.loop.strategy_decisions import AskedDecisions, StrategyShape, read_record
from adapters.loop.views import CandleView
from adapters.orders import StrategyDict
from Backtest.compiled.inspection import Inspection
from Backtest.compiled.signal_run import LoopRules
from Backtest.sim_errors import BacktestError

if TYPE_CHECKING:
    import pandas as pd

StrategyMaker = Callable[[StrategyDict], StrategyShape]
Step = Callable[[Feed, int], Sequence[Mapping[str, object]]]


def replay(
    strategy_type: StrategyMaker,
    adapter: BaseAdapter,
    df: pd.DataFrame | CandleView,
    cfg: StrategyDict,
) -> StrategyDict:
    """Back-tests a strategy on candles and gives the adapter's report.

    The Strategy class is made once per symbol, with that symbol in its cfg; the candles of several
    symbols come in long form, with a `symbol` column.

    Raises:
        BacktestError: the candles or an order are malformed.
    """
    inspection = Inspection()
    try:
        feeds = [
            Feed(share.symbol, share.candles, AskedDecisions(strategy_type(share.cfg), share.frame))
            for share in by_symbol(df, cfg, inspection.begin)
        ]
    finally:
        inspection.end()  # whatever a strategy makes of bad candles, the candles are what is wrong
    return run_feeds(adapter, feeds, cfg)


def replay_decisions(
    adapter: BaseAdapter,
    df: pd.DataFrame | CandleView,
    cfg: StrategyDict,
    decisions: Mapping[str, object],
) -> StrategyDict:
    """Back-test recorded decisions without the strategy that made them.

    Raises:
        BacktestError: the record does not fit the candles.
    """
    feeds = []
    for symbol, _, _, candles in by_symbol(df, cfg):
        if symbol not in decisions:
            raise BacktestError(f"the decisions have no symbol {symbol!r}", "Record them again")
        feeds.append(Feed(symbol, candles, read_record(decisions[symbol], len(candles))))
    return run_feeds(adapter, feeds, cfg)


def run_feeds(adapter: BaseAdapter, feeds: Sequence[Feed], cfg: StrategyDict) -> StrategyDict:
    """Play all candles of all feeds in the order of time, ties in the order of the feeds.

    One symbol whose strategy offers its signals as arrays takes the compiled path where that is
    quicker; its result is the same to the last bit.
    """
    rules = loop_rules(adapter, cfg)
    if run_arrays(adapter, feeds, rules):
        return adapter.generate_report()
    quiet = quiet_bars(adapter, feeds, rules)
    step = step_of(adapter) if quiet is None else quiet.step
    loop = _Loop(adapter, rules, step)
    for moment in moments(feeds) if quiet is None else quiet.busy():
        loop.play(moment)
    return adapter.generate_report()


def loop_rules(adapter: BaseAdapter, cfg: StrategyDict) -> LoopRules:
    """Read the loop's settings; how fills happen is asked of the adapter, if it says so."""
    execution = getattr(adapter, "execution", None) or setting(cfg, "execution", "next_open")
    return LoopRules(
        max_positions=int(setting(cfg, "max_positions", 1)),
        lot=setting(cfg, "lot"),
        commission=float(setting(cfg, "commission", 0.0)),
        exit_profit_only=bool(setting(cfg, "exit_profit_only", False)),
        ignore_roi_if_entry_signal=bool(setting(cfg, "ignore_roi_if_entry_signal", False)),
        this_close=execution == "this_close",
    )


def step_of(adapter: BaseAdapter) -> Step:
    """Finds how an adapter is stepped: by plain numbers, or by the Series that its port names."""
    step_candle = getattr(adapter, "step_candle", None)
    if step_candle is None:
        return lambda feed, idx: adapter.step_bar(series_of(feed, idx))
    return lambda feed, idx: step_candle(*feed.candles.row(idx), feed.symbol)


class _Loop:
    """Holds the state between bars: entries that are placed and have not filled."""

    def __init__(self, adapter: BaseAdapter, rules: LoopRules, step: Step) -> None:
        self._adapter = adapter
        self._rules = rules
        self._waiting: dict[str, str] = {}  # order_id -> symbol
        self._step = step

    def play(self, moment: Moment) -> None:
        """Play the bars of one moment: entries, steps, withdrawals, exits."""
        placed: dict[str, str] = {}
        for feed, idx, request in moment:
            if request is not None and not self._collides(feed, idx, request, placed):
                order_id = self._place(feed, idx, request)
                if order_id is not None:
                    placed[order_id] = feed.symbol
        for feed, idx, _ in moment:
            for event in self._step(feed, idx):
                filled = str(event.get("order_id") or "")
                self._waiting.pop(filled, None)
                placed.pop(filled, None)
        positions = self._adapter.get_positions()
        if placed:
            self._settle(placed, positions)
        if positions:
            self._ask_exits(moment, positions)

    def _collides(
        self, feed: Feed, idx: int, request: StrategyDict, placed: Mapping[str, str]
    ) -> bool:
        """Says whether an entry fails by its exit rule or, under this_close, by what is held."""
        probe = {"position_id": "", "action": request.get("action")}
        if feed.decisions.leaves(probe, idx):
            return True
        if not self._rules.this_close:
            return False
        held = [str(position["symbol"]) for position in self._adapter.get_positions()]
        held += [*self._waiting.values(), *placed.values()]
        return feed.symbol in held or len(held) >= self._rules.max_positions

    def _place(self, feed: Feed, idx: int, request: StrategyDict) -> str | None:
        """Size an entry and send it; one too small for a lot is refused by the broker, openly."""
        equity = float(self._adapter.get_account()["equity"])
        order = sized_order(feed, idx, request, equity, self._rules)
        return placed_id(feed, idx, order, self._adapter.place_order(order))

    def _settle(self, placed: Mapping[str, str], positions: Sequence[Mapping[str, object]]) -> None:
        """Withdraw entries that have no place after the bar, and remember the others."""
        taken = [str(position["symbol"]) for position in positions]
        taken += self._waiting.values()
        for order_id, symbol in placed.items():
            if symbol in taken or len(taken) >= self._rules.max_positions:
                self._adapter.cancel_order(order_id)
            else:
                taken.append(symbol)
                self._waiting[order_id] = symbol

    def _ask_exits(self, moment: Moment, positions: Sequence[StrategyDict]) -> None:
        """Ask the exit rules about every position of the moment's symbols."""
        bars = {feed.symbol: (feed, idx, request) for feed, idx, request in moment}
        for position in positions:
            bar = bars.get(position["symbol"])
            if bar is None:
                continue
            feed, idx, request = bar
            close = feed.candles.plain.close[idx]
            if feed.decisions.leaves(position, idx) and may_leave(position, close, self._rules):
                self._adapter.close_position(position["position_id"])
            elif self._rules.ignore_roi_if_entry_signal:
                self._hold_roi(position, request)

    def _hold_roi(
        self, position: Mapping[str, object], request: Mapping[str, object] | None
    ) -> None:
        """While the entry signal of its side stands, a position's ROI waits for another bar."""
        hold = getattr(self._adapter, "hold_roi", None)
        if hold is not None and request is not None and request["action"] == position["action"]:
            hold(position["position_id"])
