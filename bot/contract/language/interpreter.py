"""Turns a Program and one candle at a time into the rules' answers: the reference of the language.

It is written for certainty, not speed: plain Python, one bar after another, and nothing in reach
but the bars that were fed so far. TA-Lib is asked again at every bar with the history up to it.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne

import numpy as np
from numpy.typing import NDArray

from bot.contract.language import catalog
from bot.contract.language.candle import Candle as Candle
from bot.contract.language.candle import LongerCandles
from bot.contract.language.functions import FUNCTIONS, MISSING, Answer, Past, finite
from bot.contract.language.program import ExpressionStep, Program, Step, TalibStep
from bot.contract.language.tree import (
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
from bot.contract.longer import minutes


@dataclass(frozen=True)
class Reading:
    """What the language says at one bar."""

    indicators: Mapping[str, Answer]
    rules: Mapping[str, bool]


class _Column:
    """A history as an array that grows with it, so that no bar copies all bars before it."""

    def __init__(self, past: Past) -> None:
        self._past = past
        self._filled = 0
        self._values = np.empty(512, dtype=np.float64)

    def so_far(self) -> NDArray[np.float64]:
        """The history up to now."""
        count = len(self._past)
        while count > len(self._values):
            self._values = np.concatenate([self._values, np.empty_like(self._values)])
        self._values[self._filled : count] = self._past[self._filled : count]
        self._filled = count
        return self._values[:count]


class Interpreter:
    """Walks a Program bar by bar.

    Every part of the Program has a history; a step appends one answer to each, parts before the
    wholes that read them. There is no way to read a bar that has not been fed.

    Args:
        program: what to walk.
        parameters: other values than the defaults, by name.
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
                self._follow_talib(step)
        for field, period in program.atr_periods.items():
            prices = [self._history_of(Price(0, name)) for name in ("high", "low", "close")]
            bars = program.value(period, self._parameters)
            self._ask_talib("ATR", (f"{field}.atr",), prices, {"timeperiod": bars})
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

    def _follow_talib(self, step: TalibStep) -> None:
        inputs = [self._history_of(node) for node in step.inputs]
        arguments = {
            key: self._program.value(value, self._parameters) for key, value in step.arguments
        }
        self._ask_talib(step.function.name, step.keys, inputs, arguments)

    def _ask_talib(
        self,
        function: str,
        keys: tuple[str, ...],
        inputs: list[Past],
        arguments: dict[str, int | float],
    ) -> None:
        """Have TA-Lib answer at every bar, from the history up to it."""
        histories: list[Past] = [[] for _ in keys]
        self._named.update(zip(keys, histories, strict=True))

        columns = [_Column(past) for past in inputs]

        def ask() -> None:
            arrays = [column.so_far() for column in columns]
            outputs = catalog.call(function, arrays, arguments)
            for history, output in zip(histories, outputs, strict=True):
                history.append(float(output[-1]))

        self._steps.append(ask)

    def _history_of(self, node: Node) -> Past:
        """The history of a part; it grows by one answer with every candle."""
        if isinstance(node, Indicator):
            return self._named[node.key]
        if node not in self._histories:
            answer = self._meaning(node, [self._history_of(part) for part in node.parts])
            history: Past = []
            self._histories[node] = history
            self._steps.append(lambda: history.append(answer()))
        return self._histories[node]

    def _meaning(self, node: Node, past: list[Past]) -> Callable[[], Answer]:
        """How a part is answered from the histories of its own parts."""
        match node:
            case Number():
                return lambda: float(node.value)
            case Truth():
                return lambda: node.value
            case Parameter():
                return lambda: float(self._parameters[node.name])
            case Price() if node.name.startswith("ha_"):
                return lambda: _price(self._heikin_ashi[-1], node.name.removeprefix("ha_"))
            case Price():
                return lambda: _price(self._candles[-1], node.name)
            case Shift():
                return lambda: _ago(past[0], node.bars, node.type)
            case Negative():
                return lambda: -past[0][-1]
            case Arithmetic():
                return lambda: _arithmetic(node.operator, past[0][-1], past[1][-1])
            case Comparison():
                return lambda: _compare(node.operator, past[0][-1], past[1][-1])
            case Logic():
                combine = all if node.operator == "and" else any
                return lambda: combine(bool(part[-1]) for part in past)
            case Not():
                return lambda: not past[0][-1]
            case Call():
                return self._function(node, past)
        raise TypeError(f"no meaning for {type(node).__name__}")

    def _function(self, node: Call, past: list[Past]) -> Callable[[], Answer]:
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
    """The Heikin-Ashi bar of a candle, after those before it."""
    last = _price(candle, "ohlc4")
    middle_of = before[-1] if before else candle
    first = (middle_of.open + middle_of.close) / 2
    high, low = max(candle.high, first, last), min(candle.low, first, last)
    return Candle(candle.timestamp, first, high, low, last, candle.volume)


def _price(candle: Candle, name: str) -> float:
    if name == "hl2":
        return (candle.high + candle.low) / 2
    if name == "hlc3":
        return (candle.high + candle.low + candle.close) / 3
    if name == "ohlc4":
        return (candle.open + candle.high + candle.low + candle.close) / 4
    return float(getattr(candle, name))


def _arithmetic(operator: str, left: float, right: float) -> float:
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "*":
        return left * right
    return MISSING if right == 0 else finite(left / right)


def _compare(operator: str, left: float, right: float) -> bool:
    if math.isnan(left) or math.isnan(right):
        return False
    return _COMPARE[operator](left, right)


_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
    "==": eq,
    "!=": ne,
}
