"""A template's name and a few answers to a contract of the user's own, and the candles it needs."""

import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml
from pydantic_core import PydanticCustomError

from bot.contract.code_paths import check_name, file_stem
from bot.contract.document.problems import nearest
from bot.contract.load import parse_contract
from bot.contract.symbols import file_symbol
from bot.data.candle_files import CandleFile, contract_line
from bot.errors import InputError

_HOME = Path(__file__).parent
# In the order in which people are asked.
NAMES = ("dip", "trend", "breakout", "long-short", "timeframes", "symbols", "roi-ladder")
REAL = "example_SP500-1d.csv"


@dataclass(frozen=True)
class Template:
    """Holds a contract that passes all gates on candles that come with it."""

    name: str
    text: str

    @cached_property
    def document(self) -> dict[str, Any]:
        """What the contract says."""
        found: dict[str, Any] = yaml.safe_load(self.text)
        return found

    @property
    def class_name(self) -> str:
        """The name that the strategy has if nobody gives another."""
        return str(self.document["name"])

    @property
    def symbols(self) -> list[str]:
        """The symbols that it trades."""
        return list(self.document["market"]["symbols"])

    @property
    def candles(self) -> dict[str, bytes]:
        """The candles that come with it, by their path in a repository."""
        pattern = self.document["data"]["path"]
        paths = dict.fromkeys(pattern.replace("{symbol}", file_symbol(s)) for s in self.symbols)
        return {path: (_HOME / "candles" / Path(path).name).read_bytes() for path in paths}


def find_template(name: str) -> Template:
    """Find a template by its name.

    Raises:
        InputError: there is none.
    """
    if name not in NAMES:
        near = nearest(name, NAMES)
        hint = f"Did you mean {near}? " if near else ""
        raise InputError(f"there is no template {name!r}", f"{hint}There are: {', '.join(NAMES)}.")
    return Template(name, (_HOME / "contracts" / f"{name}.yaml").read_text("utf-8"))


def checked_name(name: str) -> str:
    """Take the name of a strategy.

    Raises:
        InputError: a contract would refuse it.
    """
    try:
        return check_name(name)
    except PydanticCustomError as error:
        told = error.context or {}
        near = f"Did you mean {told['nearest']}? " if told["nearest"] else ""
        message = f"{name!r} is no name for a strategy: {told['message']}"
        raise InputError(message, f"{near}Give {told['allowed']}.") from None


def template_text(template: Template, class_name: str, own: CandleFile | None, label: str) -> str:
    """The contract: the template under another name, on own candles if there are any.

    Args:
        template: what to begin with.
        class_name: in PascalCase; workflow and file follow from it.
        own: the user's candles; None for those that come with the template.
        label: their path in the repository, with {symbol} where it stands for the symbols.

    Raises:
        ContractError: the name, symbol or timeframe does not fit.
    """
    text = template.text
    if class_name != template.class_name:
        workflow = file_stem(class_name).replace("_", "-")
        text = _with(_with(text, "name", class_name), "workflow", workflow)
    if own is not None:
        kind = ", type: futures" if "type: futures" in text else ""
        quoted = f'"{own.symbol}"' if ":" in own.symbol else own.symbol
        market = f"{{symbols: [{quoted}], timeframe: {own.timeframe}{kind}}}"
        text = _with(text, "market", market)
        line = contract_line(replace(own, path=Path(label)))
        text = _with(text, "data", line.removeprefix("data: "))
    else:
        text = _with_origin(text)
    parse_contract(text.encode(), "yaml", Path(f"{file_stem(class_name)}.yaml"))
    return text


def _with(text: str, name: str, value: str) -> str:
    return re.sub(rf"(?m)^{name}: .*$", lambda _: f"{name}: {value}", text, count=1)


def _with_origin(text: str) -> str:
    """Say in the contract what its candles are."""
    origin = "# Real daily values of the S&P 500 index, 1999 to 2018; an index cannot be bought."
    if REAL not in text:
        origin = "# These candles are synthetic: results on them say nothing about markets."
    return re.sub(r"(?m)^data: ", f"{origin}\ndata: ", text, count=1)
