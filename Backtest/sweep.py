"""Runs many parameter sets over the same candles: one report a set, memory that stays flat.

A run's arrays are dropped before the next one starts. With several workers, each process holds the
candles once and answers in the order of the sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import Any

from Backtest.candles import Candles
from Backtest.compiled import LoopRules, can_compile, run_signals
from Backtest.errors import BacktestError
from Backtest.report import make_report
from Backtest.settings import SimSettings
from Backtest.signals import read_signals

Parameters = Mapping[str, Any]
Offer = Callable[[Candles, Parameters], Mapping[str, Any]]

_held: tuple[Candles, Offer, str, SimSettings, LoopRules] | None = None


def grid(**choices: Sequence[Any]) -> list[dict[str, Any]]:
    """Every combination of some choices: grid(fast=[10, 20], slow=[50]) has two sets."""
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


def sweep(
    candles: Candles,
    offer: Offer,
    sets: Sequence[Parameters],
    *,
    symbol: str = "ASSET",
    settings: SimSettings | None = None,
    rules: LoopRules | None = None,
    workers: int = 1,
) -> Iterator[dict[str, Any]]:
    """Play every set of parameters and yield its report, in the order of the sets.

    Args:
        candles: checked candles of one symbol.
        offer: what the strategy wants with a set of parameters, as `Backtest.signals` reads it.
            With several workers it must be a function of a module.
        sets: the parameter sets.
        symbol: whose candles they are.
        settings: of the broker.
        rules: of the loop.
        workers: processes.

    Raises:
        BacktestError: a set asks for something that the compiled path does not do.
    """
    world = (candles, offer, symbol, settings or SimSettings(), rules or LoopRules())
    if workers <= 1:
        for parameters in sets:
            yield _report(world, parameters)
        return
    with ProcessPoolExecutor(workers, initializer=_hold, initargs=world) as pool:
        yield from pool.map(_report_held, sets, chunksize=max(1, len(sets) // (4 * workers)))


def _hold(*world: Any) -> None:
    """Keep the candles in a worker."""
    global _held
    _held = world


def _report_held(parameters: Parameters) -> dict[str, Any]:
    if _held is None:
        raise BacktestError("a worker of the sweep has no candles")
    return _report(_held, parameters)


def _report(
    world: tuple[Candles, Offer, str, SimSettings, LoopRules], parameters: Parameters
) -> dict[str, Any]:
    """Play one set."""
    candles, offer, symbol, settings, rules = world
    signals = read_signals(offer(candles, parameters), len(candles))
    tape = None
    if can_compile(symbol, signals, settings, rules):
        tape = run_signals(symbol, candles, signals, settings, rules)
    if tape is None:
        raise BacktestError(
            f"the set {dict(parameters)!r} asks for orders that a sweep does not play",
            "Run it alone; the event path says what is wrong with them",
        )
    return make_report(
        settings=settings,
        trades=tape.ledger(),
        times=candles.times,
        equity=tape.equity,
        held={symbol: (float(candles.open[0]), float(candles.close[-1]))},
        rejected=tape.rejected,
    )
