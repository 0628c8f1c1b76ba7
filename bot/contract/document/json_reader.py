"""Turns JSON text into a plain tree: strict JSON, no duplicate keys, finite numbers."""

import re
from json import JSONDecodeError, JSONDecoder

from bot.contract.document.characters import describe, first_hidden
from bot.contract.document.problems import Flaw, Unreadable, Where, shown
from bot.contract.document.scalars import NotANumber, decimal, integer
from bot.contract.document.source import Draft, Span

_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORD = re.compile(r"[-+]?[A-Za-z_][A-Za-z0-9_]*|[-+]?[0-9.][0-9A-Za-z_.+-]*")
_WORDS: dict[str, object] = {"true": True, "false": False, "null": None}
_DECODER = JSONDecoder(strict=True)
_UNREAL = ("NaN", "Infinity", "-Infinity")


def read_json(draft: Draft) -> object:
    """Read the only value of a text; flaws that allow going on are noted in the draft."""
    reader = _Reader(draft)
    root = reader.value(())
    if reader.peek():
        raise reader.error("text after the end of the document; one file holds one contract")
    return root


class _Reader:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.text = draft.text
        self.index = 0

    def peek(self) -> str:
        """Give the next character that is not space; "" at the end."""
        match = _SPACE.match(self.text, self.index)
        self.index = match.end() if match else self.index
        return self.text[self.index : self.index + 1]

    def error(self, message: str) -> Unreadable:
        return Unreadable(Flaw(self.index, f"not readable as JSON: {message}"))

    def expect(self, char: str, purpose: str) -> None:
        found = self.peek()
        if found != char:
            raise self.error(f'expected "{char}" {purpose}, found {_name(found)}')
        self.index += 1

    def value(self, where: Where) -> object:
        char, start = self.peek(), self.index
        self.draft.enter(where, start)
        if char == "{":
            value: object = self.mapping(where)
        elif char == "[":
            value = self.sequence(where)
        elif char == '"':
            value = self.string(where)
        else:
            value = self.word(where)
        style = '"' if char == '"' else ""
        self.draft.values.setdefault(where, Span(start, self.index, style))
        return value

    def mapping(self, where: Where) -> dict[str | int, object]:
        result: dict[str | int, object] = {}
        starts: dict[str, int] = {}
        self.index += 1
        if self.peek() == "}":
            self.index += 1
            return result
        while True:
            self.pair(where, result, starts)
            if self.peek() == "}":
                self.index += 1
                return result
            self.expect(",", 'or "}" after a value')

    def pair(self, where: Where, result: dict[str | int, object], starts: dict[str, int]) -> None:
        if (found := self.peek()) != '"':
            raise self.error(f"expected a key in double quotes, found {_name(found)}")
        start = self.index
        self.draft.enter(where, start)
        key = self.string(where)
        path = (*where, "" if key is None else key)
        duplicate = key is not None and key in starts
        if duplicate and key is not None:
            line = self.text.count("\n", 0, starts[key]) + 1
            message = f'duplicate key "{shown(key)}"; it was given on line {line}'
            self.draft.refuse(start, message, path)
        self.expect(":", "after a key")
        if key is None or duplicate:
            # The value still has to be JSON, but it has no place in the tree.
            spare = Draft(self.text, nodes=self.draft.nodes)
            self.draft, kept = spare, self.draft
            self.value(path)
            self.draft, kept.nodes = kept, spare.nodes
            return
        starts[key] = start
        self.draft.keys[path] = Span(start, self.index)
        result[key] = self.value(path)

    def sequence(self, where: Where) -> list[object]:
        result: list[object] = []
        self.index += 1
        if self.peek() == "]":
            self.index += 1
            return result
        while True:
            result.append(self.value((*where, len(result))))
            if self.peek() == "]":
                self.index += 1
                return result
            self.expect(",", 'or "]" after a value')

    def string(self, where: Where) -> str | None:
        start = self.index
        try:
            value, self.index = _DECODER.raw_decode(self.text, start)
        except JSONDecodeError as error:
            self.index = error.pos
            raise self.error(error.msg[:1].lower() + error.msg[1:]) from None
        if hidden := first_hidden(value):
            self.draft.refuse(start, f"the text holds {describe(hidden)}; delete it", where)
            return None
        return str(value)

    def word(self, where: Where) -> object:
        match = _WORD.match(self.text, self.index)
        word = match.group() if match else ""
        if word in _WORDS:
            self.index += len(word)
            return _WORDS[word]
        if word not in _UNREAL and not _NUMBER.fullmatch(word):
            found = f'"{shown(word)}"' if word else _name(self.peek())
            raise self.error(f"expected a value, found {found}")
        start = self.index
        self.index += len(word)
        try:
            if word in _UNREAL:
                raise NotANumber(f"{word} is not a number that can be traded with")
            return integer(word) if word.lstrip("-").isdigit() else decimal(word)
        except NotANumber as error:
            self.draft.refuse(start, str(error), where)
            return None


def _name(char: str) -> str:
    return f'"{shown(char)}"' if char else "the end of the file"
