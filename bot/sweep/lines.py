"""Compares what a search's best set is worth with the lines that a repository's policy draws."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from bot.settings import LuckPolicy
    from bot.sweep.luck import Luck


class PolicyLine(NamedTuple):
    """Holds one line: its name in the policy, what it asks for, what there is, whether it is met.

    What cannot be said is not met.
    """

    name: str
    asked: float
    found: float | None
    met: bool


def policy_lines(
    luck: "Luck", policy: "LuckPolicy", cost_bps: float, unseen: Mapping[str, Any] | None = None
) -> list[PolicyLine]:
    """Draw every line that the policy has.

    Args:
        luck: what the best set is worth.
        policy: the repository's.
        cost_bps: what the contract itself counts for one side of a trade.
        unseen: the figures where walk-forward had not searched, if it was asked for.
    """
    even, trades = luck.break_even_cost_bps, luck.trades
    record = luck.years / luck.years_needed if luck.years and luck.years_needed else None
    found: dict[str, float | None] = {
        "min_deflated_sharpe": luck.deflated,
        "max_overfitting": luck.overfitting,
        "min_track_record": record,
        "min_stability": luck.stability,
        "min_break_even": None if even is None else even / max(cost_bps, 1.0),
        "max_order_drawdown": trades.order_drawdown[2] if trades else None,
        "min_missed_return": trades.missed_return[0] if trades else None,
        "max_chance": luck.by_worlds,
    }
    if unseen is not None:
        found["min_unseen_sharpe"] = unseen["sharpe"]
    lines = []
    for name, value in found.items():
        asked = getattr(policy, name)
        if asked is not None:
            met = value is not None and (value >= asked if name[:3] == "min" else value <= asked)
            lines.append(PolicyLine(name, asked, value, met))
    return lines
