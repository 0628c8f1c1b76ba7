"""Turns a contract and its candles into a question to Freqtrade and the answer it must give."""

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal

import numpy as np
import pandas as pd

from Backtest.freqtrade_fills.profile import Pair, Rules, Trailing, freqtrade_trades
from Backtest.freqtrade_fills.trade import Tier
from Backtest.times import timeframe_ms
from bot.contract.language.evaluator import Array, evaluate
from bot.contract.language.program import Program
from bot.contract.language.warmup import warmup
from bot.contract.model import Contract
from bot.contract.numbers import FAR_STOP, RiskNumbers
from bot.contract.risk import AtrLevel

SIGNALS = ("enter_long", "exit_long", "enter_short", "exit_short")
COLUMNS = ("open", "high", "low", "close", "volume")
# What an exchange has where the contract says nothing.
SMALLEST = 1e-8

Signals = Mapping[str, list[int]]
Trade = Mapping[str, object]


def without_gaps(frame: pd.DataFrame, timeframe: str) -> pd.DataFrame:
    """Gives the candles as Freqtrade loads them: a missing one is flat at the close before it."""
    times = pd.DatetimeIndex(pd.to_datetime(frame["timestamp"], utc=True))
    step = pd.Timedelta(milliseconds=timeframe_ms(timeframe))
    whole = frame.set_axis(times).reindex(pd.date_range(times[0], times[-1], freq=step))
    close = whole["close"].ffill()
    prices = {name: whole[name].fillna(close) for name in ("open", "high", "low")}
    filled = whole.assign(**prices, close=close, volume=whole["volume"].fillna(0.0))
    return filled.assign(timestamp=filled.index).reset_index(drop=True)


def expected_signals(program: Program, values: Mapping[str, Array], bars: int) -> dict[str, Array]:
    """Gives the signals of the Freqtrade file: the rules, and no entry while an ATR is missing.

    What becomes of an entry beside an exit is Freqtrade's own affair; the profile has it.
    """
    nothing = np.zeros(bars, dtype=np.bool_)
    rule = {name: np.asarray(values.get(name, nothing), dtype=np.bool_) for name in SIGNALS}
    for field in program.atr_periods:
        ready = ~np.isnan(values[f"{field}.atr"])
        rule |= {name: rule[name] & ready for name in ("enter_long", "enter_short")}
    return rule


def rules_of(contract: Contract, program: Program) -> Rules:
    """Gives the contract's risk as Freqtrade is told it."""
    numbers, risk = RiskNumbers(contract, program), contract.risk
    target = risk.take_profit
    form, size, cap = risk.size.parts
    trailing = None
    if risk.trailing_stop is not None:
        offset = risk.trailing_stop.activate_at
        trailing = Trailing(
            numbers.of(risk.trailing_stop.distance),
            0.0 if offset is None else numbers.of(offset),
            risk.trailing_stop.only_after_activation,
        )
    return Rules(
        timeframe_minutes=timeframe_ms(contract.market.timeframe) // 60_000,
        startup=warmup(program),
        fee=contract.costs.commission,
        wallet=contract.capital,
        max_open_trades=risk.max_positions,
        stop=FAR_STOP if isinstance(risk.stop_loss, AtrLevel) else numbers.of(risk.stop_loss),
        size=(form, numbers.of(size)),
        size_cap=math.inf if cap is None else numbers.of(cap),
        roi={minutes: numbers.of(profit) for minutes, profit in (risk.roi or {}).items()},
        trailing=trailing,
        stop_atr=numbers.of(risk.stop_loss.atr) if isinstance(risk.stop_loss, AtrLevel) else None,
        target=None if target is None or isinstance(target, AtrLevel) else numbers.of(target),
        target_atr=numbers.of(target.atr) if isinstance(target, AtrLevel) else None,
        use_exit_signal=bool({"exit_long", "exit_short"} & set(program.rules)),
        exit_profit_only=risk.exit_profit_only,
        ignore_roi_if_entry_signal=risk.ignore_roi_if_entry_signal,
        futures=contract.market.type == "futures",
    )


class Expectation:
    """Says what Freqtrade must answer for a contract on some candles.

    `tiers` are the exchange's maintenance margins of every pair; a contract names no exchange.
    """

    def __init__(
        self,
        contract: Contract,
        program: Program,
        frames: Mapping[str, pd.DataFrame],
        tiers: Sequence[Tier] = (Tier(),),
    ) -> None:
        self._contract = contract
        self._tiers = tiers
        self._program = program
        self._frames = {
            symbol: without_gaps(frame, contract.market.timeframe)
            for symbol, frame in frames.items()
        }
        self._values = {symbol: evaluate(program, frame) for symbol, frame in self._frames.items()}

    def request(self, folder: str, backtest: bool = True) -> dict[str, object]:
        """Gives the question to Freqtrade's harness; `folder` is where the strategy file lies."""
        market = self._contract.market
        pairs = {
            pair_name(symbol, market.type): {
                "tick": plain(market.tick or SMALLEST),
                "step": plain(market.lot or SMALLEST),
                "min_cost": plain(market.min_notional or 0.0),
                "tiers": [list(tier) for tier in self._tiers],
                "candles": {
                    "date": _milliseconds(frame),
                    **{name: frame[name].tolist() for name in COLUMNS},
                },
            }
            for symbol, frame in self._frames.items()
        }
        return {
            "strategy": self._contract.name,
            "folder": folder,
            "timeframe": market.timeframe,
            "futures": market.type == "futures",
            "fee": self._contract.costs.commission,
            "wallet": self._contract.capital,
            "pairs": pairs,
            "backtest": backtest,
        }

    def signals(self) -> dict[str, dict[str, list[int]]]:
        """Gives the bars of every signal, by pair."""
        return {
            pair_name(symbol, self._contract.market.type): {
                name: np.flatnonzero(marks).tolist() for name, marks in self._marks(symbol).items()
            }
            for symbol in self._frames
        }

    def trades(self) -> list[Trade]:
        """Gives the trades of the `freqtrade` fill profile, in the order in which they close."""
        pairs = [self._pair(symbol) for symbol in self._frames]
        trades = freqtrade_trades(pairs, rules_of(self._contract, self._program))
        return [vars(trade) for trade in trades]

    def _marks(self, symbol: str) -> dict[str, Array]:
        return expected_signals(self._program, self._values[symbol], len(self._frames[symbol]))

    def _pair(self, symbol: str) -> Pair:
        market, frame, values = self._contract.market, self._frames[symbol], self._values[symbol]
        prices = {name: frame[name].tolist() for name in ("open", "high", "low", "close")}
        marks = {name: array.tolist() for name, array in self._marks(symbol).items()}
        atrs = {
            f"{name}_atr": values[f"{field}.atr"].tolist()
            for name, field in (("stop", "stop_loss"), ("target", "take_profit"))
            if field in self._program.atr_periods
        }
        return Pair(
            name=pair_name(symbol, market.type),
            times=_milliseconds(frame),
            tick=market.tick or SMALLEST,
            step=market.lot or SMALLEST,
            min_cost=market.min_notional or 0.0,
            tiers=self._tiers,
            **prices,
            **marks,
            **atrs,
        )


def pair_name(symbol: str, market_type: str) -> str:
    """Gives a symbol as Freqtrade names it: futures say what they are settled in."""
    if market_type == "futures" and ":" not in symbol:
        return f"{symbol}:{symbol.partition('/')[2]}"
    return symbol


def plain(number: float) -> str:
    """Gives a number without an exponent."""
    return f"{Decimal(repr(number)):f}"


def _milliseconds(frame: pd.DataFrame) -> list[int]:
    times = pd.DatetimeIndex(frame["timestamp"]).as_unit("ms")
    return [int(time) for time in times.asi8]


def differing_signal(found: Mapping[str, Signals], expected: Mapping[str, Signals]) -> str:
    """Finds the first bar at which Freqtrade marks something else; empty if there is none."""
    for pair, signals in expected.items():
        for name, bars in signals.items():
            odd = sorted(set(found.get(pair, {}).get(name, [])) ^ set(bars))
            if odd:
                wanted = "says yes" if odd[0] in bars else "says no"
                return f"{pair}, bar {odd[0]}: the contract's {name} {wanted}, Freqtrade differs"
    return ""


def differing_trade(found: list[Trade], expected: list[Trade]) -> str:
    """Finds the first trade that Freqtrade makes otherwise; empty if there is none."""
    for number, (mine, theirs) in enumerate(zip(expected, found, strict=False), start=1):
        for key, value in mine.items():
            if not _same(value, theirs.get(key)):
                what = f"{key} is {theirs.get(key)} in Freqtrade, {value} in the profile"
                return f"trade {number} of {mine['pair']}: {what}"
    if len(found) != len(expected):
        return f"Freqtrade made {len(found)} trades, the profile {len(expected)}"
    return ""


def _same(mine: object, theirs: object) -> bool:
    if isinstance(mine, float) and isinstance(theirs, float):
        return math.isclose(mine, theirs, rel_tol=1e-12, abs_tol=1e-9)
    return mine == theirs
