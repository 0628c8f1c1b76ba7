"""Decisions and the trusted side's own candles to trades, equity and metrics."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from adapters.loop.feeds import Feed
from adapters.loop.strategy_decisions import SignalDecisions
from adapters.loop.views import CandleView
from adapters.simbroker_adapter import SimBrokerAdapter
from adapters.strategy_cli import broker_settings
from adapters.strategy_loop import replay_decisions, run_feeds
from Backtest.candles import Candles
from Backtest.metrics.tear_sheet import tear_sheet
from Backtest.sim_errors import BacktestError
from Backtest.simbroker import SimBroker
from Backtest.strategy_signals import read_signals
from bot.contract.language.contract_decisions import contract_decisions, contract_signals
from bot.contract.language.evaluator import evaluate
from bot.contract.language.occurrences import count_signals, with_clauses
from bot.contract.language.program import Program
from bot.contract.model import Contract
from bot.contract.numbers import flat_settings
from bot.data.market_data import MarketData
from bot.errors import InputError
from bot.report.figures import Summary
from bot.report.holding import held_value


@dataclass(frozen=True)
class Judgement:
    """What the broker made of a set of decisions."""

    summary: Summary  # the report's figures, and how often the contract's rules held
    # The simulated broker after the last candle; trades, events and equity are read from it.
    broker: SimBroker


def decide(contract: Contract, program: Program, data: MarketData) -> dict[str, Any]:
    """What the contract itself decides, by symbol, without any generated code."""
    return {
        symbol: contract_decisions(contract, program, frame, symbol)
        for symbol, frame in data.frames.items()
    }


def judge_rules(
    contract: Contract,
    program: Program,
    data: MarketData,
    watch: Callable[[SimBroker], None] | None = None,
) -> Judgement:
    """Play what the contract itself decides; the same as `decide` and `judge`, with less work.

    `watch` is given the broker before the first candle, to look how far it is.

    Raises:
        InputError: the candles cannot be traded by these rules.
    """
    cfg = dict(flat_settings(contract, program).defaults)
    broker = SimBroker(**broker_settings(cfg))
    try:
        feeds, found = [], []
        for symbol, candles in data.candles.items():
            view: Any = CandleView(candles)
            values = evaluate(with_clauses(program), view)
            found.append(values)
            signals = read_signals(contract_signals(contract, program, values), len(candles))
            decisions = SignalDecisions(signals, symbol, candles.close)
            feeds.append(Feed(symbol, candles, decisions))
        if watch is not None:
            watch(broker)
        summary = run_feeds(SimBrokerAdapter(broker), feeds, cfg)
    except BacktestError as error:
        raise InputError(error.message, error.hint) from None
    return Judgement({**summary, "signals": count_signals(program, found)}, broker)


def judge(contract: Contract, program: Program, data: MarketData, decisions: Summary) -> Judgement:
    """Replay decisions through the simulated broker.

    Raises:
        InputError: the decisions cannot be replayed on these candles.
    """
    cfg = dict(flat_settings(contract, program).defaults)
    broker = SimBroker(**broker_settings(cfg))
    try:
        summary = replay_decisions(SimBrokerAdapter(broker), data.frame, cfg, decisions)
    except BacktestError as error:
        raise InputError(error.message, error.hint) from None
    views: list[Any] = [CandleView(candles) for candles in data.candles.values()]
    values = [evaluate(with_clauses(program), view) for view in views]
    return Judgement({**summary, "signals": count_signals(program, values)}, broker)


def with_tear_sheet(judgement: Judgement, candles: Mapping[str, Candles]) -> Judgement:
    """Adds the figures that traders compare runs by to the summary."""
    broker, summary = judgement.broker, judgement.summary
    times, equity = broker.get_equity_rows()
    prices = {symbol: (each.times, each.open, each.close) for symbol, each in candles.items()}
    _, held = held_value(prices, summary["capital"])
    sheet = tear_sheet(
        broker.get_trades(),
        times,
        equity,
        held,
        summary["capital"],
        summary["periods_per_year"],
        candles,
        at_close=summary["execution"] == "this_close",
    )
    return replace(judgement, summary={**summary, "tear_sheet": sheet})
