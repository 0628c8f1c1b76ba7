"""Runs many parameter sets over the same candles: one answer a set, memory that stays flat.

One run fills the arrays that the one before it filled. With several workers, each process holds
the candles once and answers in the order of the sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from Backtest.candles import Candles
from Backtest.compiled.signal_run import LoopRules, Room, can_compile, run_signals
from Backtest.metrics.ledger import Ledger
from Backtest.metrics.run_report import Calendar, calendar_of, key_figures, make_report
from Backtest.sim_errors import BacktestError
from Backtest.sim_settings import SimSettings
from Backtest.strategy_signals import Signals, read_signals
from Backtest.trading_types import Figures, Report

if TYPE_CHECKING:
    from Backtest.compiled.tape import Tape

Parameters = Mapping[str, object]
Offer = Callable[[Candles, Parameters], Mapping[str, object] | Signals]
Answer = TypeVar("Answer")

_held: _World[Any] | None = None


@dataclass(frozen=True)
class Played:
    """Holds one set's run; its arrays are filled anew by the next."""

    tape: Tape
    ledger: Ledger
    calendar: Calendar

    @property
    def moving(self) -> tuple[Any, Any]:
        """Tells from which rows on, and up to which others, equity may have moved."""
        return self.ledger.entry_row, self.ledger.exit_row

    def figures(self) -> Figures:
        """Gives the figures that sets are compared by: a report's own, without its splits."""
        tape = self.tape
        return key_figures(
            tape.settings.capital, self.ledger, tape.equity, self.calendar, alone=True
        )

    def report(self) -> Report:
        """Gives the whole report."""
        tape = self.tape
        candles = tape.candles
        return make_report(
            settings=tape.settings,
            trades=self.ledger,
            times=candles.times,
            equity=tape.equity,
            held={tape.symbol: (float(candles.open[0]), float(candles.close[-1]))},
            rejected=tape.rejected,
            calendar=self.calendar,
            alone=True,
        )


def grid(**choices: Sequence[object]) -> list[dict[str, object]]:
    """Gives every combination of some choices: grid(fast=[10, 20], slow=[50]) has two sets."""
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


def sweep(
    candles: Candles,
    offer: Offer,
    sets: Sequence[Parameters],
    measure: Callable[[Played], Answer],
    *,
    symbol: str = "ASSET",
    settings: SimSettings | None = None,
    rules: LoopRules | None = None,
    workers: int = 1,
) -> Iterator[Answer]:
    """Plays every set of parameters on checked candles and yields what is measured, in their order.

    `offer` says what the strategy wants with a set, read or as `strategy_signals` reads it, and
    `measure` what is kept of its run; with several worker processes both must be functions of a
    module, or objects of its classes.

    Raises:
        BacktestError: a set asks for something that the compiled path does not do.
    """
    world = _World(candles, offer, measure, symbol, settings or SimSettings(), rules or LoopRules())
    if workers <= 1:
        for parameters in sets:
            yield world.answer(parameters)
        return
    with ProcessPoolExecutor(workers, initializer=_hold, initargs=(world,)) as pool:
        yield from pool.map(_answer_held, sets, chunksize=max(1, len(sets) // (4 * workers)))


def _hold(world: _World[Any]) -> None:
    """Keep the candles in a worker."""
    global _held
    _held = world


def _answer_held(parameters: Parameters) -> Any:
    if _held is None:
        raise BacktestError("a worker of the sweep has no candles")
    return _held.answer(parameters)


class _World(Generic[Answer]):
    """Holds what all sets share: candles, settings, and the arrays that each run fills anew."""

    def __init__(
        self,
        candles: Candles,
        offer: Offer,
        measure: Callable[[Played], Answer],
        symbol: str,
        settings: SimSettings,
        rules: LoopRules,
    ) -> None:
        self._candles = candles
        self._offer = offer
        self._measure = measure
        self._symbol = symbol
        self._settings = settings
        self._rules = rules
        self._calendar = calendar_of(candles.times)
        self._room = Room()

    def answer(self, parameters: Parameters) -> Answer:
        """Play one set."""
        candles, settings, rules = self._candles, self._settings, self._rules
        offered = self._offer(candles, parameters)
        signals = offered if isinstance(offered, Signals) else read_signals(offered, len(candles))
        tape = None
        if can_compile(self._symbol, signals, settings, rules):
            tape = run_signals(self._symbol, candles, signals, settings, rules, self._room)
        if tape is None:
            raise BacktestError(
                f"the set {dict(parameters)!r} asks for orders that a sweep does not play",
                "Run it alone; the event path says what is wrong with them",
            )
        return self._measure(Played(tape, tape.ledger(), self._calendar))
