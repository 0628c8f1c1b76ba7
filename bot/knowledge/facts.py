"""A fact about a symbol of a package, and the line of a page that states it."""

import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

HEADER = "| symbol | kind | call | says |\n|---|---|---|---|"
_CELL = re.compile(r"(?<!\\)\|")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_LONGEST_DEFAULT = 40


@dataclass(frozen=True)
class Fact:
    """What is true of one symbol.

    Attributes:
        kind: function, method, attribute, error, setting, command, ...; rows are grouped by it.
        call: how it is written, with the defaults; empty where there is nothing to call.
        says: what it is for and what else was found out.
    """

    symbol: str
    kind: str
    call: str = ""
    says: str = ""

    @property
    def row(self) -> str:
        """The line of the table."""
        cells = (f"`{self.symbol}`", self.kind, f"`{self.call}`" if self.call else "", self.says)
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


@dataclass(frozen=True)
class Finding:
    """The facts of one package, as it is installed."""

    package: str
    version: str
    facts: tuple[Fact, ...]


def read_row(line: str) -> Fact | None:
    """Reads a line of a table that `row` wrote; None for any other line."""
    if not line.startswith("| `"):
        return None
    cells = [cell.strip().replace("\\|", "|") for cell in _CELL.split(line.strip())[1:-1]]
    if len(cells) != 4:
        return None
    return Fact(cells[0].strip("`"), cells[1], cells[2].strip("`"), cells[3])


def read_rows(text: str) -> dict[str, Fact]:
    """Reads every such line of a page, by symbol."""
    found = (read_row(line) for line in text.splitlines())
    return {fact.symbol: fact for fact in found if fact is not None}


def tables(facts: Iterable[Fact]) -> str:
    """Writes the facts, a heading and a table for each kind, in the order of the kinds."""
    kinds: dict[str, list[Fact]] = {}
    for fact in facts:
        kinds.setdefault(fact.kind, []).append(fact)
    parts = []
    for kind, members in kinds.items():
        rows = "\n".join(fact.row for fact in members)
        parts.append(f"### {kind[0].upper()}{kind[1:]}: {len(members)}\n\n{HEADER}\n{rows}\n")
    return "\n".join(parts)


def call_of(name: str, function: object) -> str:
    """Writes how a function is called: names and defaults, without the types."""
    try:
        given = inspect.signature(function)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return f"{name}(...)"
    return f"{name}({', '.join(_parameters(given.parameters))})"


def _parameters(parameters: Mapping[str, inspect.Parameter]) -> Iterable[str]:
    keywords = False
    for parameter in parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            keywords = True
            yield f"*{parameter.name}"
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not keywords:
            keywords = True
            yield "*"
        stars = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
        default = "" if parameter.default is parameter.empty else f"={shown(parameter.default)}"
        yield f"{stars}{parameter.name}{default}"


def shown(value: object) -> str:
    """Writes a default in a few letters that are the same on every machine."""
    text = _ADDRESS.sub("", repr(value)).replace("\n", " ").replace("`", "'")
    return text if len(text) <= _LONGEST_DEFAULT and not text.startswith("<") else "..."
