"""Turns a Program and one candle at a time into the rules' answers: the reference of the language.

It is written for certainty, not speed: plain Python, one bar after another, and nothing in reach
but the bars that were fed so far. TA-Lib is asked again at every bar with the history up to it.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.contract.language import catalog, tree
from bot.contract.language.candle import Candle as Candle
from bot.contract.language.candle import LongerCandles
from bot.contract.language.functions import FUNCTIONS, MISSING, Answer, Past
from bot.contract.language.operators import OPERATORS
from bot.contract.language.program import Program
from bot.contract.language.program_steps import ExpressionStep, Step, Value
from bot.contract.language.tree import Node
from bot.contract.longer import minutes


@dataclass(frozen=True)
class Reading:
    """Holds what the language says at one bar."""

    indicators: Mapping[str, Answer]
    rules: Mapping[str, bool]


class _Column:
    """A history as an array that grows with it, so that no bar copies all bars before it."""

    def __init__(self, past: Past) -> None:
        self._past = past
        self._filled = 0
        self._values = np.empty(512, dtype=np.float64)

    def so_far(self) -> NDArray[np.float64]:
        count = len(self._past)
        while count > len(self._values):
            self._values = np.concatenate([self._values, np.empty_like(self._values)])
        self._values[self._filled : count] = self._past[self._filled : count]
        self._filled = count
        return self._values[:count]


class Interpreter:
    """Walks a Program bar by bar.

    Every part of the Program has a history; a step appends one answer to each, parts before the
    wholes that read them. There is no way to read a bar that has not been fed. `parameters` are
    other values than the defaults.
    """

    def __init__(
        self, program: Program, parameters: Mapping[str, int | float] | None = None
    ) -> None:
        self._program = program
        self._parameters = {**program.parameters, **(parameters or {})}
        self._candles: list[Candle] = []
        self._heikin_ashi: list[Candle] = []
        self._named: dict[str, Past] = {}
        self._histories: dict[Node, Past] = {}
        self._steps: list[Callable[[], None]] = []
        for timeframe, above in program.higher.items():
            self._follow_longer(
                LongerCandles(minutes(timeframe), minutes(program.timeframe)), above
            )
        for step in program.own_steps:
            if isinstance(step, ExpressionStep):
                self._named[step.name] = self._history_of(step.tree)
            else:
                self._ask_talib(step.function.name, step.keys, step.inputs, step.arguments)
        for field, period in program.atr_periods.items():
            prices = tuple(tree.Price(0, name) for name in ("high", "low", "close"))
            self._ask_talib("ATR", (f"{field}.atr",), prices, (("timeperiod", period),))
        self._rules = {name: self._history_of(tree) for name, tree in program.rules.items()}

    def step(self, candle: Candle) -> Reading:
        """Take the next candle and answer for it."""
        self._candles.append(candle)
        self._heikin_ashi.append(_heikin_ashi(candle, self._heikin_ashi))
        for append_answer in self._steps:
            append_answer()
        return Reading(
            {key: history[-1] for key, history in self._named.items()},
            {name: bool(history[-1]) for name, history in self._rules.items()},
        )

    def _follow_longer(self, candles: LongerCandles, above: Program) -> None:
        """Walk the longer candles with an interpreter of their own, each when it has closed."""
        inner = Interpreter(above, self._parameters)
        nothing = {
            key: False if _is_condition(step) else MISSING
            for step in above.steps
            for key in step.keys
        }
        histories: dict[str, Past] = {key: [] for key in nothing}
        self._named.update(histories)
        last: dict[str, Answer] = dict(nothing)

        def look() -> None:
            for closed in candles.take(self._candles[-1]):
                last.update(inner.step(closed).indicators)
            for key, history in histories.items():
                history.append(last[key])

        self._steps.append(look)

    def _ask_talib(
        self,
        function: str,
        keys: tuple[str, ...],
        inputs: tuple[Node, ...],
        arguments: tuple[tuple[str, Value], ...],
    ) -> None:
        """Has TA-Lib answer at every bar, from the history up to it."""
        columns = [_Column(self._history_of(node)) for node in inputs]
        values = {key: self._program.value(value, self._parameters) for key, value in arguments}
        histories: list[Past] = [[] for _ in keys]
        self._named.update(zip(keys, histories, strict=True))

        def ask() -> None:
            arrays = [column.so_far() for column in columns]
            outputs = catalog.call(function, arrays, values)
            for history, output in zip(histories, outputs, strict=True):
                history.append(float(output[-1]))

        self._steps.append(ask)

    def _history_of(self, node: Node) -> Past:
        """Gives the history of a part; it grows by one answer with every candle."""
        if isinstance(node, tree.Indicator):
            return self._named[node.key]
        if node not in self._histories:
            answer = self._meaning(node, [self._history_of(part) for part in node.parts])
            history: Past = []
            self._histories[node] = history
            self._steps.append(lambda: history.append(answer()))
        return self._histories[node]

    def _meaning(self, node: Node, past: list[Past]) -> Callable[[], Answer]:
        """Says how a part is answered from the histories of its own parts."""
        match node:
            case tree.Number():
                return lambda: float(node.value)
            case tree.Truth():
                return lambda: node.value
            case tree.Parameter():
                return lambda: float(self._parameters[node.name])
            case tree.Price() if node.name.startswith("ha_"):
                return lambda: _price(self._heikin_ashi[-1], node.name.removeprefix("ha_"))
            case tree.Price():
                return lambda: _price(self._candles[-1], node.name)
            case tree.Shift():
                return lambda: _ago(past[0], node.bars, node.type)
            case tree.Negative():
                return lambda: -past[0][-1]
            case tree.Arithmetic():
                compute = OPERATORS[node.operator].answer
                return lambda: compute(past[0][-1], past[1][-1])
            case tree.Comparison():
                return lambda: _compare(node.operator, past[0][-1], past[1][-1])
            case tree.Logic():
                combine = all if node.operator == "and" else any
                return lambda: combine(bool(part[-1]) for part in past)
            case tree.Not():
                return lambda: not past[0][-1]
            case tree.Call():
                return self._function(node, past)
        raise TypeError(f"no meaning for {type(node).__name__}")

    def _function(self, node: tree.Call, past: list[Past]) -> Callable[[], Answer]:
        function = FUNCTIONS[node.function]
        if not past:
            return lambda: function.answer(self._candles[-1])
        if function.has_window:
            return lambda: function.answer(past[0], int(past[1][-1]))
        if function.looks_back:
            return lambda: function.answer(*past)
        return lambda: function.answer(*(part[-1] for part in past))


def _is_condition(step: Step) -> bool:
    return isinstance(step, ExpressionStep) and step.tree.type == "boolean"


def _ago(past: Past, bars: int, kind: str = "number") -> Answer:
    if bars >= len(past):
        return False if kind == "boolean" else MISSING
    return past[-1 - bars]


def _heikin_ashi(candle: Candle, before: list[Candle]) -> Candle:
    """Gives the Heikin-Ashi bar of a candle, after those before it."""
    last = _price(candle, "ohlc4")
    middle_of = before[-1] if before else candle
    first = (middle_of.open + middle_of.close) / 2
    high, low = max(candle.high, first, last), min(candle.low, first, last)
    return Candle(candle.timestamp, first, high, low, last, candle.volume)


def _price(candle: Candle, name: str) -> float:
    first, *rest = (float(getattr(candle, part)) for part in tree.AVERAGES.get(name, (name,)))
    for part in rest:
        first += part
    return first / (len(rest) + 1)


def _compare(operator: str, left: float, right: float) -> bool:
    if math.isnan(left) or math.isnan(right):
        return False
    return bool(OPERATORS[operator].answer(left, right))
