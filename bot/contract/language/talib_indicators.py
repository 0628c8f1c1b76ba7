"""Reads the indicators that TA-Lib computes: function, arguments and inputs, all checked."""

import math
import re
from collections.abc import Mapping

from bot.contract.document.problems import Fault
from bot.contract.document.problems import nearest as nearest_name
from bot.contract.language import catalog
from bot.contract.language.known_names import KnownNames, Path
from bot.contract.language.program_steps import TalibStep, Value
from bot.contract.language.rules import PRICES
from bot.contract.language.tree import Indicator, Node, Parameter, Price


def read_function(so_far: KnownNames, name: str, body: Mapping[object, object]) -> None:
    """Reads an indicator that TA-Lib computes."""
    where: Path = ("indicators", name)
    wanted = body["function"]
    if not isinstance(wanted, str):
        return
    if wanted not in catalog.function_names():
        names = list(catalog.function_names())
        close = nearest_name(wanted.upper(), names)
        allowed = f"one of TA-Lib's {len(names)} functions, by its own name in capitals"
        message = f"TA-Lib has no function `{wanted[:40]}`"
        so_far.find((*where, "function"), message, wanted[:80], allowed, close)
        return
    function = catalog.describe(wanted)
    so_far.outputs[name] = function.outputs
    before = len(so_far.faults)
    arguments = _read_arguments(so_far, where, function, body)
    length = so_far.timeframes[name]
    inputs = _read_inputs(so_far, where, function, body.get("input"), length)
    if len(so_far.faults) > before:
        return
    for values in _argument_cases(so_far, arguments):
        reason = catalog.refusal(wanted, values)
        if reason:
            shown = ", ".join(f"{key}={value}" for key, value in values)
            so_far.find(where, f"{wanted} does not take these arguments: {reason}", shown)
            return
    so_far.steps.append(TalibStep(name, function, inputs, arguments, length))


def _argument_cases(
    so_far: KnownNames, arguments: tuple[tuple[str, Value], ...]
) -> list[tuple[tuple[str, int | float], ...]]:
    """Gives the arguments at the parameters' defaults and at either end of their ranges."""
    cases = []
    for pick in range(3):
        case = []
        for key, value in arguments:
            if isinstance(value, Parameter):
                extremes = so_far.extremes[value.name] or (so_far.parameters[value.name],)
                number = extremes[min(pick, len(extremes) - 1)]
                case.append((key, int(number) if so_far.integers[value.name] else number))
            else:
                case.append((key, value))
        if tuple(case) not in cases:
            cases.append(tuple(case))
    return cases


def _read_arguments(
    so_far: KnownNames, where: Path, function: catalog.TalibFunction, body: Mapping[object, object]
) -> tuple[tuple[str, Value], ...]:
    """Reads the arguments in TA-Lib's order, coerced to the declared types."""
    known = [argument.name for argument in function.arguments]
    given: dict[str, Value] = {}
    for key, value in body.items():
        if not isinstance(key, str) or key in ("function", "input", "timeframe"):
            continue
        if key not in known:
            so_far.faults.append(
                Fault(
                    (*where, key),
                    f"{function.name} has no argument `{key[:40]}`",
                    key[:80],
                    ", ".join(known) or "no arguments",
                    nearest_name(key, known),
                    on_key=True,
                )
            )
        else:
            argument = function.argument(key)
            number = _read_argument(so_far, (*where, key), argument, value) if argument else None
            if number is not None:
                given[key] = number
    return tuple((key, given[key]) for key in known if key in given)


def _read_argument(
    so_far: KnownNames, where: Path, argument: catalog.Argument, value: object
) -> Value | None:
    """Reads an argument: a number of the declared type, an average's name, or a parameter."""
    if isinstance(value, str):
        if argument.kind == "matype" and value in catalog.ma_types():
            return catalog.ma_types()[value]
        if value in so_far.parameters:
            if argument.kind == "real" or so_far.integers[value]:
                return Parameter(0, value)
            allowed = "a parameter whose default and range are whole numbers"
            so_far.find(where, f"`{argument.name}` wants a whole number", value, allowed)
            return None
        kinds = [*catalog.ma_types()] if argument.kind == "matype" else []
        names = [*so_far.parameters, *kinds]
        allowed = ", ".join(["a number", *names])
        message = f"`{value[:40]}` is not a parameter"
        so_far.find(where, message, value[:80], allowed, nearest_name(value, names))
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        so_far.find(
            where, f"`{argument.name}` wants a number or a parameter's name", repr(value)[:60]
        )
        return None
    if argument.kind == "real":
        return float(value)
    if not math.isfinite(value) or not float(value).is_integer():
        allowed = f"a whole number, {argument.default} by default"
        so_far.find(where, f"`{argument.name}` wants a whole number", value, allowed)
        return None
    if argument.kind == "matype" and int(value) not in catalog.ma_types().values():
        allowed = ", ".join(f"{number} ({kind})" for kind, number in catalog.ma_types().items())
        so_far.find(where, "no moving average has this number", value, allowed)
        return None
    return int(value)


def _read_inputs(
    so_far: KnownNames,
    where: Path,
    function: catalog.TalibFunction,
    wanted: object,
    timeframe: str = "",
) -> tuple[Node, ...]:
    """Reads the series a function reads, in TA-Lib's order."""
    path: Path = (*where, "input")
    chosen: list[Node] = []
    if wanted is not None:
        names = list(wanted) if isinstance(wanted, list | tuple) else [wanted]
        if function.free == 0:
            fixed = ", ".join(slot.price for slot in function.slots)
            message = f"{function.name} always reads {fixed}; it takes no input"
            so_far.find(path, message, _shown(wanted), "leave `input` out")
            return ()
        if len(names) != function.free:
            allowed = "one series" if function.free == 1 else f"a list of {function.free} series"
            so_far.find(path, f"{function.name} takes {allowed}", _shown(wanted), allowed)
            return ()
        for place, name in enumerate(names):
            place_of = (*path, place) if isinstance(wanted, list) else path
            node = _read_series(so_far, place_of, name, timeframe)
            if node is None:
                return ()
            chosen.append(node)
    elif any(not slot.price for slot in function.slots):
        allowed = "a list of series, for example [close, periods]"
        so_far.find(where, f"{function.name} needs an `input`", "", allowed)
        return ()
    free = iter(chosen)
    return tuple(
        Price(0, slot.price) if slot.fixed or not chosen else next(free) for slot in function.slots
    )


def _read_series(so_far: KnownNames, where: Path, name: object, timeframe: str = "") -> Node | None:
    """Reads a price, an indicator or one output of it."""
    if not isinstance(name, str):
        return None
    known = [*PRICES, *so_far.outputs]
    if not re.fullmatch(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)?", name, re.ASCII):
        allowed = "a price, an indicator's name or name.output; expressions get a name of their own"
        so_far.find(where, "`input` names a series", name[:80], allowed)
        return None
    node = so_far.parse(name, where, "number", timeframe)
    if node is not None and not isinstance(node, Price | Indicator):
        so_far.find(where, "`input` wants a series", name[:80], ", ".join(known))
        return None
    return node


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)[:80]
