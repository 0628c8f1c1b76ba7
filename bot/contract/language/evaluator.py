"""Turns a Program and whole columns of candles into every value at once, for the trusted side.

Equal to the interpreter bar for bar, which the tests hold it to, and fast enough for real data.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adapters import series
from bot.contract.language import catalog, tree
from bot.contract.language.functions import FUNCTIONS
from bot.contract.language.operators import OPERATORS
from bot.contract.language.program import Program
from bot.contract.language.program_steps import ExpressionStep, TalibStep, Value
from bot.contract.language.tree import Node, is_constant, walk
from bot.contract.longer import minutes

if TYPE_CHECKING:
    import pandas as pd

# Numbers or truths, one a bar.
Array = NDArray[Any]
_Compute = Callable[..., Array]
Library = Callable[[str, list[Any], dict[str, Any]], tuple[Array, ...]]
_MOST_BYTES = 128 * 2**20
ABOVE_BELOW = ("crossed_above", "crossed_below")


def evaluate(
    program: Program,
    df: pd.DataFrame,
    parameters: Mapping[str, int | float] | None = None,
    memo: Memo | None = None,
    library: Library = catalog.call,
) -> dict[str, Array]:
    """Computes every indicator, ATR level and rule of a Program for every bar, by its name.

    `parameters` are other values than the defaults; `memo` has what was computed of the same
    Program and candles with other values. `library` computes the indicators: TA-Lib itself, or
    another engine's way to it.
    """
    values = {**program.parameters, **(parameters or {})}
    return _Evaluator(program, df, values, memo, library).run()


class Memo:
    """Arrays by what they were computed of; the least used go once there are too many bytes."""

    def __init__(self) -> None:
        self._bytes = 0
        self._kept: OrderedDict[Hashable, tuple[Array, ...]] = OrderedDict()
        self.roots: dict[Node, frozenset[str]] = {}  # the parameters that a part depends on

    def get(self, key: Hashable, compute: Callable[[], tuple[Array, ...]]) -> tuple[Array, ...]:
        """Gives the arrays of a key, computed if they are not remembered."""
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
            return found
        found = compute()
        self._kept[key] = found
        self._bytes += sum(array.nbytes for array in found)
        while self._bytes > _MOST_BYTES and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._bytes -= sum(array.nbytes for array in dropped)
        return found


@dataclass
class _Evaluator:
    program: Program
    df: pd.DataFrame
    parameters: Mapping[str, int | float]
    memo: Memo | None
    library: Library
    named: dict[str, Array] = field(default_factory=dict)
    done: dict[Node, Array] = field(default_factory=dict)
    roots: dict[str, frozenset[str]] = field(default_factory=dict)
    crossings: dict[tuple[Node, Node], tuple[Array, Array]] = field(default_factory=dict)

    def run(self) -> dict[str, Array]:
        for timeframe, above in self.program.higher.items():
            self.run_higher(minutes(timeframe), above)
        for step in self.program.own_steps:
            if isinstance(step, ExpressionStep):
                self.roots[step.name] = self.roots_of(step.tree)
                self.named[step.name] = self.of(step.tree)
            else:
                self.run_talib(step)
        for name, period in self.program.atr_periods.items():
            prices = tuple(tree.Price(0, part) for part in ("high", "low", "close"))
            self.named[f"{name}.atr"] = self.talib("ATR", prices, (("timeperiod", period),))[0]
        rules = {name: self.of(tree) for name, tree in self.program.rules.items()}
        return {**self.named, **rules}

    def run_higher(self, length: int, above: Program) -> None:
        """Gives the indicators of longer candles: each bar sees those that have closed."""
        candles = series.resampled(self.df, length)
        own = minutes(self.program.timeframe)
        inner = _Evaluator(above, candles, self.parameters, None, self.library)
        for name, values in inner.run().items():
            self.named[name] = series.merged(values, self.df, length, own)
            self.roots[name] = inner.roots[name]

    def run_talib(self, step: TalibStep) -> None:
        outputs = self.talib(step.function.name, step.inputs, step.arguments)
        self.named.update(zip(step.keys, outputs, strict=True))
        named = {value.name for _, value in step.arguments if isinstance(value, tree.Parameter)}
        roots = frozenset(named).union(*(self.roots_of(node) for node in step.inputs))
        self.roots.update(dict.fromkeys(step.keys, roots))

    def talib(
        self, function: str, inputs: tuple[Node, ...], arguments: tuple[tuple[str, Value], ...]
    ) -> tuple[Array, ...]:
        values = {key: self.program.value(value, self.parameters) for key, value in arguments}

        def call() -> tuple[Array, ...]:
            arrays = [np.ascontiguousarray(self.of(node)) for node in inputs]
            return self.library(function, arrays, values)

        if self.memo is None:
            return call()
        read = tuple((node, self.values_of(self.roots_of(node))) for node in inputs)
        return self.memo.get((function, read, tuple(values.items())), call)

    def roots_of(self, node: Node) -> frozenset[str]:
        """Gives the parameters that a part depends on, those behind its indicators too."""
        if self.memo is not None and node in self.memo.roots:
            return self.memo.roots[node]
        found: set[str] = set()
        for part in walk(node):
            if isinstance(part, tree.Parameter):
                found.add(part.name)
            elif isinstance(part, tree.Indicator):
                found |= self.roots[part.key]
        roots = frozenset(found)
        if self.memo is not None:
            self.memo.roots[node] = roots
        return roots

    def values_of(self, names: frozenset[str]) -> tuple[tuple[str, int | float], ...]:
        return tuple((name, self.parameters[name]) for name in sorted(names))

    def of(self, node: Node) -> Array:
        """Gives the array of a part, worked out once."""
        if isinstance(node, tree.Indicator):
            return self.named[node.key]
        if node not in self.done:
            self.done[node] = self.remembered(node)
        return self.done[node]

    def remembered(self, node: Node) -> Array:
        """Gives the array of a part, of this run or of one before it."""
        if self.memo is None or isinstance(
            node, tree.Price | tree.Number | tree.Parameter | tree.Truth
        ):
            return self.compute(node)
        key = (node, self.values_of(self.roots_of(node)))
        return self.memo.get(key, lambda: (self.compute(node),))[0]

    def pair(self, left: Node, right: Node) -> tuple[Array | float, Array | float]:
        """Both sides of an operation; one that is a number stays one beside a series."""
        if isinstance(right, tree.Number | tree.Parameter) and not is_constant(left):
            return self.of(left), self.number(right)
        if isinstance(left, tree.Number | tree.Parameter) and not is_constant(right):
            return self.number(left), self.of(right)
        return self.of(left), self.of(right)

    def number(self, node: tree.Number | tree.Parameter) -> float:
        value = node.value if isinstance(node, tree.Number) else self.parameters[node.name]
        return float(value)

    def compute(self, node: Node) -> Array:
        match node:
            case tree.Number() | tree.Parameter():
                return series.constant(self.df, self.number(node))
            case tree.Truth():
                return series.always(self.df) if node.value else series.never(self.df)
            case tree.Price():
                return self.price(node.name)
            case tree.Shift():
                return series.ago(self.of(node.part), node.bars)
            case tree.Negative():
                return -self.of(node.part)
            case tree.Arithmetic() | tree.Comparison():
                with np.errstate(all="ignore"):
                    compute = _computing(OPERATORS[node.operator].code)
                    return compute(*self.pair(node.left, node.right))
            case tree.Logic():
                combine = np.logical_and if node.operator == "and" else np.logical_or
                return reduce(combine, [self.of(part) for part in node.operands])
            case tree.Not():
                return ~self.of(node.part)
            case tree.Call():
                return self.call(node)
        raise TypeError(f"no meaning for {type(node).__name__}")

    def price(self, name: str) -> Array:
        if name.startswith("ha_"):
            prices = [self.of(tree.Price(0, part)) for part in ("open", "high", "low", "close")]
            bar: _Compute = getattr(series, name.replace("ha_", "heikin_ashi_"))
            return bar(*prices)
        if name not in tree.AVERAGES:
            return series.column(self.df, name)
        first, *rest = [self.of(tree.Price(0, part)) for part in tree.AVERAGES[name]]
        for part in rest:
            first = first + part
        return first / (len(rest) + 1)

    def call(self, node: tree.Call) -> Array:
        function, arguments = FUNCTIONS[node.function], node.arguments
        if function.name in ABOVE_BELOW:
            return self.crossed(function.name, arguments[0], arguments[1])
        compute = _computing(function.spelling)
        if not arguments:
            return compute(self.df)
        if function.is_of_two:
            return compute(*self.pair(*arguments))
        length = (self.length(arguments[1]),) if function.has_window else ()
        return compute(self.of(arguments[0]), *length, *function.fixed)

    def crossed(self, name: str, a: Node, b: Node) -> Array:
        """Says where a crosses b one way; the other way, often asked for too, comes with it."""
        for pair, ways in (((a, b), ABOVE_BELOW), ((b, a), ABOVE_BELOW[::-1])):
            if pair in self.crossings:
                return self.crossings[pair][ways.index(name)]
        self.crossings[a, b] = series.crossed(*self.pair(a, b))
        return self.crossings[a, b][ABOVE_BELOW.index(name)]

    def length(self, node: Node) -> int:
        """Gives the length of a window, the same at every bar."""
        if isinstance(node, tree.Number | tree.Parameter):
            return int(self.number(node))
        values = self.of(node)
        return int(values[0]) if len(values) else 1


def _computing(code: str) -> _Compute:
    """Gives the function of that name, of numpy or of `adapters.series`."""
    library, _, name = code.rpartition(".")
    compute: _Compute = getattr(np if library else series, name)
    return compute
