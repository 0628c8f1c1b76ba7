"""Explains how VectorBT's fills differ from ours: bar by bar, each difference by a named rule.

A rule of fills is a switch. VectorBT's own trades have to be what its switches give, trade for
trade; a trade that differs from ours is explained by the switches that alone change it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from Backtest.fills import Bar, fill_price, mirrored
from Backtest.positions import Trade

NEAR = 1e-9  # of a price: what float arithmetic in another order may change
# What each switch means where VectorBT differs.
MEANINGS = {
    "on_entry_bar": "entry bar: VectorBT's stop and target do not hold on the bar of the entry",
    "signal_first": "stop before exit: VectorBT takes the bar's stop although an exit at its open "
    "was decided",
    "target_at_open": "ambiguous bar: VectorBT takes the stop although the bar opened beyond the "
    "target",
    "limit_is_free": "slippage: VectorBT's target pays slippage, a resting limit of ours does not",
    "tick": "tick: VectorBT does not round fills to the tick",
    "profit_only": "exit_profit_only: VectorBT leaves on every exit signal",
    "end_pays": "end of data: VectorBT values what is held at the last close, without costs",
}
# What ours ends or begins by and VectorBT's signals have no word for.
OURS_ALONE = {
    "trailing_stop": "trailing stop: VectorBT was given the fixed stop alone",
    "trailing_gap": "trailing stop: VectorBT was given the fixed stop alone",
    "roi": "ROI table: VectorBT has none",
    "roi_gap": "ROI table: VectorBT has none",
    "liquidated": "liquidation: VectorBT lets a short lose more than its collateral",
}
FOLLOWS = "follows: begins where the other was still in an earlier trade that differs"
REJECTED = "account: VectorBT has cash for every order and no limit of positions"


class Fill(NamedTuple):
    """One trade: side, bars and prices; `held` at the end of the data."""

    sign: int
    entry_bar: int
    exit_bar: int
    entry: float
    exit: float
    held: bool = False


@dataclass(frozen=True)
class Rules:
    """How an engine fills; the defaults are ours."""

    on_entry_bar: bool = True
    signal_first: bool = True
    target_at_open: bool = True
    limit_is_free: bool = True
    tick: bool = True
    profit_only: bool = True
    end_pays: bool = True


OURS = Rules()
VECTORBT = Rules(on_entry_bar=False, signal_first=False, target_at_open=False,
                 limit_is_free=False, tick=False, profit_only=False, end_pays=False)  # fmt: skip


@dataclass(frozen=True)
class Work:
    """What one symbol's rules decide, with the levels of each bar and the costs.

    Attributes:
        enter: 1 for a long, -1 for a short, 0 for none, by the bar that decides.
        stop, target: sizes by bar; a fraction of the entry, or a distance; NaN for none.
        late: bars between a decision and its fill: 1 at the next open, 0 at this close.
    """

    bars: Mapping[str, NDArray[np.float64]]
    enter: NDArray[np.int8]
    leave: Mapping[int, NDArray[np.bool_]]
    stop: NDArray[np.float64]
    stop_is_fraction: bool
    target: NDArray[np.float64]
    target_is_fraction: bool
    cost: float
    tick: float | None
    late: int
    # The commission on each side of a contract that leaves with a profit only; None for others.
    profit_after: float | None

    def level(self, entry: float, sign: int, decided: int, *, gain: bool) -> float:
        """The stop (or, with `gain`, the target) of a trade; infinite where there is none."""
        sizes, fraction = (
            (self.target, self.target_is_fraction) if gain else (self.stop, self.stop_is_fraction)
        )
        size = float(sizes[decided])
        if np.isnan(size):
            return np.inf * sign * (1 if gain else -1)
        return entry + (sign if gain else -sign) * (size * entry if fraction else size)

    def earns(self, entry: float, sign: int, bar: int) -> bool:
        """Whether a bar's close, net of both commissions, is beyond the entry, if that counts."""
        if self.profit_after is None:
            return True
        paid, got = 1 + sign * self.profit_after, 1 - sign * self.profit_after
        return sign * (float(self.bars["close"][bar]) * got - entry * paid) > 0


@dataclass
class Comparison:
    """What became of both engines' trades beside each other."""

    theirs: int = 0
    ours: int = 0
    same: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    unexplained: list[str] = field(default_factory=list)

    def add(self, other: "Comparison") -> None:
        """Count another symbol in."""
        self.theirs += other.theirs
        self.ours += other.ours
        self.same += other.same
        self.rules.update(other.rules)
        self.unexplained += other.unexplained


def play_one(work: Work, rules: Rules, decided: int) -> Fill | None:
    """The trade that a decision leads to under some rules; None if the data end before it."""
    bars, sign = work.bars, int(work.enter[decided])
    first, last = decided + work.late, len(work.enter) - 1
    if first > last:
        return None
    tick = work.tick if rules.tick else None
    priced_at = bars["open" if work.late else "close"]

    def filled(raw: float, *, entering: bool, market: bool = True) -> float:
        buying = (sign > 0) == entering
        return fill_price(raw, buying, market=market, cost=work.cost, tick=tick)

    entry = filled(float(priced_at[first]), entering=True)
    stop, target = (work.level(entry, sign, decided, gain=gain) for gain in (False, True))
    for bar in range(first, last + 1):
        asked = bar - work.late
        leaving = bar > first and asked > decided and work.leave[sign][asked]
        if rules.profit_only and not work.earns(entry, sign, asked):
            leaving = False
        at = Bar(*(float(bars[name][bar]) for name in ("open", "high", "low", "close")))
        held = bar > first or (rules.on_entry_bar and work.late)
        hit = _hit(at, sign, stop, target, rules) if held else None
        at_open = work.late == 1
        if leaving and (hit is None or (rules.signal_first and at_open)):
            return Fill(sign, first, bar, entry, filled(float(priced_at[bar]), entering=False))
        if hit is not None:
            raw, by_target = hit
            price = filled(raw, entering=False, market=not (by_target and rules.limit_is_free))
            return Fill(sign, first, bar, entry, price)
    close = float(bars["close"][last])
    end = filled(close, entering=False) if rules.end_pays else close
    return Fill(sign, first, last, entry, end, held=True)


def _hit(
    bar: Bar, sign: int, stop: float, target: float, rules: Rules
) -> tuple[float, bool] | None:
    """Where a bar's levels end a trade: the price, and whether it is the target's."""
    if sign < 0:
        bar, stop, target = mirrored(bar), -stop, -target
    opened, high, low, _ = bar
    if opened >= target and (rules.target_at_open or low > stop):
        return sign * opened, True
    if opened <= stop:
        return sign * opened, False
    if low <= stop:
        return sign * stop, False
    return (sign * target, True) if high >= target else None


def replay(work: Work, rules: Rules) -> list[Fill]:
    """Every trade of one symbol under some rules, in order."""
    trades: list[Fill] = []
    free_from = 0
    for decided in np.flatnonzero(work.enter).tolist():
        if decided < free_from:
            continue
        trade = play_one(work, rules, decided)
        if trade is None:
            break
        trades.append(trade)
        # A decision of the bar that ended a trade counts again once the trade is over.
        free_from = trade.exit_bar + (0 if work.late else 1)
    return trades


def compare(
    work: Work, ours: Iterable[Trade], theirs: list[Fill], turned_down: set[int]
) -> Comparison:
    """Explain VectorBT's trades of one symbol beside ours.

    Args:
        turned_down: bars whose decision our account did not take: too little cash, too many
            positions.
    """
    own = [
        (Fill(1 if trade.side == "long" else -1, trade.entry_row, trade.exit_row,
              trade.entry_price, trade.exit_price, trade.forced), trade.rule_out)
        for trade in ours
    ]  # fmt: skip
    told = Comparison(len(theirs), len(own))
    model = {trade.entry_bar: trade for trade in replay(work, VECTORBT)}
    for trade in theirs:
        if trade.entry_bar not in model or not _alike(trade, model[trade.entry_bar]):
            told.unexplained.append(f"VectorBT's {trade}")
    theirs_by_bar = {trade.entry_bar: trade for trade in theirs}
    for trade, rule in own:
        other = theirs_by_bar.pop(trade.entry_bar, None)
        if other is None:
            if not _within(trade.entry_bar - work.late, theirs, work.late):
                told.unexplained.append(f"ours alone: {trade}")
            told.rules[FOLLOWS] += 1
        elif _alike(trade, other):
            told.same += 1
        else:
            reasons = _reasons(work, trade, rule)
            told.rules.update(reasons)
            told.unexplained += [] if reasons else [f"ours {trade}, VectorBT's {other}"]
    for trade in theirs_by_bar.values():
        decided = trade.entry_bar - work.late
        if _within(decided, [fill for fill, _ in own], work.late):
            told.rules[FOLLOWS] += 1
        elif decided in turned_down:
            told.rules[REJECTED] += 1
        else:
            told.unexplained.append(f"VectorBT's alone: {trade}")
    return told


def _reasons(work: Work, own: Fill, rule: str) -> list[str]:
    """The named rules behind two trades that began together and differ."""
    if rule in OURS_ALONE:
        return [OURS_ALONE[rule]]
    decided = own.entry_bar - work.late
    honest = play_one(work, OURS, decided)
    if honest is None or not _alike(honest, own):
        return []
    names = [name for name in MEANINGS if getattr(OURS, name) != getattr(VECTORBT, name)]
    alone = [
        name
        for name in names
        if play_one(work, replace(OURS, **{name: getattr(VECTORBT, name)}), decided) != honest
    ]
    return [MEANINGS[name] for name in alone or names]


def _alike(one: Fill, other: Fill) -> bool:
    prices = ((one.entry, other.entry), (one.exit, other.exit))
    return one[:3] == other[:3] and all(abs(a - b) <= NEAR * abs(b) for a, b in prices)


def _within(bar: int, trades: list[Fill], late: int) -> bool:
    return any(fill.entry_bar - late < bar < fill.exit_bar + 1 - late for fill in trades)
