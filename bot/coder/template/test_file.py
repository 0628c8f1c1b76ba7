"""Turns a contract and its expected values into the text of the tests of its strategy."""

from collections.abc import Mapping

from bot.coder.template.code_layout import WIDTH, import_line
from bot.coder.template.expected import STAGED_BARS, STAGED_SEED, Expected
from bot.coder.template.strategy import quoted

# The constants of a test file that are parts of what is expected, and their types.
_EXPECTED = {
    "first_values": "dict[str, int | None]",
    "samples": "dict[str, dict[int, float]]",
    "totals": "dict[str, tuple[float, float]]",
    "staged": "dict[str, tuple[float, float]]",
    "holds": "dict[str, list[int]]",
    "orders": "dict[int, dict[str, Any]]",
    "gaps": "dict[str, list[int]]",
    "scenes": "dict[str, tuple[str, int, int, bool]]",
    "sightings": "dict[str, tuple[int, int, float]]",
    "fates": "dict[str, Fate]",
    "trades": "list[Trade]",
}


def test_context(
    expected: Expected, defaults: Mapping[str, object], symbol_key: str, symbol: str
) -> dict[str, object]:
    """Gathers everything that the template of the tests fills in."""
    quarter = expected.bars // 4
    cuts = sorted({1, quarter, 2 * quarter, 3 * quarter, expected.bars - 1})
    whole = vars(expected)
    return {
        **{name: whole[name] for name in ("bars", "seed", "minutes", "warmup")},
        **{name: _constant(name.upper(), kind, whole[name]) for name, kind in _EXPECTED.items()},
        **{f"has_{name}": bool(whole[name]) for name in ("fates", "staged", "sightings")},
        "has_indicators": bool(expected.first_values),
        "has_order": bool(expected.orders),
        "oracle": "the interpreter of the rule language, which walks"
        if expected.walked
        else "our own evaluation of the contract's rules, which reads",
        "cuts": literal(cuts),
        "defaults": _constant("DEFAULT_CFG", "dict[str, Any]", defaults),
        "cfg": literal({symbol_key: [symbol]}),
        "entries": _constant("ENTRIES", "dict[str, list[int]]", _by_action(expected.entries)),
        "staged_bars": STAGED_BARS,
        "staged_seed": STAGED_SEED,
        "testing": _imported(expected),
    }


def _imported(expected: Expected) -> str:
    """Says what the tests take from `adapters.testing`."""
    names = ["Trade", "both_answers", "load_strategy", "market", "new_adapter", "trades_of"]
    names += ["Fate", "played_out"] if expected.fates else []
    names += ["adds_up"] if expected.totals else []
    names += ["staged_market"] if expected.staged else []
    return import_line("adapters.testing", names)


def _by_action(entries: Mapping[int, str]) -> dict[str, list[int]]:
    return {
        action: [bar for bar, wanted in entries.items() if wanted == action]
        for action in ("BUY", "SELL")
    }


def _constant(name: str, kind: str, value: object) -> str:
    return f"{name}: {kind} = {literal(value, 0, len(name) + len(kind) + 5)}"


def literal(value: object, indent: int = 0, before: int = 0) -> str:
    """Writes a value as a Python literal, over several lines where one is too long."""
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


def _filled(values: list[int | float], pad: str) -> list[str]:
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
