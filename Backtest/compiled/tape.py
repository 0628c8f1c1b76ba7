"""Reads what a compiled run left behind as trades, events and open positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from Backtest import rejections
from Backtest.account import entry_details, refusal_details
from Backtest.compiled import kernel_forms as forms
from Backtest.fills import bankruptcy_price, fill_price
from Backtest.metrics.ledger import Ledger
from Backtest.orders import Order, Protection
from Backtest.positions import LIQUIDATED, Closing, Fill, Position, Trade
from Backtest.sim_settings import SimSettings
from Backtest.strategy_signals import ACTION_RULES
from Backtest.trading_types import EventDetails

if TYPE_CHECKING:
    from Backtest.candles import Candles
    from Backtest.strategy_signals import Signals

Bars = TypeVar("Bars", int, NDArray[np.int64])
SIDES = {1: "long", -1: "short"}
LEAVING_RULES = {
    forms.STOP: "stop",
    forms.STOP_GAP: "stop_gap",
    forms.TRAILING: "trailing_stop",
    forms.TRAILING_GAP: "trailing_gap",
    forms.TARGET: "target",
    forms.TARGET_GAP: "target_gap",
    forms.ROI: "roi",
    forms.ROI_GAP: "roi_gap",
    forms.LIQUIDATED: LIQUIDATED,
}


@dataclass(frozen=True)
class Tape:
    """Holds what happened in rows, as `kernel_forms` numbers them, and the equity of each bar."""

    symbol: str
    candles: Candles
    signals: Signals
    settings: SimSettings
    whole: NDArray[np.int64]
    exact: NDArray[np.float64]
    equity: NDArray[np.float64]
    end: forms.End

    @property
    def cash(self) -> NDArray[np.float64]:
        """Gives the cash after each bar."""
        changes = np.concatenate(([self.settings.capital], self.exact[:, forms.CASH]))
        marks = np.concatenate(([0], self.whole[:, forms.BAR], [len(self.candles)]))
        return np.repeat(changes, np.diff(marks))

    @property
    def rejected(self) -> dict[str, int]:
        """Tells how many orders were rejected, by cause."""
        causes = {
            forms.REFUSED: rejections.NO_LOT,
            forms.TOO_SMALL: rejections.TOO_SMALL,
            forms.TOO_DEAR: rejections.NO_CASH,
        }
        kinds = np.bincount(self.whole[:, forms.KIND], minlength=forms.TOO_DEAR + 1).tolist()
        return {cause: kinds[kind] for kind, cause in causes.items() if kinds[kind]}

    def ledger(self) -> Ledger:
        """Gives the trades as columns, the forced exit of what is still open at the end."""
        from Backtest.compiled.trade_pass import lay_out

        most = int(np.count_nonzero(self.whole[:, forms.KIND] == forms.OPENED))
        numbers, places = np.empty((7, most)), np.empty((3, most), np.int64)
        last_bar, leaving = len(self.candles) - 1, self._leaving()
        commission = self.settings.commission
        lay_out(self.whole, self.exact, commission, last_bar, leaving, numbers, places)
        volume, entry_price, exit_price, pnl, fees, cost, best_pnl = numbers
        entry_row, exit_row, ambiguous = places
        forced = np.zeros(most, dtype=np.bool_)
        forced[most - 1 :] = self.end.held
        return Ledger(
            volume=volume,
            entry_price=entry_price,
            exit_price=exit_price,
            pnl=pnl,
            fees=fees,
            cost=cost,
            best_pnl=best_pnl,
            entry_row=entry_row,
            exit_row=exit_row,
            exit_time=self.candles.times[exit_row],
            ambiguous=ambiguous.astype(np.bool_),
            forced=forced,
        )

    def _leaving(self) -> NDArray[np.float64]:
        """Gives the exact row of the forced exit; empty if nothing is held at the end."""
        if not self.end.held:
            return np.empty(0)
        last, row = float(self.candles.close[-1]), np.full(5, np.nan)
        entry = int(np.flatnonzero(self.whole[:, forms.KIND] == forms.OPENED)[-1])
        short = int(self.whole[entry, forms.SIGN]) < 0
        settings = self.settings
        price = fill_price(last, short, market=True, cost=self._market_cost, tick=settings.tick)
        if short:
            opened = float(self.exact[entry, forms.PRICE])
            price = min(price, bankruptcy_price(opened, settings.commission))
        row[forms.RAW], row[forms.PRICE] = last, price
        return row

    @property
    def _market_cost(self) -> float:
        return self.settings.slippage + self.settings.spread / 2.0

    def trades(self) -> list[Trade]:
        """Gives the finished trades in closing order, without the forced exit."""
        ledger = self.ledger()
        columns = {name: getattr(ledger, name).tolist() for name in ledger.__dataclass_fields__}
        kinds = self.whole[:, forms.KIND]
        opened = self.whole[kinds == forms.OPENED].tolist()
        left = self.whole[kinds == forms.LEFT].tolist()
        times, stops = self.candles.times, self._first_stops(ledger, left)
        return [
            Trade(
                position_id=f"pos_{opened[place][forms.NUMBER]}",
                symbol=self.symbol,
                side=SIDES[row[forms.SIGN]],
                entry_time=int(times[columns["entry_row"][place]]),
                rule_in=ACTION_RULES[row[forms.SIGN]][1],
                rule_out=_rule_out(row),
                **{name: column[place] for name, column in columns.items()},
                stop=stops[place],
            )
            for place, row in enumerate(left)
        ]

    def _first_stops(self, ledger: Ledger, left: list[list[int]]) -> list[float | None]:
        """Gives the stop that each finished trade began with, as `Position` anchors it."""
        signals, settings, count = self.signals, self.settings, len(left)
        if signals.stop is None:
            return [None] * count
        signs = [row[forms.SIGN] for row in left]
        entry, decided = ledger.entry_price[:count], self._decided(ledger.entry_row[:count])
        sizes = signals.stop_sizes if signals.stop_sizes.size == 1 else signals.stop_sizes[decided]
        distance = sizes * entry if signals.stop.is_fraction else sizes
        level: list[float] = (entry - np.array(signs) * distance).tolist()

        def lies_beyond(place: int) -> bool:
            most = bankruptcy_price(float(entry[place]), settings.commission)
            return signs[place] < 0 and level[place] >= most / (1.0 + self._market_cost)

        return [None if lies_beyond(place) else level[place] for place in range(count)]

    def open_positions(self) -> list[Position]:
        """Tells what is held after the last bar, its levels where the run left them."""
        if not self.end.held:
            return []
        entry = int(np.flatnonzero(self.whole[:, forms.KIND] == forms.OPENED)[-1])
        _, bar, number, sign, _ = self.whole[entry].tolist()
        volume, raw, price, _, _ = self.exact[entry].tolist()
        order = self._order(number, sign, volume, self._decided(bar))
        fill = Fill(ACTION_RULES[sign][1], raw, price, int(self.candles.times[bar]), bar)
        commission = self.settings.commission
        position = Position(order, fill, commission, self._market_cost, bar)
        position.stop = self.end.stop
        position.extreme = self.end.extreme
        position.trailing = self.end.trailing
        position.roi_held_bar = self.end.roi_held_bar
        if self.end.closing:
            position.closing = Closing(f"ord_{self.end.closing}", volume)
        return [position]

    def waiting_orders(self) -> list[Order]:
        """Gives the entry that waits for the bar after the last."""
        end = self.end
        if not end.waiting:
            return []
        last = len(self.candles) - 1
        return [self._order(end.waiting, end.waiting_sign, end.waiting_volume, last)]

    def _decided(self, bar: Bars) -> Bars:
        """Gives the bar at which the entry of a bar was decided, or of many."""
        return bar if self.settings.execution == "this_close" else bar - 1

    def _order(self, number: int, sign: int, volume: float, decided: int) -> Order:
        signals = self.signals
        asked = signals.order(decided, self.symbol, float(self.candles.close[decided])) or {}
        stop, target = signals.stop, signals.target
        protection = Protection(
            sl=asked.get("sl"),
            tp=asked.get("tp"),
            stop=stop and stop._replace(size=next(iter(asked["stop"].values()))),
            target=target and target._replace(size=next(iter(asked["target"].values()))),
            trail=signals.trail,
            roi=signals.roi,
            hold_roi=bool(self.end.holds_roi and signals.roi),
        )
        order = self._entry(number, sign, volume)
        return order._replace(protection=protection, first_bar=decided + 1)

    def _entry(self, number: int, sign: int, volume: float) -> Order:
        """Makes the order of an entry, without its levels."""
        ids, comment = (f"ord_{number}", f"pos_{number}"), ACTION_RULES[sign][1]
        return Order(*ids, self.symbol, sign, volume, "MARKET", None, comment, Protection(), 0)

    def events(self) -> list[tuple[str, int | None, EventDetails]]:
        """Lists every event in its order: its name, its time and what it is about."""
        told: list[tuple[str, int | None, EventDetails]] = []
        times, entry = self.candles.times, 0.0
        for row, exact in zip(self.whole.tolist(), self.exact.tolist(), strict=True):
            kind, bar = row[forms.KIND], row[forms.BAR]
            time = int(times[bar])
            if kind == forms.OPENED:
                entry = exact[forms.PRICE]
                told.append(("position_opened", time, self._entry_event(row, exact)))
            elif kind == forms.LEFT:
                event, about = self._leaving_event(row, exact, entry)
                told.append((event, time, about))
            elif kind == forms.REFUSED:
                before = int(times[bar - 1]) if bar else None
                told.append(("order_rejected", before, self._refusal(row)))
            else:
                told.append(("order_rejected", time, self._rejection(row, exact)))
        return told

    def _entry_event(self, row: list[int], exact: list[float]) -> EventDetails:
        volume, price = exact[forms.VOLUME], exact[forms.PRICE]
        return self._wanted(row, exact) | {"fee": volume * price * self.settings.commission}

    def _wanted(self, row: list[int], exact: list[float]) -> EventDetails:
        order = self._entry(row[forms.NUMBER], row[forms.SIGN], exact[forms.VOLUME])
        return entry_details(order, exact[forms.PRICE], order.comment)

    def _rejection(self, row: list[int], exact: list[float]) -> EventDetails:
        notional = exact[forms.VOLUME] * exact[forms.PRICE]
        if row[forms.KIND] == forms.TOO_SMALL:
            least = self.settings.min_notional or 0.0
            reason = rejections.worth_too_little(notional, least)
        else:
            needed = notional + notional * self.settings.commission
            reason = rejections.lacks_cash(needed, exact[forms.CASH])
        return self._wanted(row, exact) | {"reason": reason}

    def _refusal(self, row: list[int]) -> EventDetails:
        action, comment = ACTION_RULES[row[forms.SIGN]]
        asked = {"symbol": self.symbol, "action": action, "volume": 0.0, "comment": comment}
        return refusal_details(asked, "volume is 0.0. Give a finite number above 0")

    def _leaving_event(
        self, row: list[int], exact: list[float], entry: float
    ) -> tuple[str, EventDetails]:
        rule, sign = row[forms.RULE], row[forms.SIGN]
        volume, _, price, best, _ = exact
        commission = self.settings.commission
        fees = volume * entry * commission + volume * price * commission
        if rule == forms.EXIT_RULE:
            event = "position_closed"
        elif rule == forms.LIQUIDATED:
            event = LIQUIDATED
        else:
            event = "sl_hit" if rule <= forms.TRAILING_GAP else "tp_hit"
        return event, {
            "position_id": f"pos_{row[forms.NUMBER]}",
            "order_id": f"ord_{row[forms.NUMBER]}",
            "symbol": self.symbol,
            "action": ACTION_RULES[sign][0],
            "side": SIDES[sign],
            "volume": volume,
            "remaining": 0.0,
            "price": price,
            "rule": _rule_out(row),
            "pnl": sign * volume * (price - entry) - fees,
            "fee": volume * price * commission,
            "ambiguous": best == best,
        }


def _rule_out(row: list[int]) -> str:
    """Gives the rule that ended a trade."""
    rule = row[forms.RULE]
    return f"exit_{SIDES[row[forms.SIGN]]}" if rule == forms.EXIT_RULE else LEAVING_RULES[rule]
