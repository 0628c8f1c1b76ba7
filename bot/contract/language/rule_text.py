"""Turns rule text into Python's own tree of it, or into the mistake that it cannot be read for."""

import ast
import warnings
from dataclasses import dataclass, replace

MAX_TEXT = 2_000
# Operators of other languages that Python's parser stumbles over, and what they are here.
_FOREIGN = {
    "&&": "`and`",
    "||": "`or`",
    "<>": "`!=`",
    "=<": "`<=`",
    "=>": "`>=`",
    "=": "`==`",
    "!": "`not`",
}


@dataclass(frozen=True)
class Mistake:
    """Holds one thing wrong with an expression, at a character of its text."""

    offset: int
    message: str
    found: str = ""
    allowed: str = ""
    nearest: str = ""


@dataclass(frozen=True)
class RuleText:
    """Holds a text as it was parsed: `body` is None where there is a mistake.

    `start` is where the expression begins; Python counts from there.
    """

    start: int
    body: ast.expr | None = None
    mistake: Mistake | None = None


def parse_text(text: str) -> RuleText:
    """Parses an expression, which is never evaluated as Python; line breaks count as spaces."""
    flat = "".join(" " if character in "\n\r\t" else character for character in text)
    start = len(flat) - len(flat.lstrip())
    flat = flat.strip()
    mistake = _refusal(flat)
    if mistake is None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return RuleText(start, ast.parse(flat, mode="eval").body)
        except SyntaxError as error:
            position = min(max((error.offset or 1) - 1, 0), len(flat) - 1)
            found, advice = flat[position : position + 20], _operator_advice(flat, position)
            mistake = Mistake(position, f"not an expression: {error.msg}", found, advice)
        except (ValueError, MemoryError, RecursionError):
            mistake = Mistake(0, "the expression is too deep or has too large a number")
    return RuleText(start, None, replace(mistake, offset=start + mistake.offset))


def _refusal(flat: str) -> Mistake | None:
    """Says what is wrong with a text before Python parses it."""
    if not flat:
        example = "an expression, for example rsi < 30"
        return Mistake(0, "the expression is empty", allowed=example)
    if len(flat) > MAX_TEXT:
        return Mistake(0, f"the expression is longer than {MAX_TEXT} characters", str(len(flat)))
    for position, character in enumerate(flat):
        if not " " <= character <= "~" or character in "#\\;":
            shown = f"U+{ord(character):04X}" if character > "~" else repr(character)
            return Mistake(position, "a character that no rule may contain", shown)
    return None


def _operator_advice(text: str, position: int) -> str:
    """Says what to write instead of a foreign operator at, or one character before, a place."""
    for start in (position - 1, position):
        for foreign, ours in _FOREIGN.items():
            if start >= 0 and text.startswith(foreign, start) and text[start : start + 2] != "!=":
                return f"{ours} instead of {foreign}"
    if not text[position:].strip() or text.rstrip().endswith((" and", " or", " not")):
        return "a condition after the last `and`, `or` or `not`"
    return ""


def names_read(text: str) -> list[str]:
    """Lists the names that stand as values in an expression; none where it does not parse."""
    body = parse_text(text).body
    nodes = [] if body is None else list(ast.walk(body))
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    return [node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in called]
