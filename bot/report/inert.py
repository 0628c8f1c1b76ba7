"""Strangers' text to text that a page, a pull request or a terminal shows and never obeys.

Contract strings are hostile input. Hidden characters become visible marks; what is left is escaped
for the place where it is shown.
"""

import html
import re
import string
import unicodedata

from bot.contract.characters import hidden_kind

# A zero-width space, as a reference: renderers undo references before they look for mentions,
# issue numbers, commits and addresses, so a reference alone would not keep those apart.
BREAK = "&#8203;"
_BREAK_MARK = "\ue000"  # private use; `visible` leaves none of these
_MOST_MARKS = 4  # combining marks on one letter; more of them paint over the lines around
_COMMIT = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{7,}(?![0-9A-Za-z])")
_PLAIN = frozenset(string.ascii_letters + string.digits + " ,;!?'\"%(")
_AFTER_A_WORD = frozenset(".-_/):")
_CODE = re.compile(r"(?!.*(?:--|<!|//))[A-Za-z0-9_ .,+*/()<>=!\[\]:%-]+")


def visible(text: str) -> str:
    """Show hidden characters as `⟨U+202E⟩`; line breaks and tabs stay."""
    shown = []
    marks = 0
    for char in text.replace("\r\n", "\n").replace("\r", "\n"):
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
    written = [_markdown_char(line, index) for index in range(len(line))]
    return "".join(written)


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
    begins_a_list = line[:index].isdigit()
    plain = char in _AFTER_A_WORD and before.isalnum() and not begins_a_list
    if char in "_/":
        plain = plain and after.isalnum()
    written = char if plain else f"&#{ord(char)};"
    parts_a_reference = (
        char in "@#"
        or (char == ":" and after.strip() != "")
        or (char == "." and after.isalpha())
        or (char == "-" and after.isdigit())
    )
    return written + BREAK if parts_a_reference else written


def markdown_code(text: str, limit: int = 600) -> str:
    """Text as code for one line or table cell of GitHub's Markdown."""
    line = one_line(text, limit).strip()
    if not line:
        return ""
    if _CODE.fullmatch(line):
        return f"`{line}`"
    written = (c if c.isalnum() or c == " " or not c.isascii() else f"&#{ord(c)};" for c in line)
    return f"<code>{''.join(written)}</code>"
