"""Turns a contract, candles and sets of values into a table of what each set gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from adapters.loop.feeds import Feed
from adapters.loop.strategy_decisions import SignalDecisions
from adapters.loop.views import CandleView
from adapters.simbroker_adapter import SimBrokerAdapter
from adapters.strategy_cli import broker_settings
from adapters.strategy_loop import loop_rules, run_feeds
from Backtest.candles import Candles
from Backtest.metrics.ledger import ledger_of
from Backtest.metrics.many_runs import Played, Span, ask_all, signals_of, sweep_parts
from Backtest.metrics.no_edge import NO_EDGE
from Backtest.metrics.overfitting import BLOCKS
from Backtest.metrics.run_report import buy_and_hold, calendar_of
from Backtest.metrics.trade_chance import TradeChance, trade_chance, trade_returns
from Backtest.sim_errors import BacktestError, nearest
from Backtest.simbroker import SimBroker
from Backtest.strategy_signals import Signals, read_rules, read_signals
from bot.contract.language.contract_decisions import contract_signals, risk_signals
from bot.contract.language.evaluator import Memo, evaluate
from bot.contract.numbers import RiskNumbers, flat_settings
from bot.errors import InputError
from bot.sweep.luck import LOW_IS_GOOD, Luck, Tried, deflate, luck_of

if TYPE_CHECKING:
    from bot.contract.language.program import Program
    from bot.contract.model import Contract

Market = Candles | Mapping[str, Candles]  # of one symbol, or by symbol
WORLDS_A_SEED = 1_000_000  # so that the worlds of two seeds are others
FIGURES = (
    "sharpe",
    "sortino",
    "calmar",
    "return",
    "annual_return",
    "max_drawdown",
    "total_trades",
    "win_rate",
    "profit_factor",
    "expectancy",
    "total_pnl",
    "exposure",
    "turnover",
    "costs",
    "break_even_cost_bps",
)


@dataclass(frozen=True)
class SweepResult:
    """Every set, the best first, by one figure."""

    metric: str
    rows: Sequence[Tried]
    luck: Luck
    bars: int = 0
    buy_and_hold: Mapping[str, Any] = field(default_factory=dict)

    @property
    def best(self) -> dict[str, Any]:
        """The figures of the first row, under the names of a summary."""
        row = self.rows[0]
        rejected = {"orders_rejected": sum(row.rejections.values()), "rejections": row.rejections}
        shared = {"bars": self.bars, "buy_and_hold": self.buy_and_hold}
        return {**row.figures, **rejected, **shared}


class ContractOffer:
    """What a contract wants with other values of its parameters; it remembers shared parts."""

    def __init__(self, contract: Contract, program: Program) -> None:
        """Take the contract and its Program."""
        self._contract = contract
        self._program = program
        self._memo = Memo()
        self._answers = Memo()
        self._view: CandleView | None = None
        self._read = sorted(program.parameters_read)
        self._risked = sorted(RiskNumbers(contract, program).named)
        self._risks: dict[tuple[int | float, ...], Signals] = {}

    def __call__(self, candles: Candles, values: Mapping[str, Any]) -> Signals:
        """The signals of a set; what sets share is read once."""
        if self._view is None or self._view.candles is not candles:
            self._view, self._memo, self._answers = CandleView(candles), Memo(), Memo()
        view: Any = self._view
        program = replace(self._program, parameters={**self._program.parameters, **values})
        names = [*program.rules, *(f"{field}.atr" for field in program.atr_periods)]
        bars = len(candles)

        def answer() -> tuple[Any, ...]:
            found = evaluate(program, view, memo=self._memo)
            if program.atr_periods:
                return tuple(found[name] for name in names)
            return read_rules(found, bars)

        found = self._answers.get(tuple(program.parameters[name] for name in self._read), answer)
        if program.atr_periods:
            answers = dict(zip(names, found, strict=True))
            return read_signals(contract_signals(self._contract, program, answers), bars)
        named = tuple(program.parameters[name] for name in self._risked)
        if named not in self._risks:
            self._risks[named] = read_signals(risk_signals(self._contract, program, {}), 0)
        enter, exit_long, exit_short = found
        return replace(self._risks[named], enter=enter, exit_long=exit_long, exit_short=exit_short)


def run_sweep(
    contract: Contract,
    program: Program,
    candles: Market,
    sets: Sequence[Mapping[str, int | float]],
    metric: str = "sharpe",
    workers: int = 1,
    on_done: Callable[[int], None] = lambda count: None,
    worlds: int = 0,
) -> SweepResult:
    """Play every set of parameters on the same candles of a contract, by `metric`.

    The result does not depend on the number of `workers`. The same search is made in so many
    `worlds` without an edge, by turns shuffled and phase-randomised.

    Raises:
        InputError: the metric is unknown, or a set cannot be played.
    """
    if metric not in FIGURES:
        raise InputError(f"there is no figure {metric!r} to sort by", nearest(metric, FIGURES))
    player = Player(contract, program, workers, on_done)

    def best_first(candles: Market) -> list[Tried]:
        return sorted(player.rows(candles, sets), key=lambda row: place_of(row, metric))

    return search(player, candles, best_first, metric, worlds)


def search(
    player: Player,
    candles: Market,
    best_first: Callable[[Market], list[Tried]],
    metric: str,
    worlds: int = 0,
) -> SweepResult:
    """Make a search, and tell what the best set that it finds is worth.

    Args:
        player: plays the sets.
        candles: what the search is made on.
        best_first: the search itself; made in each of the `worlds` without an edge too.
        metric: the figure that the search looks at.
        worlds: how many of them.

    Raises:
        InputError: a set cannot be played.
    """
    seed = player.contract.seed
    try:
        rows = best_first(candles)
        luck = luck_of(rows, metric, *_yearly(candles))
        trades = player.trades(candles, rows[0].values)
        as_good = sum(
            place_of(best_first(_world(candles, seed, number))[0], metric)
            <= place_of(rows[0], metric)
            for number in range(worlds)
        )
    except BacktestError as error:
        raise InputError(error.message, error.hint) from None
    luck = replace(luck, trades=trades, worlds=worlds, worlds_as_good=as_good)
    return SweepResult(metric, rows, luck, len(timeline(candles)), player.held(candles))


def with_ledger(result: SweepResult, candles: Market, trials: int | None, own: int) -> SweepResult:
    """Judge the best set as that of all trials that a ledger has, if there is one; `own` of them
    are this search's.
    """
    if trials is None:
        return result
    yearly = _yearly(candles)[0]
    return replace(result, luck=deflate(result.luck, result.rows, yearly, trials, trials - own))


def _world(candles: Market, seed: int, number: int) -> Market:
    """Make a world without an edge, each number another, the ways by turns."""
    make = list(NO_EDGE.values())[number % len(NO_EDGE)]
    if isinstance(candles, Mapping):
        drawn = seed * WORLDS_A_SEED + number
        return {symbol: make(each, drawn) for symbol, each in candles.items()}
    return make(candles, seed * WORLDS_A_SEED + number)


def _yearly(candles: Market) -> tuple[float | None, float | None]:
    known = calendar_of(timeline(candles))
    return known.periods_per_year, known.span_years


class Player:
    """Plays sets of a contract, on whatever candles of its symbols, and counts them."""

    def __init__(
        self,
        contract: Contract,
        program: Program,
        workers: int = 1,
        on_done: Callable[[int], None] = lambda count: None,
    ) -> None:
        """Take the contract and its Program."""
        cfg = dict(flat_settings(contract, program).defaults)
        broker = SimBroker(**broker_settings(cfg))
        self.contract, self.program = contract, program
        self._workers, self._on_done, self._done = workers, on_done, 0
        self._offer = ContractOffer(contract, program)
        self._settings = broker.settings
        self._rules = loop_rules(SimBrokerAdapter(broker), cfg)

    def rows(self, market: Market, sets: Sequence[Mapping[str, int | float]]) -> list[Tried]:
        """Play every set on all candles."""
        return [part for (part,) in self.parts(market, sets)]

    def parts(
        self,
        market: Market,
        sets: Sequence[Mapping[str, int | float]],
        spans: Sequence[Span] | None = None,
    ) -> list[tuple[Tried, ...]]:
        """Play every set on each of some spans of rows: the one function that evaluates sets.

        A span is a run of its own with the capital whole; values and signals are those of the whole
        history, so nothing warms up anew. Rows are those of `timeline`; None is all of them.
        """
        found = []
        played = self._played(market, sets, set_figures, spans, self._workers)
        for values, answers in zip(sets, played, strict=True):
            found.append(tuple(Tried(values, *answer) for answer in answers))
            self._done += 1
            self._on_done(self._done)
        return found

    def held(self, market: Market) -> Mapping[str, Any]:
        """What holding from the first open to the last close would have returned."""
        ends = {
            symbol: (float(candles.open[0]), float(candles.close[-1]))
            for symbol, candles in self._book(market).items()
        }
        return buy_and_hold(ends)

    def trades(self, market: Market, values: Mapping[str, int | float]) -> TradeChance | None:
        """Play one set again, and its trades in other orders and with some missed."""
        ((returns,),) = self._played(market, [values], set_trades, None, 1)
        return trade_chance(returns, self.contract.seed)

    def longest_trade(self, market: Market, values: Mapping[str, int | float]) -> int:
        """Play one set, and give how many rows its longest trade lasts."""
        ((rows,),) = self._played(market, [values], set_holding, None, 1)
        return int(rows)

    def _book(self, market: Market) -> Mapping[str, Candles]:
        if isinstance(market, Mapping):
            return market
        (symbol,) = self.contract.market.symbols
        return {symbol: market}

    def _played(
        self,
        market: Market,
        sets: Sequence[Mapping[str, int | float]],
        measure: Callable[[Played], Any],
        spans: Sequence[Span] | None,
        workers: int,
    ) -> Iterator[tuple[Any, ...]]:
        book = self._book(market)
        if len(book) > 1:
            together = Together(self.contract, self.program, book, measure, spans)
            return ask_all(together, sets, workers)
        ((symbol, candles),) = book.items()
        world = (symbol, self._settings, self._rules)
        return sweep_parts(candles, self._offer, sets, measure, world, spans, workers)


def timeline(market: Market) -> Any:
    """The times of all rows: those of the one symbol, or of all together."""
    if not isinstance(market, Mapping):
        return market.times
    return np.unique(np.concatenate([candles.times for candles in market.values()]))


class Together:
    """Plays sets on several symbols that share their cash, bar by bar."""

    def __init__(
        self,
        contract: Contract,
        program: Program,
        book: Mapping[str, Candles],
        measure: Callable[[Played], Any],
        spans: Sequence[Span] | None,
    ) -> None:
        """Take what all sets share."""
        self._cfg = dict(flat_settings(contract, program).defaults)
        self._book, self._measure = book, measure
        self._offers = {symbol: ContractOffer(contract, program) for symbol in book}
        times = timeline(book)
        self._ends = [
            (int(times[first]), int(times[last - 1]) + 1)
            for first, last in ([(0, len(times))] if spans is None else spans)
        ]

    def __call__(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        """Play one set on every part."""
        offered = {
            symbol: signals_of(self._offers[symbol](candles, values), len(candles))
            for symbol, candles in self._book.items()
        }
        return tuple(self._play(offered, *ends) for ends in self._ends)

    def _play(self, offered: Mapping[str, Signals], first: int, last: int) -> Any:
        feeds = []
        for symbol, candles in self._book.items():
            start, stop = np.searchsorted(candles.times, (first, last)).tolist()
            if start < stop:
                part, signals = candles.rows(start, stop), offered[symbol].cut(start, stop)
                feeds.append(Feed(symbol, part, SignalDecisions(signals, symbol, part.close)))
        broker = SimBroker(**broker_settings(self._cfg))
        report = run_feeds(SimBrokerAdapter(broker), feeds, self._cfg)
        return self._measure(_PlayedTogether(broker, report))


class _PlayedTogether(Played):
    """Holds a run of several symbols in the form of one."""

    def __init__(self, broker: SimBroker, report: Mapping[str, Any]) -> None:
        times, equity = broker.get_equity_rows()
        rejected = dict(report["rejections"])
        tape: Any = SimpleNamespace(equity=equity, settings=broker.settings, rejected=rejected)
        super().__init__(tape, ledger_of(broker.get_trades()), calendar_of(times))
        object.__setattr__(self, "_report", report)

    @property
    def moving(self) -> tuple[Any, Any]:
        return np.zeros(1, np.int64), np.full(1, len(self.tape.equity))

    def figures(self) -> Any:
        return self._report  # type: ignore[attr-defined]


def set_figures(played: Played) -> tuple[dict[str, float | None], dict[str, int], Any]:
    """Keep what sets are compared by, and the sums of returns that tell what the best is worth."""
    from Backtest.metrics.block_pass import block_sums

    figures = played.figures()
    sums = block_sums(played.tape.equity, played.moving, BLOCKS)
    rejected = dict(sorted(played.tape.rejected.items()))
    return {name: figures[name] for name in FIGURES}, rejected, sums


def set_trades(played: Played) -> Any:
    """Keep what each finished trade gave, as a fraction of the equity before it."""
    return trade_returns(played.ledger.finished.pnl, played.tape.settings.capital)


def set_holding(played: Played) -> int:
    """Keep how many rows the longest trade lasted."""
    spans = played.ledger.exit_row - played.ledger.entry_row
    return int(spans.max()) if spans.size else 0


def place_of(row: Tried, metric: str) -> tuple[bool, float]:
    """Where a row belongs: the best first, those without the figure last."""
    value = row.figures[metric]
    if value is None:
        return True, 0.0
    return False, value if metric in LOW_IS_GOOD else -value
