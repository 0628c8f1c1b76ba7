"""Turns a contract and its expected values into the text of the tests of its strategy."""

from collections.abc import Mapping
from typing import Any

from bot.coder.template.code_layout import WIDTH
from bot.coder.template.expected import STAGED_BARS, STAGED_SEED, Expected
from bot.coder.template.strategy import quoted


def test_context(
    expected: Expected, defaults: Mapping[str, object], symbol_key: str, symbol: str
) -> dict[str, Any]:
    """Everything that the template of the tests fills in."""
    quarter = expected.bars // 4
    cuts = sorted({1, quarter, 2 * quarter, 3 * quarter, expected.bars - 1})
    return {
        "bars": expected.bars,
        "seed": expected.seed,
        "minutes": expected.minutes,
        "cuts": literal(cuts),
        "has_indicators": bool(expected.first_values),
        "has_order": bool(expected.orders),
        "has_fates": bool(expected.fates),
        "warmup": expected.warmup,
        "oracle": "the interpreter of the rule language, which walks"
        if expected.walked
        else "our own evaluation of the contract's rules, which reads",
        "defaults": _constant("DEFAULT_CFG", "dict[str, Any]", dict(defaults)),
        "cfg": literal({symbol_key: [symbol]}),
        "first_values": _constant(
            "FIRST_VALUES", "dict[str, int | None]", dict(expected.first_values)
        ),
        "samples": _constant("SAMPLES", "dict[str, dict[int, float]]", _plain(expected.samples)),
        "totals": _constant("TOTALS", "dict[str, tuple[float, float]]", dict(expected.totals)),
        "has_staged": bool(expected.staged),
        "staged_bars": STAGED_BARS,
        "staged_seed": STAGED_SEED,
        "staged": _constant("STAGED", "dict[str, tuple[float, float]]", dict(expected.staged)),
        "holds": _constant("HOLDS", "dict[str, list[int]]", dict(expected.holds)),
        "entries": _constant("ENTRIES", "dict[str, list[int]]", _by_action(expected.entries)),
        "orders": _constant(
            "ORDERS", "dict[int, dict[str, Any]]", {k: dict(v) for k, v in expected.orders.items()}
        ),
        "gaps": _constant("GAPS", "dict[str, list[int]]", dict(expected.gaps)),
        "scenes": _constant(
            "SCENES", "dict[str, tuple[str, int, int, bool]]", dict(expected.scenes)
        ),
        "has_sightings": bool(expected.sightings),
        "sightings": _constant(
            "SIGHTINGS", "dict[str, tuple[int, int, float]]", dict(expected.sightings)
        ),
        "fates": _constant("FATES", "dict[str, Fate]", dict(expected.fates)),
        "testing": _imported(expected),
        "trades": _constant("TRADES", "list[Trade]", list(expected.trades)),
    }


def _imported(expected: Expected) -> str:
    """What the tests take from `adapters.testing`."""
    names = ["Trade", "both_answers", "load_strategy", "market", "new_adapter", "trades_of"]
    names += ["Fate", "played_out"] if expected.fates else []
    names += ["adds_up"] if expected.totals else []
    names += ["staged_market"] if expected.staged else []
    names.sort(key=lambda name: (name[0].islower(), name))
    line = f"from adapters.testing import {', '.join(names)}"
    if len(line) <= WIDTH:
        return line
    lines = [f"    {name}," for name in names]
    return "\n".join(["from adapters.testing import (", *lines, ")"])


def _by_action(entries: Mapping[int, str]) -> dict[str, list[int]]:
    return {
        action: [bar for bar, wanted in entries.items() if wanted == action]
        for action in ("BUY", "SELL")
    }


def _plain(samples: Mapping[str, Mapping[int, float | bool]]) -> dict[str, dict[int, float | bool]]:
    return {key: dict(values) for key, values in samples.items()}


def _constant(name: str, kind: str, value: object) -> str:
    return f"{name}: {kind} = {literal(value, 0, len(name) + len(kind) + 5)}"


def literal(value: object, indent: int = 0, before: int = 0) -> str:
    """A value as a Python literal, over several lines where one is too long."""
    text = _one_line(value)
    if indent + before + len(text) + 1 <= WIDTH or not isinstance(value, dict | list | tuple):
        return text
    pad = " " * (indent + 4)
    if isinstance(value, list) and all(isinstance(item, int | float) for item in value):
        return "\n".join(["[", *_filled(value, pad), " " * indent + "]"])
    if isinstance(value, dict):
        lines = [
            f"{pad}{_one_line(key)}: {literal(item, indent + 4, len(_one_line(key)) + 2)},"
            for key, item in value.items()
        ]
        return "\n".join(["{", *lines, " " * indent + "}"])
    lines = [f"{pad}{literal(item, indent + 4)}," for item in value]
    opening, closing = ("[", "]") if isinstance(value, list) else ("(", ")")
    return "\n".join([opening, *lines, " " * indent + closing])


def _filled(values: list[Any], pad: str) -> list[str]:
    """Numbers, as many to a line as fit."""
    lines = [pad]
    for value in values:
        text = f"{value!r}, "
        if len(lines[-1]) + len(text) > WIDTH:
            lines.append(pad)
        lines[-1] += text
    return [line.rstrip() for line in lines]


def _one_line(value: object) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_one_line(k)}: {_one_line(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_one_line, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_one_line, value)) + ")"
    return repr(value)
