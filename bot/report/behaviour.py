"""Turns two lists of trades into what changed in behaviour: added, gone, moved, changed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from Backtest.positions import Trade

Pair = tuple[Trade, Trade]
_Key = tuple[str, str, int, int]
# Beyond this two figures differ; below it only the order of additions does.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class BehaviourChange:
    """How a version trades, against another version of the same task, on the same candles.

    Attributes:
        base: the version compared with, as "main at 1a2b3c4".
        added: trades that only the new version makes.
        removed: trades that only the other version makes.
        moved: pairs (before, after) on the same side that overlap in time, entered at another
            moment.
        changed: pairs entered at the same moment on the same side, with other prices or another
            exit.
        resized: pairs that differ in nothing but their size, and so in their profit.
        unchanged: how many trades are the same.
        pnl_before: profit of the other version's trades.
        pnl_after: profit of the new version's trades.
    """

    base: str
    added: tuple[Trade, ...]
    removed: tuple[Trade, ...]
    moved: tuple[Pair, ...]
    changed: tuple[Pair, ...]
    resized: tuple[Pair, ...]
    unchanged: int
    pnl_before: float
    pnl_after: float

    @property
    def is_none(self) -> bool:
        """Whether both versions trade alike."""
        return not (self.added or self.removed or self.moved or self.changed or self.resized)

    @property
    def marked(self) -> list[tuple[str, Trade]]:
        """Every trade that differs in more than its size, with a word, the earliest first."""
        rows = [
            *((trade.entry_time, 0, "gone", trade) for trade in self.removed),
            *((trade.entry_time, 1, "added", trade) for trade in self.added),
        ]
        for word, pairs in (("moved", self.moved), ("changed", self.changed)):
            for old, new in pairs:
                first = min(old.entry_time, new.entry_time)
                rows += [(first, 2, f"{word}: before", old), (first, 3, f"{word}: now", new)]
        return [(word, trade) for _, _, word, trade in sorted(rows, key=lambda row: row[:2])]


def compare_trades(
    before: Sequence[Trade], after: Sequence[Trade], base: str = "the base branch"
) -> BehaviourChange:
    """Match trades by symbol, side and entry time, then by overlap, and tell what became of them.

    Args:
        before: the other version's trades.
        after: the new version's trades, on the same candles.
        base: the name of the other version.
    """
    old, new = _by_key(before), _by_key(after)
    pairs = [(old[key], trade) for key, trade in new.items() if key in old]
    other = [pair for pair in pairs if not _same(*pair)]
    removed = [trade for key, trade in old.items() if key not in new]
    added = [trade for key, trade in new.items() if key not in old]
    moved = _overlapping(removed, added)
    gone, come = {id(one) for one, _ in moved}, {id(one) for _, one in moved}
    return BehaviourChange(
        base=base,
        added=tuple(trade for trade in added if id(trade) not in come),
        removed=tuple(trade for trade in removed if id(trade) not in gone),
        moved=tuple(moved),
        changed=tuple(pair for pair in other if not _same_but_size(*pair)),
        resized=tuple(pair for pair in other if _same_but_size(*pair)),
        unchanged=len(pairs) - len(other),
        pnl_before=math.fsum(trade.pnl for trade in before),
        pnl_after=math.fsum(trade.pnl for trade in after),
    )


def _overlapping(removed: Sequence[Trade], added: Sequence[Trade]) -> list[Pair]:
    """Pair each added trade with the first one gone that was open at the same time, once each."""
    pairs: list[Pair] = []
    left = sorted(removed, key=lambda trade: trade.entry_time)
    for new in sorted(added, key=lambda trade: trade.entry_time):
        for old in left:
            if (old.symbol, old.side) != (new.symbol, new.side):
                continue
            if old.entry_time <= new.exit_time and new.entry_time <= old.exit_time:
                pairs.append((old, new))
                left.remove(old)
                break
            if old.entry_time > new.exit_time:
                break
    return pairs


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
        _same_but_size(before, after)
        and _close(before.volume, after.volume)
        and _close(before.pnl, after.pnl)
    )


def _same_but_size(before: Trade, after: Trade) -> bool:
    return (
        (before.exit_time, before.rule_out, before.forced)
        == (after.exit_time, after.rule_out, after.forced)
        and _close(before.entry_price, after.entry_price)
        and _close(before.exit_price, after.exit_price)
    )


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
