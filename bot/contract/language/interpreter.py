"""A Program and one candle at a time to the rules' answers: the oracle of the rule language.

It is written for certainty, not speed: plain Python, one bar after another, and nothing in reach
but the bars that were fed so far. TA-Lib is asked again at every bar with the history up to it.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.contract.language import catalog
from bot.contract.language.candle import Candle as Candle
from bot.contract.language.candle import LongerCandles
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

MISSING = math.nan
Answer = float | bool


@dataclass(frozen=True)
class Reading:
    """What the language says at one bar."""

    indicators: Mapping[str, Answer]
    rules: Mapping[str, bool]


class _Column:
    """A history as an array that grows with it, so that no bar copies all bars before it."""

    def __init__(self, past: list[Answer]) -> None:
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
        self._named: dict[str, list[Answer]] = {}
        self._histories: dict[Node, list[Answer]] = {}
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
        histories: dict[str, list[Answer]] = {key: [] for key in nothing}
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
        inputs: list[list[Answer]],
        arguments: dict[str, int | float],
    ) -> None:
        """Have TA-Lib answer at every bar, from the history up to it."""
        histories: list[list[Answer]] = [[] for _ in keys]
        self._named.update(zip(keys, histories, strict=True))

        columns = [_Column(past) for past in inputs]

        def ask() -> None:
            arrays = [column.so_far() for column in columns]
            outputs = catalog.call(function, arrays, arguments)
            for history, output in zip(histories, outputs, strict=True):
                history.append(float(output[-1]))

        self._steps.append(ask)

    def _history_of(self, node: Node) -> list[Answer]:
        """The history of a part; it grows by one answer with every candle."""
        if isinstance(node, Indicator):
            return self._named[node.key]
        if node not in self._histories:
            answer = self._meaning(node, [self._history_of(part) for part in node.parts])
            history: list[Answer] = []
            self._histories[node] = history
            self._steps.append(lambda: history.append(answer()))
        return self._histories[node]

    def _meaning(self, node: Node, past: list[list[Answer]]) -> Callable[[], Answer]:
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

    def _function(self, node: Call, past: list[list[Answer]]) -> Callable[[], Answer]:
        name = node.function
        if name == "hour":
            return lambda: float(self._candles[-1].timestamp.hour)
        if name == "weekday":
            return lambda: float(self._candles[-1].timestamp.weekday())
        if name == "previous":
            return lambda: _ago(past[0], 1, node.type)
        if name in _PLAIN:
            return lambda: _PLAIN[name](*(part[-1] for part in past))
        if name in _PASTS:
            return lambda: _PASTS[name](*past)
        return lambda: _WINDOWS[name](past[0], int(past[1][-1]))


def _is_condition(step: Step) -> bool:
    return isinstance(step, ExpressionStep) and step.tree.type == "boolean"


def _ago(past: list[Answer], bars: int, kind: str = "number") -> Answer:
    if bars >= len(past):
        return False if kind == "boolean" else MISSING
    return past[-1 - bars]


def _crossed_above(a: list[Answer], b: list[Answer]) -> bool:
    if len(a) < 2:
        return False
    return _compare(">", a[-1], b[-1]) and _compare("<=", a[-2], b[-2])


def _crossed_below(a: list[Answer], b: list[Answer]) -> bool:
    if len(a) < 2:
        return False
    return _compare("<", a[-1], b[-1]) and _compare(">=", a[-2], b[-2])


def _bars_since(past: list[Answer]) -> float:
    return next((float(age) for age, true in enumerate(reversed(past)) if true), MISSING)


def _count(past: list[Answer], length: int) -> float:
    return float(sum(bool(true) for true in past[-length:]))


def _change(past: list[Answer], length: int) -> float:
    return past[-1] - _ago(past, length)


def _rising(past: list[Answer], length: int) -> bool:
    return all(_compare(">", _ago(past, age), _ago(past, age + 1)) for age in range(length))


def _falling(past: list[Answer], length: int) -> bool:
    return all(_compare("<", _ago(past, age), _ago(past, age + 1)) for age in range(length))


def _ema(past: list[Answer], length: int) -> float:
    array = np.array(past, dtype=np.float64)
    return float(catalog.call("EMA", [array], {"timeperiod": length})[0][-1])


def _over_window(
    function: Callable[[list[float]], float],
) -> Callable[[list[Answer], int], float]:
    """A function of the last n values; missing until they are there, or if one of them is."""

    def over(past: list[Answer], length: int) -> float:
        window = past[-length:]
        if len(window) < length or any(value != value for value in window):
            return MISSING
        return function(window)

    return over


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


def _elementary(function: np.ufunc) -> Callable[..., float]:
    """numpy's own exp, log and power: the last digit of these differs between libraries."""

    def apply(*values: float) -> float:
        with np.errstate(all="ignore"):
            return _finite(float(function(*(np.float64(value) for value in values))))

    return apply


def _power(x: float, n: float) -> float:
    # numpy squares by multiplying where the exponent is one number, and not where it is a series.
    return _finite(x * x) if n == 2 else _elementary(np.power)(x, n)


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


_PLAIN: dict[str, Callable[..., float]] = {
    "abs": abs,
    "min": _smaller,
    "max": _larger,
    "sqrt": _elementary(np.sqrt),
    "exp": _elementary(np.exp),
    "log": _elementary(np.log),
    "power": _power,
}
_PASTS: dict[str, Callable[..., Answer]] = {
    "crossed_above": _crossed_above,
    "crossed_below": _crossed_below,
    "bars_since": _bars_since,
}
_WINDOWS: dict[str, Callable[[list[Answer], int], Answer]] = {
    "highest": _over_window(max),
    "lowest": _over_window(min),
    "sum": _over_window(_sum),
    "mean": _over_window(_mean),
    "stdev": _over_window(_stdev),
    "count": _count,
    "change": _change,
    "rising": _rising,
    "falling": _falling,
    "ema": _ema,
}
