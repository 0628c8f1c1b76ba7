"""A Program and one candle at a time to the rules' answers: the oracle of the rule language.

It is written for certainty, not speed: plain Python, one bar after another, and nothing in reach
but the bars that were fed so far. TA-Lib is asked again at every bar with the history up to it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from bot.contract import catalog
from bot.contract.language import ExpressionStep, Program, TalibStep
from bot.contract.rules import (
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

MISSING = math.nan
Answer = float | bool


@dataclass(frozen=True)
class Candle:
    """One bar: when it opened (UTC), its prices and its volume."""

    timestamp: datetime
    open: float
    high: float
    low: float
    close: float
    volume: float


@dataclass(frozen=True)
class Reading:
    """What the language says at one bar."""

    indicators: Mapping[str, Answer]
    rules: Mapping[str, bool]


class Interpreter:
    """Walks a Program bar by bar.

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
        self._history: dict[Node, list[Answer]] = {}
        self._named: dict[str, list[Answer]] = {}

    def step(self, candle: Candle) -> Reading:
        """Take the next candle and answer for it."""
        self._candles.append(candle)
        for step in self._program.steps:
            if isinstance(step, ExpressionStep):
                self._named.setdefault(step.name, []).append(self._now(step.tree))
            else:
                self._step_talib(step)
        for field, period in self._program.atr_periods.items():
            self._step_atr(field, int(self._program.value(period, self._parameters)))
        rules = {name: bool(self._now(tree)) for name, tree in self._program.rules.items()}
        return Reading({key: past[-1] for key, past in self._named.items()}, rules)

    def _step_talib(self, step: TalibStep) -> None:
        inputs = [self._past(node) for node in step.inputs]
        arguments = {
            key: self._program.value(value, self._parameters) for key, value in step.arguments
        }
        self._ask_talib(step.function.name, step.keys, inputs, arguments)

    def _step_atr(self, field: str, period: int) -> None:
        inputs = [self._past(Price(0, name)) for name in ("high", "low", "close")]
        self._ask_talib("ATR", (f"{field}.atr",), inputs, {"timeperiod": period})

    def _ask_talib(
        self,
        function: str,
        keys: tuple[str, ...],
        inputs: list[list[Answer]],
        arguments: dict[str, int | float],
    ) -> None:
        arrays = [np.array(past, dtype=np.float64) for past in inputs]
        outputs = catalog.call(function, arrays, arguments)
        for key, output in zip(keys, outputs, strict=True):
            self._named.setdefault(key, []).append(float(output[-1]))

    def _past(self, node: Node) -> list[Answer]:
        """Every value of a part up to this bar."""
        self._now(node)
        return self._named[node.key] if isinstance(node, Indicator) else self._history[node]

    def _now(self, node: Node) -> Answer:
        """The value of a part at this bar; each part is worked out once per bar."""
        if isinstance(node, Indicator):
            return self._named[node.key][-1]
        past = self._history.setdefault(node, [])
        if len(past) < len(self._candles):
            for part in node.parts:
                self._now(part)
            past.append(self._work_out(node))
        return past[-1]

    def _work_out(self, node: Node) -> Answer:
        match node:
            case Number():
                return float(node.value)
            case Truth():
                return node.value
            case Parameter():
                return float(self._parameters[node.name])
            case Price():
                return _price(self._candles[-1], node.name)
            case Shift():
                return self._ago(node.part, node.bars)
            case Negative():
                return -self._now(node.part)
            case Arithmetic():
                return _arithmetic(node.operator, self._now(node.left), self._now(node.right))
            case Comparison():
                return _compare(node.operator, self._now(node.left), self._now(node.right))
            case Logic():
                answers = [bool(self._now(part)) for part in node.operands]
                return all(answers) if node.operator == "and" else any(answers)
            case Not():
                return not self._now(node.part)
            case Call():
                return self._call(node)
        raise TypeError(f"no meaning for {type(node).__name__}")

    def _ago(self, node: Node, bars: int) -> Answer:
        past = self._past(node)
        if bars >= len(past):
            return False if node.type == "boolean" else MISSING
        return past[-1 - bars]

    def _call(self, node: Call) -> Answer:
        name, arguments = node.function, node.arguments
        if name in _PLAIN:
            return _PLAIN[name](*(self._now(argument) for argument in arguments))
        if name == "hour":
            return float(self._candles[-1].timestamp.hour)
        if name == "weekday":
            return float(self._candles[-1].timestamp.weekday())
        first = arguments[0]
        if name == "previous":
            return self._ago(first, 1)
        if name in ("crossed_above", "crossed_below"):
            return self._crossed(arguments[0], arguments[1], name == "crossed_above")
        past = self._past(first)
        if name == "bars_since":
            return next((float(age) for age, true in enumerate(reversed(past)) if true), MISSING)
        length = int(self._now(arguments[1]))
        if name == "count":
            return float(sum(bool(true) for true in past[-length:]))
        if name == "change":
            return self._now(first) - self._ago(first, length)
        if name in ("rising", "falling"):
            return self._streak(first, length, "<" if name == "rising" else ">")
        if name == "ema":
            array = np.array(past, dtype=np.float64)
            return float(catalog.call("EMA", [array], {"timeperiod": length})[0][-1])
        window = [float(value) for value in past[-length:]]
        if len(window) < length or any(math.isnan(value) for value in window):
            return MISSING
        return _WINDOWS[name](window)

    def _crossed(self, a: Node, b: Node, above: bool) -> bool:
        if len(self._candles) < 2:
            return False
        now, before = (">", "<=") if above else ("<", ">=")
        return _compare(now, self._now(a), self._now(b)) and _compare(
            before, self._ago(a, 1), self._ago(b, 1)
        )

    def _streak(self, node: Node, length: int, earlier: str) -> bool:
        return all(
            _compare(earlier, self._ago(node, age + 1), self._ago(node, age))
            for age in range(length)
        )


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
    return MISSING if right == 0 else _finite(left / right)


def _compare(operator: str, left: float, right: float) -> bool:
    if math.isnan(left) or math.isnan(right):
        return False
    match operator:
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right
        case "==":
            return left == right
    return left != right


def _finite(value: float) -> float:
    return value if math.isfinite(value) else MISSING


def _elementary(function: np.ufunc) -> "object":
    """numpy's own exp, log and power: the last digit of these differs between libraries."""

    def apply(*values: float) -> float:
        with np.errstate(all="ignore"):
            return _finite(float(function(*(np.float64(value) for value in values))))

    return apply


def _smaller(a: float, b: float) -> float:
    return MISSING if math.isnan(a) or math.isnan(b) else min(a, b)


def _larger(a: float, b: float) -> float:
    return MISSING if math.isnan(a) or math.isnan(b) else max(a, b)


def _sum(window: list[float]) -> float:
    total = window[0]
    for value in window[1:]:
        total += value
    return total


def _mean(window: list[float]) -> float:
    return _sum(window) / len(window)


def _stdev(window: list[float]) -> float:
    if len(window) < 2:
        return MISSING
    centre = _mean(window)
    squares = 0.0
    for value in window:
        squares += (value - centre) * (value - centre)
    return math.sqrt(squares / (len(window) - 1))


_WINDOWS = {"highest": max, "lowest": min, "sum": _sum, "mean": _mean, "stdev": _stdev}
_PLAIN = {
    "abs": abs,
    "min": _smaller,
    "max": _larger,
    "sqrt": _elementary(np.sqrt),
    "exp": _elementary(np.exp),
    "log": _elementary(np.log),
    "power": _elementary(np.power),
}
