"""Plays a contract's rules by VectorBT, beside our own engine, and says where they differ."""

import importlib
import os
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adapters.loop.views import CandleView
from Backtest.candles import Candles
from Backtest.simbroker import SimBroker
from Backtest.strategy_signals import Signals, read_signals
from Backtest.times import iso
from bot.contract.language.contract_decisions import contract_signals
from bot.contract.language.evaluator import Array, evaluate
from bot.contract.language.program import Program
from bot.contract.model import Contract
from bot.data.market_data import MarketData
from bot.errors import WorldError
from bot.proof.judge import Judgement
from bot.proof.vectorbt_fills import Comparison, Fill, Work, compare

VARIABLE = "STRATWRIGHT_VECTORBT"
_RULES = ("enter_long", "exit_long", "enter_short", "exit_short")
# Cash that no order of one unit uses up.
_ENOUGH = 1e15


@dataclass(frozen=True)
class Peer:
    """What VectorBT made of a contract.

    Attributes:
        unequal: bars where a rule's signal differs, by symbol and rule; empty if all are equal.
        signals: how many signals were compared.
    """

    version: str
    signals: int
    unequal: Mapping[str, list[int]]
    trades: Comparison

    @property
    def agrees(self) -> bool:
        """Whether signals are equal and no difference of fills is left without a rule."""
        return not self.unequal and not self.trades.unexplained

    def to_dict(self) -> dict[str, object]:
        """Give it as plain values."""
        told = self.trades
        return {"version": self.version, "signals": self.signals, "unequal": dict(self.unequal),
                "trades": told.theirs, "ours": told.ours, "same": told.same,
                "rules": dict(told.rules.most_common()), "unexplained": told.unexplained,
                "agrees": self.agrees}  # fmt: skip

    @property
    def lines(self) -> list[str]:
        """The comparison for people."""
        told = self.trades
        bars = sum(map(len, self.unequal.values()))
        lines = [f"VectorBT {self.version}: {self.signals} signals, "
                 f"{'all equal' if not bars else f'{bars} differ'}; "
                 f"{told.theirs} trades beside our {told.ours}, {told.same} the same, "
                 f"{len(told.unexplained)} unexplained"]  # fmt: skip
        lines += [f"  {count} x {rule}" for rule, count in told.rules.most_common()]
        lines += [f"  {place}: bars {bars[:5]}" for place, bars in self.unequal.items()]
        return lines + [f"  unexplained: {text}" for text in told.unexplained[:5]]


def open_vectorbt() -> Any:
    """Imports VectorBT, from beside us or from an environment of its own.

    Raises:
        WorldError: there is none.
    """
    own = os.environ.get(VARIABLE, "")
    if own:
        packages = next(iter(sorted(Path(own).glob("lib/python3*/site-packages"))), Path(own))
        if str(packages) not in sys.path:
            sys.path.append(str(packages))  # what is installed beside us comes first
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module("vectorbt")
    except ImportError as error:
        hint = f"pip install '.[vectorbt]' in a checkout, or let {VARIABLE} name an environment."
        raise WorldError(f"VectorBT cannot be imported: {error}", hint) from None


def play(contract: Contract, program: Program, data: MarketData, judged: Judgement) -> Peer:
    """Compute signals and trades by VectorBT and hold them to ours.

    Raises:
        WorldError: VectorBT is not installed.
    """
    vectorbt = open_vectorbt()
    told, unequal, count = Comparison(), dict[str, list[int]](), 0
    trades = judged.broker.get_trades()
    for symbol, candles in data.candles.items():
        view: Any = CandleView(candles)
        ours, theirs = evaluate(program, view), _values(vectorbt, program, view)
        for rule in _RULES:
            if rule in ours:
                count += int(np.count_nonzero(ours[rule]))
                bars = np.flatnonzero(ours[rule] != theirs[rule]).tolist()
                unequal |= {f"{symbol} {rule}": bars} if bars else {}
        signals = read_signals(contract_signals(contract, program, theirs), len(candles))
        work = _work(contract, candles, signals)
        own = [trade for trade in trades if trade.symbol == symbol]
        full = _turned_down(judged.broker, symbol, candles, contract)
        told.add(compare(work, own, _trades(vectorbt, work), full))
    return Peer(str(vectorbt.__version__), count, unequal, told)


def _values(vectorbt: Any, program: Program, view: Any) -> dict[str, Array]:
    """The rules on indicators that VectorBT's own factory computed."""

    def by_factory(function: str, arrays: list[Array], values: dict[str, Any]) -> tuple[Array, ...]:
        found = vectorbt.IndicatorFactory.from_talib(function).run(*arrays, **values)
        return tuple(np.asarray(getattr(found, name)).ravel() for name in found.output_names)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return evaluate(program, view, library=by_factory)


def _turned_down(broker: SimBroker, symbol: str, candles: Candles, contract: Contract) -> set[int]:
    """The bars whose decision our account did not take: rejected, or too many positions then."""
    late, times = _late(contract), candles.times
    rows = {iso(int(time)): row for row, time in enumerate(times)}
    refused = {
        rows[str(event["timestamp"])] - shift
        for event in broker.get_events()
        for shift in {0, late}
        if event["event"] == "order_rejected" and event["symbol"] == symbol
    }
    # Every position counts from its decision to the bar that ended it.
    held = np.zeros(len(times) + 1, dtype=np.int64)
    for trade in broker.get_trades():
        held[np.searchsorted(times, trade.entry_time) - late] += 1
        held[np.searchsorted(times, trade.exit_time) + 1 - late] -= 1
    full = np.cumsum(held)[:-1] >= contract.risk.max_positions
    return refused | {*np.flatnonzero(full).tolist()}


def _late(contract: Contract) -> int:
    return 1 if contract.execution == "next_open" else 0


def _work(contract: Contract, candles: Candles, signals: Signals) -> Work:
    """What one symbol decides, collisions resolved as our loop resolves them."""
    bars = len(candles)
    enter = signals.enter.copy()
    enter[(enter > 0) & signals.exit_long] = 0
    enter[(enter < 0) & signals.exit_short] = 0
    sizes = {}
    for name, step in (("stop", signals.stop), ("target", signals.target)):
        given = getattr(signals, f"{name}_sizes") if step is not None else np.array([np.nan])
        sizes[name] = np.broadcast_to(given, bars).astype(np.float64)
        if step is not None:
            enter[np.isnan(sizes[name])] = 0
    costs = contract.costs
    return Work(
        {name: np.asarray(getattr(candles, name)) for name in ("open", "high", "low", "close")},
        enter,
        {1: signals.exit_long, -1: signals.exit_short},
        sizes["stop"],
        signals.stop is None or signals.stop.is_fraction,
        sizes["target"],
        signals.target is None or signals.target.is_fraction,
        costs.slippage + costs.spread / 2,
        contract.market.tick,
        _late(contract),
        costs.commission if contract.risk.exit_profit_only else None,
    )


def _trades(vectorbt: Any, work: Work) -> list[Fill]:
    """What VectorBT's portfolio makes of the decisions, one unit a trade."""
    late, bars = work.late, work.bars

    def later(values: Array) -> Array:
        """Every value so many bars later, where its order fills."""
        return np.concatenate([np.zeros(late, values.dtype), values[: len(values) - late]])

    enter = later(work.enter)
    price = bars["open" if late else "close"]
    filled = price * (1 + np.sign(enter) * work.cost)
    levels = {}
    for name, sizes, fraction in (("sl_stop", work.stop, work.stop_is_fraction),
                                  ("tp_stop", work.target, work.target_is_fraction)):  # fmt: skip
        if not np.isnan(sizes).all():
            levels[name] = later(sizes) if fraction else later(sizes) / filled
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        portfolio = vectorbt.Portfolio.from_signals(
            bars["close"],
            entries=enter > 0,
            exits=later(work.leave[1]),
            short_entries=enter < 0,
            short_exits=later(work.leave[-1]),
            price=price,
            open=bars["open"],
            high=bars["high"],
            low=bars["low"],
            size=1.0,
            slippage=work.cost,
            init_cash=_ENOUGH,
            upon_opposite_entry="ignore",
            stop_entry_price="fillprice",
            stop_exit_price="stopmarket",
            freq="1min",
            **levels,
        )
        rows = portfolio.trades.records
    names = ("direction", "entry_idx", "exit_idx", "entry_price", "exit_price", "status")
    columns = [np.asarray(rows[name]).tolist() for name in names]
    return [
        Fill(-1 if direction else 1, first, last, entry, left, status == 0)
        for direction, first, last, entry, left, status in zip(*columns, strict=True)
    ]
