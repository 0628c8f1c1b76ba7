"""Runs candles and signals through the compiled loop, where that is quicker and all is known."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from Backtest.compiled import kernel_forms as forms
from Backtest.sim_settings import SimSettings, step_parts

if TYPE_CHECKING:
    from Backtest.candles import Candles
    from Backtest.compiled.tape import Tape
    from Backtest.fills import Step
    from Backtest.strategy_signals import Signals

# Where the event path's time reaches that of importing numba; loaded already, it costs nothing.
WORTH_AN_IMPORT_BARS = 300_000
WORTH_A_CALL_BARS = 100
MAX_RISK = 0.10
EXACT_DIGITS = 15  # more decimals than this cannot be written as whole numbers


@dataclass(frozen=True)
class LoopRules:
    """Holds what the loop itself needs of the settings."""

    max_positions: int = 1
    lot: float | None = None
    commission: float = 0.0
    exit_profit_only: bool = False
    ignore_roi_if_entry_signal: bool = False
    this_close: bool = False


def is_loaded(rows: int = WORTH_A_CALL_BARS) -> bool:
    """Says whether machine code is at hand, and quicker for so many rows."""
    return rows >= WORTH_A_CALL_BARS and "Backtest.compiled.kernel" in sys.modules


def is_worth_compiling(bars: int) -> bool:
    """Says whether the compiled path is quicker for so many bars, its import included."""
    return is_loaded(bars) or bars >= WORTH_AN_IMPORT_BARS


def can_compile(symbol: str, signals: Signals, settings: SimSettings, rules: LoopRules) -> bool:
    """Says whether the compiled loop knows all that is asked for; else the event path does it."""
    steps = [step for step in (settings.lot, settings.tick) if step is not None]
    return (
        (settings.symbols is None or symbol in settings.symbols)
        and rules.max_positions >= 1
        and rules.lot == settings.lot
        and rules.this_close == (settings.execution == "this_close")
        and all(step_parts(step)[1] <= 10**EXACT_DIGITS for step in steps)
        and (signals.size_form != "risk" or _risk_is_sound(signals))
        and math.isfinite(signals.size_amount)
    )


def _risk_is_sound(signals: Signals) -> bool:
    return signals.size_amount <= MAX_RISK and signals.stop is not None


class Room:
    """Arrays that one run after the other fills; a tape in them is gone with the next run."""

    def __init__(self) -> None:
        self._rows = np.empty((0, 5), np.int64), np.empty((0, 5), np.float64)
        self._equity = np.empty(0)

    def arrays(self, bars: int, rows: int) -> tuple[forms.Floats, forms.Wholes, forms.Floats]:
        """Tells what the compiled loop fills, for so many bars and rows."""
        if len(self._equity) < bars:
            self._equity = np.empty(bars)
        if len(self._rows[0]) < rows:
            self._rows = np.empty((rows, 5), np.int64), np.empty((rows, 5), np.float64)
        return self._equity[:bars], *self._rows


def run_signals(
    symbol: str,
    candles: Candles,
    signals: Signals,
    settings: SimSettings,
    rules: LoopRules,
    room: Room | None = None,
) -> Tape | None:
    """Runs the compiled loop; None if an order is one that the broker would refuse loudly.

    A `room` is used again: the tape holds until its next use.
    """
    from Backtest.compiled.kernel import play
    from Backtest.compiled.machine_code import keep_freed_memory
    from Backtest.compiled.tape import Tape

    keep_freed_memory()
    filled = (room or Room()).arrays(len(candles), room_for(signals))
    end = play(*[*arguments_of(candles, signals, settings, rules), *filled])
    if end.fault != forms.SOUND:
        return None
    equity, whole, exact = filled
    if room is None:  # what was filled is kept, not the room for it
        whole, exact = whole[: end.rows].copy(), exact[: end.rows].copy()
    return Tape(
        symbol=symbol,
        candles=candles,
        signals=signals,
        settings=settings,
        whole=whole[: end.rows],
        exact=exact[: end.rows],
        equity=equity,
        end=end,
    )


def room_for(signals: Signals) -> int:
    """Gives the most rows that a run can fill: an entry is refused, or filled and left again."""
    return 2 * int(np.count_nonzero(signals.enter))


def arguments_of(
    candles: Candles, signals: Signals, settings: SimSettings, rules: LoopRules
) -> list[Any]:
    """Tells what the compiled loop reads."""
    roi = signals.roi
    return [
        candles.times,
        candles.open,
        candles.high,
        candles.low,
        candles.close,
        signals.enter,
        signals.exit_long,
        signals.exit_short,
        signals.stop_sizes,
        signals.target_sizes,
        np.array([start for start, _ in roi], dtype=np.int64),
        np.array([profit for _, profit in roi], dtype=np.float64),
        orders_of(signals),
        charges_of(settings, rules),
    ]


def orders_of(signals: Signals) -> forms.Orders:
    """Tells what every entry asks for, as the compiled loop reads it."""

    def form(step: Step | None) -> int:
        if step is None:
            return forms.NO_LEVEL
        return forms.FRACTION if step.is_fraction else forms.DISTANCE

    trail = signals.trail
    active = None if trail is None else trail.activate_at
    return forms.Orders(
        stop_form=form(signals.stop),
        target_form=form(signals.target),
        trail_form=form(None if trail is None else trail.step),
        trail_size=0.0 if trail is None else trail.step.size,
        activate_at=math.nan if active is None else active,
        only_after_activation=trail is not None and trail.only_after_activation,
        size_form={"units": forms.UNITS, "equity": forms.EQUITY, "risk": forms.RISK}[
            signals.size_form
        ],
        size_amount=signals.size_amount,
        size_cap=signals.size_cap,
    )


def charges_of(settings: SimSettings, rules: LoopRules) -> forms.Charges:
    """Tells what the broker and the loop are set to, as the compiled loop reads it."""
    tick_units, tick_scale = step_parts(settings.tick)
    lot_units, lot_scale = step_parts(settings.lot)
    least = settings.min_notional
    return forms.Charges(
        capital=settings.capital,
        commission=settings.commission,
        market_cost=settings.slippage + settings.spread / 2.0,
        this_close=settings.execution == "this_close",
        tick=settings.tick or 0.0,
        tick_units=float(tick_units),
        tick_scale=float(tick_scale),
        lot=settings.lot or 0.0,
        lot_units=float(lot_units),
        lot_scale=float(lot_scale),
        min_notional=-math.inf if least is None else least,
        exit_profit_only=rules.exit_profit_only,
        profit_commission=rules.commission,
        hold_roi=rules.ignore_roi_if_entry_signal,
    )
