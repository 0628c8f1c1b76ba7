"""Turns rejected orders into words and counts: why each was, and how many of each cause."""

from collections.abc import Iterable

NO_CASH, TOO_SMALL, NO_LOT = "too little cash", "below the minimum value", "smaller than one lot"
_NEEDS, _WORTH = "it needs ", "the entry is worth "


def lacks_cash(needed: float, cash: float) -> str:
    """Gives the reason of an order that cannot be paid."""
    return f"{_NEEDS}{needed:.8g} in cash, there is {cash:.8g}"


def worth_too_little(notional: float, least: float) -> str:
    """Gives the reason of an order below `min_notional`."""
    return f"{_WORTH}{notional:.8g}, below the minimum of {least:.8g}"


def by_cause(reasons: Iterable[str]) -> dict[str, int]:
    """Counts rejected orders by cause; a volume of nothing is the only other one."""
    counts: dict[str, int] = {}
    for reason in reasons:
        cause = NO_CASH if reason.startswith(_NEEDS) else NO_LOT
        cause = TOO_SMALL if reason.startswith(_WORTH) else cause
        counts[cause] = counts.get(cause, 0) + 1
    return counts
