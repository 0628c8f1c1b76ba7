"""Turns bytes into a plain tree of Python values, with the place of every key and value."""

import bisect
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Literal

from bot.contract.document.characters import decode
from bot.contract.document.problems import Flaw, Unreadable, Where

Form = Literal["yaml", "json"]

# A long contract has 10 KiB. PyYAML reads about 0.5 MiB/s, and a refusal may take no second.
MAX_BYTES = 128 * 1024
MAX_DEPTH = 24
MAX_NODES = 4000


@dataclass(frozen=True)
class Span:
    """Says where a scalar or a collection stands in the text, by characters; style as PyYAML's."""

    start: int
    end: int
    style: str = ""


@dataclass
class Draft:
    """Holds what a reader fills while it walks through a text."""

    text: str
    keys: dict[Where, Span] = field(default_factory=dict)
    values: dict[Where, Span] = field(default_factory=dict)
    flaws: list[Flaw] = field(default_factory=list)
    nodes: int = 0

    def enter(self, where: Where, index: int) -> None:
        """Count a node before it is read."""
        self.nodes += 1
        if len(where) > MAX_DEPTH:
            raise Unreadable(Flaw(index, f"nested deeper than {MAX_DEPTH} levels", where[:3]))
        if self.nodes > MAX_NODES:
            raise Unreadable(Flaw(index, f"more than {MAX_NODES} values in one contract"))

    def refuse(self, index: int, message: str, where: Where, allowed: str = "") -> None:
        """Note a flaw and go on."""
        self.flaws.append(Flaw(index, message, where, allowed))


@dataclass(frozen=True)
class Source:
    """Holds a document that was read: its tree, and where each part of it stands.

    `root` is None if nothing could be read; then `flaws` says why. Where a single value was
    refused, the tree holds None in its place.
    """

    text: str
    root: dict[str | int, object] | None
    keys: dict[Where, Span]
    values: dict[Where, Span]
    flaws: tuple[Flaw, ...]

    @cached_property
    def _line_starts(self) -> list[int]:
        return list(
            accumulate(
                (len(line) for line in self.text.split("\n")), lambda a, n: a + n + 1, initial=0
            )
        )

    def line_and_column(self, index: int) -> tuple[int, int]:
        """Turn a character of the text into line and column, both from 1."""
        line = bisect.bisect_right(self._line_starts, min(index, len(self.text))) - 1
        return line + 1, index - self._line_starts[line] + 1

    def locate(self, where: Where, *, on_key: bool = False, offset: int | None = None) -> int:
        """Find the character where a path stands; a missing key stands at its parent's."""
        if where in self.values:
            if on_key and where in self.keys:
                return self.keys[where].start
            span = self.values[where]
            return span.start if offset is None else self._inside(where, span, offset)
        for length in range(len(where) - 1, 0, -1):
            place = self.keys.get(where[:length]) or self.values.get(where[:length])
            if place:
                return place.start
        return self.values[()].start if () in self.values else 0

    def at(self, where: Where) -> object:
        """Give the value at a path, or None."""
        found: object = self.root
        for key in where:
            if isinstance(found, dict):
                found = found.get(key)
            elif isinstance(found, list) and isinstance(key, int) and key < len(found):
                found = found[key]
            else:
                return None
        return found

    def _inside(self, where: Where, span: Span, offset: int) -> int:
        """Find a character of a scalar's value in the text that wrote it.

        Folding and indentation change only white space, so the count of other characters up to
        the offset is the same in both. Escapes break that: then the scalar's start has to do.
        """
        raw, first = self.text[span.start : span.end], span.start
        if span.style in ('"', "'"):
            raw, first = raw[1:-1], first + 1
            if "\\" in raw or "''" in raw:
                return span.start
        elif span.style in ("|", ">"):
            body = raw.find("\n") + 1
            raw, first = raw[body:], first + body
        if "\n" not in raw:
            return first + min(offset, len(raw))
        before = str(self.at(where))[:offset]
        return first + _nth_visible(raw, len("".join(before.split())))


def _nth_visible(raw: str, count: int) -> int:
    """Give the index of the character after `count` visible ones."""
    for index, char in enumerate(raw):
        if not char.isspace():
            if count == 0:
                return index
            count -= 1
    return len(raw)


def read_source(data: bytes, form: Form) -> Source:
    """Read a contract's bytes; whatever is wrong with them is in the result's `flaws`."""
    draft = Draft("")
    try:
        if len(data) > MAX_BYTES:
            raise Unreadable(Flaw(0, f"the file is larger than {MAX_BYTES // 1024} KiB"))
        draft = Draft(decode(data))
        root = _read_text(draft, form)
    except Unreadable as error:
        text = draft.text if error.text is None else error.text
        return Source(text, None, {}, {}, (*draft.flaws, *error.flaws))
    return Source(draft.text, root, draft.keys, draft.values, tuple(draft.flaws))


def _read_text(draft: Draft, form: Form) -> dict[str | int, object]:
    if not draft.text.strip():
        raise Unreadable(Flaw(0, 'the file is empty; a contract starts with version: "1.0"'))
    if form == "json":
        from bot.contract.document.json_reader import read_json

        root = read_json(draft)
    else:
        from bot.contract.document.yaml_reader import read_yaml

        root = read_yaml(draft)
    if root is None and not draft.flaws:
        raise Unreadable(Flaw(0, 'the file says nothing; a contract starts with version: "1.0"'))
    if not isinstance(root, dict):
        raise Unreadable(Flaw(0, 'a contract is a mapping of keys to values, as version: "1.0"'))
    return root
