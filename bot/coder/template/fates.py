"""Turns an order into its fates: candles that reach one of its levels, and the trade they make.

The trades are worked out here, by lines 8 and 10 to 13 of the contract's semantics, from the
contract's numbers alone; neither the strategy nor the broker is asked.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from adapters.testing import Candle, Fate, Trade
from bot.contract.language.contract_decisions import Order
from bot.contract.model import Contract

# The least part of a tick that counts; what is smaller is the noise of binary fractions.
_NOISE = 1e-7
_DIGITS = 4
_STOPS = ("stop", "stop_gap", "trailing_stop", "trailing_gap")
_STILL_OPEN = ("end_of_data",)


@dataclass(frozen=True)
class Drawing:
    """Candles and the exits that they are drawn for."""

    title: str
    candles: list[Candle]
    wanted: tuple[str, ...]


def fates(
    contract: Contract, orders: Mapping[int, Order], closes: Sequence[float], minutes: int
) -> dict[str, Fate]:
    """Works out every fate of the first order of each side, by its name.

    `closes` are those of the candles that the orders, by bar, were decided on.
    """
    found: dict[str, Fate] = {}
    for action, side in (("BUY", "long"), ("SELL", "short")):
        bar = next((bar for bar, order in orders.items() if order["action"] == action), None)
        if bar is None:
            continue
        trade = OneTrade(contract, orders[bar], closes[bar], minutes)
        for drawing in trade.drawings():
            ended = trade.fate_of(drawing.candles)
            if ended is not None and ended[5] in drawing.wanted:
                found[f"{side}: {drawing.title}"] = (bar, drawing.candles, ended)
    return found


class OneTrade:
    """The trade of one order: its levels, and what candles make of it."""

    def __init__(self, contract: Contract, order: Order, close: float, minutes: int) -> None:
        """Fill the order at its own close, where the next candle opens too."""
        costs = contract.costs
        self._order = order
        self._sign = 1 if order["action"] == "BUY" else -1
        self._commission = costs.commission
        self._cost = costs.slippage + costs.spread / 2
        self._tick = contract.market.tick
        self._lots = contract.market.lot or 1.0
        self._first = minutes
        self._entered = 0 if contract.execution == "this_close" else minutes
        self._close = close
        self._paid = self._traded(self._close, self._sign > 0, at_market=True)
        self._stop = self._away(self._paid, order["stop"], -1)
        self._roi: dict[int, float] = dict(order.get("roi", {}))

    # Levels -----------------------------------------------------------------------------------

    def _away(self, price: float, step: Mapping[str, float], way: int) -> float:
        """Gives a level a step from a price: with the trade (1) or against it (-1)."""
        size = step["fraction"] * price if "fraction" in step else step["distance"]
        return price + way * self._sign * size

    @property
    def _target(self) -> float | None:
        step = self._order.get("target")
        return None if step is None else self._away(self._paid, step, 1)

    def _roi_level(self, key: int) -> float:
        """Gives the price at which a profit is left after both commissions."""
        profit, fee = self._sign * self._roi[key], self._sign * self._commission
        return self._paid * (1 + fee) * (1 + profit) / (1 - fee)

    def _goal(self, minute: int) -> tuple[float, str]:
        """Gives the nearer of target and ROI at a time."""
        goal, name = self._sign * math.inf, ""
        if self._target is not None:
            goal, name = self._target, "target"
        reached = [key for key in self._roi if key <= minute - self._entered]
        if reached and self._sign * self._roi_level(max(reached)) < self._sign * goal:
            goal, name = self._roi_level(max(reached)), "roi"
        return goal, name

    def _trailed(self, best: float) -> float | None:
        """Gives the level that a trailing stop has below the best price so far."""
        trail = self._order.get("trail")
        if trail is None:
            return None
        if "activate_at" in trail:
            needed = self._away(self._paid, {"fraction": trail["activate_at"]}, 1)
            if self._sign * best < self._sign * needed:
                waits = trail["only_after_activation"]
                return None if waits else self._away(best, self._order["stop"], -1)
        return self._away(best, {"fraction": trail["fraction"]}, -1)

    # Candles to a trade -----------------------------------------------------------------------

    def fate_of(self, candles: list[Candle]) -> Trade | None:
        """Gives the trade that candles make; None if a price of theirs is none."""
        if any(min(prices) <= 0 for _, *prices in candles):
            return None
        sign, stop, trails = self._sign, self._stop, False
        best = -sign * math.inf
        for row, (minute, open_, high, low, _) in enumerate(candles, 1):
            goal, name = self._goal(minute)
            top, bottom = (high, low) if sign > 0 else (low, high)
            by_stop = "trailing" if trails else "stop"
            if sign * open_ <= sign * stop:
                return self._left(row, open_, f"{by_stop}_gap", at_market=True)
            if sign * open_ >= sign * goal:
                return self._left(row, open_, f"{name}_gap")
            if sign * bottom <= sign * stop:
                rule = "trailing_stop" if trails else "stop"
                return self._left(row, stop, rule, at_market=True)
            if sign * top >= sign * goal:
                return self._left(row, goal, name)
            best = sign * max(sign * best, sign * top)
            level = self._trailed(best)
            if level is not None and sign * level > sign * stop:
                stop, trails = level, True
        return self._left(len(candles), candles[-1][4], "end_of_data", at_market=True)

    def _left(self, row: int, raw: float, rule: str, *, at_market: bool = False) -> Trade:
        price = self._traded(raw, self._sign < 0, at_market=at_market)
        fees = self._lots * self._commission * (self._paid + price)
        profit = self._sign * self._lots * (price - self._paid) - fees
        side, entered = "long" if self._sign > 0 else "short", 1 if self._entered else 0
        return side, entered, self._paid, row, price, rule, profit

    def _traded(self, raw: float, buying: bool, *, at_market: bool) -> float:
        """Gives a price with slippage and half the spread, at a tick that is no better."""
        way = 1 if buying else -1
        price = raw * (1 + way * self._cost) if at_market else raw
        if self._tick is None:
            return price
        ticks = price / self._tick
        whole = math.ceil(ticks - _NOISE) if buying else math.floor(ticks + _NOISE)
        return round(whole * self._tick, 12)

    # Levels to candles ------------------------------------------------------------------------

    def drawings(self) -> Iterator[Drawing]:
        """Candles for every level of the order, beyond it and short of it."""
        yield from self._stop_drawings()
        if self._target is not None:
            yield from self._target_drawings(self._target)
        for key in self._roi:
            yield from self._roi_drawings(key)
        if "trail" in self._order:
            yield from self._trail_drawings()

    def _stop_drawings(self) -> Iterator[Drawing]:
        first, close, stop = self._first, self._close, self._stop
        past = _further(close, stop, 1.25)
        yield Drawing("runs through the stop", [_move(first, close, past)], _STOPS)
        almost = _further(close, stop, 0.9)
        back = [_touch(first, close, almost)]
        yield Drawing("turns just before the stop", back, _STILL_OPEN)
        gap = [_move(first, close, close), _move(2 * first, past, past)]
        yield Drawing("opens beyond the stop", gap, _STOPS)
        goal, _ = self._goal(first)
        if math.isfinite(goal):
            both = _further(close, goal, 1.25)
            wide = (first, close, max(both, past, close), min(both, past, close), close)
            yield Drawing("reaches stop and goal in one candle", [wide], _STOPS)

    def _target_drawings(self, target: float) -> Iterator[Drawing]:
        first, close = self._first, self._close
        past = _further(close, target, 1.25)
        yield Drawing("reaches the target", [_move(first, close, past)], ("target",))
        almost = [_touch(first, close, _further(close, target, 0.9))]
        yield Drawing("turns just before the target", almost, _STILL_OPEN)
        gap = [_move(first, close, close), _move(2 * first, past, past)]
        yield Drawing("opens beyond the target", gap, ("target_gap",))

    def _roi_drawings(self, key: int) -> Iterator[Drawing]:
        close, level = self._close, self._roi_level(key)
        earlier = [other for other in self._roi if other < key]
        past = _further(close, level, 1.25)
        if earlier:
            before = self._roi_level(max(earlier))
            if self._sign * before > self._sign * level:
                past = _further(level, before, 0.5)
        named, rules = f"after {key} minutes", ("roi", "roi_gap")
        at = self._entered + key
        yield Drawing(f"{named} reaches the ROI", self._waits(at, close, past), rules)
        almost = _further(close, level, 0.9)
        yield Drawing(
            f"{named} turns just before the ROI",
            self._waits(at, close, almost, back=True),
            _STILL_OPEN,
        )
        sooner = at - self._first
        if earlier and sooner > self._first:
            yield Drawing(f"{named} and not before", self._waits(sooner, close, past), _STILL_OPEN)

    def _waits(self, at: int, close: float, price: float, back: bool = False) -> list[Candle]:
        """Gives a quiet candle at first, unless the time has come by then, and one that moves."""
        quiet = [] if at <= self._first else [_move(self._first, close, close)]
        draw = _touch if back else _move
        return [*quiet, draw(max(at, self._first), close, price)]

    def _trail_drawings(self) -> Iterator[Drawing]:
        first, close, trail = self._first, self._close, self._order["trail"]
        up = {"fraction": trail.get("activate_at", trail["fraction"])}
        active = self._away(self._paid, up, 1)
        peak = _further(close, active, 1.1)
        for title, top in (("", peak), (" before activate_at", _further(close, active, 0.9))):
            if title and "activate_at" not in trail:
                continue
            rise = _move(first, close, top)
            level = self._trailed(top) or self._away(top, {"fraction": trail["fraction"]}, -1)
            through = _further(top, level, 1.1)
            fall = [rise, _move(2 * first, top, through)]
            yield Drawing(f"runs back through the trailing stop{title}", fall, _STOPS[2:])
            if self._trailed(top) is None:
                yield Drawing(f"does not trail{title}", fall, _STILL_OPEN)
            rest = _further(top, level, 0.9)
            slow = [rise, _move(2 * first, top, rest), _move(3 * first, rest, through)]
            yield Drawing(f"runs back slowly, the trail stays{title}", slow, _STOPS[2:])


def _further(start: float, end: float, part: float) -> float:
    """Gives a price on the way from one to another, or past it."""
    return round(start + part * (end - start), _DIGITS)


def _move(minute: int, start: float, end: float) -> Candle:
    """Gives a candle that goes one way."""
    return minute, start, max(start, end), min(start, end), end


def _touch(minute: int, start: float, extreme: float) -> Candle:
    """Gives a candle that goes there and comes back."""
    return minute, start, max(start, extreme), min(start, extreme), start
