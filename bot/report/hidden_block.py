"""A story's trailers to a block that a pull request carries unseen, and back.

The block is an HTML comment that holds JSON. Nothing in a value can end the comment: the
characters that could are written as JSON escapes.
"""

import json
import re
from typing import Any, NoReturn

from bot.report.inert import clip
from bot.report.story import Story

MARK = "<!-- stratwright:evidence"
VERSION = 1
MOST_CHARACTERS = 30_000
LONGEST_VALUE = 255
_TEXTS = ("branch", "tag", "contract", "data_digest")
_PREVIOUS = "previous"  # only where the pull request showed another tag before
_TRAILERS = ("Correlation-Id", "Prompt-Hash", "Contract-Digest", "Coder", "Model")
_BLOCK = re.compile(rf"^{re.escape(MARK)}\n(\{{[^\n<>]*\}})\n-->$", re.MULTILINE)
_ESCAPED = re.compile(r"[<>&@#$`|\[\]]|--")


def hidden_block(story: Story) -> str:
    """Write the block."""
    values: dict[str, object] = {
        "version": VERSION,
        "accepted": story.accepted,
        "branch": story.branch,
        "tag": story.tag,
        "contract": story.contract_path,
        "data_digest": story.data_digest,
        "trailers": story.trailers,
    }
    for name in _TEXTS:
        values[name] = clip(str(values[name]), LONGEST_VALUE)
    if story.previous:
        values[_PREVIOUS] = clip(story.previous, LONGEST_VALUE)
    values["trailers"] = {k: clip(v, LONGEST_VALUE) for k, v in story.trailers.items()}
    text = json.dumps(values, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return f"{MARK}\n{_ESCAPED.sub(_escape, text)}\n-->"


def _escape(found: re.Match[str]) -> str:
    return "".join(f"\\u{ord(char):04x}" for char in found.group())


def read_hidden_block(body: str) -> dict[str, Any] | None:
    """Read the block of a pull request's body.

    Returns:
        Its values; None if there is no block, more than one, or one that we did not write so.
    """
    text = body.replace("\r\n", "\n")  # GitHub's editor saves a body with these
    found = _BLOCK.findall(text)
    if len(found) != 1 or text.count(MARK) != 1 or len(found[0]) > MOST_CHARACTERS:
        return None
    try:
        values = json.loads(
            found[0], object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_refuse
        )
    except (ValueError, RecursionError):
        return None
    return values if _is_ours(values) else None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("a key is given twice")
    return values


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} has no place here")


def _is_ours(values: object) -> bool:
    names = {"version", "accepted", "trailers", *_TEXTS}
    if not isinstance(values, dict) or set(values) - {_PREVIOUS} != names:
        return False
    trailers = values["trailers"]
    return (
        type(values["version"]) is int
        and values["version"] == VERSION
        and isinstance(values["accepted"], bool)
        and all(isinstance(values[name], str) for name in _TEXTS)
        and isinstance(values.get(_PREVIOUS, ""), str)
        and isinstance(trailers, dict)
        and set(trailers) == set(_TRAILERS)
        and all(isinstance(value, str) for value in trailers.values())
    )
