"""Plays random worlds on the event path and on the compiled path: the two must be one.

The event path is taken twice: by its short way for one symbol, and bar by bar through every method.

    python -m benchmarks.worlds 20000

A world is some candles, rules that hold at random bars, and random risk settings, costs, ticks and
lots. Trades, events, equity, account, open positions and report are compared to the last bit, and
so is what two more bars make of what was still open.
"""

import random
import sys
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from adapters.loop.array_path import run_arrays
from adapters.loop.feeds import Feed
from adapters.loop.strategy_decisions import SignalDecisions
from adapters.simbroker_adapter import SimBrokerAdapter
from adapters.strategy_loop import loop_rules, run_feeds
from Backtest.candles import Candles
from Backtest.sim_errors import OrderError
from Backtest.simbroker import SimBroker
from Backtest.strategy_signals import read_signals

STEP_MS = 15 * 60_000
DAY_MS = 24 * 3_600_000
SYMBOL = "X/Y"
LONG_BARS = 2_500  # in every 100th world: checks and figures are machine code from 2,000 on
JUMPS = (0.9, 0.99, 1.0, 1.1, 3.0, -0.5)
MORE_BARS = ((0.99, 1.02, 0.97, 1.0), (1.0, 1.04, 0.9, 1.02))


@dataclass(frozen=True)
class World:
    """Candles, signals and settings of one run."""

    candles: Candles
    offered: dict[str, Any]
    broker: dict[str, Any]
    loop: dict[str, Any]


def random_world(seed: int) -> World:
    """Any run of one symbol that a strategy with array signals could ask for."""
    rng = random.Random(seed)  # noqa: S311 - candles, not secrets
    bars = rng.choice((1, 2, 30, 80, 300))
    candles = _candles(rng, LONG_BARS if seed % 100 == 0 else bars)
    lot = rng.choice((None, None, None, 1.0, 0.25, 0.001, 1e-8))
    commission = rng.choice((0.0, 0.001, 0.0025))
    broker: dict[str, Any] = {
        "capital": rng.choice((150.0, 1_000.0, 10_000.0)),
        "commission": commission,
        "slippage": rng.choice((0.0, 0.0005)),
        "spread": rng.choice((0.0, 0.0004)),
        "tick": rng.choice((None, None, 0.05, 0.25, 0.01, 1e-8)),
        "lot": lot,
        "min_notional": rng.choice((None, None, 10.0, 600.0)),
        "execution": rng.choice(("next_open", "next_open", "this_close")),
    }
    loop = {
        "lot": lot,
        "commission": rng.choice((commission, 0.0)),
        "exit_profit_only": rng.random() < 0.3,
        "ignore_roi_if_entry_signal": rng.random() < 0.3,
        "max_positions": rng.choice((1, 3)),
    }
    return World(candles, _signals(rng, len(candles)), broker, loop)


def _candles(rng: random.Random, bars: int) -> Candles:
    """Jumpy candles on a coarse grid, so that levels are met exactly, or fine; some are missing."""
    rows, price = [], 100.0
    grid = rng.choice((2.0, 2.0, 1e6))
    wild = rng.random() < 0.2  # prices double and halve, so that shorts lose their collateral
    for _ in range(bars):
        gap = rng.choice((0.0, 0.0, 0.5, -0.5, 3.0, -3.0, 6.0, -6.0))
        if wild and rng.random() < 0.1:
            gap = price * rng.choice(JUMPS) if price < 1e4 else -0.9 * price
        opened = max(20.0, price + gap)
        closed = max(20.0, opened + _on(grid, rng.uniform(-4.0, 4.0)))
        high = max(opened, closed) + _on(grid, rng.uniform(0.0, 4.0))
        if wild and rng.random() < 0.1:
            high = _on(grid, high * rng.uniform(1.0, 2.5))
        low = min(opened, closed) - _on(grid, rng.uniform(0.0, 4.0))
        rows.append((opened, high, low, closed, 1.0))
        price = closed
    times = np.arange(bars, dtype=np.int64) * STEP_MS + 1_700_000_000_000
    if rng.random() < 0.3:  # gaps, and years that end among them
        times += np.cumsum([rng.choice((0, 0, 0, 2 * DAY_MS)) for _ in range(bars)])
    return Candles(times, *np.ascontiguousarray(np.array(rows).T))


def _on(grid: float, value: float) -> float:
    return round(value * grid) / grid


def _signals(rng: random.Random, bars: int) -> dict[str, Any]:
    """Rules that hold now and then, or often, and what the entries ask for."""
    offered: dict[str, Any] = {}
    for rule in ("enter_long", "exit_long", "enter_short", "exit_short"):
        share = rng.choice((0.0, 0.03, 0.1, 0.4))
        if rng.random() < 0.8:
            offered[rule] = np.array([rng.random() < share for _ in range(bars)])
    for name, least in (("stop", 0.0), ("target", 0.3)):
        level = _level(rng, bars) if rng.random() >= least else None
        if level is not None:
            offered[name] = level
    if rng.random() < 0.4:
        trail: dict[str, Any] = {"fraction": rng.choice((0.01, 0.03))}
        if rng.random() < 0.2:
            trail = {"distance": rng.choice((1.0, 2.5))}
        if rng.random() < 0.6:
            trail["activate_at"] = rng.choice((0.013, 0.037))
            trail["only_after_activation"] = rng.random() < 0.5
        offered["trail"] = trail
    if rng.random() < 0.4:
        offered["roi"] = {rng.choice((0, 15)): 0.06, 30: 0.03, 90: rng.choice((0.0, 0.01, -0.01))}
    sizes = ({"units": rng.choice((1.0, 3.0))}, {"equity": rng.choice((0.1, 0.5, 0.99, 1.0))})
    by_risk = {"risk": rng.choice((0.01, 0.05))}
    if rng.random() < 0.3:
        by_risk["cap"] = rng.choice((0.2, 0.9, 1.0))
    offered["size"] = rng.choice((*sizes, by_risk))
    return offered


def _level(rng: random.Random, bars: int) -> dict[str, Any]:
    """A stop or target: a fraction, a distance, or one distance a bar, some of them missing."""
    form = rng.randint(0, 3)
    if form < 2:
        return {"fraction": rng.choice((0.01, 0.02, 0.05, 0.2, 0.6, 0.98))}
    if form == 2 or bars < 2:
        return {"distance": rng.choice((1.0, 2.0, 4.5))}
    sizes = [rng.choice((1.0, 2.0, 3.7, 12.0)) for _ in range(bars)]
    missing = min(bars - 1, rng.choice((0, 5)))
    return {"distance": np.array([np.nan] * missing + sizes[missing:])}


class StepwiseAdapter(SimBrokerAdapter):
    """An adapter for which no loop knows a short way."""


def play(world: World, *, compiled: bool, stepwise: bool = False) -> SimBroker | None:
    """The world on one path; None where an order was one that stops a run."""
    broker = SimBroker(**world.broker, compiled=compiled)
    adapter = (StepwiseAdapter if stepwise else SimBrokerAdapter)(broker)
    signals = read_signals(world.offered, len(world.candles))
    feed = Feed(SYMBOL, world.candles, SignalDecisions(signals, SYMBOL, world.candles.close))
    if compiled:
        rules = loop_rules(adapter, world.loop)
        return broker if run_arrays(adapter, [feed], rules, always=True) else None
    try:
        run_feeds(adapter, [feed], world.loop)
    except OrderError:
        return None
    return broker


def state_of(broker: SimBroker) -> dict[str, Any]:
    """Everything that can be seen of a broker."""
    return {
        "report": broker.generate_report(),
        "trades": broker.get_trades(),
        "equity": broker.get_equity_curve(),
        "events": broker.get_events(),
        "account": broker.get_account(),
        "positions": broker.get_positions(),
    }


def difference(world: World) -> str | None:
    """The first thing in which the paths differ, None if they are one."""
    event = play(world, compiled=False, stepwise=True)
    quick, compiled = play(world, compiled=False), play(world, compiled=True)
    if event is not None and (quick is None or state_of(event) != state_of(quick)):
        return "the event path's short way"
    if event is None or compiled is None:
        return None if event is compiled else "one path refused an order"
    for when in ("at the end", "after more bars"):
        expected, found = state_of(event), state_of(compiled)
        for name, value in expected.items():
            if found[name] != value:
                return f"{name} {when}: event {value!r}, compiled {found[name]!r}"
        last, time_ms = float(world.candles.close[-1]), int(world.candles.times[-1])
        for step, factors in enumerate(MORE_BARS, 1):
            o, h, low, c = (last * factor for factor in factors)
            bar = (time_ms + step * STEP_MS, o, h, low, c, 1.0, SYMBOL)
            if when == "at the end" and event.step_candle(*bar) != compiled.step_candle(*bar):
                return "the events of a bar after the run"
    return None


def main(arguments: list[str]) -> int:
    """Play worlds and say how many agreed, and which rules they reached."""
    count = int(arguments[0]) if arguments else 20_000
    start = time.perf_counter()
    rules: Counter[str] = Counter()
    differing = 0
    for seed in range(count):
        world = random_world(seed)
        found = difference(world)
        if found is not None:
            differing += 1
            print(f"world {seed}: {found[:600]}")
        if seed % 10 == 0 and (broker := play(world, compiled=False)) is not None:
            rules.update(trade.rule_out for trade in broker.get_trades())
    seconds = time.perf_counter() - start
    print(f"{count} worlds, {differing} differ, {seconds:.0f} s")
    print("exits in every 10th world: " + ", ".join(f"{k} {v}" for k, v in sorted(rules.items())))
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
