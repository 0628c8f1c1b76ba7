"""Turns signals and candles into the trades that Freqtrade 2026.9 makes in its back-test.

The `freqtrade` fill profile: Freqtrade's own order of things, price for price, so that a strategy
written for Freqtrade can be held to its own back-test. It is less honest than SimBroker's profile:
a candle that opens beyond the stop and trades back to it is filled at the stop, a candle's high may
raise a trailing stop and its low hit it, and slippage is unknown. docs/freqtrade.md lists them.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from Backtest.freqtrade_fills.rounding import TickByMonth, nearest_tick, whole_steps
from Backtest.freqtrade_fills.trade import FreqtradeTrade, Tier
from Backtest.times import MINUTE_MS

# Freqtrade keeps 5 % of the exchange's least order in reserve, and as much for the stop.
RESERVE = 1.05
STOP_RESERVE = RESERVE / (1 - 0.05)
Side = Literal["long", "short"]


@dataclass(frozen=True)
class Trailing:
    """Holds a stop that follows the price, in Freqtrade's terms."""

    positive: float
    offset: float = 0.0
    only_offset_is_reached: bool = False


@dataclass(frozen=True)
class Rules:
    """Holds what Freqtrade is told besides the signals."""

    timeframe_minutes: int
    startup: int
    fee: float
    wallet: float
    max_open_trades: int
    stop: float  # the fraction of the plain stop
    size: tuple[str, float]  # `equity`, `units` or `risk`, and its number
    size_cap: float = math.inf  # the most of the account that a size by risk may put in
    roi: Mapping[int, float] = field(default_factory=dict)
    trailing: Trailing | None = None
    stop_atr: float | None = None  # multiple of the ATR at the decision, where levels are ATRs
    target: float | None = None  # gain as a fraction of the price
    target_atr: float | None = None
    use_exit_signal: bool = True
    exit_profit_only: bool = False
    ignore_roi_if_entry_signal: bool = False
    futures: bool = False


@dataclass(frozen=True)
class Pair:
    """Holds a market: its candles without gaps, the signals on each, and its smallest steps.

    `tiers` are the exchange's maintenance margins for futures, the lowest first.
    """

    name: str
    times: Sequence[int]
    open: Sequence[float]
    high: Sequence[float]
    low: Sequence[float]
    close: Sequence[float]
    enter_long: Sequence[bool]
    exit_long: Sequence[bool]
    enter_short: Sequence[bool]
    exit_short: Sequence[bool]
    tick: float
    step: float
    min_cost: float
    stop_atr: Sequence[float] = ()
    target_atr: Sequence[float] = ()
    tiers: Sequence[Tier] = (Tier(),)


@dataclass(frozen=True)
class ClosedTrade:
    """Holds a finished trade, with the names that Freqtrade gives to its parts."""

    pair: str
    open_date: int
    close_date: int
    is_short: bool
    open_rate: float
    close_rate: float
    amount: float
    stake_amount: float
    profit_abs: float
    exit_reason: str
    stop_loss_abs: float


def freqtrade_trades(pairs: Sequence[Pair], rules: Rules) -> list[ClosedTrade]:
    """Gives the trades of a back-test, in the order in which they close."""
    return _Backtest(pairs, rules).run()


class _Backtest:
    """Holds the state of a back-test between candles."""

    def __init__(self, pairs: Sequence[Pair], rules: Rules) -> None:
        self._pairs = {pair.name: pair for pair in pairs}
        self._rules = rules
        self._ticks = {
            pair.name: TickByMonth(
                pair.times, (pair.open, pair.high, pair.low, pair.close), pair.tick
            )
            for pair in pairs
        }
        self._open: dict[str, FreqtradeTrade] = {}
        self._order: list[str] = []
        self._closed: list[ClosedTrade] = []
        self._profit = 0.0

    def run(self) -> list[ClosedTrade]:
        """Play all candles; what is open at the end is closed at the last open."""
        first = self._rules.startup + 1
        traded = [pair for pair in self._pairs.values() if len(pair.times) > first]
        if not traded:
            return []
        bars = {
            pair.name: {time: bar for bar, time in enumerate(pair.times) if bar >= first}
            for pair in traded
        }
        end = max(pair.times[-1] for pair in traded)
        for time in sorted({time for known in bars.values() for time in known}):
            held = list(self._open)
            for name in [*held, *(pair.name for pair in traded if pair.name not in held)]:
                bar = bars[name].get(time)
                if bar is not None:
                    self._play(self._pairs[name], bar, last=time == end)
        for name in [name for name in self._order if name in self._open]:
            self._force_exit(self._pairs[name])
        return self._closed

    def _play(self, pair: Pair, bar: int, *, last: bool) -> None:
        """Plays one candle of one pair: enter, look for an exit, turn round where shorts are."""
        if pair.name not in self._order:
            self._order.append(pair.name)
        wanted = self._wanted(pair, bar - 1)
        for _ in range(2 if self._rules.futures and wanted else 1):
            before = self._open.get(pair.name)
            if wanted and before is None and not last:
                self._enter(pair, bar, wanted)
            trade = self._open.get(pair.name)
            if trade is not None:
                self._look_for_exit(trade, pair, bar)
            closed = before is not None and pair.name not in self._open
            if not closed or before is None or _side(before) == wanted:
                return

    def _wanted(self, pair: Pair, bar: int) -> Side | None:
        """Gives the entry that the candle before asks for."""
        long = bool(pair.enter_long[bar])
        short = self._rules.futures and bool(pair.enter_short[bar])
        if long and not (pair.exit_long[bar] or short):
            return "long"
        if short and not (pair.exit_short[bar] or long):
            return "short"
        return None

    # Entries

    def _enter(self, pair: Pair, bar: int, side: Side) -> None:
        rules, price = self._rules, pair.open[bar]
        if len(self._open) >= rules.max_open_trades:
            return
        stake = self._stake(pair, bar)
        amount = whole_steps(stake / price, pair.step) if stake else 0.0
        if not amount:
            return
        atr = rules.target_atr
        target = atr * pair.target_atr[bar - 1] if atr is not None else None
        trade = FreqtradeTrade(
            pair.name,
            side == "short",
            pair.times[bar],
            price,
            amount,
            rules.fee,
            self._ticks[pair.name].at(pair.times[bar]),
            target,
        )
        if rules.futures:
            trade.set_liquidation(pair.tiers)
        trade.set_stop(trade.open_rate, rules.stop)
        if rules.stop_atr is not None:
            self._set_atr_stop(trade, price, rules.stop_atr * pair.stop_atr[bar - 1])
        trade.trail_stop(trade.open_rate, trade.stop_fraction)
        self._open[pair.name] = trade

    def _stake(self, pair: Pair, bar: int) -> float:
        """Tells what the strategy puts into a trade; nothing if it is too little or too much."""
        rules, price = self._rules, pair.open[bar]
        tied = sum(trade.stake for trade in self._open.values())
        free = rules.wallet + self._profit - tied
        equity = (tied + free) * 1.0
        form, number = rules.size
        if form == "equity":
            stake = number * equity
        elif form == "units":
            stake = number * price * (1 + 1e-9)
        elif rules.stop_atr is None:
            stake = min(number * equity / rules.stop, rules.size_cap * equity)
        else:
            distance = rules.stop_atr * pair.stop_atr[bar - 1]
            if not distance > 0:
                return 0.0
            stake = min(number * equity * price / distance, rules.size_cap * equity)
        least = max(pair.min_cost * STOP_RESERVE, pair.step * price * RESERVE)
        return stake if least <= stake <= min(equity - tied, free) else 0.0

    def _set_atr_stop(self, trade: FreqtradeTrade, price: float, distance: float) -> None:
        """Sets the stop in ATRs, as a fraction of the price at which the trade was filled."""
        wanted = trade.open_rate + (distance if trade.is_short else -distance)
        fraction = 1 - (wanted / price)
        fraction = max(max(-fraction if trade.is_short else fraction, 0.0), 1e-9)
        trade.set_stop(price, fraction)
        self._trail(trade, price, fraction)

    # Exits

    def _look_for_exit(self, trade: FreqtradeTrade, pair: Pair, bar: int) -> None:
        for reason, price in self._candidates(trade, pair, bar):
            trade.exit_reason = reason
            rounded = nearest_tick(price, trade.tick)
            if rounded != trade.pending:
                trade.pending = rounded
                break
        if trade.pending is not None and pair.low[bar] <= trade.pending <= pair.high[bar]:
            self._close(trade, trade.pending, pair.times[bar])

    def _candidates(self, trade: FreqtradeTrade, pair: Pair, bar: int) -> list[tuple[str, float]]:
        """Exits of this candle and their prices, in Freqtrade's order."""
        rules = self._rules
        best = pair.low[bar] if trade.is_short else pair.high[bar]
        if not self._is_hit(trade.stop, trade, pair, bar):
            self._trail(trade, best, rules.stop)
        hit = self._is_hit(trade.stop, trade, pair, bar)
        entry, leave = self._signals(trade, pair, bar - 1)
        minutes = (pair.times[bar] - trade.opened) // MINUTE_MS
        found: list[tuple[str, float]] = []
        in_profit = not rules.exit_profit_only or trade.profit_ratio(pair.open[bar]) > 0
        if rules.use_exit_signal and leave and not entry and in_profit:
            found.append(("exit_signal", pair.open[bar]))
        if hit and not trade.trailed:
            found.append(("stop_loss", self._stop_price(trade, pair, bar, minutes)))
        elif not hit and trade.liquidation and self._is_hit(trade.liquidation, trade, pair, bar):
            found.append(("liquidation", self._at_level(trade.liquidation, trade, pair, bar)))
        key, ratio = self._roi(trade, minutes)
        held = entry and rules.ignore_roi_if_entry_signal
        if ratio is not None and key is not None and not held and trade.profit_ratio(best) > ratio:
            price = self._roi_price(trade, pair, bar, minutes, key, ratio)
            if price is not None:
                found.append(("roi", price))
        if hit and trade.trailed:
            found.append(("trailing_stop_loss", self._stop_price(trade, pair, bar, minutes)))
        return found

    def _signals(self, trade: FreqtradeTrade, pair: Pair, bar: int) -> tuple[bool, bool]:
        if trade.is_short:
            return bool(pair.enter_short[bar]), bool(pair.exit_short[bar])
        return bool(pair.enter_long[bar]), bool(pair.exit_long[bar])

    def _is_hit(self, level: float, trade: FreqtradeTrade, pair: Pair, bar: int) -> bool:
        return level <= pair.high[bar] if trade.is_short else level >= pair.low[bar]

    def _trail(self, trade: FreqtradeTrade, price: float, fraction: float) -> None:
        trailing = self._rules.trailing
        if trailing is None:
            return
        profit = trade.profit_ratio(price)
        if trailing.only_offset_is_reached and profit < trailing.offset:
            return
        reached = profit > trailing.offset
        trade.trail_stop(price, trailing.positive if reached else fraction)

    def _at_level(self, level: float, trade: FreqtradeTrade, pair: Pair, bar: int) -> float:
        """Gives the level, even beyond the open; the open only if the whole candle is beyond it."""
        beyond = level < pair.low[bar] if trade.is_short else level > pair.high[bar]
        return pair.open[bar] if beyond else level

    def _stop_price(self, trade: FreqtradeTrade, pair: Pair, bar: int, minutes: int) -> float:
        side = -1 if trade.is_short else 1
        price = self._at_level(trade.stop, trade, pair, bar)
        if not trade.trailed or minutes > 0 or price != trade.stop:
            return price
        # Trailed and hit on the candle of the entry: the worst way there.
        trailing = self._rules.trailing
        if trailing and trailing.only_offset_is_reached and self._rules.stop_atr is None:
            factor = 1 + side * trailing.offset - side * trailing.positive
        else:
            factor = 1 - side * trade.stop_fraction
        price = pair.open[bar] * factor
        return min(pair.high[bar], price) if trade.is_short else max(pair.low[bar], price)

    def _roi(self, trade: FreqtradeTrade, minutes: int) -> tuple[int | None, float | None]:
        """Gives the profit that ends the trade now, and since which minute it does."""
        keys = [key for key in self._rules.roi if key <= minutes]
        key = max(keys) if keys else None
        ratio = None if key is None else self._rules.roi[key]
        target = self._target_ratio(trade)
        if target is not None and (ratio is None or target < ratio):
            return minutes, target
        return key, ratio

    def _target_ratio(self, trade: FreqtradeTrade) -> float | None:
        gain, fee = self._rules.target, self._rules.fee
        if trade.target is not None:
            gain = trade.target / trade.open_rate
        if gain is None:
            return None
        if trade.is_short:
            return 1 - (1 - gain) * (1 + fee) / (1 - fee)
        return (1 + gain) * (1 - fee) / (1 + fee) - 1

    def _roi_price(
        self, trade: FreqtradeTrade, pair: Pair, bar: int, minutes: int, key: int, ratio: float
    ) -> float | None:
        """Tells what a profit target is filled at; None where the candle cannot have reached it."""
        on_grid = key % self._rules.timeframe_minutes == 0
        first, last = pair.open[bar], pair.close[bar]
        if ratio == -1 and on_grid:
            return first
        price = trade.price_of(ratio)
        better = first < price if trade.is_short else first > price
        if minutes > 0 and minutes == key and on_grid and better:
            return first
        if trade.is_short:
            vetoed = first < last and trade.open_rate > first and price < last
        else:
            vetoed = first > last and trade.open_rate < first and price > last
        if minutes == 0 and vetoed:
            return None
        return min(max(price, pair.low[bar]), pair.high[bar])

    def _force_exit(self, pair: Pair) -> None:
        """Close at the last open; a flat candle off its tick fills nothing: the trade is lost."""
        trade = self._open[pair.name]
        trade.exit_reason = "force_exit"
        price = nearest_tick(pair.open[-1], trade.tick)
        if pair.low[-1] <= price <= pair.high[-1]:
            self._close(trade, price, pair.times[-1])

    def _close(self, trade: FreqtradeTrade, price: float, time: int) -> None:
        profit = trade.profit(price)
        self._profit += profit
        del self._open[trade.pair]
        self._closed.append(
            ClosedTrade(
                *(trade.pair, trade.opened, time, trade.is_short, trade.open_rate, price),
                amount=round(trade.amount, 8),
                stake_amount=round(trade.stake, 8),
                profit_abs=profit,
                exit_reason=trade.exit_reason,
                stop_loss_abs=trade.stop,
            )
        )


def _side(trade: FreqtradeTrade) -> Side:
    return "short" if trade.is_short else "long"
