"""Turns a contract into the market its tests run on and the values that are expected there."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from adapters.strategy_loop import replay_decisions
from adapters.testing import (
    Fate,
    Trade,
    added_up,
    market,
    new_adapter,
    staged_market,
    trades_of,
)
from Backtest.times import timeframe_ms
from bot.coder.template.fates import fates
from bot.coder.template.markets import LONGEST_WALK, lively_markets, patterns
from bot.coder.template.scenes import Scene, Sighting, scenes, sightings
from bot.contract.language.contract_decisions import Decisions, Order, decisions_of
from bot.contract.language.evaluator import Array, evaluate
from bot.contract.language.interpreter import Candle, Interpreter, Reading
from bot.contract.language.program import Program
from bot.contract.language.warmup import warmup
from bot.contract.model import Contract
from bot.contract.numbers import CfgValue

LIVE_BARS = 200
SAMPLES = 6
STAGED_BARS, STAGED_SEED = 10_000, 1


@dataclass(frozen=True)
class Expected:
    """What the tests of a contract expect.

    Attributes:
        bars, seed, minutes: the market they run on.
        first_values: first bar at which each indicator has a value; None where it never has.
        samples: some values of each indicator, by bar.
        totals: what all values of each indicator add up to, as `adapters.testing.added_up` says.
        staged: the same on a staged market, where the contract looks for candle patterns.
        holds: the bars at which each rule holds.
        entries: the bars at which an order is wanted, with its action.
        orders: the first, the middle and the last order of each side, whole, by bar.
        trades: what the broker makes of it, as `adapters.testing.trades_of` lists it.
        scenes: a market and a bar of it for each way in which a rule is decided.
        sightings: the same for candle patterns which the tests' market does not show.
        warmup: the first bar at which everything has settled.
        gaps: the bars from there on at which an indicator is missing, where there are any.
        fates: candles drawn to reach the levels of an order, and the trade they make.
        walked: whether the interpreter walked the market; a warm-up of thousands of bars would
            take it minutes, then the evaluator, its equal, answers.
    """

    bars: int
    seed: int
    minutes: int
    first_values: Mapping[str, int | None]
    samples: Mapping[str, Mapping[int, float | bool]]
    totals: Mapping[str, tuple[float, float]]
    staged: Mapping[str, tuple[float, float]]
    holds: Mapping[str, list[int]]
    entries: Mapping[int, str]
    orders: Mapping[int, Order]
    trades: list[Trade]
    scenes: Mapping[str, Scene]
    sightings: Mapping[str, Sighting]
    warmup: int
    gaps: Mapping[str, list[int]]
    fates: Mapping[str, Fate]
    walked: bool = True


def expect(contract: Contract, program: Program, cfg: Mapping[str, CfgValue]) -> Expected:
    """Choose a market on which the rules have something to say, and walk it bar by bar.

    Args:
        contract: the contract.
        program: its Program.
        cfg: DEFAULT_CFG of the strategy, for the broker's costs.
    """
    minutes = timeframe_ms(contract.market.timeframe) // 60_000
    settled = warmup(program)
    bars = settled + LIVE_BARS
    choice = lively_markets(program, bars, minutes)
    seed = choice.seed
    frame = market(bars, seed, minutes)
    walked = bars <= LONGEST_WALK
    readings = walk(program, frame) if walked else computed(program, frame)
    symbol = contract.market.symbols[0]
    decisions = decisions_of(contract, program, frame, _columns(readings), symbol)
    entries = decisions["entries"]
    orders = _telling_orders(entries)
    return Expected(
        bars=bars,
        seed=seed,
        minutes=minutes,
        first_values=_first_values(readings),
        samples=_samples(readings),
        totals={
            key: added_up([reading.indicators[key] for reading in readings])
            for key in readings[0].indicators
        },
        staged=_staged(program, minutes),
        holds={
            rule: [bar for bar, reading in enumerate(readings) if reading.rules[rule]]
            for rule in program.rules
        },
        entries={int(bar): order["action"] for bar, order in entries.items()},
        orders=orders,
        scenes=scenes(choice, settled),
        sightings=sightings(choice),
        warmup=settled,
        gaps=_gaps(readings, settled),
        fates=fates(contract, orders, frame["close"].tolist(), minutes),
        trades=_trades(cfg, frame, symbol, decisions),
        walked=walked,
    )


def walk(program: Program, frame: pd.DataFrame) -> list[Reading]:
    """The interpreter's reading of every candle."""
    interpreter = Interpreter(program)
    return [
        interpreter.step(Candle(time.to_pydatetime(), *prices))
        for time, *prices in frame.itertuples(index=False)
    ]


def computed(program: Program, frame: pd.DataFrame) -> list[Reading]:
    """The evaluator's reading of every candle."""
    columns = {key: values.tolist() for key, values in evaluate(program, frame).items()}
    names = [key for key in columns if key not in program.rules]
    return [
        Reading(
            {key: columns[key][bar] for key in names},
            {rule: columns[rule][bar] for rule in program.rules},
        )
        for bar in range(len(frame))
    ]


def _telling_orders(entries: Mapping[str, Order]) -> dict[int, Order]:
    """The first, the middle and the last order of each side."""
    chosen: dict[int, Order] = {}
    for action in ("BUY", "SELL"):
        bars = [bar for bar, order in entries.items() if order["action"] == action]
        for bar in bars[:1] + bars[len(bars) // 2 : len(bars) // 2 + 1] + bars[-1:]:
            chosen[int(bar)] = entries[bar]
    return dict(sorted(chosen.items()))


def _columns(readings: list[Reading]) -> dict[str, Array]:
    """Readings by name instead of by bar."""
    columns: dict[str, Array] = {}
    for key in readings[0].indicators:
        columns[key] = np.array([reading.indicators[key] for reading in readings])
    for rule in readings[0].rules:
        columns[rule] = np.array([reading.rules[rule] for reading in readings])
    return columns


def _first_values(readings: list[Reading]) -> dict[str, int | None]:
    return {
        key: next(
            (
                bar
                for bar, reading in enumerate(readings)
                if not math.isnan(reading.indicators[key])
            ),
            None,
        )
        for key in readings[0].indicators
    }


def _gaps(readings: list[Reading], settled: int) -> dict[str, list[int]]:
    """Where indicators are missing after the warm-up: a division by zero, nothing counted yet."""
    found = {
        key: [
            bar
            for bar in range(settled, len(readings))
            if math.isnan(readings[bar].indicators[key])
        ]
        for key in readings[0].indicators
    }
    return {key: bars for key, bars in found.items() if bars}


def _samples(readings: list[Reading]) -> dict[str, dict[int, float | bool]]:
    """A few values of each indicator: where it starts, where it differs, and the last."""
    samples: dict[str, dict[int, float | bool]] = {}
    for key, first in _first_values(readings).items():
        if first is None:
            samples[key] = {}
            continue
        last = len(readings) - 1
        step = max(1, (last - first) // (SAMPLES - 1))
        bars = sorted({first, last, *range(first, last, step)})
        values = {bar: readings[bar].indicators[key] for bar in bars}
        # A pattern is 0 nearly everywhere: show bars where it is not.
        odd = [bar for bar in range(first, last) if readings[bar].indicators[key]]
        values |= {bar: readings[bar].indicators[key] for bar in odd[:2]}
        samples[key] = {
            bar: value for bar, value in sorted(values.items()) if not math.isnan(value)
        }
    return samples


def _staged(program: Program, minutes: int) -> dict[str, tuple[float, float]]:
    """What indicators and rules add up to where candle patterns are frequent."""
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
