"""Runs many parameter sets over the same candles: one report a set, memory that stays flat.

One run fills the arrays that the one before it filled. With several workers, each process holds
the candles once and answers in the order of the sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product

from Backtest.candles import Candles
from Backtest.compiled.signal_run import LoopRules, Room, can_compile, run_signals
from Backtest.metrics.run_report import calendar_of, make_report
from Backtest.sim_errors import BacktestError
from Backtest.sim_settings import SimSettings
from Backtest.strategy_signals import read_signals
from Backtest.trading_types import Report

Parameters = Mapping[str, object]
Offer = Callable[[Candles, Parameters], Mapping[str, object]]

_held: _World | None = None


def grid(**choices: Sequence[object]) -> list[dict[str, object]]:
    """Gives every combination of some choices: grid(fast=[10, 20], slow=[50]) has two sets."""
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
) -> Iterator[Report]:
    """Plays every set of parameters on checked candles and yields its report, in their order.

    `offer` says what the strategy wants with a set, as `strategy_signals` reads it; with several
    worker processes it must be a function of a module, or an object of its class.

    Raises:
        BacktestError: a set asks for something that the compiled path does not do.
    """
    world = _World(candles, offer, symbol, settings or SimSettings(), rules or LoopRules())
    if workers <= 1:
        for parameters in sets:
            yield world.report(parameters)
        return
    with ProcessPoolExecutor(workers, initializer=_hold, initargs=(world,)) as pool:
        yield from pool.map(_report_held, sets, chunksize=max(1, len(sets) // (4 * workers)))


def _hold(world: _World) -> None:
    """Keep the candles in a worker."""
    global _held
    _held = world


def _report_held(parameters: Parameters) -> Report:
    if _held is None:
        raise BacktestError("a worker of the sweep has no candles")
    return _held.report(parameters)


class _World:
    """Holds what all sets share: candles, settings, and the arrays that each run fills anew."""

    def __init__(
        self,
        candles: Candles,
        offer: Offer,
        symbol: str,
        settings: SimSettings,
        rules: LoopRules,
    ) -> None:
        self._candles = candles
        self._offer = offer
        self._symbol = symbol
        self._settings = settings
        self._rules = rules
        self._held = {symbol: (float(candles.open[0]), float(candles.close[-1]))}
        self._calendar = calendar_of(candles.times)
        self._room = Room()

    def report(self, parameters: Parameters) -> Report:
        """Play one set."""
        candles, settings, rules = self._candles, self._settings, self._rules
        signals = read_signals(self._offer(candles, parameters), len(candles))
        tape = None
        if can_compile(self._symbol, signals, settings, rules):
            tape = run_signals(self._symbol, candles, signals, settings, rules, self._room)
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
            held=self._held,
            rejected=tape.rejected,
            calendar=self._calendar,
            alone=True,
        )
