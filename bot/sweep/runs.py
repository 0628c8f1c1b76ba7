"""Turns a contract, candles and sets of values into a table of what each set gives."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from adapters.loop.views import CandleView
from adapters.simbroker_adapter import SimBrokerAdapter
from adapters.strategy_cli import broker_settings
from adapters.strategy_loop import loop_rules
from Backtest.metrics.many_runs import sweep
from Backtest.sim_errors import BacktestError, nearest
from Backtest.simbroker import SimBroker
from bot.contract.language.contract_decisions import contract_signals
from bot.contract.language.evaluator import Memo, evaluate
from bot.contract.numbers import flat_settings
from bot.errors import InputError

if TYPE_CHECKING:
    from Backtest.candles import Candles
    from bot.contract.language.program import Program
    from bot.contract.model import Contract

EULER = 0.5772156649015329
LOW_IS_GOOD = ("max_drawdown", "exposure", "turnover", "costs")
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
)


@dataclass(frozen=True)
class Tried:
    """One set of values and what it gave; figures without a meaning are None."""

    values: Mapping[str, int | float]
    figures: Mapping[str, float | None]
    rejections: Mapping[str, int] = field(default_factory=dict)  # rejected orders by cause


@dataclass(frozen=True)
class Chance:
    """What picking the best of many sets gives without any skill."""

    sets: int  # how many were tried
    # The annual Sharpe ratio that the best of so many unrelated sets without an edge would have, if
    # they scatter as these do (Bailey and Lopez de Prado, 2014).
    expected_best: float | None
    # The probability that the best set's true ratio is above that, returns taken as normal; None
    # where it cannot be said.
    deflated: float | None


@dataclass(frozen=True)
class SweepResult:
    """Every set, the best first, by one figure."""

    metric: str
    rows: Sequence[Tried]
    chance: Chance
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

    def __call__(self, candles: Candles, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """The signals of a set, as `Backtest.strategy_signals` reads them."""
        if self._view is None or self._view.candles is not candles:
            self._view, self._memo, self._answers = CandleView(candles), Memo(), Memo()
        view: Any = self._view
        program = replace(self._program, parameters={**self._program.parameters, **values})
        names = [*program.rules, *(f"{field}.atr" for field in program.atr_periods)]

        def answer() -> tuple[Any, ...]:
            found = evaluate(program, view, memo=self._memo)
            return tuple(found[name] for name in names)

        read = tuple(program.parameters[name] for name in self._read)
        found = dict(zip(names, self._answers.get(read, answer), strict=True))
        return contract_signals(self._contract, program, found)


def run_sweep(
    contract: Contract,
    program: Program,
    candles: Candles,
    sets: Sequence[Mapping[str, int | float]],
    metric: str = "sharpe",
    workers: int = 1,
    on_done: Callable[[int], None] = lambda count: None,
) -> SweepResult:
    """Play every set of parameters on the same candles of a contract's one symbol, by `metric`.

    The result does not depend on the number of `workers`.

    Raises:
        InputError: the metric is unknown, or a set cannot be played.
    """
    if metric not in FIGURES:
        raise InputError(f"there is no figure {metric!r} to sort by", nearest(metric, FIGURES))
    if len(contract.market.symbols) != 1:
        hint = "Sweep a contract of one symbol; several share cash, bar by bar."
        raise InputError(f"the contract has {len(contract.market.symbols)} symbols", hint)
    rows = []
    try:
        for values, report in _played(contract, program, candles, sets, workers):
            figures = {name: report[name] for name in FIGURES}
            rows.append(Tried(values, figures, report["rejections"]))
            periods, held = report["periods_per_year"], report["buy_and_hold"]
            on_done(len(rows))
    except BacktestError as error:
        raise InputError(error.message, error.hint) from None
    ordered = sorted(rows, key=lambda row: _place(row, metric))
    chance = chance_of(rows, len(candles), periods)
    return SweepResult(metric, ordered, chance, len(candles), held)


def _played(
    contract: Contract,
    program: Program,
    candles: Candles,
    sets: Sequence[Mapping[str, int | float]],
    workers: int,
) -> Iterator[tuple[Mapping[str, int | float], dict[str, Any]]]:
    (symbol,) = contract.market.symbols
    cfg = dict(flat_settings(contract, program).defaults)
    broker = SimBroker(**broker_settings(cfg))
    reports = sweep(
        candles,
        ContractOffer(contract, program),
        sets,
        symbol=symbol,
        settings=broker.settings,
        rules=loop_rules(SimBrokerAdapter(broker), cfg),
        workers=workers,
    )
    return zip(sets, reports, strict=True)


def _place(row: Tried, metric: str) -> tuple[bool, float]:
    """Where a row belongs: the best first, those without the figure last."""
    value = row.figures[metric]
    if value is None:
        return True, 0.0
    return False, value if metric in LOW_IS_GOOD else -value


def chance_of(rows: Sequence[Tried], bars: int, periods_per_year: float | None) -> Chance:
    """How good the best Sharpe ratio of so many sets is expected to be by chance alone."""
    ratios = [row.figures["sharpe"] for row in rows]
    known = [ratio for ratio in ratios if ratio is not None]
    count = len(rows)
    if len(known) < 2 or periods_per_year is None or bars < 3:
        return Chance(count, None, None)
    mean = math.fsum(known) / len(known)
    spread = math.sqrt(math.fsum((ratio - mean) ** 2 for ratio in known) / (len(known) - 1))
    normal = NormalDist()
    high = normal.inv_cdf(1.0 - 1.0 / count)
    higher = normal.inv_cdf(1.0 - 1.0 / (count * math.e))
    expected = spread * ((1.0 - EULER) * high + EULER * higher)
    best, threshold = (ratio / math.sqrt(periods_per_year) for ratio in (max(known), expected))
    score = (best - threshold) * math.sqrt(bars - 2) / math.sqrt(1.0 + best * best / 2.0)
    return Chance(count, expected, normal.cdf(score))
