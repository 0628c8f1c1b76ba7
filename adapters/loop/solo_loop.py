"""Runs the loop for one symbol on a fresh simulated broker, by a short way.

The same questions in the same order and the same answers to the last bit; only bars at which the
broker has nothing to do are not stepped one by one.
"""

from collections.abc import Sequence
from typing import Any

from adapters.base_adapter import BaseAdapter
from adapters.loop.entries import may_leave, placed_id, sized_order
from adapters.loop.feeds import Feed
from adapters.loop.strategy_decisions import Decisions
from adapters.orders import PositionView, StrategyDict
from adapters.simbroker_adapter import SimBrokerAdapter
from Backtest.compiled.signal_run import LoopRules
from Backtest.positions import Position
from Backtest.walk import Walk


def can_walk(adapter: BaseAdapter, feeds: Sequence[Feed], rules: LoopRules) -> bool:
    """Whether the short way is open."""
    return (
        len(feeds) == 1
        and type(adapter) is SimBrokerAdapter
        and adapter.broker.is_fresh
        and rules.max_positions >= 1
    )


def walk_alone(adapter: BaseAdapter, feed: Feed, rules: LoopRules) -> StrategyDict:
    """Play all candles of the feed; returns the report."""
    assert isinstance(adapter, SimBrokerAdapter)  # noqa: S101 - can_walk has looked
    walk = Walk(adapter.broker, feed.symbol, feed.candles)
    solo = _Solo(adapter, feed, rules, walk)
    find_entries, df, indicators, both = question_of(feed.decisions)
    is_quiet = walk.is_quiet
    held: Position | None = None
    idle = True  # nothing is held and nothing waits
    for idx in range(len(feed.candles)):
        wanted = find_entries(df, indicators, idx)
        if wanted and idx not in both:
            held = solo.enter(idx, wanted)
        else:
            if idle:
                continue
            wanted = None
            if not is_quiet(idx):
                walk.step(idx)
                held = walk.held
        if held is not None and solo.ask_exit(idx, held, wanted):
            held = walk.held
        idle = held is None and not walk.is_waiting
    walk.catch_up(len(feed.candles))
    return adapter.generate_report()


def question_of(decisions: Decisions) -> tuple[Any, Any, Any, frozenset[int]]:
    """What to call with frame, indicators and idx at every bar, and the bars that never enter."""
    asked: tuple[Any, Any, Any, frozenset[int]] | None = getattr(decisions, "question", None)
    if asked is not None:
        return asked
    entry = decisions.entry
    return (lambda df, indicators, idx: entry(idx)), None, None, frozenset()


class _Solo:
    """What happens at the bars that are not quiet."""

    def __init__(self, adapter: SimBrokerAdapter, feed: Feed, rules: LoopRules, walk: Walk) -> None:
        self._adapter = adapter
        self._feed = feed
        self._rules = rules
        self._walk = walk
        self._shown: PositionView | None = None
        self._closes = feed.candles.plain.close
        self._leaves = feed.decisions.leaves

    def enter(self, idx: int, wanted: StrategyDict) -> Position | None:
        """Place an entry, step the bar, withdraw the entry if something is held then."""
        walk, broker = self._walk, self._adapter.broker
        held, order_id = walk.held, None
        taken = self._rules.this_close and (held is not None or walk.is_waiting)
        probe = {"position_id": "", "action": wanted.get("action")}
        if not self._leaves(probe, idx) and not taken:
            order = sized_order(self._feed, idx, wanted, walk.equity_before(idx), self._rules)
            quiet = held is not None and walk.is_quiet(idx)
            if not quiet or not order["volume"] > 0.0:
                walk.catch_up(idx)
            order_id = placed_id(self._feed, idx, order, broker.place_order(order))
            if quiet:  # held before and after, so that the entry has no place
                if order_id is not None:
                    broker.cancel_order(order_id)
                return held
        walk.step(idx)
        held = walk.held
        if order_id is not None and held is not None:
            broker.cancel_order(order_id)
        return held

    def ask_exit(self, idx: int, held: Position, wanted: StrategyDict | None) -> bool:
        """Ask the exit rule about the position; whether it leaves, and what the ROI does if not."""
        shown = self._view(held, self._closes[idx])
        if self._leaves(shown, idx) and may_leave(shown, self._closes[idx], self._rules):
            self._walk.catch_up(idx + 1)
            self._adapter.close_position(held.position_id)
            return True
        stands = wanted is not None and wanted["action"] == shown["action"]
        if stands and self._rules.ignore_roi_if_entry_signal:
            self._walk.catch_up(idx + 1)
            self._adapter.hold_roi(held.position_id)
        return False

    def _view(self, held: Position, close: float) -> PositionView:
        """Shows the position as `get_positions` does; what never changes is kept."""
        kept = self._shown
        if kept is None or kept["position_id"] != held.position_id:
            kept = self._shown = held.view(close)
        shown = kept.copy()
        held.refresh(shown, close)
        return shown
