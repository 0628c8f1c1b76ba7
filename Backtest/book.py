"""Plays a bar against one symbol's orders and positions, in the order stated here.

1. Closes that were asked for fill at the open, unless it lies beyond the liquidation. 2. Entries
fill: market orders at the open, limits and stops where the bar reaches them. 3. Positions meet the
bar: gap at the open, liquidation, stop or trailing stop, then target or ROI, also on the entry bar
after the fill. 4. Under `this_close`, market entries fill at the close. 5. Trailing stops follow
the finished bar.
"""

from Backtest import rejections
from Backtest.account import Account, entry_details
from Backtest.fills import (
    FROM_OPEN,
    Bar,
    Exit,
    exit_of_bar,
    fill_price,
    limit_entry,
    mirrored,
    multiple,
    stop_entry,
)
from Backtest.orders import Order
from Backtest.positions import LIQUIDATED, Closing, Fill, Position, Trade
from Backtest.sim_settings import SimSettings

BEFORE_TIME = -(2**62)


class Book:
    """Holds what waits and what is open in one symbol."""

    def __init__(self, symbol: str, settings: SimSettings, account: Account, bars: int) -> None:
        self.symbol = symbol
        self.settings = settings
        self.account = account
        self.bars = bars
        self.orders: list[Order] = []
        self.positions: list[Position] = []
        self.first_open = 0.0
        self.close = 0.0
        self.time = BEFORE_TIME
        self.row = -1
        self.market_cost = settings.slippage + settings.spread / 2.0

    def value(self) -> float:
        """Tells what the open positions are worth at the last close."""
        return sum(position.value(self.close) for position in self.positions)

    def add(self, order: Order) -> None:
        """Let an order wait; it is eligible from the bar after the one it was decided on.

        Under `this_close` a market order fills at the close of the very bar it was decided on.
        """
        at_once = order.type == "MARKET" and self.settings.execution == "this_close"
        self.orders.append(order._replace(first_bar=self.bars if at_once else self.bars + 1))

    def play(self, time: int, row: int, bar: Bar) -> None:
        """Play one bar; `bars` already counts it."""
        number = self.bars - 1
        if self.positions:
            self._close_at_open(bar.open, time, row)
        if self.orders:
            self._enter(bar, time, row, number, at_close=False)
        for position in tuple(self.positions):
            # What a priced close leaves over meets the same bar again, with its own levels.
            while self._meet(position, bar, time, row, number):
                pass
        held = len(self.positions)
        if self.orders and self.settings.execution == "this_close":
            self._enter(bar, time, row, number, at_close=True)
        for position in self.positions[:held]:
            if position.trail is not None:
                if position.sign > 0:
                    position.follow(bar.high, bar.close)
                else:
                    position.follow(-bar.low, -bar.close)
        for position in self.positions:
            position.entered = FROM_OPEN

    def _close_at_open(self, price: float, time: int, row: int) -> None:
        """Fill the closes that were asked for since the last bar."""
        for position in tuple(self.positions):
            closing = position.closing
            beyond = position.sign * price <= position.liquidation
            if closing is not None and closing.limit is None and not beyond:
                at_open = Fill("", price, 0.0, time, row)
                self._leave_at_market(position, closing.volume, at_open)

    def close_now(self, position: Position, volume: float) -> float:
        """Close at the last close, as `this_close` does; returns the fill price."""
        at_close = Fill("", self.close, 0.0, self.time, self.row)
        return self._leave_at_market(position, volume, at_close).exit_price

    def _leave_at_market(self, position: Position, volume: float, moment: Fill) -> Trade:
        """Leave at the moment's market price, by the exit rule of the position's side."""
        price = self._leaving_price(position, position.sign * moment.raw_price, stopped=True)
        fill = moment._replace(rule=f"exit_{position.side}", price=price)
        return self._leave(position, position.traded(fill, volume), "position_closed")

    def _enter(self, bar: Bar, time: int, row: int, number: int, *, at_close: bool) -> None:
        """Fill the orders that this bar reaches; the others go on waiting."""
        this_close = self.settings.execution == "this_close"
        waiting: list[Order] = []
        for order in self.orders:
            late = this_close and order.type == "MARKET"
            reached = None
            if order.first_bar <= number and late == at_close:
                reached = _reached(order, bar, at_close)
            if reached is None:
                waiting.append(order)
                continue
            rule, raw, entered = reached
            price = self._price(raw, order.sign > 0, market=order.type != "LIMIT")
            self._open(order, Fill(rule, raw, price, time, row, entered), number)
        self.orders = waiting

    def _open(self, order: Order, fill: Fill, number: int) -> None:
        """Open the position, or reject the order; it is never shrunk."""
        notional = order.volume * fill.price
        fee = notional * self.settings.commission
        least = self.settings.min_notional
        told = entry_details(order, fill.price, fill.rule)
        if least is not None and notional < least:
            reason = rejections.worth_too_little(notional, least)
            self.account.tell("order_rejected", timestamp=fill.time, **told | {"reason": reason})
        elif not self.account.can_pay(notional + fee):
            reason = rejections.lacks_cash(notional + fee, self.account.cash)
            self.account.tell("order_rejected", timestamp=fill.time, **told | {"reason": reason})
        else:
            self.account.cash = max(0.0, self.account.cash - (notional + fee))
            commission = self.settings.commission
            position = Position(order, fill, commission, self.market_cost, number)
            self.positions.append(position)
            self.account.tell("position_opened", timestamp=fill.time, **told | {"fee": fee})

    def _meet(self, position: Position, bar: Bar, time: int, row: int, number: int) -> bool:
        """Let a bar meet a position's stop and its resting limit; whether only a part left."""
        seen = bar if position.sign > 0 else mirrored(bar)
        limit, limit_name = position.resting_limit(time, number)
        if seen.low > position.stop and seen.high < limit and position.entered == FROM_OPEN:
            return False
        raw_entry = position.sign * position.entry.raw_price
        leave = exit_of_bar(seen, position.stop, limit, position.entered, raw_entry)
        if leave is None:
            return False
        event, rule = position.rule_of(leave, limit_name)
        raw, price = position.most, position.most
        if event != LIQUIDATED:
            raw = position.sign * leave.price
            price = self._leaving_price(position, leave.price, stopped=event == "sl_hit")
        fill = Fill(rule, raw, price, time, row)
        trade = position.traded(
            fill,
            self._leaving_volume(position, limit_name, event),
            best_price=self._best_price(position, leave, limit),
            ambiguous=leave.ambiguous,
        )
        self._leave(position, trade, event)
        return position in self.positions

    def _leaving_volume(self, position: Position, limit_name: str, event: str) -> float:
        """A limit close may be a part; stop, target and ROI take all."""
        closing = position.closing
        if closing is not None and limit_name == "close_limit" and event == "position_closed":
            return closing.volume
        return position.volume

    def _best_price(self, position: Position, leave: Exit, limit: float) -> float | None:
        """Gives the price under the best reading: the limit, or still holding at the close."""
        if leave.best_price is None:
            return None
        held = leave.best_price != limit
        return self._leaving_price(position, leave.best_price, stopped=held)

    def _leaving_price(self, position: Position, level: float, *, stopped: bool) -> float:
        """Turn a mirrored level into the price paid; a tick up is no more than the collateral."""
        price = self._price(position.sign * level, position.sign < 0, market=stopped)
        return min(price, position.most)

    def _price(self, raw: float, buying: bool, *, market: bool) -> float:
        """Tells what a fill at a market price is paid at."""
        tick = self.settings.tick
        return fill_price(raw, buying, market=market, cost=self.market_cost, tick=tick)

    def _leave(self, position: Position, trade: Trade, event: str) -> Trade:
        """Book a trade, give the cash back, and keep what is left of the position."""
        account = self.account
        account.book(trade)
        exit_fee = trade.volume * trade.exit_price * self.settings.commission
        if position.sign > 0:
            account.cash += trade.volume * trade.exit_price - exit_fee
        else:
            back = 2.0 * position.entry.price - trade.exit_price
            account.cash += max(0.0, trade.volume * back - exit_fee)
        remaining = self._rest(position.volume - trade.volume)
        if remaining <= 0.0:
            self.positions.remove(position)
        else:
            position.entry_fee *= remaining / position.volume
            position.volume = remaining
            position.closing = None
        account.tell(
            event,
            position_id=position.position_id,
            order_id=position.order_id,
            symbol=position.symbol,
            action="BUY" if position.sign > 0 else "SELL",
            side=position.side,
            volume=trade.volume,
            remaining=max(0.0, remaining),
            price=trade.exit_price,
            rule=trade.rule_out,
            pnl=trade.pnl,
            fee=exit_fee,
            ambiguous=trade.ambiguous,
            timestamp=trade.exit_time,
        )
        return trade

    def _rest(self, volume: float) -> float:
        """Tells what is left of a position, in whole lots: 0.3 less 0.1 is 0.2."""
        lot = self.settings.lot
        return volume if lot is None else multiple(round(volume / lot), lot)

    def forced_exits(self) -> list[Trade]:
        """Tells what selling everything at the last close would bring; nothing is changed."""
        trades = []
        for position in self.positions:
            price = self._leaving_price(position, position.sign * self.close, stopped=True)
            fill = Fill("end_of_data", self.close, price, self.time, self.row)
            trades.append(position.traded(fill, position.volume, forced=True))
        return trades

    def find(self, position_id: str) -> Position | None:
        """Find an open position."""
        return next((p for p in self.positions if p.position_id == position_id), None)

    def cancel(self, order_id: str) -> bool:
        """Drop a waiting entry, or a close that has not filled yet."""
        kept = [order for order in self.orders if order.order_id != order_id]
        if len(kept) < len(self.orders):
            self.orders = kept
            return True
        for position in self.positions:
            if isinstance(position.closing, Closing) and position.closing.order_id == order_id:
                position.closing = None
                return True
        return False


def _reached(order: Order, bar: Bar, at_close: bool) -> tuple[str, float, int] | None:
    """Gives the rule, market price and way in of an order that this bar fills."""
    if order.type == "MARKET" or order.price is None:
        rule = "enter_long" if order.sign > 0 else "enter_short"
        return rule, bar.close if at_close else bar.open, FROM_OPEN
    seen = bar if order.sign > 0 else mirrored(bar)
    rules = limit_entry if order.type == "LIMIT" else stop_entry
    reached = rules(seen, order.sign * order.price)
    if reached is None:
        return None
    rule, price, entered = reached
    return rule, order.sign * price, entered
