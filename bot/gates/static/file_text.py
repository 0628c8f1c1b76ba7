"""Turns bytes into text, or into the reasons why a reviewer would not see what Python runs."""

import codecs
import io
import re
import tokenize
import unicodedata

from bot.gates.static.offence import Offence
from sandbox_runner.rules import LIMITS

SIZE_LIMIT = LIMITS["source_bytes"]
OFFENCE_LIMIT = 50

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_ORDINARY = {"\n", "\t"}
# Format, private, surrogate, unassigned, line and paragraph separators, controls.
_REFUSED_CATEGORIES = {"Cf", "Co", "Cs", "Cn", "Zl", "Zp", "Cc"}
# Letters and marks that are drawn as nothing: fillers of Hangul, the blank of Braille, selectors.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_FIRST_SELECTOR, _LAST_SELECTOR = "\U000e0100", "\U000e01ef"
_SCRIPTS = ("LATIN ", "GREEK ", "DIGIT ", "LOW LINE")


def read_text(content: bytes) -> tuple[str, list[Offence]]:
    """Decode a file; the text is empty if it cannot be read as a reviewer would."""
    if len(content) > SIZE_LIMIT:
        why = f"the file has {len(content)} bytes, more than {SIZE_LIMIT}"
        return "", [Offence(0, 1, "size", why, "split it; a strategy is a page or two")]
    if content.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        why = "the file begins with a byte order mark"
        return "", [Offence(1, 1, "byte order mark", why, "save it as UTF-8 without one")]
    try:
        text = content.decode("utf-8", errors="strict")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return "", [Offence(line, 1, "encoding", "the file is not UTF-8", "save it as UTF-8")]
    offences = [*_cookie(content), *_characters(text)]
    return ("" if offences else text.replace("\r\n", "\n")), offences[:OFFENCE_LIMIT]


def _cookie(content: bytes) -> list[Offence]:
    """Refuse an encoding line that makes Python read other text than a reviewer."""
    for number, line in enumerate(content.split(b"\n", 2)[:2], start=1):
        match = _COOKIE.match(line)
        if match is None:
            continue
        name = match.group(1).decode("ascii", "replace")
        if name.lower().replace("_", "-") not in ("utf-8", "utf8"):
            why = "the file declares another encoding than UTF-8"
            return [Offence(number, 1, name, why, "remove the coding comment")]
    return []


def _characters(text: str) -> list[Offence]:
    if text.isascii() and text.isprintable():
        return []
    offences = []
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        for column, character in enumerate(line, start=1):
            if character in _ORDINARY or (" " <= character <= "~"):
                continue
            if _is_unseen(character):
                code = f"U+{ord(character):04X}"
                name = unicodedata.name(character, "control character").lower()
                why = f"{name} cannot be seen by a reviewer"
                instead = f"remove it, or write it as an escape inside a string: {character!a}"
                offences.append(Offence(number, column, code, why, instead))
    return offences


def _is_unseen(character: str) -> bool:
    if character in _BLANK or _FIRST_SELECTOR <= character <= _LAST_SELECTOR:
        return True
    return unicodedata.category(character) in _REFUSED_CATEGORIES


def foreign_identifiers(text: str) -> list[Offence]:
    """Find identifiers with letters that look like others, or that Python reads as others."""
    if text.isascii():
        return []
    offences = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.NAME or token.string.isascii():
            continue
        plain = unicodedata.normalize("NFKC", token.string) == token.string
        if plain and all(
            unicodedata.name(letter, "").startswith(_SCRIPTS) for letter in token.string
        ):
            continue
        line, column = token.start
        why = "an identifier in letters that look like other ones"
        instead = "use Latin or Greek letters, or put the text into a string"
        offences.append(Offence(line, column + 1, ascii(token.string)[1:-1], why, instead))
    return offences[:OFFENCE_LIMIT]
