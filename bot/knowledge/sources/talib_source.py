"""Turns the installed TA-Lib into facts: what each function takes, gives and needs."""

import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from bot.contract.language.catalog import (
    INTEGER_OUTPUTS,
    Argument,
    TalibFunction,
    call,
    describe,
    function_names,
    lookback,
    ma_types,
    refusal,
)
from bot.knowledge.facts import Fact, Finding

_BARS = 600
_LARGEST = 3e37
# Bounds that TA-Lib's own descriptions use, from the widest inwards.
_LOWS = (-_LARGEST, 0.0, 0.01, 0.1, 1.0, 2.0)
_HIGHS = (_LARGEST, 1_000_000.0, 1000.0, 100.0, 10.0, 2.0, 1.0, 0.99)
_INTEGERS = (-100, 1_000_000)


def read_talib() -> Finding:
    """Asks the library about every function that it lists."""
    talib: Any = importlib.import_module("talib")
    described = [describe(name) for name in function_names()]
    facts = [_fact(item) for item in sorted(described, key=lambda item: (item.group, item.name))]
    numbers = sorted((number, name) for name, number in ma_types().items())
    kinds = ", ".join(f"{number} {name}" for number, name in numbers)
    facts.append(Fact("MA_Type", "kinds of moving averages", "", f"numbers of a matype: {kinds}"))
    return Finding("TA-Lib", str(talib.__version__), tuple(facts))


def _fact(function: TalibFunction) -> Fact:
    free = [
        slot.price if slot.fixed else f"price{number}" if slot.price else "periods"
        for number, slot in enumerate(function.slots)
    ]
    if function.free == 1:
        free = [name.replace("price0", "price") for name in free]
    given = [f"{item.name}={item.default}" for item in function.arguments]
    outputs = ", ".join(function.outputs)
    says = [function.title]
    says += [f"{item.name} {bounds(function, item)}" for item in function.arguments]
    says.append(f"warm-up {warmup_measured(function)} bars")
    if set(function.outputs) <= INTEGER_OUTPUTS:
        says.append("whole numbers, 0 in warm-up")
    says.append("unstable: depends on where history begins" if function.unstable else "stable")
    return Fact(
        function.name,
        function.group,
        f"{function.name}({', '.join((*free, *given))}) -> {outputs}",
        "; ".join(says).replace("|", "/"),
    )


def bounds(function: TalibFunction, argument: Argument) -> str:
    """Finds the values of an argument that the library takes, by trying."""
    if argument.kind == "matype":
        return "a number of MA_Type"
    if argument.kind == "integer":
        least, most = (_edge(function, argument, int(far)) for far in _INTEGERS)
        return f"{least} to {most}"
    low = next(value for value in _LOWS if _takes(function, argument, value))
    high = next(value for value in _HIGHS if _takes(function, argument, value))
    return f"{_plain(low)} to {_plain(high)}"


def _edge(function: TalibFunction, argument: Argument, far: int) -> int:
    """The last value on the way from the default outwards that is taken; the other arguments
    keep their defaults."""
    taken, refused = int(argument.default), far
    if _takes(function, argument, far):
        return far
    while abs(refused - taken) > 1:
        middle = (taken + refused) // 2
        if _takes(function, argument, middle):
            taken = middle
        else:
            refused = middle
    return taken


def _plain(value: float) -> str:
    return "any" if abs(value) == _LARGEST else f"{value:g}"


def _takes(function: TalibFunction, argument: Argument, value: float) -> bool:
    return refusal(function.name, ((argument.name, value),)) == ""


def warmup_measured(function: TalibFunction) -> int:
    """Counts the bars without a value on drawn candles; of whole numbers TA-Lib is asked."""
    defaults = tuple((item.name, item.default) for item in function.arguments)
    asked = lookback(function.name, defaults)
    results = call(function.name, list(_inputs(function)), dict(defaults))
    missing = [
        int(np.argmax(~np.isnan(result)))
        for name, result in zip(function.outputs, results, strict=True)
        if name not in INTEGER_OUTPUTS and not np.isnan(result).all()
    ]
    return max(missing, default=asked)


def _inputs(function: TalibFunction) -> Iterator[Any]:
    """Candles between 0 and 1, where every function of the library has a value."""
    drawn = np.random.default_rng(7).uniform(0.2, 0.8, (_BARS, 2))
    low, high = drawn.min(axis=1), drawn.max(axis=1)
    prices = {"open": low, "high": high, "low": low, "close": (low + high) / 2}
    for slot in function.slots:
        if slot.price:
            yield prices.get(slot.price, high * 1000.0)
        else:
            yield np.full(_BARS, 14.0)
