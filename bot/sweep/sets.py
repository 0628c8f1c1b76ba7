"""Turns what `--set` lists into every combination of values that a contract allows."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from itertools import product
from typing import TYPE_CHECKING, Any

from Backtest.sim_errors import nearest
from bot.contract.load import check_document
from bot.errors import InputError

if TYPE_CHECKING:
    from bot.contract.model import Contract

MAX_SETS = 10_000


def read_sets(
    texts: Sequence[str], contract: Contract, root: Mapping[str | int, object]
) -> list[dict[str, int | float]]:
    """Every combination of the values that `name=1,2,3` and `name=from:to:step` list.

    The extreme values are checked in their place in `root`, the contract as it was read.

    Raises:
        InputError: a parameter is unknown or named twice, a value is malformed, outside its range
            or refused by the contract's own rules, or there are too many sets.
    """
    if not texts:
        raise InputError("no parameter to change", f"Give --set NAME=1,2,3. {_known(contract)}")
    choices: dict[str, list[int | float]] = {}
    for text in texts:
        name, equals, listed = text.partition("=")
        name = name.strip()
        if not equals or not listed.strip():
            raise InputError(f"--set {text!r} lists no values", "Write --set name=10,14,20.")
        if name not in contract.parameters:
            close = nearest(name, contract.parameters) if contract.parameters else ""
            raise InputError(
                f"the contract has no parameter {name!r}", f"{close} {_known(contract)}".strip()
            )
        if name in choices:
            raise InputError(f"--set names {name!r} twice", "List all its values in one --set.")
        choices[name] = _values(name, listed, contract)
    count = math.prod(len(values) for values in choices.values())
    if count > MAX_SETS:
        raise InputError(
            f"that makes {count:,} sets, at most {MAX_SETS:,} are played",
            "List fewer values, or a wider step.",
        )
    for name, values in choices.items():
        for value in sorted({min(values), max(values)}):
            _check_in_place(name, value, root)
    return [dict(zip(choices, chosen, strict=True)) for chosen in product(*choices.values())]


def _known(contract: Contract) -> str:
    if not contract.parameters:
        return "The contract has no parameters; add a section `parameters`."
    said = []
    for name, parameter in contract.parameters.items():
        span = f" ({parameter.range[0]} to {parameter.range[1]})" if parameter.range else ""
        said.append(f"{name}{span}")
    return f"Its parameters: {', '.join(said)}."


def _values(name: str, listed: str, contract: Contract) -> list[int | float]:
    """The values of one parameter, each once, as integers where it is one."""
    parameter = contract.parameters[name]
    parts = listed.split(":")
    numbers = (
        _steps(name, parts) if len(parts) > 1 else [_decimal(name, p) for p in listed.split(",")]
    )
    found: list[int | float] = []
    for number in numbers:
        whole = number == number.to_integral_value()
        if parameter.is_integer and not whole:
            raise InputError(f"{name} is a whole number, {number} is none", "List whole numbers.")
        value = int(number) if parameter.is_integer else float(number)
        if parameter.range and not parameter.range[0] <= value <= parameter.range[1]:
            low, high = parameter.range
            raise InputError(
                f"{name}={value} is outside its range", f"The contract allows {low} to {high}."
            )
        if value not in found:
            found.append(value)
    return found


def _decimal(name: str, text: str) -> Decimal:
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite():
        raise InputError(f"{name}: {text.strip()!r} is no number", "Write --set name=10,14,20.")
    return number


def _steps(name: str, parts: Sequence[str]) -> list[Decimal]:
    """The numbers from one to another; the last is in if the steps meet it."""
    if len(parts) != 3:
        hint = "Write --set name=from:to:step, for example 10:30:5."
        raise InputError(f"{name}: {':'.join(parts)!r} is no from:to:step", hint)
    first, last, step = (_decimal(name, part) for part in parts)
    if step <= 0 or last < first:
        raise InputError(f"{name}: from {first} to {last} by {step} goes nowhere", "Count upwards.")
    count = int((last - first) / step) + 1
    if count > MAX_SETS:
        raise InputError(f"{name} has {count:,} values, at most {MAX_SETS:,} sets are played")
    return [first + step * place for place in range(count)]


def _check_in_place(name: str, value: int | float, root: Mapping[str | int, object]) -> None:
    """Have the contract's own checks look at a value as if it were written there."""
    changed: dict[Any, Any] = copy.deepcopy(dict(root))
    changed["parameters"][name] = {**changed["parameters"][name], "default": value}
    findings = check_document(changed)
    if findings:
        raise InputError(
            f"{name}={value} is refused: {findings[0].message}",
            f"Allowed: {findings[0].allowed}." if findings[0].allowed else "",
        )
