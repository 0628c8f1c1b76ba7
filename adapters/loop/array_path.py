"""Takes the compiled path for a run, where the strategy offers arrays and nothing forbids it."""

from collections.abc import Sequence

from adapters.base_adapter import BaseAdapter
from adapters.loop.feeds import Feed
from adapters.simbroker_adapter import SimBrokerAdapter
from Backtest.compiled.signal_run import LoopRules, can_compile, is_worth_compiling, run_signals


def run_arrays(
    adapter: BaseAdapter, feeds: Sequence[Feed], rules: LoopRules, *, always: bool = False
) -> bool:
    """Run all bars at once if that gives the same result sooner.

    Several symbols share cash bar by bar and stay on the event path, as does a broker that was
    used before or was made with `compiled=False`. `always` takes the compiled path however few
    bars there are. Answers whether it was done; if not, nothing has changed.
    """
    if len(feeds) != 1 or not isinstance(adapter, SimBrokerAdapter):
        return False
    (feed,), broker = feeds, adapter.broker
    if not (broker.settings.compiled and broker.is_fresh):
        return False
    if not (always or is_worth_compiling(len(feed.candles))):
        return False
    offer = getattr(feed.decisions, "signals", None)
    signals = offer(feed.symbol, feed.candles.close) if offer is not None else None
    if signals is None or not can_compile(feed.symbol, signals, broker.settings, rules):
        return False
    tape = run_signals(feed.symbol, feed.candles, signals, broker.settings, rules)
    if tape is None:
        return False
    broker.adopt(tape)
    return True
