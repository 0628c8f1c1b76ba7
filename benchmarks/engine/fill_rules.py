"""Replays a work's trades under stated fill rules: ours, or those that a peer was found to have.

Written apart from the engine and bar by bar, so that it says what each rule is rather than how a
kernel does it. A peer's trades are explained when its rules give them all, trade for trade.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

Columns = dict[str, Any]


@dataclass(frozen=True)
class Rules:
    """How an engine fills. The defaults are ours."""

    market_at: str = "next_open"  # next_open | close: where a market order fills
    levels_from: str = "fill"  # fill | decision: the price that stop and target count from
    on_entry_bar: bool = True  # whether levels hold on the bar of the entry
    stop_gap: str = "open"  # open | level | level_if_traded: a bar that opens below the stop
    target_gap: str = "open"  # open | level | low: a bar that opens above the target
    both: str = "stop"  # stop | target | colour: both levels inside one bar
    target_at_open: bool = True  # whether a target that the open is beyond comes before the stop
    enters_again: bool = True  # whether an entry may follow one without an exit signal between
    tick: float = 0.0  # step of the levels, 0 for none; the stop is rounded up, towards the price
    at_end: str = "close"  # close | open | drop: what is held at the end


# What each switch means, in the words of the table.
MEANINGS = {
    "market_at": "fills at the decision bar's close, not at the next open",
    "levels_from": "stop and target count from the decision's close, not from the fill",
    "on_entry_bar": "stop and target do not hold on the bar of the entry",
    "stop_gap": "a stop fills at its level though the bar opened below it",
    "target_gap": "a target fills at its level though the bar opened above it",
    "both": "both levels in one bar: not the stop first",
    "target_at_open": "a bar that opens above the target and falls to the stop ends at the stop",
    "enters_again": "after a stop or target, no entry until the exit rule has been true",
    "tick": "levels are rounded to the tick",
    "at_end": "what is held at the end of the data is closed elsewhere or not listed",
}


class Work(NamedTuple):
    """What is decided, and the levels: fractions of the entry, 0 for none."""

    enter: Any
    leave: Any
    stop: float
    target: float


class Trade(NamedTuple):
    """One trade: the bar that decided it, its bars and prices."""

    decided: int
    entry_bar: int
    exit_bar: int
    entry: float
    exit: float


def replay(c: Columns, work: Work, rules: Rules) -> list[Trade]:
    """Every trade, in order."""
    trades: list[Trade] = []
    decisions = np.flatnonzero(work.enter & ~work.leave).tolist()
    free_from, last = 0, len(c["close"]) - 1
    for decided in decisions:
        if decided < free_from:
            continue
        trade = play_one(c, work, rules, decided)
        if trade is None:
            break
        trades.append(trade)
        free_from = trade.exit_bar
        if not rules.enters_again:
            signals = np.flatnonzero(work.leave[decided + 1 :])
            free_from = max(free_from, decided + 1 + int(signals[0]) if len(signals) else last)
    return trades


def play_one(c: Columns, work: Work, rules: Rules, decided: int) -> Trade | None:
    """The trade that a decision leads to; None if the data end before it."""
    last = len(c["close"]) - 1
    at_close = rules.market_at == "close"
    entry_bar = decided if at_close else decided + 1
    if entry_bar > last or (entry_bar == last and (at_close or rules.at_end == "open")):
        return None
    entry = float(c["close"][decided] if at_close else c["open"][entry_bar])
    stop, target = _levels(
        entry if rules.levels_from == "fill" else c["close"][decided], work, rules
    )
    leaving = False
    first = entry_bar + (1 if at_close else 0)
    for bar in range(first, last + 1):
        o = float(c["open"][bar])
        if leaving:
            return Trade(decided, entry_bar, bar, entry, o)
        if bar > entry_bar or rules.on_entry_bar:
            found = _level_hit(c, bar, stop, target, rules)
            if found is not None:
                return Trade(decided, entry_bar, bar, entry, found)
        if work.leave[bar]:
            if at_close:
                return Trade(decided, entry_bar, bar, entry, float(c["close"][bar]))
            leaving = True
    return _held_at_end(c, rules, decided, entry_bar, entry)


def _held_at_end(c: Columns, rules: Rules, decided: int, bar: int, entry: float) -> Trade | None:
    last = len(c["close"]) - 1
    if rules.at_end == "drop":
        return None
    return Trade(decided, bar, last, entry, float(c[rules.at_end][last]))


def _levels(anchor: float, work: Work, rules: Rules) -> tuple[float, float]:
    stop = anchor * (1 - work.stop) if work.stop else 0.0
    target = anchor * (1 + work.target) if work.target else np.inf
    if rules.tick and work.stop:
        stop = round(np.ceil(round(stop / rules.tick, 6)) * rules.tick, 8)
    return stop, target


def _level_hit(c: Columns, bar: int, stop: float, target: float, rules: Rules) -> float | None:
    """Where a bar's levels end a trade, if they do."""
    o, h, lo, close = (float(c[name][bar]) for name in ("open", "high", "low", "close"))
    if lo > stop and h < target:
        return None
    if o <= stop:
        return (
            stop
            if rules.stop_gap == "level" or (rules.stop_gap == "level_if_traded" and h >= stop)
            else o
        )
    if o >= target and (rules.target_at_open or lo > stop):
        return {"open": o, "level": target, "low": max(lo, target)}[rules.target_gap]
    if lo <= stop and h >= target:
        first = {
            "stop": True,
            "target": False,
            "colour": close >= o,
        }[rules.both]
        return stop if first else target
    return stop if lo <= stop else target
