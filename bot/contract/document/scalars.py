"""Turns a plain word into a value by the core schema of YAML 1.2 (`on` and `1:30` are text)."""

import math
import re

_WORDS: dict[str, object] = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_DECIMAL = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_UNREAL = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
# Beyond 2**53 a float no longer holds every integer, and nothing in a contract counts that far.
_LARGEST = 2**53
_LONGEST = 40


class NotANumber(Exception):
    """The word is written as a number that no contract may hold."""


def resolve(word: str) -> object:
    """Turn a plain word into null, a boolean, a number or text.

    Raises:
        NotANumber: for infinities, NaN and numbers too large or too long.
    """
    if word in _WORDS:
        return _WORDS[word]
    if _UNREAL.fullmatch(word):
        raise NotANumber(f"{word} is not a number that can be traded with")
    if _INTEGER.fullmatch(word) or _BASED.fullmatch(word):
        return integer(word)
    if _DECIMAL.fullmatch(word):
        return decimal(word)
    return word


def integer(word: str) -> int:
    """Read an integer of reasonable size."""
    value = None if len(word) > _LONGEST else int(word, 0 if word[:2] in ("0x", "0o") else 10)
    if value is None or abs(value) > _LARGEST:
        raise NotANumber(f"the number {word[:20]} is too large")
    return value


def decimal(word: str) -> float:
    """Read a finite decimal number."""
    value = math.inf if len(word) > _LONGEST else float(word)
    if math.isinf(value):
        raise NotANumber(f"the number {word[:20]} is too large or too long")
    return value
