"""What is wrong with a contract, as values that say where, what was found and what is allowed."""

import difflib
import unicodedata
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from bot.errors import InputError

Where = tuple[str | int, ...]
SHOWN_CHARACTERS = 60
SHOWN_PROBLEMS = 50


@dataclass(frozen=True)
class Fault:
    """Holds one mistake, placed by its path of keys; the loader adds file, line and column."""

    where: Where
    message: str
    found: str = ""
    allowed: str = ""
    nearest: str = ""
    offset: int | None = None
    on_key: bool = False


@dataclass(frozen=True)
class Problem:
    """Holds one mistake as the user reads it."""

    file: str
    line: int
    column: int
    field: str
    message: str
    found: str = ""
    allowed: str = ""
    nearest: str = ""

    def __str__(self) -> str:
        """Give the problem on one line, as compilers do."""
        place = f"{self.file}:{self.line}:{self.column}"
        parts = [f"{self.field}: {self.message}" if self.field else self.message]
        if self.found:
            parts.append(f"found {self.found}")
        if self.allowed:
            parts.append(f"allowed: {self.allowed}")
        if self.nearest:
            # Numbers, lists and quoted text are shown as they are to be written.
            bare = self.nearest[0] in '-.["' or self.nearest[0].isdigit()
            guess = self.nearest if bare else f'"{self.nearest}"'
            parts.append(f"did you mean {guess}?")
        return printable(f"{place} {'; '.join(parts)}")

    def to_dict(self) -> dict[str, str | int]:
        """Give the problem for programs; every key is always there."""
        return asdict(self)


@dataclass(frozen=True)
class Flaw:
    """Something that the file may not contain, at a character of its text."""

    index: int
    message: str
    where: Where = ()
    allowed: str = ""


class Unreadable(Exception):
    """The file gives no document; never leaves `read_source`."""

    def __init__(self, *flaws: Flaw, text: str | None = None) -> None:
        """Keep the flaws, and the text as far as it was decoded."""
        super().__init__(flaws[0].message)
        self.flaws = flaws
        self.text = text


SCHEMA_HINT = (
    "contracts/schema/contract-1.0.json has every field with its meaning and an example; "
    "`stratwright init` writes it."
)


class ContractError(InputError):
    """A contract with mistakes; all of them are in `problems`, in the order of the file."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        """Keep the problems and count them in the message."""
        self.problems = tuple(problems)
        count = len(self.problems)
        lines = [str(problem) for problem in self.problems[:SHOWN_PROBLEMS]]
        if count > SHOWN_PROBLEMS:
            lines.append(f"... and {count - SHOWN_PROBLEMS} more")
        files = len({problem.file for problem in self.problems})
        place = "the contract" if files == 1 else f"{files} contracts"
        lines.append(f"{count} problem{'' if count == 1 else 's'} in {place}")
        super().__init__("\n".join(lines), hint=SCHEMA_HINT)


def field_name(where: Where) -> str:
    """Write a path of keys as people do: `indicators.rsi.timeperiod`, `market.symbols[1]`."""
    name = ""
    for key in where:
        if isinstance(key, int) and not name.endswith("roi"):
            name += f"[{key}]"
        else:
            name += f".{shown(key)}" if name else shown(key)
    return name


def nearest(word: object, allowed: Iterable[str]) -> str:
    """Find the allowed word that was probably meant, or nothing."""
    if not isinstance(word, str) or not word:
        return ""
    by_fold = {name.casefold(): name for name in allowed}
    # difflib is quadratic in the length of the word, and no name of ours is that long.
    matches = difflib.get_close_matches(word[:SHOWN_CHARACTERS].casefold(), by_fold, 1, 0.6)
    return by_fold[matches[0]] if matches else ""


def shown(value: object) -> str:
    """Show a value of the file in a message: short, on one line, nothing invisible."""
    text = printable(str(value))
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 3] + "..."


def quoted(value: object) -> str:
    """Show what was found in words that tell text from numbers."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{shown(value)}"' if value else "empty text"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    return shown(value)


def printable(text: str) -> str:
    """Replace whatever could move the cursor or hide text."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char.isprintable() else f"<U+{ord(char):04X}>" for char in text)


def odd_characters(text: str) -> str:
    """Name the first character outside ASCII, which may look like an ordinary letter."""
    for char in text:
        if not char.isascii():
            name = unicodedata.name(char, "unnamed character")
            return f' ("{printable(char)}" is U+{ord(char):04X} {name})'
    return ""
