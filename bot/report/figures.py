"""Numbers and moments to the words of a report: rounded, the same everywhere, never `-0.00`."""

import math
from collections.abc import Mapping
from typing import Any

from Backtest.times import iso

Summary = Mapping[str, Any]  # figures, tables of figures and words by name, as JSON has them
NO_VALUE = "–"  # noqa: RUF001 - an en dash stands for a figure that has no meaning here
_PLAIN_LIMIT = 1e15


def number(value: object) -> float | None:
    """A finite number, or None for everything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def decimal(value: object, digits: int = 2, *, sign: bool = False) -> str:
    """A number with thousands separated."""
    found = number(value)
    if found is None:
        return NO_VALUE
    if abs(found) >= _PLAIN_LIMIT:
        return f"{found:+.6g}" if sign else f"{found:.6g}"
    rounded = round(found, digits) + 0.0  # adding zero turns -0.0 into 0.0
    plus = "+" if sign and rounded > 0 else ""
    return f"{plus}{rounded:,.{digits}f}"


def percent(value: object, *, sign: bool = False) -> str:
    """A fraction as a percentage with two decimals."""
    found = number(value)
    return NO_VALUE if found is None else f"{decimal(found * 100, 2, sign=sign)}%"


def rate(value: object) -> str:
    """A cost or a level as a percentage, with as many decimals as it needs."""
    found = number(value)
    return NO_VALUE if found is None else f"{found * 100:.10g}%"


def count(value: object) -> str:
    """A whole number with thousands separated."""
    return decimal(value, 0)


def counted(value: object, one: str, many: str = "") -> str:
    """A count with its noun."""
    found = number(value) or 0
    return f"{count(found)} {one if found == 1 else many or one + 's'}"


def price(value: object) -> str:
    """A price with the decimals that its size needs."""
    found = number(value)
    if found is None:
        return NO_VALUE
    size = abs(found)
    if size >= 1:
        return decimal(found, 2 if size >= 1000 else 4)
    return f"{found:.6g}"


def volume(value: object) -> str:
    """A volume with six significant digits."""
    found = number(value)
    return NO_VALUE if found is None else f"{found:.6g}"


def moment(timestamp_ms: int) -> str:
    """UTC milliseconds as `2024-01-31 08:00`, seconds only where there are some."""
    text = iso(timestamp_ms)[:19].replace("T", " ")
    return text.removesuffix(":00")


def day(timestamp_ms: int) -> str:
    """UTC milliseconds as `2024-01-31`."""
    return iso(timestamp_ms)[:10]
