"""Two lists of trades to what changed in behaviour: added, removed, changed, unchanged."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from Backtest.positions import Trade

_Key = tuple[str, str, int, int]
# Beyond this two figures differ; below it only the order of additions does.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class BehaviourChange:
    """How a version trades, against the version on the base branch, on the same candles.

    Attributes:
        base: the version compared with, as "main at 1a2b3c4".
        added: trades that only the new version makes.
        removed: trades that only the base version makes.
        changed: pairs (before, after) entered at the same moment on the same side, otherwise not
            the same.
        unchanged: how many trades are the same.
        pnl_before: profit of the base version's trades.
        pnl_after: profit of the new version's trades.
    """

    base: str
    added: tuple[Trade, ...]
    removed: tuple[Trade, ...]
    changed: tuple[tuple[Trade, Trade], ...]
    unchanged: int
    pnl_before: float
    pnl_after: float

    @property
    def is_none(self) -> bool:
        """Whether both versions trade alike."""
        return not (self.added or self.removed or self.changed)


def compare_trades(
    before: Sequence[Trade], after: Sequence[Trade], base: str = "the base branch"
) -> BehaviourChange:
    """Match trades by symbol, side and entry time, and tell what became of them.

    Args:
        before: the base version's trades.
        after: the new version's trades, on the same candles.
        base: the name of the base version.
    """
    old, new = _by_key(before), _by_key(after)
    pairs = [(old[key], trade) for key, trade in new.items() if key in old]
    changed = tuple(pair for pair in pairs if not _same(*pair))
    return BehaviourChange(
        base=base,
        added=tuple(trade for key, trade in new.items() if key not in old),
        removed=tuple(trade for key, trade in old.items() if key not in new),
        changed=changed,
        unchanged=len(pairs) - len(changed),
        pnl_before=math.fsum(trade.pnl for trade in before),
        pnl_after=math.fsum(trade.pnl for trade in after),
    )


def _by_key(trades: Sequence[Trade]) -> dict[_Key, Trade]:
    """Trades by entry; the parts of one position count up in their order."""
    found: dict[_Key, Trade] = {}
    parts: dict[tuple[str, str, int], int] = {}
    for trade in trades:
        entry = (trade.symbol, trade.side, trade.entry_time)
        parts[entry] = parts.get(entry, -1) + 1
        found[(*entry, parts[entry])] = trade
    return found


def _same(before: Trade, after: Trade) -> bool:
    return (
        (before.exit_time, before.rule_out, before.forced)
        == (after.exit_time, after.rule_out, after.forced)
        and _close(before.volume, after.volume)
        and _close(before.entry_price, after.entry_price)
        and _close(before.exit_price, after.exit_price)
        and _close(before.pnl, after.pnl)
    )


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
