"""A Program and whole candle columns to every value at once: the trusted side's own signals.

Equal to the interpreter bar for bar, which the tests hold it to, and fast enough for real data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from adapters import series
from bot.contract import catalog
from bot.contract.language import ExpressionStep, Program, TalibStep
from bot.contract.longer import minutes
from bot.contract.tree import (
    Arithmetic,
    Call,
    Comparison,
    Indicator,
    Logic,
    Negative,
    Node,
    Not,
    Number,
    Parameter,
    Price,
    Shift,
    Truth,
)

if TYPE_CHECKING:
    import pandas as pd

_WINDOWS = {"sum": "total"}
_PLAIN = {"abs": np.abs, "min": np.minimum, "max": np.maximum}


def evaluate(
    program: Program, df: pd.DataFrame, parameters: Mapping[str, int | float] | None = None
) -> dict[str, Any]:
    """Every indicator, ATR level and rule of a Program for every bar.

    Args:
        program: what to compute.
        df: candles, as DESIGN's candle frame.
        parameters: other values than the defaults, by name.

    Returns:
        One array a name, in the names that the generated `prepare_indicators` uses.
    """
    return _Evaluator(program, df, {**program.parameters, **(parameters or {})}).run()


class _Evaluator:
    def __init__(
        self, program: Program, df: pd.DataFrame, parameters: Mapping[str, int | float]
    ) -> None:
        self.program = program
        self.df = df
        self.parameters = parameters
        self.named: dict[str, Any] = {}
        self.done: dict[Node, Any] = {}

    def run(self) -> dict[str, Any]:
        for timeframe, above in self.program.higher.items():
            self.run_higher(minutes(timeframe), above)
        for step in self.program.own_steps:
            if isinstance(step, ExpressionStep):
                self.named[step.name] = self.of(step.tree)
            else:
                self.run_talib(step)
        for field, period in self.program.atr_periods.items():
            bars = self.program.value(period, self.parameters)
            prices = [self.of(Price(0, name)) for name in ("high", "low", "close")]
            (self.named[f"{field}.atr"],) = catalog.call("ATR", prices, {"timeperiod": bars})
        rules = {name: self.of(tree) for name, tree in self.program.rules.items()}
        return {**self.named, **rules}

    def run_higher(self, length: int, above: Program) -> None:
        """The indicators of longer candles: each bar sees those that have closed."""
        candles = series.resampled(self.df, length)
        own = minutes(self.program.timeframe)
        for name, values in _Evaluator(above, candles, self.parameters).run().items():
            self.named[name] = series.merged(values, self.df, length, own)

    def run_talib(self, step: TalibStep) -> None:
        inputs = [np.ascontiguousarray(self.of(node)) for node in step.inputs]
        arguments = {
            key: self.program.value(value, self.parameters) for key, value in step.arguments
        }
        outputs = catalog.call(step.function.name, inputs, arguments)
        self.named.update(zip(step.keys, outputs, strict=True))

    def of(self, node: Node) -> Any:
        """The array of a part, worked out once."""
        if isinstance(node, Indicator):
            return self.named[node.key]
        if node not in self.done:
            self.done[node] = self.compute(node)
        return self.done[node]

    def compute(self, node: Node) -> Any:
        match node:
            case Number():
                return series.constant(self.df, node.value)
            case Parameter():
                return series.constant(self.df, self.parameters[node.name])
            case Truth():
                return series.always(self.df) if node.value else series.never(self.df)
            case Price():
                return self.price(node.name)
            case Shift():
                return series.ago(self.of(node.part), node.bars)
            case Negative():
                return -self.of(node.part)
            case Arithmetic():
                return self.arithmetic(node)
            case Comparison():
                return _COMPARE[node.operator](self.of(node.left), self.of(node.right))
            case Logic():
                combine = np.logical_and if node.operator == "and" else np.logical_or
                return combine.reduce([self.of(part) for part in node.operands])
            case Not():
                return ~self.of(node.part)
            case Call():
                return self.call(node)
        raise TypeError(f"no meaning for {type(node).__name__}")

    def price(self, name: str) -> Any:
        if name.startswith("ha_"):
            prices = [self.of(Price(0, part)) for part in ("open", "high", "low", "close")]
            return getattr(series, name.replace("ha_", "heikin_ashi_"))(*prices)
        parts = {"hl2": "high low", "hlc3": "high low close", "ohlc4": "open high low close"}
        if name not in parts:
            return series.column(self.df, name)
        first, *rest = [self.of(Price(0, part)) for part in parts[name].split()]
        for part in rest:
            first = first + part
        return first / (len(rest) + 1)

    def arithmetic(self, node: Arithmetic) -> Any:
        left, right = self.of(node.left), self.of(node.right)
        with np.errstate(all="ignore"):
            match node.operator:
                case "+":
                    return left + right
                case "-":
                    return left - right
                case "*":
                    return left * right
        return series.divide(left, right)

    def call(self, node: Call) -> Any:
        name, arguments = node.function, node.arguments
        if name in ("hour", "weekday"):
            return getattr(series, name)(self.df)
        values = [self.of(argument) for argument in arguments]
        if name == "previous":
            return series.ago(values[0], 1)
        if name in _PLAIN:
            return _PLAIN[name](*values)
        if name in ("crossed_above", "crossed_below", "power"):
            return getattr(series, name)(*values)
        if len(arguments) == 2:
            length = int(values[1][0]) if len(values[1]) else 1
            return getattr(series, _WINDOWS.get(name, name))(values[0], length)
        return getattr(series, name)(values[0])


_COMPARE: dict[str, Any] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": series.differs,
}
