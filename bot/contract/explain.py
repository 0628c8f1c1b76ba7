"""Turns pydantic's errors into faults in plain words: one for each place."""

from collections.abc import Iterator, Mapping

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from bot.contract.document.problems import Fault, Where, nearest, odd_characters, quoted, shown
from bot.contract.field_types import places_of
from bot.contract.model import Contract, ModuleContract

# The part of the model that each place of the document is; "*" is any key.
_PARTS: dict[Where, type[BaseModel]] = {
    where: part
    for kind in (Contract, ModuleContract)
    for where, part in places_of(kind)
    if isinstance(part, type) and issubclass(part, BaseModel)
}
# What pydantic adds to its paths: the form of a union that was tried, and that a key is meant.
_FORMS = ("<plain>", "<mapping>", "<function>", "<expression>", "[key]")
_SHAPES = {
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "dict_type": "a mapping",
    "tuple_type": "a list",
    "list_type": "a list",
}


def explain(error: ValidationError, root: Mapping[str | int, object]) -> list[Fault]:
    """Translate every error; what the coherence check also reports is left to it."""
    faults: list[Fault] = []
    for details in error.errors(include_url=False):
        if details.get("ctx", {}).get("at") == "coherence":
            continue
        faults += _translate(details, root)
    return faults


def _translate(details: ErrorDetails, root: Mapping[str | int, object]) -> Iterator[Fault]:
    where, value = _fit(details["loc"], root)
    kind = details["type"]
    on_key = "[key]" in details["loc"]
    if kind == "contract":
        yield _own(details, where, on_key=on_key)
    elif kind == "missing":
        yield _missing(where)
    elif kind == "extra_forbidden":
        yield _unknown(where, root)
    elif kind in ("invalid_key", "string_type"):
        yield Fault(where, "a key is text here", quoted(where[-1]), on_key=True)
    elif kind in _SHAPES:
        found = quoted(value)
        advice = f"[{shown(value)}]" if isinstance(value, str) and _SHAPES[kind] == "a list" else ""
        yield Fault(where, f"expected {_SHAPES[kind]}", found, nearest=advice)
    else:
        yield Fault(where, details["msg"][:1].lower() + details["msg"][1:], quoted(value))


def _fit(loc: Where, root: object) -> tuple[Where, object]:
    """Bring pydantic's path to the document's: without the names of forms and short forms."""
    where: Where = ()
    value = root
    for key in loc:
        written = isinstance(value, dict) and key in value
        if key in _FORMS and not written:
            continue
        if isinstance(value, dict):
            where = (*where, key)
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int):
            where = (*where, key)
            value = value[key] if key < len(value) else None
        else:
            break
    return where, value


def _own(details: ErrorDetails, where: Where, *, on_key: bool) -> Fault:
    context = details["ctx"]
    if context["at"]:
        where = (*where, context["at"])
    message, found, allowed, near = (context[k] for k in ("message", "found", "allowed", "nearest"))
    return Fault(where, message, found, allowed, near, on_key=on_key)


def _missing(where: Where) -> Fault:
    if len(where) == 3 and where[0] == "indicators" and where[2] == "function":
        message = "an indicator needs a function of TA-Lib, or an expression"
        return Fault(where[:2], message, allowed="{function: RSI, timeperiod: 14}", on_key=True)
    return Fault(where, "required, but not given", allowed=_example(where))


def _unknown(where: Where, root: Mapping[str | int, object]) -> Fault:
    key = str(where[-1])
    if where == ("files",):
        return Fault(where, "files belong to kind: module", on_key=True)
    if root.get("kind") == "module" and key in Contract.model_fields and len(where) == 1:
        return Fault(where, "this key belongs to kind: strategy", on_key=True)
    names = list(_part(where[:-1], root).model_fields)
    message = f'unknown key "{shown(key)}"{odd_characters(key)}'
    return Fault(where, message, "", ", ".join(names), nearest(key, names), on_key=True)


def _part(where: Where, root: Mapping[str | int, object]) -> type[BaseModel]:
    for place, part in _PARTS.items():
        if len(place) == len(where) and all(
            a in ("*", b) for a, b in zip(place, where, strict=True)
        ):
            return part
    return ModuleContract if root.get("kind") == "module" else Contract


def _example(where: Where) -> str:
    """Show how a missing key is written, from the model's own example."""
    part = _part(where[:-1], {"kind": "module" if where == ("files",) else "strategy"})
    field = part.model_fields.get(str(where[-1]))
    if field is None or not field.examples:
        return ""
    return f"{where[-1]}: {flow(field.examples[0])}"


def flow(value: object) -> str:
    """Write a value as YAML would on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and (value[:1].isdigit() and value.replace(".", "").isdigit()):
        return f'"{value}"'
    return f"{value:g}" if isinstance(value, float) and value >= 1000 else str(value)
