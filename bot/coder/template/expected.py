"""Turns a contract into the market its tests run on and the values that are expected there."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from adapters.strategy_loop import replay_decisions
from adapters.testing import Fate, Trade, added_up, market, new_adapter, staged_market, trades_of
from bot.coder.template.fates import fates
from bot.coder.template.markets import LONGEST_WALK, lively_markets, patterns
from bot.coder.template.scenes import Scene, Sighting, scenes, sightings
from bot.contract.language.contract_decisions import Decisions, Order, decisions_of
from bot.contract.language.evaluator import evaluate
from bot.contract.language.functions import Past
from bot.contract.language.interpreter import Candle, Interpreter
from bot.contract.language.program import Program
from bot.contract.language.warmup import warmup
from bot.contract.longer import minutes as minutes_of
from bot.contract.model import Contract
from bot.contract.numbers import CfgValue

LIVE_BARS = 200
SAMPLES = 6
STAGED_BARS, STAGED_SEED = 10_000, 1
_Columns = Mapping[str, Past]


@dataclass(frozen=True)
class Expected:
    """Holds what the tests of a contract expect on the market of `bars`, `seed` and `minutes`."""

    bars: int
    seed: int
    minutes: int
    # The first bar at which each indicator has a value; None where it never has.
    first_values: Mapping[str, int | None]
    samples: Mapping[str, Mapping[int, float | bool]]  # some values of each indicator, by bar
    # What all values of each indicator add up to, as `adapters.testing.added_up` says.
    totals: Mapping[str, tuple[float, float]]
    # The same on a staged market, where the contract looks for candle patterns.
    staged: Mapping[str, tuple[float, float]]
    holds: Mapping[str, list[int]]  # the bars at which each rule holds
    entries: Mapping[int, str]  # the bars at which an order is wanted, with its action
    orders: Mapping[int, Order]  # the first, the middle and the last of each side, whole, by bar
    trades: list[Trade]  # what the broker makes of it, as `adapters.testing.trades_of` lists it
    scenes: Mapping[str, Scene]  # a market and a bar of it for each way in which a rule is decided
    # The same for candle patterns which the tests' market does not show.
    sightings: Mapping[str, Sighting]
    warmup: int  # the first bar at which everything has settled
    gaps: Mapping[str, list[int]]  # the bars from there on at which an indicator is missing
    fates: Mapping[str, Fate]  # candles drawn to reach an order's levels, and the trade they make
    # Whether the interpreter walked the market; a warm-up of thousands of bars would take it
    # minutes, then the evaluator, its equal, answers.
    walked: bool = True


def expect(contract: Contract, program: Program, cfg: Mapping[str, CfgValue]) -> Expected:
    """Chooses a market on which the rules have something to say, and walks it bar by bar.

    The broker's costs come from `cfg`, the strategy's DEFAULT_CFG.
    """
    minutes = minutes_of(contract.market.timeframe)
    settled = warmup(program)
    bars = settled + LIVE_BARS
    choice = lively_markets(program, bars, minutes)
    seed = choice.seed
    frame = market(bars, seed, minutes)
    walked = bars <= LONGEST_WALK
    columns = walk(program, frame) if walked else _computed(program, frame)
    indicators = {key: column for key, column in columns.items() if key not in program.rules}
    symbol = contract.market.symbols[0]
    arrays = {key: np.array(column) for key, column in columns.items()}
    decisions = decisions_of(contract, program, frame, arrays, symbol)
    entries = decisions["entries"]
    orders = _telling_orders(entries)
    return Expected(
        bars=bars,
        seed=seed,
        minutes=minutes,
        first_values={key: _first_value(column) for key, column in indicators.items()},
        samples={key: _samples(column) for key, column in indicators.items()},
        totals={key: added_up(column) for key, column in indicators.items()},
        staged=_staged(program, minutes),
        holds={rule: np.flatnonzero(arrays[rule]).tolist() for rule in program.rules},
        entries={int(bar): order["action"] for bar, order in entries.items()},
        orders=orders,
        scenes=scenes(choice, settled),
        sightings=sightings(choice),
        warmup=settled,
        gaps=_gaps(indicators, settled),
        fates=fates(contract, orders, frame["close"].tolist(), minutes),
        trades=_trades(cfg, frame, symbol, decisions),
        walked=walked,
    )


def walk(program: Program, frame: pd.DataFrame) -> _Columns:
    """Asks the interpreter about every candle."""
    interpreter = Interpreter(program)
    bars = []
    for time, *prices in frame.itertuples(index=False):
        reading = interpreter.step(Candle(time.to_pydatetime(), *prices))
        bars.append({**reading.indicators, **reading.rules})
    return {name: [bar[name] for bar in bars] for name in bars[0]}


def _computed(program: Program, frame: pd.DataFrame) -> _Columns:
    """Asks the evaluator, the interpreter's equal, about all candles at once."""
    return {key: values.tolist() for key, values in evaluate(program, frame).items()}


def _telling_orders(entries: Mapping[str, Order]) -> dict[int, Order]:
    """Gives the first, the middle and the last order of each side."""
    chosen: dict[int, Order] = {}
    for action in ("BUY", "SELL"):
        bars = [bar for bar, order in entries.items() if order["action"] == action]
        for bar in bars[:1] + bars[len(bars) // 2 : len(bars) // 2 + 1] + bars[-1:]:
            chosen[int(bar)] = entries[bar]
    return dict(sorted(chosen.items()))


def _first_value(column: Past) -> int | None:
    return next((bar for bar, value in enumerate(column) if not math.isnan(value)), None)


def _gaps(indicators: _Columns, settled: int) -> dict[str, list[int]]:
    """Finds where indicators are missing after the warm-up, as by a division by zero."""
    found = {
        key: [bar for bar in range(settled, len(column)) if math.isnan(column[bar])]
        for key, column in indicators.items()
    }
    return {key: bars for key, bars in found.items() if bars}


def _samples(column: Past) -> dict[int, float | bool]:
    """Picks a few values of an indicator: where it starts, where it differs, and the last."""
    first, last = _first_value(column), len(column) - 1
    if first is None:
        return {}
    bars = {first, last, *range(first, last, max(1, (last - first) // (SAMPLES - 1)))}
    # A pattern is 0 nearly everywhere: show bars where it is not.
    bars |= set([bar for bar in range(first, last) if column[bar]][:2])
    return {bar: column[bar] for bar in sorted(bars) if not math.isnan(column[bar])}


def _staged(program: Program, minutes: int) -> dict[str, tuple[float, float]]:
    """Says what indicators and rules add up to where candle patterns are frequent."""
    if not patterns(program):
        return {}
    values = evaluate(program, staged_market(STAGED_BARS, STAGED_SEED, minutes))
    return {key: added_up(column) for key, column in values.items()}


def _trades(
    cfg: Mapping[str, CfgValue], frame: pd.DataFrame, symbol: str, decisions: Decisions
) -> list[Trade]:
    alone = {**cfg, "symbols": [symbol]}
    adapter = new_adapter(alone)
    replay_decisions(adapter, frame, alone, {symbol: decisions})
    return trades_of(adapter)
