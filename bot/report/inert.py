"""Strangers' text to text that a page, a pull request or a terminal shows and never obeys.

Contract strings are hostile input. Hidden characters become visible marks; what is left is escaped
for the place where it is shown.
"""

import html
import re
import string
import unicodedata
from collections.abc import Callable

from bot.contract.document.characters import hidden_kind

# A zero-width space, as a reference: renderers undo references before they look for mentions,
# issue numbers, commits and addresses, so a reference alone would not keep those apart.
BREAK = "&#8203;"
_BREAK_MARK = "\ue000"  # private use; `visible` leaves none of these
_MOST_MARKS = 4  # combining marks on one letter; more of them paint over the lines around
_UNUSUAL = re.compile(r"[^\t\n\x20-\x7e]+")
_COMMIT = re.compile(r"(?<![0-9A-Za-z])(?=[0-9]*[a-fA-F])[0-9a-fA-F]{7,}(?![0-9A-Za-z])")
_PLAIN = frozenset(string.ascii_letters + string.digits + " ,;!?'\"%(")
# Ordinary code; a bracket only as an index, so that it is no `[skip ci]`.
_CODE = re.compile(r"(?!.*(?:--|<!|//|(?<![\w)\]])\[))[A-Za-z0-9_ .,+*/()<>=!\[\]:%-]+")
_MOST_GROWTH = 2  # references are longer than what they stand for; ordinary text hardly has any


def visible(text: str) -> str:
    """Show hidden characters as `⟨U+202E⟩`; line breaks and tabs stay."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return _UNUSUAL.sub(_shown, lines)


def _shown(found: re.Match[str]) -> str:
    shown = []
    marks = 0
    for char in found.group():
        marks = marks + 1 if unicodedata.combining(char) else 0
        if hidden_kind(char) or _selects_variation(char):
            shown.append(f"⟨U+{ord(char):04X}⟩")
        elif marks <= _MOST_MARKS:
            shown.append(char)
    return "".join(shown)


def _selects_variation(char: str) -> bool:
    """Tell the invisible selectors, in which whole texts have been smuggled."""
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


def one_line(text: str, limit: int = 0) -> str:
    """Show text on one line, at most so many characters of it."""
    line = " ".join(visible(text).split())
    return clip(line, limit) if limit else line


def clip(text: str, limit: int) -> str:
    """Shorten text to a number of characters, and show that it was."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def html_text(text: str) -> str:
    """Text for an HTML or SVG element or a quoted attribute."""
    return html.escape(visible(text), quote=True)


def markdown_text(text: str, limit: int = 600) -> str:
    """Text for one line or table cell of GitHub's Markdown: no markup, mention, link or command."""
    line = one_line(text, limit)
    line = _COMMIT.sub(lambda found: _BREAK_MARK.join(_sixes(found.group())), line)
    return _written(line, limit, _markdown_char)


def _written(line: str, limit: int, write: Callable[[str, int], str]) -> str:
    """Write character by character; what grows far beyond its limit is cut off."""
    parts: list[str] = []
    room = limit * _MOST_GROWTH
    for index in range(len(line)):
        part = write(line, index)
        room -= len(part)
        if room < 0:
            return "".join(parts) + "…"
        parts.append(part)
    return "".join(parts)


def _sixes(text: str) -> list[str]:
    """Six hex digits are too few for a commit."""
    return [text[start : start + 6] for start in range(0, len(text), 6)]


def _markdown_char(line: str, index: int) -> str:
    char = line[index]
    if char == _BREAK_MARK:
        return BREAK
    if char in _PLAIN or not char.isascii():
        return char
    before, after = line[index - 1 : index], line[index + 1 : index + 2]
    if _joins_a_reference(char, before, after):
        return f"&#{ord(char)};{BREAK}"
    return char if _is_harmless(char, before, after, line[:index]) else f"&#{ord(char)};"


def _is_harmless(char: str, before: str, after: str, so_far: str) -> bool:
    """Tell ordinary punctuation from what Markdown, or a program that reads it, could act on."""
    if char == "-":
        return before.isalnum() or after.isdigit()
    if char in "_/":
        return before.isalnum() and after.isalnum()
    begins_a_list = so_far.isdigit() and not after.isalnum()
    return char in ".):" and before.isalnum() and not begins_a_list


def _joins_a_reference(char: str, before: str, after: str) -> bool:
    """Tell the joint of a mention, an issue number, an address, an emoji or a ticket."""
    between_digits = before.isdigit() and after.isdigit()
    return (
        char in "@#"
        or (char in ":." and after.strip() != "" and not between_digits)
        or (char == "-" and before.isalpha() and after.isdigit())
    )


def markdown_code(text: str, limit: int = 600) -> str:
    """Text as code for one line or table cell of GitHub's Markdown."""
    line = one_line(text, limit).strip()
    if not line:
        return ""
    if _CODE.fullmatch(line):
        return f"`{line}`"
    return f"<code>{_written(line, limit, _code_char)}</code>"


def _code_char(line: str, index: int) -> str:
    """References in code too: a parser that links addresses does not know this element."""
    char = line[index]
    if char.isalnum() or char == " " or not char.isascii():
        return char
    joins = _joins_a_reference(char, line[index - 1 : index], line[index + 1 : index + 2])
    return f"&#{ord(char)};{BREAK if joins else ''}"
