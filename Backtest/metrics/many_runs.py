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
Span = tuple[int, int]  # from one row on, up to another

_held: Callable[[Parameters], Any] | None = None


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
    world = (symbol, settings or SimSettings(), rules or LoopRules())
    for (answer,) in sweep_parts(candles, offer, sets, measure, world, None, workers):
        yield answer


def sweep_parts(
    candles: Candles,
    offer: Offer,
    sets: Sequence[Parameters],
    measure: Callable[[Played], Answer],
    world: tuple[str, SimSettings, LoopRules],
    spans: Sequence[Span] | None,
    workers: int = 1,
) -> Iterator[tuple[Answer, ...]]:
    """Plays every set on each of the spans of rows, as a run of its own with the capital whole.

    The signals are those of the whole history, so that indicators are warm; None is all rows.

    Raises:
        BacktestError: as `sweep`.
    """
    yield from ask_all(_World(candles, offer, measure, *world, spans), sets, workers)


def ask_all(
    answer: Callable[[Parameters], Answer], sets: Sequence[Parameters], workers: int = 1
) -> Iterator[Answer]:
    """Yields what is answered to every set, in their order; each process gets `answer` once."""
    if workers <= 1:
        yield from map(answer, sets)
        return
    with ProcessPoolExecutor(workers, initializer=_hold, initargs=(answer,)) as pool:
        yield from pool.map(_answer_held, sets, chunksize=max(1, len(sets) // (4 * workers)))


def _hold(answer: Callable[[Parameters], Any]) -> None:
    """Keep the candles in a worker."""
    global _held
    _held = answer


def _answer_held(parameters: Parameters) -> Any:
    if _held is None:
        raise BacktestError("a worker of the sweep has no candles")
    return _held(parameters)


def signals_of(offered: Mapping[str, object] | Signals, bars: int) -> Signals:
    """Gives what is offered as signals, checked."""
    return offered if isinstance(offered, Signals) else read_signals(offered, bars)


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
        spans: Sequence[Span] | None = None,
    ) -> None:
        self._candles = candles
        self._offer = offer
        self._measure = measure
        self._symbol = symbol
        self._settings = settings
        self._rules = rules
        cut = [(0, len(candles))] if spans is None else spans
        parts = [(span, candles.rows(*span)) for span in cut]
        self._parts = [(span, part, calendar_of(part.times)) for span, part in parts]
        self._room = Room()

    def __call__(self, parameters: Parameters) -> tuple[Answer, ...]:
        """Play one set, on each part of the candles."""
        candles = self._candles
        whole = signals_of(self._offer(candles, parameters), len(candles))
        return tuple(
            self._play(part, whole if part is candles else whole.cut(*span), calendar, parameters)
            for span, part, calendar in self._parts
        )

    def _play(
        self, candles: Candles, signals: Signals, calendar: Calendar, parameters: Parameters
    ) -> Answer:
        settings, rules, tape = self._settings, self._rules, None
        if can_compile(self._symbol, signals, settings, rules):
            tape = run_signals(self._symbol, candles, signals, settings, rules, self._room)
        if tape is None:
            raise BacktestError(
                f"the set {dict(parameters)!r} asks for orders that a sweep does not play",
                "Run it alone; the event path says what is wrong with them",
            )
        return self._measure(Played(tape, tape.ledger(), calendar))
