"""Turns a contract and its candles into decisions: the trusted side's own answer.

The same record that a strategy's answers are written down in, so that the two can be compared and
either can be replayed by the broker.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from adapters import series
from adapters.sizing import affordable, volume_of
from bot.contract.language.evaluator import Array, evaluate
from bot.contract.language.program import Program
from bot.contract.model import Contract
from bot.contract.numbers import RiskNumbers
from bot.contract.risk import AtrLevel

if TYPE_CHECKING:
    import pandas as pd


class Order(TypedDict, total=False):
    """Holds an order as a strategy asks for it; the broker counts the levels from the fill."""

    action: str
    symbol: str
    type: str
    volume: float
    sl: float
    tp: float
    comment: str
    stop: dict[str, float]
    target: dict[str, float]
    trail: dict[str, float]
    roi: dict[int, float]
    size: dict[str, float]


class Decisions(TypedDict):
    """Holds what was decided for a symbol: orders by bar, and where each side leaves."""

    entries: Mapping[str, Order]
    exit_long: list[int]
    exit_short: list[int]


def contract_decisions(
    contract: Contract,
    program: Program,
    df: pd.DataFrame,
    symbol: str,
    bars: Sequence[int] | None = None,
) -> Decisions:
    """Says what the contract decides at every bar of one symbol's candles, or at some."""
    return decisions_of(contract, program, df, evaluate(program, df), symbol, bars)


def decisions_of(
    contract: Contract,
    program: Program,
    df: pd.DataFrame,
    values: Mapping[str, Array],
    symbol: str,
    bars: Sequence[int] | None = None,
) -> Decisions:
    """Gives the decisions that follow from values that were computed already."""
    nothing = np.zeros(len(df), dtype=np.bool_)
    asked = np.ones(len(df), dtype=np.bool_)
    if bars is not None:
        asked = nothing.copy()
        asked[np.asarray(bars, dtype=np.int64)] = True
    long = np.asarray(values.get("enter_long", nothing), dtype=np.bool_)
    short = np.asarray(values.get("enter_short", nothing), dtype=np.bool_)
    leave = {
        rule: np.asarray(values.get(rule, nothing), dtype=np.bool_) & asked
        for rule in ("exit_long", "exit_short")
    }
    closes = series.column(df, "close")
    entries: dict[str, Order] = {}
    for idx in np.flatnonzero((long != short) & asked).tolist():
        atrs = {field: float(values[f"{field}.atr"][idx]) for field in program.atr_periods}
        if not any(math.isnan(atr) for atr in atrs.values()):
            action = "BUY" if long[idx] else "SELL"
            entries[str(idx)] = _order(contract, program, symbol, action, float(closes[idx]), atrs)
    return {
        "entries": entries,
        "exit_long": np.flatnonzero(leave["exit_long"]).tolist(),
        "exit_short": np.flatnonzero(leave["exit_short"]).tolist(),
    }


def _order(
    contract: Contract,
    program: Program,
    symbol: str,
    action: str,
    close: float,
    atrs: Mapping[str, float],
) -> Order:
    """Gives an order with its levels, as the generated strategy builds it."""
    risk = contract.risk
    number = RiskNumbers(contract, program)
    side = 1 if action == "BUY" else -1
    stop, stop_level = number.level(risk.stop_loss, close, atrs.get("stop_loss"))
    order: Order = {
        "action": action,
        "symbol": symbol,
        "type": "MARKET",
        "sl": close - side * stop,
        "comment": "enter_long" if action == "BUY" else "enter_short",
        "stop": stop_level,
    }
    if risk.take_profit is not None:
        target, target_level = number.level(risk.take_profit, close, atrs.get("take_profit"))
        order["tp"], order["target"] = close + side * target, target_level
    if risk.trailing_stop is not None:
        trail: dict[str, float] = {"fraction": number.of(risk.trailing_stop.distance)}
        if risk.trailing_stop.activate_at is not None:
            trail["activate_at"] = number.of(risk.trailing_stop.activate_at)
        trail["only_after_activation"] = risk.trailing_stop.only_after_activation
        order["trail"] = trail
    if risk.roi is not None:
        order["roi"] = {minutes: number.of(profit) for minutes, profit in risk.roi.items()}
    form, amount, cap = risk.size.parts
    order["size"] = {form: number.of(amount)}
    if cap is not None:
        costs = (contract.costs.commission, contract.costs.slippage, contract.costs.spread)
        order["size"]["cap"] = affordable(number.of(cap), *costs)
    order["volume"] = volume_of(order, contract.capital, close, contract.market.lot)
    return order


def contract_signals(
    contract: Contract, program: Program, values: Mapping[str, Array]
) -> dict[str, object]:
    """Gives the same decisions for all bars at once, as `Backtest.strategy_signals` reads them."""
    rules = ("enter_long", "exit_long", "enter_short", "exit_short")
    offered: dict[str, object] = {rule: values[rule] for rule in rules if rule in values}
    return offered | risk_signals(contract, program, values)


def risk_signals(
    contract: Contract, program: Program, values: Mapping[str, Array]
) -> dict[str, object]:
    """Gives what an entry asks for; of the values only those of ATR levels are read."""
    risk = contract.risk
    number = RiskNumbers(contract, program)
    offered: dict[str, object] = {}
    levels = (("stop", "stop_loss", risk.stop_loss), ("target", "take_profit", risk.take_profit))
    for name, field, level in levels:
        if isinstance(level, AtrLevel):
            offered[name] = {"distance": number.of(level.atr) * values[f"{field}.atr"]}
        elif level is not None:
            offered[name] = {"fraction": number.of(level)}
    order = _order(contract, program, "", "BUY", 1.0, dict.fromkeys(program.atr_periods, 1.0))
    wishes = ("trail", "roi", "size")
    return offered | {wish: value for wish, value in order.items() if wish in wishes}
