"""Asks TA-Lib which functions are installed, and what each takes and gives."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_Computing = Callable[..., Floats | tuple[Floats, ...]]
# Outputs that TA-Lib gives as whole numbers.
INTEGER_OUTPUTS = frozenset({"integer", "swinghigh", "swinglow", "minidx", "maxidx", "trend"})


class _Info(TypedDict):
    """Holds what TA-Lib says of a function."""

    display_name: str
    group: str
    input_names: Mapping[str, str | list[str]]
    parameters: Mapping[str, int | float]
    output_names: list[str]
    function_flags: list[str] | None


@dataclass(frozen=True)
class Argument:
    """Describes an optional argument of a function, with TA-Lib's own name and default."""

    name: str
    kind: Literal["integer", "real", "matype"]
    default: int | float


@dataclass(frozen=True)
class Slot:
    """Describes an input of a function: a fixed price, or a series that the contract may choose."""

    price: str
    fixed: bool


@dataclass(frozen=True)
class TalibFunction:
    """Describes a function of the installed library."""

    name: str
    title: str
    group: str
    slots: tuple[Slot, ...]
    arguments: tuple[Argument, ...]
    outputs: tuple[str, ...]
    unstable: bool

    @property
    def free(self) -> int:
        """Says how many inputs a contract may choose."""
        return sum(not slot.fixed for slot in self.slots)

    def argument(self, name: str) -> Argument | None:
        """Gives the argument of that name, if there is one."""
        return next((item for item in self.arguments if item.name == name), None)


@cache
def _talib() -> ModuleType:
    """TA-Lib, which brings pandas along: half a second that only contracts with indicators pay."""
    return import_module("talib")


@cache
def _abstract() -> ModuleType:
    return import_module("talib.abstract")


@cache
def ma_types() -> dict[str, int]:
    """Gives the kinds of moving averages and their numbers."""
    kinds = vars(type(_talib().MA_Type)).items()
    return {
        name: number
        for name, number in kinds
        if not name.startswith("_") and isinstance(number, int)
    }


@cache
def function_names() -> tuple[str, ...]:
    """Gives every function that the installed library lists."""
    return tuple(sorted(_talib().get_functions()))


@cache
def describe(name: str) -> TalibFunction:
    """Says what a function takes and gives.

    Raises:
        KeyError: the installed library has no such function.
    """
    if name not in function_names():
        raise KeyError(name)
    info: _Info = _abstract().Function(name).info
    return TalibFunction(
        name=name,
        title=info["display_name"],
        group=info["group"],
        slots=_slots(info["input_names"]),
        arguments=tuple(_argument(key, value) for key, value in info["parameters"].items()),
        outputs=tuple(info["output_names"]),
        unstable="Function has an unstable period" in (info["function_flags"] or ()),
    )


def _slots(inputs: Mapping[str, str | list[str]]) -> tuple[Slot, ...]:
    slots: list[Slot] = []
    for key, prices in inputs.items():
        if key == "prices":
            slots.extend(Slot(price, fixed=True) for price in prices)
        else:
            slots.append(Slot("" if key == "periods" else str(prices), fixed=False))
    return tuple(slots)


def _argument(name: str, default: int | float) -> Argument:
    if name.endswith("matype"):
        return Argument(name, "matype", default)
    return Argument(name, "real" if isinstance(default, float) else "integer", default)


@cache
def lookback(name: str, arguments: tuple[tuple[str, int | float], ...]) -> int:
    """Counts the bars before the first value of a function with these arguments."""
    function = _abstract().Function(name)
    function.parameters = dict(arguments)
    return int(function.lookback)


def settle(function: str, arguments: tuple[tuple[str, int | float], ...]) -> int:
    """Gives a function's lookback, and three of its periods more where TA-Lib marks it unstable."""
    bars = lookback(function, arguments)
    described = describe(function)
    if not described.unstable:
        return bars
    given = dict(arguments)
    periods = [
        int(given.get(argument.name, argument.default))
        for argument in described.arguments
        if argument.kind == "integer" and "period" in argument.name
    ]
    return bars + 3 * max(periods, default=bars)


@cache
def refusal(name: str, arguments: tuple[tuple[str, int | float], ...]) -> str:
    """Says why TA-Lib refuses a function with these arguments; empty when it takes them."""
    function = describe(name)
    probe = [np.ones(2)] * len(function.slots)
    try:
        call(name, probe, dict(arguments))
    except Exception as error:  # TA-Lib raises bare Exception for a bad parameter
        return "out of TA-Lib's range" if "BAD_PARAM" in str(error) else str(error)
    return ""


@cache
def _function(name: str) -> _Computing:
    """Gives the function itself, without the wrapper that looks for pandas in its arguments."""
    wrapped = getattr(_talib(), name)
    function: _Computing = getattr(wrapped, "__wrapped__", wrapped)
    return function


def call(name: str, inputs: list[Floats], arguments: dict[str, int | float]) -> tuple[Floats, ...]:
    """Run a function on whole arrays; one float array per output, missing values as NaN."""
    result = _function(name)(*inputs, **arguments)
    outputs = result if isinstance(result, tuple) else (result,)
    return tuple(np.asarray(output, dtype=np.float64) for output in outputs)
