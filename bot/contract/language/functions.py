"""The functions of the rule language: what each takes, gives and means."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["number", "boolean", "window", "any"]
Result = Literal["number", "boolean", "same"]


@dataclass(frozen=True)
class Function:
    """One function; the documentation and the type check read the same entry."""

    name: str
    arguments: tuple[tuple[str, Kind], ...]
    result: Result
    meaning: str
    example: str

    @property
    def signature(self) -> str:
        """The call as the documentation shows it."""
        return f"{self.name}({', '.join(label for label, _ in self.arguments)})"


_X: tuple[str, Kind] = ("x", "number")
_A: tuple[str, Kind] = ("a", "number")
_B: tuple[str, Kind] = ("b", "number")
_N: tuple[str, Kind] = ("n", "window")
_COND: tuple[str, Kind] = ("cond", "boolean")

_ALL = (
    Function(
        "crossed_above",
        (_A, _B),
        "boolean",
        "a is above b now and was at or below it one bar ago; the first bar never crosses",
        "crossed_above(close, trend)",
    ),
    Function(
        "crossed_below",
        (_A, _B),
        "boolean",
        "a is below b now and was at or above it one bar ago; the first bar never crosses",
        "crossed_below(close, trend)",
    ),
    Function(
        "highest",
        (_X, _N),
        "number",
        "the largest of x over this bar and the n - 1 before it",
        "close > highest(high, 20)[1]",
    ),
    Function(
        "lowest",
        (_X, _N),
        "number",
        "the smallest of x over this bar and the n - 1 before it",
        "close < lowest(low, 20)[1]",
    ),
    Function(
        "mean",
        (_X, _N),
        "number",
        "the average of x over this bar and the n - 1 before it",
        "close > mean(close, 50)",
    ),
    Function(
        "stdev",
        (_X, _N),
        "number",
        "the sample standard deviation (n - 1) of x over n bars; missing for n = 1",
        "close < mean(close, 20) - 2 * stdev(close, 20)",
    ),
    Function("sum", (_X, _N), "number", "the sum of x over n bars", "sum(volume, 5) > 1000"),
    Function("change", (_X, _N), "number", "x minus x n bars ago", "change(close, 10) > 0"),
    Function(
        "rising", (_X, _N), "boolean", "x rose n times in a row up to this bar", "rising(close, 3)"
    ),
    Function(
        "falling",
        (_X, _N),
        "boolean",
        "x fell n times in a row up to this bar",
        "falling(volume, 2)",
    ),
    Function("abs", (_X,), "number", "x without its sign", "abs(change(close, 1)) > 50"),
    Function("min", (_A, _B), "number", "the smaller of a and b", "min(open, close) > trend"),
    Function("max", (_A, _B), "number", "the larger of a and b", "max(open, close) < trend"),
    Function(
        "previous",
        (("x", "any"),),
        "same",
        "x one bar ago, the same as x[1]",
        "close > previous(high)",
    ),
    Function(
        "bars_since",
        (_COND,),
        "number",
        "bars since cond was last true: 0 now, missing before the first time",
        "bars_since(rsi < 30) <= 5",
    ),
    Function(
        "count",
        (_COND, _N),
        "number",
        "at how many of the last n bars cond was true; bars before the first count 0",
        "count(close > open, 5) >= 4",
    ),
    Function(
        "ema",
        (_X, _N),
        "number",
        "TA-Lib's exponential moving average of x",
        "close > ema(hl2, 21)",
    ),
    Function("sqrt", (_X,), "number", "square root; missing below 0", "sqrt(volume) > 30"),
    Function(
        "exp",
        (_X,),
        "number",
        "e to the power x; missing where too large",
        "exp(change(log(close), 5)) > 1.02",
    ),
    Function("log", (_X,), "number", "natural logarithm; missing at 0 and below", "log(close) > 9"),
    Function(
        "power",
        (_X, ("n", "number")),
        "number",
        "x to the power n; missing outside its domain",
        "power(change(close, 1), 2) > 100",
    ),
    Function("hour", (), "number", "hour of the candle's open, UTC, 0 to 23", "hour() >= 8"),
    Function("weekday", (), "number", "day of the candle's open, UTC, Monday = 0", "weekday() < 5"),
)

FUNCTIONS: dict[str, Function] = {function.name: function for function in _ALL}
