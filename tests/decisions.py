"""Writes decisions down as the data that the line reads back."""

from typing import Any

from adapters.loop.strategy_decisions import Decisions

SIDES = {"exit_long": "BUY", "exit_short": "SELL"}


def record(decisions: Decisions, bars: int) -> dict[str, Any]:
    """Lists entries by bar and the bars of each exit rule."""
    entries = {str(idx): wanted for idx in range(bars) if (wanted := decisions.entry(idx))}
    exits = {
        rule: [
            idx for idx in range(bars) if decisions.leaves({"position_id": "", "action": a}, idx)
        ]
        for rule, a in SIDES.items()
    }
    return {"entries": entries, **exits}
