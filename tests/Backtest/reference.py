"""A second broker, written slowly and from the stated rules alone, to check the first against.

It shares no code with the product: longs and shorts are spelled out, money is counted from
profits instead of cash flows, and every level is worked out anew on every bar.
"""

import math
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any


@dataclass
class World:
    """Candles, what is asked for after how many bars, and what the broker charges."""

    bars: list[tuple[float, float, float, float]]
    step_ms: int
    orders: dict[int, list[dict[str, Any]]]
    closes: dict[int, list[int]]  # after n bars: the orders (by number from 1) to close
    capital: float = 10_000.0
    commission: float = 0.0
    slippage: float = 0.0
    spread: float = 0.0
    tick: float | None = None
    execution: str = "next_open"


@dataclass
class Held:
    """An open position of the reference."""

    number: int
    order: dict[str, Any]
    price: float
    raw: float
    bar: int
    rule: str
    inside: str  # "" | "limit" | "stop"
    highs: list[float] = field(default_factory=list)
    lows: list[float] = field(default_factory=list)
    stop_seen: float | None = None  # tightest trailing level so far
    asked: bool = False


def simulate(world: World) -> list[dict[str, Any]]:
    """Play the world; returns trades in closing order, forced exits last."""
    return _Reference(world).run()


class _Reference:
    def __init__(self, world: World) -> None:
        self.w = world
        self.held: list[Held] = []
        self.pending: list[tuple[int, int, dict[str, Any]]] = []
        self.done: list[dict[str, Any]] = []
        self.count = 0

    def run(self) -> list[dict[str, Any]]:
        n_bars = len(self.w.bars)
        for n in range(n_bars):
            for order in self.w.orders.get(n, []):
                self.count += 1
                self.pending.append((n, self.count, order))
            self.bar(n)
            for number in self.w.closes.get(n + 1, []):
                for held in list(self.held):
                    if held.number == number:
                        if self.w.execution == "this_close":
                            self.leave_market(held, n, self.w.bars[n][3])
                        else:
                            held.asked = True
        last = self.w.bars[-1][3]
        for held in self.held:
            price = self.market(last, buying=not self.long(held))
            self.book(held, n_bars - 1, price, "end_of_data", False, forced=True)
        return self.done

    def side(self, order: dict[str, Any]) -> str:
        return "long" if order["action"] == "BUY" else "short"

    # prices
    def worst_price(self, held: Held) -> float:
        """What a short pays at most: 100 sold at 100 lose 100 at 200, less the commission there."""
        return math.inf if self.long(held) else 2 * held.price / (1 + self.w.commission)

    def ruined(self, held: Held, raw: float) -> bool:
        """Whether buying back at a market price would take the whole collateral, tick aside."""
        worse = 1 + self.w.slippage + self.w.spread / 2
        return raw * worse >= self.worst_price(held)

    def long(self, held: Held) -> bool:
        return bool(held.order["action"] == "BUY")

    def market(self, raw: float, buying: bool) -> float:
        worse = self.w.slippage + self.w.spread / 2
        return self.to_tick(raw * (1 + worse) if buying else raw * (1 - worse), buying)

    def to_tick(self, price: float, up: bool) -> float:
        if self.w.tick is None:
            return price
        step = Decimal(str(self.w.tick))
        count = Decimal(repr(round(price, 10))) / step
        whole = count.to_integral_value(rounding=ROUND_CEILING if up else ROUND_FLOOR)
        return float(whole * step)

    def cash(self) -> float:
        booked = sum(trade["pnl"] for trade in self.done)
        tied = sum(h.order["volume"] * h.price * (1 + self.w.commission) for h in self.held)
        return float(self.w.capital + booked - tied)

    # one bar
    def bar(self, n: int) -> None:
        o, h, low, c = self.w.bars[n]
        for held in list(self.held):
            if held.asked and not self.ruined(held, o):
                self.leave_market(held, n, o)
        for entry in list(self.pending):
            placed, number, order = entry
            if order["type"] == "MARKET" and self.w.execution == "this_close":
                continue
            if n <= placed:
                continue
            hit = self.reach(order, o, h, low)
            if hit is not None:
                self.pending.remove(entry)
                self.enter(number, order, n, *hit)
        for held in list(self.held):
            self.exit_inside(held, n)
        early = list(self.held)
        for entry in list(self.pending):
            _, number, order = entry
            if order["type"] == "MARKET" and self.w.execution == "this_close":
                self.pending.remove(entry)
                self.enter(number, order, n, "enter_" + self.side(order), c, "")
        for held in early:
            self.finish_bar(held, n)
        for held in self.held:
            held.inside = ""

    def reach(
        self, order: dict[str, Any], o: float, h: float, low: float
    ) -> tuple[str, float, str] | None:
        kind, buy = order["type"], order["action"] == "BUY"
        if kind == "MARKET":
            return "enter_" + self.side(order), o, ""
        price = order["price"]
        if kind == "LIMIT":
            price = self.to_tick(price, up=not buy)
            if (o < price) if buy else (o > price):
                return "limit_better_open", o, ""
            if o == price:
                return "limit", o, ""
            if (low <= price) if buy else (h >= price):
                return "limit", price, "limit"
            return None
        if (o > price) if buy else (o < price):
            return "stop_gap", o, ""
        if o == price:
            return "stop", o, ""
        if (h >= price) if buy else (low <= price):
            return "stop", price, "stop"
        return None

    def enter(
        self, number: int, order: dict[str, Any], n: int, rule: str, raw: float, inside: str
    ) -> None:
        buy = order["action"] == "BUY"
        price = self.to_tick(raw, buy) if order["type"] == "LIMIT" else self.market(raw, buy)
        if order["volume"] * price * (1 + self.w.commission) > self.cash() + 1e-6:
            return
        self.held.append(Held(number, order, price, raw, n, rule, inside))

    # levels
    def fixed_stop(self, held: Held) -> float | None:
        stop, entry = held.order.get("stop"), held.price
        if stop is None:
            sl = held.order.get("sl")
            return None if sl is None else float(sl)
        away = stop["distance"] if "distance" in stop else stop["fraction"] * entry
        return float(entry - away if self.long(held) else entry + away)

    def stop_now(self, held: Held) -> tuple[float | None, bool]:
        fixed, trailed = self.fixed_stop(held), held.stop_seen
        if trailed is None:
            return fixed, False
        if fixed is None:
            return trailed, True
        tighter = trailed > fixed if self.long(held) else trailed < fixed
        return (trailed, True) if tighter else (fixed, False)

    def limit_now(self, held: Held, n: int) -> tuple[float | None, str]:
        entry, long, fee = held.price, self.long(held), self.w.commission
        candidates: list[tuple[float, str]] = []
        target = held.order.get("target")
        if target is not None:
            away = target["distance"] if "distance" in target else target["fraction"] * entry
            candidates.append((entry + away if long else entry - away, "target"))
        elif held.order.get("tp") is not None:
            candidates.append((held.order["tp"], "target"))
        minutes = (n - held.bar) * self.w.step_ms / 60_000
        keys = [key for key in held.order.get("roi", {}) if key <= minutes]
        if keys:
            roi = held.order["roi"][max(keys)]
            if long:
                level = entry * (1 + fee) * (1 + roi) / (1 - fee)
            else:
                level = entry * (1 - fee) * (1 - roi) / (1 + fee)
            candidates.append((level, "roi"))
        if not candidates:
            return None, ""
        return (min if long else max)(candidates, key=lambda pair: pair[0])

    # exits
    def exit_inside(self, held: Held, n: int) -> None:
        o, h, low, c = self.w.bars[n]
        long = self.long(held)
        stop, trailing = self.stop_now(held)
        if not long:
            ruin = self.worst_price(held) / (1 + self.w.slippage + self.w.spread / 2)
            stop = ruin if stop is None else min(stop, ruin)
        limit, name = self.limit_now(held, n)
        stop_rule, gap_rule = (
            ("trailing_stop", "trailing_gap") if trailing else ("stop", "stop_gap")
        )

        def beyond_stop(price: float) -> bool:
            return stop is not None and (price <= stop if long else price >= stop)

        def beyond_limit(price: float) -> bool:
            return limit is not None and (price >= limit if long else price <= limit)

        worst, best = (low, h) if long else (h, low)
        stopped, reached = beyond_stop(worst), beyond_limit(best)
        first = held.raw if held.inside else o
        if beyond_stop(first):
            self.leave_stop(held, n, first, gap_rule, False)
        elif not held.inside and beyond_limit(o):
            self.book(held, n, self.to_tick(o, not long), f"{name}_gap", False)
        elif stopped and stop is not None:
            sure = held.inside != "stop" or beyond_stop(c)
            self.leave_stop(held, n, stop, stop_rule, reached or not sure)
        elif reached and limit is not None and (held.inside != "limit" or beyond_limit(c)):
            self.book(held, n, self.to_tick(limit, not long), name, False)

    def finish_bar(self, held: Held, n: int) -> None:
        trail = held.order.get("trail")
        if held not in self.held or trail is None:
            return
        _, h, low, c = self.w.bars[n]
        long, entry = self.long(held), held.price
        if held.inside == "limit":
            h, low = max(held.raw, c), min(held.raw, c)
        held.highs.append(h)
        held.lows.append(low)
        extreme = max(held.highs) if long else min(held.lows)
        gained = extreme / entry - 1 if long else 1 - extreme / entry
        needed = trail.get("activate_at")
        away = trail["fraction"] * extreme
        if needed is not None and gained < needed - 1e-12:
            if trail.get("only_after_activation") or "stop" not in held.order:
                return
            stop = held.order["stop"]
            away = stop["distance"] if "distance" in stop else stop["fraction"] * extreme
        level = extreme - away if long else extreme + away
        if held.stop_seen is None:
            held.stop_seen = level
        else:
            held.stop_seen = (max if long else min)(held.stop_seen, level)

    def leave_market(self, held: Held, n: int, raw: float) -> None:
        rule = "exit_long" if self.long(held) else "exit_short"
        self.book(held, n, self.market(raw, buying=not self.long(held)), rule, False)

    def leave_stop(self, held: Held, n: int, raw: float, rule: str, ambiguous: bool) -> None:
        if self.ruined(held, raw * (1 + 1e-15)):
            self.book(held, n, self.worst_price(held), "liquidated", ambiguous)
        else:
            self.book(held, n, self.market(raw, buying=not self.long(held)), rule, ambiguous)

    def book(
        self, held: Held, n: int, price: float, rule: str, ambiguous: bool, forced: bool = False
    ) -> None:
        volume, price = held.order["volume"], min(price, self.worst_price(held))
        gross = volume * (price - held.price) * (1 if self.long(held) else -1)
        fees = volume * (price + held.price) * self.w.commission
        assert math.isfinite(gross)
        self.done.append(
            {
                "number": held.number,
                "entry_bar": held.bar,
                "entry_price": held.price,
                "exit_bar": n,
                "exit_price": price,
                "rule_in": held.rule,
                "rule_out": rule,
                "ambiguous": ambiguous,
                "forced": forced,
                "pnl": gross - fees,
                "fees": fees,
            }
        )
        if not forced:
            self.held.remove(held)
