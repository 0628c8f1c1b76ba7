"""The functions of the rule language: a row says what each takes, gives and means.

Everything else reads the row: the type check, the documentation, the interpreter (`answer`), the
warm-up (`span`), the comments in generated code (`words`). The arrays of the evaluator and of the
generated code come from the function of the same name in `adapters.series`.
"""

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bot.contract.language import catalog

Kind = Literal["number", "boolean", "window", "any"]
Result = Literal["number", "boolean", "same"]
Answer = float | bool
Past = list[Answer]
MISSING = math.nan


@dataclass(frozen=True)
class Function:
    """Describes a function of the language."""

    name: str
    arguments: tuple[tuple[str, Kind], ...]
    result: Result
    meaning: str
    example: str
    words: str  # how a sentence says it; {0} and {1} are the arguments
    # What it says at one bar. It is given the candle where there are no arguments, the past of x
    # and the length where there is a window, the pasts of all arguments where it looks back, else
    # their values now. A past ends with this bar.
    answer: Callable[..., Answer]
    looks_back: bool = False
    # Bars of the past that it needs, by the length of its window.
    span: Callable[[int], int] = lambda length: 0
    code: str = ""  # its name in `adapters.series`, or in numpy, where it is another one
    fixed: tuple[int, ...] = ()  # what generated code gives after the arguments

    @property
    def signature(self) -> str:
        """Gives the call as the documentation shows it."""
        return f"{self.name}({', '.join(label for label, _ in self.arguments)})"

    @property
    def has_window(self) -> bool:
        """Tells whether the last argument is the length of a window."""
        return bool(self.arguments) and self.arguments[-1][1] == "window"

    @property
    def is_of_two(self) -> bool:
        """Tells whether it takes two series, one of which may be a plain number."""
        return len(self.arguments) == 2 and not self.has_window

    @property
    def spelling(self) -> str:
        """Gives its name in code: `mean` of `adapters.series`, or `np.abs` of numpy."""
        return self.code or self.name


def _crossed_above(a: Past, b: Past) -> bool:
    return len(a) > 1 and a[-1] > b[-1] and a[-2] <= b[-2]


def _in_a_row(past: Past, length: int, moved: Callable[[Answer, Answer], bool]) -> bool:
    """Tells whether each of the last values moved so from the one before it."""
    ages = range(1, length + 1)
    return length < len(past) and all(moved(past[-age], past[-age - 1]) for age in ages)


def _before(past: Past) -> Answer:
    if len(past) > 1:
        return past[-2]
    return False if isinstance(past[-1], bool) else MISSING


def _ema(past: Past, length: int) -> float:
    array = np.array(past, dtype=np.float64)
    return float(catalog.call("EMA", [array], {"timeperiod": length})[0][-1])


def _over_window(function: Callable[[list[float]], float]) -> Callable[[Past, int], float]:
    """Make a function of the last n values; missing until they are there, or if one of them is."""

    def over(past: Past, length: int) -> float:
        window = past[-length:]
        if len(window) < length or any(value != value for value in window):
            return MISSING
        return function(window)

    return over


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
    return math.sqrt(
        _sum([(value - centre) * (value - centre) for value in window]) / (len(window) - 1)
    )


def finite(value: float) -> float:
    """Give a number, or missing where it is too large to be one."""
    return value if math.isfinite(value) else MISSING


def _elementary(function: np.ufunc) -> Callable[..., float]:
    """Take numpy's own exp, log and power: the last digit of these differs between libraries."""

    def apply(*values: float) -> float:
        with np.errstate(all="ignore"):
            return finite(float(function(*(np.float64(value) for value in values))))

    return apply


def _power(x: float, n: float) -> float:
    # numpy squares by multiplying where the exponent is one number, and not where it is a series.
    return finite(x * x) if n == 2 else _elementary(np.power)(x, n)


def _unless_missing(choose: Callable[[float, float], float]) -> Callable[[float, float], float]:
    return lambda a, b: MISSING if math.isnan(a) or math.isnan(b) else choose(a, b)


_X: tuple[str, Kind] = ("x", "number")
_A: tuple[str, Kind] = ("a", "number")
_B: tuple[str, Kind] = ("b", "number")
_N: tuple[str, Kind] = ("n", "window")
_COND: tuple[str, Kind] = ("cond", "boolean")

# fmt: off
_ALL = (
    Function("crossed_above", (_A, _B), "boolean",
             "a is above b now and was at or below it one bar ago; the first bar never crosses",
             "crossed_above(close, trend)", "{0} crosses above {1}", _crossed_above,
             looks_back=True, span=lambda n: 1),
    Function("crossed_below", (_A, _B), "boolean",
             "a is below b now and was at or above it one bar ago; the first bar never crosses",
             "crossed_below(close, trend)", "{0} crosses below {1}",
             lambda a, b: _crossed_above(b, a), looks_back=True, span=lambda n: 1),
    Function("highest", (_X, _N), "number",
             "the largest of x over this bar and the n - 1 before it",
             "close > highest(high, 20)[1]", "the highest {0} of {1} bars", _over_window(max),
             span=lambda n: n - 1),
    Function("lowest", (_X, _N), "number",
             "the smallest of x over this bar and the n - 1 before it",
             "close < lowest(low, 20)[1]", "the lowest {0} of {1} bars", _over_window(min),
             span=lambda n: n - 1),
    Function("mean", (_X, _N), "number", "the average of x over this bar and the n - 1 before it",
             "close > mean(close, 50)", "the average of {0} over {1} bars", _over_window(_mean),
             span=lambda n: n - 1),
    Function("stdev", (_X, _N), "number",
             "the sample standard deviation (n - 1) of x over n bars; missing for n = 1",
             "close < mean(close, 20) - 2 * stdev(close, 20)",
             "the standard deviation of {0} over {1} bars", _over_window(_stdev),
             span=lambda n: n - 1),
    Function("sum", (_X, _N), "number", "the sum of x over n bars", "sum(volume, 5) > 1000",
             "the sum of {0} over {1} bars", _over_window(_sum), span=lambda n: n - 1,
             code="total"),
    Function("change", (_X, _N), "number", "x minus x n bars ago", "change(close, 10) > 0",
             "the change of {0} over {1} bars",
             lambda x, n: x[-1] - x[-1 - n] if n < len(x) else MISSING, span=lambda n: n),
    Function("rising", (_X, _N), "boolean", "x rose n times in a row up to this bar",
             "rising(close, 3)", "{0} has risen {1} times in a row",
             lambda x, n: _in_a_row(x, n, operator.gt), span=lambda n: n),
    Function("falling", (_X, _N), "boolean", "x fell n times in a row up to this bar",
             "falling(volume, 2)", "{0} has fallen {1} times in a row",
             lambda x, n: _in_a_row(x, n, operator.lt), span=lambda n: n),
    Function("abs", (_X,), "number", "x without its sign", "abs(change(close, 1)) > 50",
             "the size of {0}", abs, code="np.abs"),
    Function("min", (_A, _B), "number", "the smaller of a and b", "min(open, close) > trend",
             "the smaller of {0} and {1}", _unless_missing(min), code="np.minimum"),
    Function("max", (_A, _B), "number", "the larger of a and b", "max(open, close) < trend",
             "the larger of {0} and {1}", _unless_missing(max), code="np.maximum"),
    Function("previous", (("x", "any"),), "same", "x one bar ago, the same as x[1]",
             "close > previous(high)", "{0} one bar ago", _before, looks_back=True,
             span=lambda n: 1, code="ago", fixed=(1,)),
    Function("bars_since", (_COND,), "number",
             "bars since cond was last true: 0 now, missing before the first time",
             "bars_since(rsi < 30) <= 5", "the number of bars since {0}",
             lambda past: next((float(n) for n, was in enumerate(reversed(past)) if was), MISSING),
             looks_back=True),
    Function("count", (_COND, _N), "number",
             "at how many of the last n bars cond was true; bars before the first count 0",
             "count(close > open, 5) >= 4", "the number of the last {1} bars where {0}",
             lambda cond, n: float(sum(map(bool, cond[-n:]))), span=lambda n: n - 1),
    Function("ema", (_X, _N), "number", "TA-Lib's exponential moving average of x",
             "close > ema(hl2, 21)", "the exponential average of {0} over {1} bars", _ema,
             span=lambda n: catalog.settle("EMA", (("timeperiod", n),))),
    Function("sqrt", (_X,), "number", "square root; missing below 0", "sqrt(volume) > 30",
             "the square root of {0}", _elementary(np.sqrt)),
    Function("exp", (_X,), "number", "e to the power x; missing where too large",
             "exp(change(log(close), 5)) > 1.02", "e to the power {0}", _elementary(np.exp)),
    Function("log", (_X,), "number", "natural logarithm; missing at 0 and below", "log(close) > 9",
             "the logarithm of {0}", _elementary(np.log)),
    Function("power", (_X, ("n", "number")), "number",
             "x to the power n; missing outside its domain", "power(change(close, 1), 2) > 100",
             "{0} to the power {1}", _power),
    Function("hour", (), "number", "hour of the candle's open, UTC, 0 to 23", "hour() >= 8",
             "the hour of the day", lambda candle: float(candle.timestamp.hour)),
    Function("weekday", (), "number", "day of the candle's open, UTC, Monday = 0", "weekday() < 5",
             "the weekday (Monday = 0)", lambda candle: float(candle.timestamp.weekday())),
)
# fmt: on

FUNCTIONS: dict[str, Function] = {function.name: function for function in _ALL}
