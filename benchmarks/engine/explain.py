"""Compares a peer's trades with ours, and names the fill rule behind each that differs."""

from collections import Counter
from dataclasses import replace
from typing import Any, NamedTuple

import talib

from benchmarks.engine.fill_rules import MEANINGS, Columns, Rules, Trade, Work, play_one, replay
from benchmarks.engine.worker import OVERBOUGHT, OVERSOLD, STOP, TARGET, crossed_above

OURS = Rules()
# How each peer fills, with the settings of its driver: found by replaying its trades.
PEER_RULES = {
    "backtesting": Rules(levels_from="decision", target_at_open=False, at_end="drop"),
    "vectorbt": Rules(on_entry_bar=False, target_at_open=False),
    "backtrader": Rules(on_entry_bar=False, target_at_open=False, at_end="drop"),
    "raptorbt": Rules(enters_again=False),
    "nautilus_trader": Rules(
        market_at="close",
        stop_gap="level",
        target_gap="level",
        both="target",
        tick=0.01,
        at_end="drop",
    ),
    "freqtrade": Rules(stop_gap="level_if_traded", target_gap="low", tick=0.01, at_end="open"),
    "jesse": Rules(market_at="close", both="colour"),
}
FOLLOWS = "begins where the other was still in an earlier trade that differs"
NEAR = 1e-6  # of a price: what rounding to the tick may change


class Comparison(NamedTuple):
    """What became of a peer's trades and ours beside each other."""

    theirs: int
    ours: int
    same: int
    reasons: Counter[str]
    unexplained: list[Any]


def work_of(name: str, c: Columns) -> Work:
    """The decisions of a work, by TA-Lib."""
    close = c["close"]
    if name == "dip":
        rsi, trend = talib.RSI(close, 14), talib.SMA(close, 200)
        return Work((rsi < OVERSOLD) & (close > trend), rsi > OVERBOUGHT, STOP, TARGET)
    fast, slow = talib.SMA(close, 20), talib.SMA(close, 100)
    return Work(crossed_above(fast, slow), crossed_above(slow, fast), 0.0, 0.0)


def compare(c: Columns, work: Work, rules: Rules, ours: list[Any], theirs: list[Any]) -> Comparison:
    """Explain a peer's trades; what the rules do not give is unexplained, ours included."""
    honest, model = replay(c, work, OURS), replay(c, work, rules)
    unexplained = [*_unlike(ours, honest), *_unlike(theirs, model)]
    by_decision = {trade.decided: trade for trade in honest}
    reasons: Counter[str] = Counter()
    same = 0
    for trade in model:
        ours_then = by_decision.get(trade.decided)
        if ours_then is None:
            reasons.update(_kept_out(trade, honest, unexplained))
        elif _alike(tuple(ours_then)[1:], trade):
            same += 1
        else:
            reasons.update(decisive(c, work, rules, trade.decided))
    taken = {trade.decided for trade in model}
    for trade in honest:
        if trade.decided not in taken:
            reasons.update(_left_out(trade, model, rules, len(c["close"]), unexplained))
    return Comparison(len(theirs), len(ours), same, reasons, unexplained)


def decisive(c: Columns, work: Work, rules: Rules, decided: int) -> list[str]:
    """The switches that alone change what our rules make of a decision; all of them if together."""
    honest = play_one(c, work, OURS, decided)
    names = [name for name in MEANINGS if getattr(rules, name) != getattr(OURS, name)]
    alone = []
    for name in names:
        other = play_one(c, work, replace(OURS, **{name: getattr(rules, name)}), decided)
        if other is None or honest is None or not _alike(tuple(other)[1:], honest):
            alone.append(name)
    return [MEANINGS[name] for name in (alone or names)]


def _alike(found: Any, trade: Trade) -> bool:
    bars = (found[0], found[1]) == (trade.entry_bar, trade.exit_bar)
    prices = ((found[2], trade.entry), (found[3], trade.exit))
    return bars and all(abs(one / other - 1) < NEAR for one, other in prices)


def _unlike(found: list[Any], expected: list[Trade]) -> list[Any]:
    """What one of two lists has and the other has not."""
    by_bar = {trade.entry_bar: trade for trade in expected}
    odd = [t for t in found if t[0] not in by_bar or not _alike(t, by_bar[t[0]])]
    entered = {t[0] for t in found}
    return odd + [trade for trade in expected if trade.entry_bar not in entered]


def _is_in_trade(bar: int, trades: list[Trade]) -> bool:
    return any(trade.decided < bar < trade.exit_bar for trade in trades)


def _kept_out(trade: Trade, honest: list[Trade], unexplained: list[Any]) -> list[str]:
    """Why a peer's decision is none of ours: we were in a trade then."""
    if _is_in_trade(trade.decided, honest):
        return [FOLLOWS]
    unexplained.append(trade)
    return []


def _left_out(
    trade: Trade, model: list[Trade], rules: Rules, bars: int, unexplained: list[Any]
) -> list[str]:
    """Why a decision of ours is none of a peer's."""
    if _is_in_trade(trade.decided, model):
        return [FOLLOWS]
    if trade.exit_bar == bars - 1:
        return [MEANINGS["at_end"]]
    if not rules.enters_again:
        return [MEANINGS["enters_again"]]
    unexplained.append(trade)
    return []


def lines_of(peer: str, found: Comparison) -> list[str]:
    """A comparison in words."""
    head = (
        f"{peer:<16} {found.theirs} trades beside our {found.ours}: {found.same} the same,"
        f" {len(found.unexplained)} unexplained"
    )
    reasons = [f"{'':<18}{count:>5} x {reason}" for reason, count in found.reasons.most_common()]
    return [head, *reasons, *(f"{'':<18}unexplained: {trade}" for trade in found.unexplained[:5])]
