"""Turns bytes into text: strict UTF-8 in which nothing is hidden."""

import codecs
import re
import unicodedata

from bot.contract.document.problems import Flaw, Unreadable

SHOWN_FLAWS = 20
ORDINARY = "\t\n"
_SUSPECT = re.compile(r"[^\t\n\x20-\x7e]")
# Letters and marks by category, yet drawn as nothing: they hide in names as format characters do.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0")
_KINDS = {
    "Cc": "control character",
    "Cf": "invisible format character",
    "Cs": "half of a surrogate pair",
    "Co": "private-use character",
    "Zl": "line separator",
    "Zp": "paragraph separator",
}
_OTHER_BOMS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def decode(data: bytes) -> str:
    """Decode a file's bytes.

    Raises:
        Unreadable: with the place of every byte or character that has no business in a contract.
    """
    if data.startswith(_OTHER_BOMS):
        raise Unreadable(Flaw(0, "the file is UTF-16 or UTF-32; save it as UTF-8"))
    if data.startswith(codecs.BOM_UTF8):
        raise Unreadable(
            Flaw(0, "the file starts with a byte order mark; save it as UTF-8 without BOM")
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        message = f"byte 0x{data[error.start]:02x} is not valid UTF-8; save the file as UTF-8"
        raise Unreadable(Flaw(len(before), message), text=before) from None
    flaws = _hidden_characters(text)
    if flaws:
        raise Unreadable(*flaws, text=text)
    return text


def hidden_kind(char: str) -> str:
    """Say what kind of hidden character this is; nothing for an ordinary one."""
    if char in ORDINARY:
        return ""
    if char in _BLANK:
        return "invisible character"
    code = ord(char)
    if code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF:
        return "code point that is no character"
    return _KINDS.get(unicodedata.category(char), "")


def describe(char: str) -> str:
    """Name a hidden character without printing it."""
    name = unicodedata.name(char, "")
    return f"{hidden_kind(char)} U+{ord(char):04X}{' ' + name if name else ''}"


def first_hidden(text: str) -> str:
    """Find the first hidden character of a text, as one written by an escape; "" if none."""
    for match in _SUSPECT.finditer(text):
        if hidden_kind(match.group()):
            return match.group()
    return ""


def _hidden_characters(text: str) -> list[Flaw]:
    flaws: list[Flaw] = []
    for match in _SUSPECT.finditer(text):
        char, index = match.group(), match.start()
        if char == "\r" and text.startswith("\n", index + 1):
            continue
        if hidden_kind(char):
            flaws.append(Flaw(index, f"{describe(char)} is not allowed; delete it"))
            if len(flaws) == SHOWN_FLAWS:
                break
    return flaws
