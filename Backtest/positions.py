"""Holds open positions with their levels, and turns them into trades.

Levels are kept in mirrored prices (price x sign), so that one set of fill rules serves longs and
shorts; see `Backtest.fills`.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from Backtest.fills import (
    BY_LIMIT,
    FROM_OPEN,
    NO_STOP,
    NO_TARGET,
    STOP_GAP,
    TARGET_GAP,
    Exit,
    Step,
    bankruptcy_price,
    level_away,
    roi_price,
)
from Backtest.orders import Order
from Backtest.times import iso
from Backtest.trading_types import PositionView

NEVER = -1
LIQUIDATED = "liquidated"  # the event, and the rule of its trade


@dataclass(frozen=True, slots=True)
class Trade:
    """Holds a position, or a part of one, from its entry to its exit.

    `cost` is everything lost to commission, slippage, spread and ticks; `fees` the commission
    alone. `best_pnl` is the profit under the best reading of an ambiguous bar, else the profit.
    `stop` is the level that it began with, None if it had none.
    """

    position_id: str
    symbol: str
    side: str
    volume: float
    entry_time: int
    entry_price: float
    exit_time: int
    exit_price: float
    pnl: float
    fees: float
    rule_in: str
    rule_out: str
    ambiguous: bool
    forced: bool
    cost: float
    best_pnl: float
    entry_row: int
    exit_row: int
    stop: float | None = None


class Fill(NamedTuple):
    """Holds one execution: the market's price, the price paid, and the rule that made it."""

    rule: str
    raw_price: float
    price: float
    time: int
    row: int
    entered: int = 0


@dataclass(slots=True)
class Closing:
    """Holds a close that was asked for and waits: at the open, or at a limit (mirrored price)."""

    order_id: str
    volume: float
    limit: float | None = None


class Position:
    """Holds an open position; the book moves its levels, everybody else sees `view`."""

    def __init__(
        self, order: Order, fill: Fill, commission: float, market_cost: float, bar_number: int
    ) -> None:
        """Anchor the order's protection at the fill.

        A short that would cost all of its collateral is liquidated: `most` is the highest price
        that it can pay, `liquidation` the mirrored market price at which it would. A stop beyond
        that is never reached.
        """
        wants = order.protection
        self.position_id = order.position_id
        self.order_id = order.order_id
        self.symbol = order.symbol
        self.comment = order.comment
        self.sign = order.sign
        self.volume = order.volume
        self.entry = fill
        self._kept: PositionView | None = None
        self.entered = fill.entered
        self.commission = commission
        self.entry_fee = order.volume * fill.price * commission
        self.most, self.liquidation = NO_TARGET, NO_STOP
        if order.sign < 0:
            self.most = bankruptcy_price(fill.price, commission)
            self.liquidation = -(self.most / (1.0 + market_cost))
        stop = self._anchored(wants.stop, wants.sl, gain=False, absent=NO_STOP)
        self.stop = max(stop, self.liquidation)
        self.first_stop = None if self.stop == self.liquidation else self.sign * self.stop
        self.target = self._anchored(wants.target, wants.tp, gain=True, absent=NO_TARGET)
        self.stop_step = wants.stop or self._step_of(wants.sl)
        self.trail = wants.trail
        self.trailing = False
        self.extreme = NO_STOP
        self.roi = wants.roi
        self.roi_held_bar = bar_number if wants.hold_roi else NEVER
        self.closing: Closing | None = None

    def _anchored(
        self, step: Step | None, price: float | None, *, gain: bool, absent: float
    ) -> float:
        """Turn a step from the fill, or else an absolute price, into a mirrored level."""
        if step is not None:
            return self.sign * level_away(self.entry.price, self.sign, step, gain)
        return absent if price is None else self.sign * price

    def _step_of(self, sl: float | None) -> Step | None:
        """Gives the distance of an absolute stop, for a trail that waits for its activation."""
        return None if sl is None else Step(abs(self.entry.price - sl), False)

    @property
    def side(self) -> str:
        """Long or short."""
        return "long" if self.sign > 0 else "short"

    def value(self, price: float) -> float:
        """Tells what the position is worth, at least nothing: its collateral is all it can lose."""
        if self.sign > 0:
            return self.volume * price
        return max(0.0, self.volume * (2.0 * self.entry.price - price))

    def worths(self, prices: NDArray[np.float64]) -> NDArray[np.float64]:
        """Gives its values at prices below its liquidation, by the same arithmetic."""
        if self.sign > 0:
            return self.volume * prices
        return self.volume * (2.0 * self.entry.price - prices)

    def resting_limit(self, time: int, bar_number: int) -> tuple[float, str]:
        """Gives the nearest of target, ROI and a limit close for this bar, and its name."""
        limit, name = self.target, "target"
        if self.roi and self.roi_held_bar != bar_number:
            level = self._roi_level(time - self.entry.time)
            if level < limit:
                limit, name = level, "roi"
        asked = NO_TARGET if self.closing is None else self.closing.limit
        if asked is not None and asked < limit:
            limit, name = asked, "close_limit"
        return limit, name

    def _roi_level(self, held_ms: int) -> float:
        """Gives the mirrored price of the largest ROI key reached, NO_TARGET before the first."""
        reached = None
        for start_ms, profit in self.roi:
            if start_ms > held_ms:
                break
            reached = profit
        if reached is None:
            return NO_TARGET
        return self.sign * roi_price(self.entry.price, reached, self.commission, self.sign)

    def outlasts(self, limit: float, high: float, low: float) -> bool:
        """Pass a bar that meets neither stop nor limit, held since its open; else False."""
        if self.closing is not None or self.entered != FROM_OPEN:
            return False
        if self.sign > 0:
            if low <= self.stop or high >= limit:
                return False
            if self.trail is not None:
                self.follow(high, high)
        else:
            if -high <= self.stop or -low >= limit:
                return False
            if self.trail is not None:
                self.follow(-low, -low)
        return True

    def rule_of(self, leave: Exit, limit_name: str) -> tuple[str, str]:
        """Name the event and the rule of an exit that `fills` decided."""
        if leave.rule.startswith("stop"):
            if leave.price <= self.liquidation:
                return LIQUIDATED, LIQUIDATED
            gap = leave.rule == STOP_GAP
            name = ("trailing_gap" if gap else "trailing_stop") if self.trailing else leave.rule
            return "sl_hit", name
        name = f"{limit_name}_gap" if leave.rule == TARGET_GAP else limit_name
        return ("position_closed" if limit_name == "close_limit" else "tp_hit"), name

    def follow(self, high: float, close: float) -> None:
        """After a bar, let the trailing stop follow its best extreme; it never loosens."""
        if self.trail is None:
            return
        if self.entered == BY_LIMIT:  # the bar's extreme may be older than the fill
            high = max(self.sign * self.entry.raw_price, close)
        if high <= self.extreme:
            return
        self.extreme = high
        step = self._trail_step()
        if step is None:
            return
        level = self.sign * level_away(self.sign * high, self.sign, step, gain=False)
        if level > self.stop:
            self.stop = level
            self.trailing = True

    def _trail_step(self) -> Step | None:
        """Gives the trail's own step once active; before that the stop's, or none if it waits."""
        trail = self.trail
        if trail is None:
            return None
        if trail.activate_at is not None:
            needed = level_away(self.entry.price, self.sign, Step(trail.activate_at, True), True)
            if self.extreme < self.sign * needed:
                return None if trail.only_after_activation else self.stop_step
        return trail.step

    def traded(
        self,
        fill: Fill,
        volume: float,
        *,
        best_price: float | None = None,
        ambiguous: bool = False,
        forced: bool = False,
    ) -> Trade:
        """Account for leaving with a volume at a fill."""
        entry = self.entry
        share = volume / self.volume
        entry_fee = self.entry_fee * share

        def profit(price: float) -> float:
            fees = entry_fee + volume * price * self.commission
            return self.sign * volume * (price - entry.price) - fees

        fees = entry_fee + volume * fill.price * self.commission
        lost = abs(entry.price - entry.raw_price) + abs(fill.price - fill.raw_price)
        pnl = profit(fill.price)
        return Trade(
            position_id=self.position_id,
            symbol=self.symbol,
            side=self.side,
            volume=volume,
            entry_time=entry.time,
            entry_price=entry.price,
            exit_time=fill.time,
            exit_price=fill.price,
            pnl=pnl,
            fees=fees,
            rule_in=entry.rule,
            rule_out=fill.rule,
            ambiguous=ambiguous,
            forced=forced,
            cost=fees + lost * volume,
            best_pnl=pnl if best_price is None else max(pnl, profit(best_price)),
            entry_row=entry.row,
            exit_row=fill.row,
            stop=self.first_stop,
        )

    def view(self, price: float) -> PositionView:
        """Shows the position as the dict that `get_positions` documents."""
        kept = self._kept
        if kept is None or kept["volume"] != self.volume:
            kept = self._kept = self._unchanging()
        shown = kept.copy()
        shown["price"] = price
        profit = self.sign * self.volume * (price - self.entry.price)
        shown["unrealized_pnl"] = profit - self.entry_fee
        shown["sl"] = None if self.stop == self.liquidation else self.sign * self.stop
        shown["closing"] = self.closing is not None
        return shown

    def _unchanging(self) -> PositionView:
        """Shows what stays from bar to bar while the volume does, and places for the rest."""
        return {
            "position_id": self.position_id,
            "order_id": self.order_id,
            "symbol": self.symbol,
            "action": "BUY" if self.sign > 0 else "SELL",
            "side": self.side,
            "volume": self.volume,
            "entry_price": self.entry.price,
            "entry_time": iso(self.entry.time),
            "price": 0.0,
            "sl": None,
            "tp": None if self.target == NO_TARGET else self.sign * self.target,
            "unrealized_pnl": 0.0,
            "fees": self.entry_fee,
            "rule_in": self.entry.rule,
            "comment": self.comment,
            "closing": False,
        }
