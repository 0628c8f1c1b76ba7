"""Turns a run into its tear sheet: risk, the comparison with holding, months, falls and splits."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from Backtest.candles import Candles
from Backtest.metrics.exact_sums import exact_sum
from Backtest.metrics.ledger import Ledger, ledger_of
from Backtest.metrics.risk_figures import (
    Fall,
    Floats,
    Whole,
    by_month,
    compare,
    falls_of,
    histogram,
    in_risks,
    kelly,
    longest_streak,
    omega,
    payoff,
    recovery,
    returns_of,
    shortfall,
    spread_of,
    system_quality,
    time_under_water,
    ulcer,
    value_at_risk,
    volatility,
)
from Backtest.metrics.run_figures import finite
from Backtest.positions import LIQUIDATED, Trade
from Backtest.times import iso

Figures = dict[str, object]

MOST_FALLS = 10
MOST_BARS = 24
DAY_HOURS, HOUR_MS = 24, 3_600_000
# Exits at a level that a candle reaches after its open.
_LIMITS = ("target", "roi")
_INSIDE = (*_LIMITS, "stop", "trailing_stop", LIQUIDATED)


def tear_sheet(
    trades: Sequence[Trade],
    times: Whole,
    equity: Floats,
    held: Floats,
    capital: float,
    periods_per_year: float | None,
    candles: Mapping[str, Candles],
    *,
    at_close: bool = False,
) -> Figures:
    """Gather every figure of a run, ready for JSON.

    Args:
        trades: all of them; forced exits are left out, as they are everywhere.
        times: UTC milliseconds of the equity rows.
        equity: equity after each of them.
        held: the value of holding at each of them; empty if it is not known.
        capital: cash at the start.
        periods_per_year: rows a year; None if the rows carry no real time.
        candles: by symbol, for how far each trade ran.
        at_close: orders fill at the close of the candle that decides (`this_close`).
    """
    done = [trade for trade in trades if not trade.forced]
    ledger = ledger_of(done)
    returns, holding = returns_of(equity), returns_of(held)
    yearly = periods_per_year or math.nan
    gain = float(equity[-1]) / capital - 1.0 if len(equity) else 0.0
    beside = compare(returns, holding, yearly)
    falls = falls_of(equity, capital, MOST_FALLS)
    deepest = falls[0].depth if falls else 0.0
    any_candles = next(iter(candles.values()), None)
    ran = [
        excursion(trade, known, at_close=at_close)
        for trade in done
        if (known := candles.get(trade.symbol) or any_candles) is not None
    ]
    columns = (ledger.pnl, ledger.volume, ledger.entry_price)
    multiples = in_risks(*columns, [trade.stop for trade in done])
    return {
        "volatility": volatility(returns, yearly),
        "over_hold": gain - (float(held[-1]) / capital - 1.0) if len(held) else None,
        "omega": omega(returns),
        "value_at_risk": value_at_risk(returns),
        "expected_shortfall": shortfall(returns),
        "alpha": beside.alpha,
        "beta": beside.beta,
        "correlation": beside.correlation,
        "ulcer_index": ulcer(equity, capital),
        "recovery_factor": recovery(gain, deepest),
        "time_under_water": time_under_water(equity, capital),
        "mean_win": _mean(ledger.pnl[ledger.outcomes > 0]),
        "mean_loss": _mean(ledger.pnl[ledger.outcomes < 0]),
        "expectancy_r": _mean(multiples),
        "r_multiples": spread_of(multiples),
        "payoff": payoff(ledger.pnl, ledger.outcomes),
        "kelly": kelly(ledger.pnl, ledger.outcomes),
        "sqn": system_quality(ledger.pnl),
        "most_wins_in_a_row": longest_streak(ledger.outcomes, 1),
        "most_losses_in_a_row": longest_streak(ledger.outcomes, -1),
        "hours_held": spread_of([(t.exit_time - t.entry_time) / HOUR_MS for t in done]),
        "adverse_excursion": spread_of([against for against, _ in ran]),
        "favourable_excursion": spread_of([along for _, along in ran]),
        "distribution": histogram(ledger.pnl / (ledger.volume * ledger.entry_price), MOST_BARS),
        "costs": _costs(ledger),
        "ambiguity": _other_way(equity, ledger, capital),
        "by_month": [[month, value] for month, value in by_month(times, equity, capital)],
        "drawdowns": [_told(fall, times) for fall in falls],
        "by_exit": split(done, lambda trade: trade.rule_out),
        "by_side": split(done, lambda trade: trade.side),
        "by_symbol": split(done, lambda trade: trade.symbol),
        "by_hour": split(done, lambda trade: f"{trade.entry_time // HOUR_MS % DAY_HOURS:02d}"),
    }


def split(trades: Iterable[Trade], key: Callable[[Trade], str]) -> dict[str, Figures]:
    """Count trades by something that they have: how many, how many won, and what they earned."""
    parts: dict[str, list[Trade]] = {}
    for trade in trades:
        parts.setdefault(key(trade), []).append(trade)
    found: dict[str, Figures] = {}
    for name in sorted(parts):
        ledger = ledger_of(parts[name])
        winners = int(np.count_nonzero(ledger.outcomes > 0))
        found[name] = {
            "trades": len(ledger),
            "winners": winners,
            "win_rate": winners / len(ledger),
            "pnl": ledger.tally.pnl,
        }
    return found


def _mean(values: Floats) -> float | None:
    return exact_sum(values) / len(values) if len(values) else None


def _costs(ledger: Ledger) -> Figures:
    """Tell what the fills cost: commission, what prices took, and each trade's share of both."""
    sums = ledger.tally
    return {
        "commission": sums.fees,
        "slippage_and_spread": sums.cost - sums.fees,
        "a_trade": sums.cost / len(ledger) if len(ledger) else None,
        "profit_before": sums.pnl + sums.cost,
        "profit_after": sums.pnl,
    }


def _other_way(rows: Floats, ledger: Ledger, capital: float) -> Figures:
    """Tell where equity would end had every doubtful trade gone the other way, sizes kept."""
    final = float(rows[-1]) if len(rows) else capital
    better = final + ledger.tally.best_pnl - ledger.tally.pnl
    doubtful = int(np.count_nonzero(ledger.ambiguous))
    return {"trades": doubtful, "final_equity": better, "return": finite(better / capital - 1.0)}


def excursion(trade: Trade, known: Candles, *, at_close: bool) -> tuple[float, float]:
    """Give how far a trade ran against its entry and for it, as positive fractions.

    Candles count from the entry to the one before the exit's. Of the exit's own only what the trade
    saw counts: its price; before a target or ROI also the other extreme, since doubt counts against
    the trade; all of it where orders fill at the close, and then the entry's own is over.
    """
    entered, last = np.searchsorted(known.times, (trade.entry_time, trade.exit_time), "right") - 1
    lasting = slice(max(int(entered) + at_close, 0), int(last))
    lowest = float(known.low[lasting].min(initial=trade.exit_price))
    highest = float(known.high[lasting].max(initial=trade.exit_price))
    seen_whole = at_close and trade.rule_out not in _INSIDE and not trade.rule_out.endswith("_gap")
    long, limit = trade.side == "long", trade.rule_out in _LIMITS
    if seen_whole or (limit and long):
        lowest = min(lowest, float(known.low[last]))
    if seen_whole or (limit and not long):
        highest = max(highest, float(known.high[last]))
    up, down = highest / trade.entry_price - 1.0, 1.0 - lowest / trade.entry_price
    against, along = (down, up) if long else (up, down)
    return max(against, 0.0), max(along, 0.0)


def _told(fall: Fall, times: Whole) -> Figures:
    """Name the moments of a fall; one from the capital itself begins at the first row."""
    until = fall.end if fall.end is not None else len(times) - 1
    begin = max(fall.peak, 0)
    return {
        "depth": fall.depth,
        "start": iso(int(times[begin])),
        "trough": iso(int(times[fall.trough])),
        "end": None if fall.end is None else iso(int(times[fall.end])),
        "days": (int(times[until]) - int(times[begin])) / (DAY_HOURS * HOUR_MS),
        "days_back": (
            None
            if fall.end is None
            else (int(times[fall.end]) - int(times[fall.trough])) / (DAY_HOURS * HOUR_MS)
        ),
    }
