"""Statistics of trades and equity curves: pure functions, None where a figure has no meaning.

Ratios come from the returns between consecutive rows of the equity curve, without a risk-free
rate; deviations are sample deviations (n - 1). Annualised by `periods_per_year`.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from Backtest.positions import Trade
from Backtest.times import DAY_MS, iso

Floats = NDArray[np.float64]

CRYPTO_DAYS = 365.0
EXCHANGE_DAYS = 252.0
WEEK_MS = 7 * DAY_MS
MONTH_MS = 28 * DAY_MS


def finite(value: float | None) -> float | None:
    """Pass a number on, None in place of NaN and infinities, which JSON cannot hold."""
    return None if value is None or not math.isfinite(value) else float(value)


def returns_of(equity: Sequence[float] | Floats) -> Floats:
    """Returns between consecutive rows; empty once equity is not positive, as it has none then."""
    rows = np.asarray(equity, dtype=np.float64)
    if len(rows) < 2 or bool((rows <= 0.0).any()):
        return np.empty(0)
    return rows[1:] / rows[:-1] - 1.0


def drawdowns(equity: Sequence[float] | Floats, start: float | None = None) -> Floats:
    """Fall from the highest equity so far, as positive fractions; `start` counts as a peak."""
    rows = np.asarray(equity, dtype=np.float64)
    if len(rows) == 0:
        return np.empty(0)
    peaks = np.maximum.accumulate(rows)
    if start is not None:
        peaks = np.maximum(peaks, start)
    return 1.0 - rows / peaks


def max_drawdown(equity: Sequence[float] | Floats, start: float | None = None) -> float:
    """The deepest fall from a peak, a positive fraction."""
    falls = drawdowns(equity, start)
    return float(falls.max()) if len(falls) else 0.0


def sharpe(returns: Floats, periods_per_year: float | None) -> float | None:
    """Mean return over its deviation, annualised."""
    if periods_per_year is None or len(returns) < 2:
        return None
    deviation = float(returns.std(ddof=1))
    if deviation < 1e-15:
        return None
    return finite(float(returns.mean()) / deviation * math.sqrt(periods_per_year))


def sortino(returns: Floats, periods_per_year: float | None) -> float | None:
    """Mean return over the root mean square of the losses (all returns counted), annualised."""
    if periods_per_year is None or len(returns) < 2:
        return None
    downside = math.sqrt(float((np.minimum(returns, 0.0) ** 2).mean()))
    if downside < 1e-15:
        return None
    return finite(float(returns.mean()) / downside * math.sqrt(periods_per_year))


def annual_return(returns: Floats, periods_per_year: float | None) -> float | None:
    """The yearly growth that compounds to the whole."""
    if periods_per_year is None or len(returns) == 0:
        return None
    try:
        growth = float(np.log1p(returns).sum()) * periods_per_year / len(returns)
        return finite(math.expm1(growth))
    except OverflowError:
        return None


def calmar(returns: Floats, deepest: float, periods_per_year: float | None) -> float | None:
    """Annual return over the deepest fall."""
    yearly = annual_return(returns, periods_per_year)
    return None if yearly is None or deepest <= 0.0 else finite(yearly / deepest)


def periods_per_year(times: Sequence[int], step_ms: int | None, crypto: bool) -> float | None:
    """How many candles a year has: 365 days for A/B symbols, else 252.

    Weeks and months count by the calendar. Candles shorter than a day outside crypto count 252
    days of as many candles as the days in the data have on average. None if the candles carry
    no real time.
    """
    step = step_ms or usual_step(times)
    if step is None or step < 1000:
        return None
    if step >= MONTH_MS:
        return 12.0 / max(1, round(step / (30 * DAY_MS)))
    if crypto:
        return CRYPTO_DAYS * DAY_MS / step
    if step >= WEEK_MS:
        return 52.0 * WEEK_MS / step
    if step >= DAY_MS:
        return EXCHANGE_DAYS * DAY_MS / step
    days = len(np.unique(np.asarray(times, dtype=np.int64) // DAY_MS))
    return EXCHANGE_DAYS * len(times) / days if days else None


def usual_step(times: Sequence[int]) -> int | None:
    """The most usual distance between rows, the shorter of equals."""
    if len(times) < 2:
        return None
    steps, counts = np.unique(np.diff(np.asarray(times, dtype=np.int64)), return_counts=True)
    return int(steps[int(np.argmax(counts))])


def trade_figures(trades: Sequence[Trade]) -> dict[str, Any]:
    """Count, profit, win rate, profit factor and expectancy of finished trades."""
    profits = [trade.pnl for trade in trades]
    won = math.fsum(profit for profit in profits if profit > 0.0)
    lost = math.fsum(-profit for profit in profits if profit < 0.0)
    count = len(profits)
    winners = sum(profit > 0.0 for profit in profits)
    return {
        "total_trades": count,
        "total_pnl": math.fsum(profits),
        "win_rate": winners / count if count else 0.0,
        "winners": winners,
        "losers": sum(profit < 0.0 for profit in profits),
        "gross_profit": won,
        "gross_loss": lost,
        "profit_factor": finite(won / lost) if lost > 0.0 else None,
        "expectancy": math.fsum(profits) / count if count else None,
        "best_trade": max(profits, default=None),
        "worst_trade": min(profits, default=None),
    }


def cost_figures(trades: Sequence[Trade], mean_equity: float) -> dict[str, Any]:
    """Fees, all costs, their share of the profit before costs, turnover, break-even cost."""
    cost = math.fsum(trade.cost for trade in trades)
    traded = math.fsum(t.volume * (t.entry_price + t.exit_price) for t in trades)
    before_costs = math.fsum(trade.pnl for trade in trades) + cost
    return {
        "fees": math.fsum(trade.fees for trade in trades),
        "costs": cost,
        "cost_share": finite(cost / before_costs) if before_costs > 0.0 else None,
        "traded_value": traded,
        "turnover": finite(traded / mean_equity) if mean_equity > 0.0 else None,
        "break_even_cost_bps": finite(before_costs / traded * 1e4) if traded > 0.0 else None,
    }


def exposure(trades: Sequence[Trade], rows: int) -> float:
    """Share of rows at whose close some position was open; forced exits still count as open."""
    if rows == 0:
        return 0.0
    changes = np.zeros(rows + 1, dtype=np.int64)
    for trade in trades:
        changes[trade.entry_row] += 1
        changes[trade.exit_row + (1 if trade.forced else 0)] -= 1
    return float((np.cumsum(changes[:rows]) > 0).mean())


def ambiguity_band(trades: Sequence[Trade]) -> dict[str, Any]:
    """The profit under the worst reading, which is the one taken, and under the best."""
    worst = math.fsum(trade.pnl for trade in trades)
    best = math.fsum(trade.best_pnl for trade in trades)
    return {
        "ambiguous_trades": sum(trade.ambiguous for trade in trades),
        "worst_pnl": worst,
        "best_pnl": best,
    }


def by_year(
    trades: Sequence[Trade], times: Sequence[int], equity: Sequence[float], capital: float
) -> dict[str, dict[str, Any]]:
    """Return, drawdown and trades (by the year of their exit) of every calendar year, UTC."""
    ended: dict[str, list[Trade]] = {}
    for trade in trades:
        ended.setdefault(iso(trade.exit_time)[:4], []).append(trade)
    table: dict[str, dict[str, Any]] = {}
    before = capital
    for year, first, last in _year_spans(times):
        rows = equity[first:last]
        figures = trade_figures(ended.get(year, []))
        table[year] = {
            "return": finite(rows[-1] / before - 1.0) if before > 0.0 else None,
            "max_drawdown": max_drawdown(rows, before),
            "trades": figures["total_trades"],
            "pnl": figures["total_pnl"],
            "win_rate": figures["win_rate"],
        }
        before = rows[-1]
    return table


def _year_spans(times: Sequence[int]) -> list[tuple[str, int, int]]:
    """Every calendar year in the data, its first row and the row after its last."""
    if len(times) == 0:
        return []
    stamps = np.asarray(times, dtype="datetime64[ms]").astype("datetime64[Y]")
    years, firsts = np.unique(stamps, return_index=True)
    lasts = [*firsts[1:].tolist(), len(times)]
    return list(zip(years.astype(str).tolist(), firsts.tolist(), lasts, strict=True))
