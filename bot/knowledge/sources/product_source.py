"""Turns the product itself into facts: contract fields, rule language, commands, gates."""

import importlib
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from bot import __version__
from bot.contract.explain import flow
from bot.contract.field_types import places_of
from bot.contract.language.functions import FUNCTIONS
from bot.contract.model import Contract, ModuleContract
from bot.gates.freqtrade.target import NAME as FREQTRADE_PARITY
from bot.gates.table import FOREIGN, NAMES
from bot.knowledge.facts import Fact, Finding

PRICES = "open high low close volume hl2 hlc3 ohlc4 ha_open ha_high ha_low ha_close"


def read_product() -> Finding:
    """Reads the models and the tables that the product works with."""
    facts = (*_functions(), *_fields(), *_commands(), *_gates())
    return Finding("Stratwright", __version__, facts)


def _functions() -> Iterator[Fact]:
    for function in FUNCTIONS.values():
        says = f"{function.meaning}. For example `{function.example}`."
        yield Fact(function.name, "function of the rule language", function.signature, says)
    yield Fact("prices", "values of the rule language", "", f"{PRICES}, and x[3]: three bars ago")


def _fields() -> Iterator[Fact]:
    seen: set[str] = set()
    for model in (Contract, ModuleContract):
        for where, part in [((), model), *places_of(model)]:
            if isinstance(part, type) and issubclass(part, BaseModel):
                above = "".join(f"{'<name>' if key == '*' else key}." for key in where)
                for name, field in part.model_fields.items():
                    symbol = f"{above}{name}"
                    if symbol not in seen:
                        seen.add(symbol)
                        yield _field(symbol, name, field)


def _field(symbol: str, name: str, field: Any) -> Fact:
    example = f"{name}: {flow(field.examples[0])}" if field.examples else name
    default = "required" if field.is_required() else f"default {flow(_plain(field.default))}"
    return Fact(f"contract.{symbol}", "field of a contract", example,
                f"{field.description or ''} ({default})".replace("\n", " "))  # fmt: skip


def _plain(value: object) -> Any:
    return value.model_dump(exclude_none=True) if isinstance(value, BaseModel) else value


def _commands() -> Iterator[Fact]:
    # By name: the entrance is a room above this one.
    for name, words in importlib.import_module("bot.cli").COMMANDS.items():
        yield Fact(f"stratwright {name}", "command of stratwright", f"stratwright {name}", words)


def _gates() -> Iterator[Fact]:
    # What each looks at stands in `[says]` of brain/words.toml.
    for name in (*NAMES, *FOREIGN, FREQTRADE_PARITY):
        yield Fact(f"gate.{name}", "gate")
