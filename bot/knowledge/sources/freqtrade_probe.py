"""Runs in Freqtrade's own environment and prints, as JSON, what its interface looks like.

Nothing of ours is there: only the standard library and Freqtrade are imported. Facts and
signatures are printed, no sentence of Freqtrade's.
"""

import importlib
import inspect
import json
import re
import sys
from collections.abc import Iterator
from typing import Any

Row = tuple[str, str, str, str]
_PATH = re.compile(r"(?:\w+\.)+(\w+)")
# Options that nearly every command has.
_USUAL = {"--verbose", "--no-color", "--log-file", "--version", "--config", "--data-dir",
          "--user-data-dir", "--help", "--freqaimodel", "--freqaimodel-path"}  # fmt: skip
# Kept for old strategies.
_OLD = {"check_buy_timeout", "check_sell_timeout", "custom_sell", "populate_any_indicators",
        "populate_buy_trend", "populate_sell_trend"}  # fmt: skip


def _annotation(value: object) -> str:
    """Write a type by the last names of what it is made of."""
    if value is inspect.Parameter.empty:
        return ""
    return ": " + _PATH.sub(r"\1", inspect.formatannotation(value)).replace("'", "")


def call(name: str, function: Any) -> str:
    """Write a call with names, types and defaults."""
    signature = inspect.signature(function)
    parts = []
    for parameter in signature.parameters.values():
        if parameter.name == "self":
            continue
        stars = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
        stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else stars
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        parts.append(f"{stars}{parameter.name}{_annotation(parameter.annotation)}{default}")
    result = _annotation(signature.return_annotation).removeprefix(": ")
    return f"{name}({', '.join(parts)})" + (f" -> {result}" if result else "")


def strategy_rows() -> Iterator[Row]:
    """Every public method and attribute of IStrategy, and what strategies import beside it."""
    module = importlib.import_module("freqtrade.strategy.interface")
    strategy = module.IStrategy
    names = {*dir(strategy), *(name for above in strategy.__mro__ for name in _declared(above))}
    for name in sorted(name for name in names if not name.startswith("_")):
        value = inspect.getattr_static(strategy, name, None)
        if inspect.isfunction(value):
            yield name, _kind(name, value), call(name, value), ""
        else:
            default = "" if name not in dir(strategy) else f"{name} = {_plain(value)}"
            yield name, "attribute", default, ""
    package = importlib.import_module("freqtrade.strategy")
    for name in sorted(dir(package)):
        value = getattr(package, name)
        if not name.startswith("_") and (inspect.isclass(value) or inspect.isfunction(value)):
            shown = value.__init__ if inspect.isclass(value) else value
            yield f"freqtrade.strategy.{name}", "import of a strategy", call(name, shown), ""


def _declared(owner: type) -> dict[str, Any]:
    ours = owner.__module__.startswith("freqtrade")
    return inspect.get_annotations(owner) if ours else {}


def _kind(name: str, method: Any) -> str:
    """A strategy writes the callbacks; the bot calls the rest, or a callback may."""
    if name in _OLD:
        return "old callback"
    given = inspect.signature(method).parameters.values()
    open_ended = any(parameter.kind is parameter.VAR_KEYWORD for parameter in given)
    written = name.startswith("populate_") or name in ("informative_pairs", "version")
    own = (open_ended or written) and not name.startswith("ft_")
    return "callback" if own else "method of the bot"


def _plain(value: Any) -> str:
    text = repr(value)
    return text if not text.startswith("<") else str(getattr(value, "value", "..."))


def setting_rows(schema: dict[str, Any], named: Any, above: str = "config.") -> Iterator[Row]:
    """Every key of the configuration, with type, default and limits."""
    for key, given in schema.get("properties", {}).items():
        part = {**given, **named.get(given.get("$ref", "").rpartition("/")[2], {})}
        name = f"{above}{key}"
        kinds = part.get("type", "")
        says = [", ".join(kinds) if isinstance(kinds, list) else str(kinds)]
        says += (
            [f"one of {', '.join(str(one) for one in part['enum'] if one)}"]
            if "enum" in part
            else []
        )
        says += [f"from {part['minimum']}"] if "minimum" in part else []
        says += [f"to {part['maximum']}"] if "maximum" in part else []
        default = f"{key}: {json.dumps(part['default'])}" if "default" in part else ""
        yield name, "setting", default, "; ".join(word for word in says if word)
        if part.get("properties"):
            yield from setting_rows(part, named, f"{name}.")


def command_rows() -> Iterator[Row]:
    """Every subcommand with its options."""
    arguments = importlib.import_module("freqtrade.commands").Arguments
    holder = arguments(["trade"])
    holder._build_subcommands()
    for action in holder.parser._actions:
        if hasattr(action, "choices") and isinstance(action.choices, dict):
            for name, parser in sorted(action.choices.items()):
                options = [
                    option.option_strings[-1]
                    for option in parser._actions
                    if option.option_strings and option.option_strings[-1] not in _USUAL
                ]
                yield f"freqtrade {name}", "command", f"freqtrade {name}", ", ".join(options)


def main() -> None:
    """Print everything as one JSON object."""
    version = importlib.import_module("freqtrade").__version__
    schema = importlib.import_module("freqtrade.config_schema").CONF_SCHEMA
    rows = [*strategy_rows(), *setting_rows(schema, schema.get("definitions", {})), *command_rows()]
    json.dump({"version": version, "rows": rows}, sys.stdout)


if __name__ == "__main__":
    main()
