"""The compiled path is the event path: the same fills, events, equity and report, bit for bit."""

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adapters.loop.array_path import run_arrays
from adapters.loop.feeds import Feed
from adapters.loop.strategy_decisions import SignalDecisions
from adapters.simbroker_adapter import SimBrokerAdapter
from Backtest.compiled import signal_run as compiled
from Backtest.compiled.signal_run import LoopRules
from Backtest.sim_errors import BacktestError
from Backtest.simbroker import SimBroker
from Backtest.strategy_signals import read_signals
from benchmarks.worlds import SYMBOL, World, difference, play, random_world

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("batch", range(8))
def test_random_worlds_are_the_same_on_both_paths(batch: int) -> None:
    for seed in range(batch * 60, batch * 60 + 60):
        assert difference(random_world(seed)) is None, seed


def test_the_random_worlds_reach_every_rule_and_refusal() -> None:
    reached: Counter[str] = Counter()
    for seed in range(300):
        broker = play(random_world(seed), compiled=True)
        assert broker is not None
        reached.update(trade.rule_out for trade in broker.get_trades())
        reached.update(event["rule"] for event in broker.get_events())
        reached.update("ambiguous" for trade in broker.get_trades() if trade.ambiguous)
    rules = "stop stop_gap trailing_stop trailing_gap target target_gap roi roi_gap exit_long"
    assert set(reached) == {
        *rules.split(),
        *("exit_short", "end_of_data", "enter_long", "enter_short", "refused", "ambiguous"),
        "liquidated",
    }


def a_feed(world: World, **changes: Any) -> Feed:
    signals = read_signals({**world.offered, **changes}, len(world.candles))
    return Feed(SYMBOL, world.candles, SignalDecisions(signals, SYMBOL, world.candles.close))


def test_a_stop_below_zero_is_left_to_the_event_path_and_never_reached() -> None:
    bars = np.array([idx == 5 for idx in range(80)])
    offered = {"enter_long": bars, "stop": {"distance": 500.0}, "size": {"units": 1.0}}
    world = random_world(next(s for s in range(99) if len(random_world(s).candles) == 80))
    world = World(world.candles, offered, {}, {})
    assert play(world, compiled=True) is None
    broker = play(world, compiled=False)
    assert broker is not None
    assert [trade.rule_out for trade in broker.get_trades()] == ["end_of_data"]


def test_compiled_false_forces_the_event_path() -> None:
    adapter = SimBrokerAdapter(SimBroker(compiled=False))
    assert not run_arrays(adapter, [a_feed(random_world(1))], LoopRules(), always=True)


def test_a_used_broker_and_several_symbols_stay_on_the_event_path() -> None:
    feed = a_feed(random_world(1))
    used = SimBroker()
    used.step_candle(0, 1.0, 1.0, 1.0, 1.0)
    assert not run_arrays(SimBrokerAdapter(used), [feed], LoopRules(), always=True)
    assert not run_arrays(SimBrokerAdapter(SimBroker()), [feed, feed], LoopRules(), always=True)


def test_a_broker_adopts_only_when_unused() -> None:
    broker = play(random_world(3), compiled=True)
    other = play(random_world(3), compiled=True)
    assert broker is not None
    assert other is not None
    other.get_trades()
    assert broker._tape is not None
    with pytest.raises(ValueError, match="unused"):
        other.adopt(broker._tape)


def test_small_inputs_do_not_import_the_compiler() -> None:
    code = (
        "import sys, pandas as pd\n"
        "from adapters.testing import market, new_adapter\n"
        "from adapters.strategy_loop import replay\n"
        "class S:\n"
        "    def __init__(self, cfg): pass\n"
        "    def prepare_indicators(self, df): return {}\n"
        "    def signals(self, indicators): raise AssertionError('asked')\n"
        "    def find_entries(self, df, indicators, idx): return None\n"
        "    def find_exits(self, position, df, indicators, idx): return None\n"
        "replay(S, new_adapter({}), market(500, 1), {})\n"
        "assert 'numba' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_compiler_is_worth_it_for_many_bars_or_once_it_is_there() -> None:
    import Backtest.compiled.kernel  # noqa: F401 - loaded, so that few bars are enough

    assert compiled.is_worth_compiling(compiled.WORTH_A_CALL_BARS)
    assert not compiled.is_worth_compiling(compiled.WORTH_A_CALL_BARS - 1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"enter_long": np.zeros(3)}, "enter_long is float64"),
        ({"enter_lng": None}, "Did you mean 'enter_long'"),
        ({"size": {"lots": 1}}, "size is"),
        ({"stop": {"fraction": 2.0}}, "Did you mean 0.02"),
        ({"stop": {"distance": np.ones(2)}}, "one for each of the 3 bars"),
    ],
)
def test_malformed_signals_are_refused_with_what_is_wrong(
    change: dict[str, Any], said: str
) -> None:
    sound = {"enter_long": np.zeros(3, dtype=bool), "size": {"units": 1.0}}
    with pytest.raises(BacktestError, match=said):
        read_signals({**sound, **change}, 3)
