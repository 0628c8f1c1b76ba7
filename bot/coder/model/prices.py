"""Turns a model's usage into money, by a dated table; sums are whole millionths of a dollar."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bot.errors import InputError

TABLE = Path(__file__).with_name("models.json")
_COUNTED = {
    "input_tokens": "input",
    "output_tokens": "output",
    "cache_creation_input_tokens": "cache_write",
    "cache_read_input_tokens": "cache_read",
}
# What the API adds by itself: the schema of the answer, marks of roles.
_ADDED_TOKENS = 2_000


@dataclass(frozen=True)
class Price:
    """Says what a million tokens of a model cost in dollars."""

    date: str
    input: float
    output: float
    cache_write: float
    cache_read: float
    temperature: bool  # whether the model takes one; newer ones answer 400

    def of(self, usage: Mapping[str, int]) -> int:
        """Give what an answer cost in millionths of a dollar, rounded up."""
        counts = ((usage.get(key, 0), getattr(self, name)) for key, name in _COUNTED.items())
        return math.ceil(float(sum(tokens * price for tokens, price in counts)))

    def at_most(self, sent_bytes: int, max_tokens: int) -> int:
        """Give what a call can cost at most: no token is shorter than a byte."""
        dearest = max(self.input, self.cache_write)
        return math.ceil((sent_bytes + _ADDED_TOKENS) * dearest + max_tokens * self.output)


@cache
def _table() -> dict[str, object]:
    read: dict[str, object] = json.loads(TABLE.read_text(encoding="utf-8"))
    return read


def price_of(model: str, given: tuple[float, float] | None = None) -> Price:
    """Find the price of a model, by its name or by that of its dated versions.

    Raises:
        InputError: nobody said what it costs, so no limit could be held.
    """
    table = _table()
    rows = table["models"]
    if not isinstance(rows, dict):
        raise TypeError("the price table has no models")
    name = max((row for row in rows if model == row or model.startswith(f"{row}-20")), default="")
    if given is not None:
        takes = bool(rows[name]["temperature"]) if name else False
        return Price("stratwright.yml", *given, 2 * given[0], given[0], takes)
    if not name:
        raise InputError(
            f"no price is known for the model {model}, so no limit on its cost could be held",
            "Write its price into stratwright.yml, as coder: {price_per_million_usd: [3.0, 15.0]}; "
            f"known are {', '.join(rows)}.",
        )
    return Price(str(table["date"]), **rows[name])


def is_known(model: str) -> bool:
    """Say whether the table has a model, and so whether it is known to have tools of its own."""
    rows = _table()["models"]
    return isinstance(rows, dict) and any(
        model == row or model.startswith(f"{row}-20") for row in rows
    )


def dollars(millionths: int) -> str:
    """Write a sum for people and records."""
    return f"{millionths / 1e6:.6f}"
