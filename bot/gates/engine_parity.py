"""The gate `engine-parity`: the event loop and the compiled path give the same trades.

The decisions are those that the evidence was computed from. They are played three times, each by
the trusted side and on its own candles: bar by bar through every method of the broker, by the event
path's short way for one symbol, and as arrays through the compiled loop. Trades, events and equity
must be equal to the last bit. The candidate has no part in it: it gave numbers per bar, which were
read strictly before, and none of its code runs here.

The compiled loop knows one symbol; a contract of several is played once for each of them.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from adapters.loop.array_path import run_arrays
from adapters.loop.feeds import Feed
from adapters.loop.strategy_decisions import SignalDecisions, read_record
from adapters.simbroker_adapter import SimBrokerAdapter
from adapters.strategy_cli import broker_settings
from adapters.strategy_loop import loop_rules, run_feeds
from Backtest.candles import Candles
from Backtest.sim_errors import BacktestError
from Backtest.simbroker import SimBroker
from Backtest.strategy_signals import WISHES, read_signals
from bot.contract.language.contract_decisions import Decisions
from bot.contract.language.program import Program
from bot.contract.model import Contract
from bot.contract.numbers import CfgValue, flat_settings
from bot.data.market_data import MarketData
from bot.gates.port import Verdict

NAME = "engine-parity"
_STEP = "report it with the contract: the two paths of the broker must agree"
_LEVELS = ("stop", "target")


class NotArrays(Exception):
    """These orders cannot be given as arrays; says why."""


class _EveryBar(SimBrokerAdapter):
    """An adapter for which no loop knows a short way."""


def judge_engine_parity(
    contract: Contract, program: Program, data: MarketData, decisions: Mapping[str, Decisions]
) -> Verdict:
    """Play the decisions on every path and compare."""
    cfg = dict(flat_settings(contract, program).defaults)
    trades = 0
    for symbol, candles in data.candles.items():
        try:
            count, difference = compare_paths(symbol, candles, decisions[symbol], cfg)
        except NotArrays as error:
            step = "give every order the levels, size and ROI that the contract states"
            return Verdict(NAME, False, "not run", f"{symbol}: {error}", "", step)
        except (BacktestError, ImportError, ArithmeticError, ValueError) as error:
            return Verdict(NAME, False, "not run", f"{symbol}: {error}"[:300], "", _STEP)
        if difference:
            return Verdict(NAME, False, f"{trades} trades", f"{symbol}: {difference}", "", _STEP)
        trades += count
    return Verdict(NAME, True, f"{trades} trades, 3 ways the same")


def compare_paths(
    symbol: str, candles: Candles, record: Decisions, cfg: dict[str, CfgValue]
) -> tuple[int, str]:
    """Counts the trades of the event loop, and says where another path differs first.

    Raises:
        NotArrays: the orders differ from bar to bar in more than their levels.
        BacktestError: the broker refuses them.
    """
    feed = Feed(symbol, candles, read_record(record, len(candles)))
    event = _broker(cfg, compiled=False)
    run_feeds(_EveryBar(event), [feed], cfg)
    short = _broker(cfg, compiled=False)
    run_feeds(SimBrokerAdapter(short), [feed], cfg)
    signals = read_signals(as_arrays(record, len(candles)), len(candles))
    arrays = Feed(symbol, candles, SignalDecisions(signals, symbol, candles.close))
    compiled = _broker(cfg, compiled=True)
    adapter = SimBrokerAdapter(compiled)
    if not run_arrays(adapter, [arrays], loop_rules(adapter, cfg), always=True):
        raise NotArrays("the compiled loop does not know these settings")
    count = len(event.get_trades())
    for name, other in (("the short way", short), ("the compiled path", compiled)):
        difference = _difference(event, other)
        if difference:
            return count, f"the event loop and {name} differ: {difference}"
    return count, ""


def _broker(cfg: dict[str, CfgValue], *, compiled: bool) -> SimBroker:
    return SimBroker(**broker_settings(cfg) | {"compiled": compiled})


def _difference(event: SimBroker, other: SimBroker) -> str:
    mine, theirs = event.get_trades(), other.get_trades()
    for number, (left, right) in enumerate(zip(mine, theirs, strict=False)):
        if left != right:
            return f"trade {number} is {left} and {right}"[:240]
    if len(mine) != len(theirs):
        return f"{len(mine)} trades and {len(theirs)}"
    if event.get_events() != other.get_events():
        return "the events are not the same"
    if event.get_equity_curve() != other.get_equity_curve():
        return "the equity is not the same"
    return ""


def as_arrays(record: Decisions, bars: int) -> dict[str, object]:
    """Recorded decisions as one truth a bar, as `Backtest.strategy_signals` reads them.

    Raises:
        NotArrays: the orders differ from bar to bar in more than their levels.
    """
    entries = {int(bar): order for bar, order in record["entries"].items()}
    enters = {"enter_long": "BUY", "enter_short": "SELL"}
    offered: dict[str, object] = {
        rule: _truths([bar for bar, order in entries.items() if order["action"] == action], bars)
        for rule, action in enters.items()
    }
    offered |= {rule: _truths(record[rule], bars) for rule in ("exit_long", "exit_short")}
    for wish in WISHES:
        asked: dict[int, object] = {bar: order.get(wish) for bar, order in entries.items()}
        value = _level(wish, asked, bars) if wish in _LEVELS else _same(wish, asked)
        if value is not None:
            offered[wish] = value
    if not entries:
        offered["size"] = {"units": 1.0}  # of the orders that are never placed
    return offered


def _truths(listed: list[int], bars: int) -> NDArray[np.bool_]:
    truths = np.zeros(bars, dtype=np.bool_)
    truths[listed] = True
    return truths


def _same(wish: str, asked: Mapping[int, object]) -> object:
    """Says what every entry asks for alike."""
    values = list(asked.values())
    if any(value != values[0] for value in values):
        raise NotArrays(f"the orders ask for different values of {wish}")
    return values[0] if values else None


def _level(wish: str, asked: Mapping[int, object], bars: int) -> object:
    """Gives a fraction for all entries, or a distance for each."""
    distances = {
        bar: level["distance"]
        for bar, level in asked.items()
        if isinstance(level, Mapping) and "distance" in level
    }
    if not distances or len(distances) < len(asked):
        return _same(wish, asked)
    sizes = np.full(bars, np.nan)
    sizes[list(distances)] = list(distances.values())
    return {"distance": sizes}
