"""Passes bars at which a simulated broker has nothing to do, many at once; the loop plays the rest.

A bar is quiet if nothing is wanted, nothing waits and it touches no level of what is held. Writing
such bars down in bulk gives what stepping each of them gives, to the last bit.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from adapters.base_adapter import BaseAdapter
from adapters.loop.entries import may_leave
from adapters.loop.feeds import Feed, Moment
from adapters.loop.strategy_decisions import Decisions
from adapters.orders import BrokerEvent, StrategyDict
from adapters.simbroker_adapter import SimBrokerAdapter
from Backtest.compiled.signal_run import LoopRules

# What to call with frame, indicators and bar, both of them, and the bars that never enter.
Question = tuple[Callable[..., StrategyDict | None], object, object, frozenset[int]]


def quiet_bars(adapter: BaseAdapter, feeds: Sequence[Feed], rules: LoopRules) -> "QuietBars | None":
    """Makes the filter for one symbol on a fresh simulated broker; None for anything else."""
    if (
        len(feeds) == 1
        and type(adapter) is SimBrokerAdapter
        and adapter.broker.is_fresh
        and rules.max_positions >= 1
    ):
        return QuietBars(adapter, feeds[0], rules)
    return None


class QuietBars:
    """Knows a broker that lags behind while bars are quiet and catches up when it is needed."""

    def __init__(self, adapter: SimBrokerAdapter, feed: Feed, rules: LoopRules) -> None:
        self._broker = adapter.broker
        self._feed = feed
        self._rules = rules
        self._plain = feed.candles.plain
        self._book = adapter.broker.open_book(feed.symbol)
        self._passed = 0
        self._quiet = -1

    def busy(self) -> Iterator[Moment]:
        """Asks the rules at every bar and yields the bars that are to be played."""
        feed, book, closes, rules = self._feed, self._book, self._plain.close, self._rules
        is_quiet, leaves = self._is_quiet, feed.decisions.leaves
        find_entries, df, indicators, both = _question(feed.decisions)
        idle = True  # nothing is held and nothing waits
        for idx in range(len(closes)):
            wanted = find_entries(df, indicators, idx)
            if not wanted or idx in both:
                if idle:
                    continue
                wanted = None
                if is_quiet(idx):
                    close = closes[idx]
                    shown = book.positions[0].view(close)
                    if not leaves(shown, idx) or not may_leave(shown, close, rules):
                        continue
            else:
                if not idle:
                    is_quiet(idx)
                self._catch_up(idx)
            yield [(feed, idx, wanted)]
            idle = not book.positions and not book.orders
        self._catch_up(len(closes))

    def step(self, _: Feed, idx: int) -> list[BrokerEvent]:
        """Plays a bar, after the quiet ones before it."""
        if idx == self._quiet:
            self._catch_up(idx + 1)
            return []
        self._catch_up(idx)
        self._passed = idx + 1
        return self._broker.step_candle(*self._feed.candles.row(idx), self._feed.symbol)

    def _is_quiet(self, idx: int) -> bool:
        """Says whether a bar changes only the equity; trailing stops have followed it then."""
        book, plain = self._book, self._plain
        if book.orders or not book.positions:
            return False
        (position,) = book.positions
        limit = position.target
        if position.roi:
            limit = position.resting_limit(plain.times[idx], idx)[0]
        if not position.outlasts(limit, plain.high[idx], plain.low[idx]):
            return False
        self._quiet = idx
        return True

    def _catch_up(self, bars: int) -> None:
        """Writes down the quiet bars up to a number of bars."""
        first = self._passed
        if first == bars:
            return
        self._passed = bars
        candles, plain, book = self._feed.candles, self._plain, self._book
        account = book.account
        equity = cash = np.full(bars - first, account.cash)
        for position in book.positions:  # at most one
            equity = cash + position.worths(candles.close[first:bars])
        account.fill(candles.times[first:bars], equity, cash)
        if book.first_open == 0.0:
            book.first_open = plain.open[first]
        self._broker.skip(book, plain.times[bars - 1], plain.close[bars - 1], bars - first)


def _question(decisions: Decisions) -> Question:
    """Finds what to call with frame, indicators and bar, and the bars that never enter."""
    asked: Question | None = getattr(decisions, "question", None)
    if asked is not None:
        return asked
    entry = decisions.entry
    return (lambda df, indicators, idx: entry(idx)), None, None, frozenset()
