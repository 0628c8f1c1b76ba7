"""Turns what a strategy answers into plain JSON values, or says why it cannot be taken."""

import math

import numpy as np

_DEPTH = 6
_ITEMS = 200
_TEXT = 500


class NotPlain(ValueError):
    """An answer holds something that is not plain data."""


def plain(value: object, depth: int = _DEPTH) -> object:
    """Gives the same value in JSON's own types; floats keep every bit.

    Raises:
        NotPlain: NaN, an infinity, an object, or more than an order could need.
    """
    # numpy's scalars are the results of ordinary arithmetic; their `item` is the plain number.
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, str):
        return _text(value)
    if depth == 0:
        raise NotPlain(f"an answer is nested deeper than {_DEPTH} levels")
    if isinstance(value, dict | list | tuple) and len(value) > _ITEMS:
        raise NotPlain(f"an answer has {len(value)} items, at most {_ITEMS} are read")
    if isinstance(value, dict):
        return {_key(key): plain(inner, depth - 1) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner, depth - 1) for inner in value]
    raise NotPlain(f"an answer holds a {type(value).__name__}, which is not plain data")


def _integer(value: int) -> int:
    if abs(value) > 2**63:
        raise NotPlain("an answer holds an integer beyond 64 bits")
    return int(value)


def _number(value: float) -> float:
    if not math.isfinite(value):
        raise NotPlain(f"an answer holds {value}: a decision needs finite numbers")
    return float(value)


def _text(value: str) -> str:
    if len(value) > _TEXT:
        raise NotPlain(f"a text of {len(value)} characters; at most {_TEXT} are read")
    if not value.isascii():
        value.encode("utf-8")  # a lone surrogate has no place in JSON
    return str(value)


def _key(key: object) -> str:
    """JSON's keys are text; minutes of an ROI table are integers."""
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise NotPlain(f"an answer has a key of type {type(key).__name__}")
    return _text(str(key))
