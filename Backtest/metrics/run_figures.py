"""Computes figures of trades and equity curves: pure functions, None where one has no meaning.

Ratios come from the returns between consecutive rows of the equity curve, without a risk-free
rate; deviations are sample deviations (n - 1). Annual figures go by the calendar: `years` is the
time from the first row to the last, `periods_per_year` the rows over it.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from Backtest.metrics.curves import Curve, Rows, survey
from Backtest.metrics.exact_sums import exact_sum
from Backtest.metrics.ledger import Ledger, ledger_of
from Backtest.positions import Trade
from Backtest.times import DAY_MS
from Backtest.trading_types import Figures

Trades = Sequence[Trade] | Ledger
Times = Sequence[int] | NDArray[np.int64]
Years = Sequence[tuple[int, tuple[int, int]]]  # since 1970; first row, row after the last

YEAR_MS = 365.25 * DAY_MS
SHORTEST_STEP_MS = 1000  # rows closer than this carry a number, not a time


def finite(value: float | None) -> float | None:
    """Pass a number on, None in place of NaN and infinities, which JSON cannot hold."""
    return None if value is None or not math.isfinite(value) else float(value)


def sharpe(curve: Curve, periods_per_year: float | None) -> float | None:
    """Mean return over its deviation, annualised."""
    if periods_per_year is None or curve.returns < 2 or curve.deviation < 1e-15:
        return None
    return finite(curve.mean / curve.deviation * math.sqrt(periods_per_year))


def sortino(curve: Curve, periods_per_year: float | None) -> float | None:
    """Mean return over the root mean square of the losses (all returns counted), annualised."""
    if periods_per_year is None or curve.returns < 2 or curve.downside < 1e-15:
        return None
    return finite(curve.mean / curve.downside * math.sqrt(periods_per_year))


def annual_return(curve: Curve, years: float | None) -> float | None:
    """Gives the yearly growth that compounds to the whole in so many years."""
    if years is None or curve.returns == 0:
        return None
    try:
        return finite(math.expm1(curve.growth / years))
    except OverflowError:
        return None


def calmar(curve: Curve, years: float | None) -> float | None:
    """Annual return over the deepest fall."""
    yearly = annual_return(curve, years)
    return None if yearly is None or curve.deepest <= 0.0 else finite(yearly / curve.deepest)


def years_of(times: Times) -> float | None:
    """Gives the years of 365.25 days from first row to last; None if rows carry no real time."""
    span = int(times[-1]) - int(times[0]) if len(times) > 1 else 0
    return span / YEAR_MS if span > 0 and span >= (len(times) - 1) * SHORTEST_STEP_MS else None


def usual_step(times: Times) -> int | None:
    """Gives the most usual distance between rows, the shorter of equals."""
    if len(times) < 2:
        return None
    apart = np.diff(np.asarray(times, dtype=np.int64))
    if bool((apart == apart[0]).all()):
        return int(apart[0])
    steps, counts = np.unique(apart, return_counts=True)
    return int(steps[int(np.argmax(counts))])


def trade_figures(trades: Trades) -> Figures:
    """Count, profit, win rate, profit factor and expectancy of finished trades."""
    ledger = ledger_of(trades)
    pnl, sums, count = ledger.pnl, ledger.tally, len(ledger)
    winners = int(np.count_nonzero(ledger.outcomes > 0))
    return {
        "total_trades": count,
        "total_pnl": sums.pnl,
        "win_rate": winners / count if count else 0.0,
        "winners": winners,
        "losers": int(np.count_nonzero(ledger.outcomes < 0)),
        "gross_profit": sums.gross_profit,
        "gross_loss": sums.gross_loss,
        "profit_factor": (
            finite(sums.gross_profit / sums.gross_loss) if sums.gross_loss > 0.0 else None
        ),
        "expectancy": sums.pnl / count if count else None,
        "best_trade": float(pnl.max()) if count else None,
        "worst_trade": float(pnl.min()) if count else None,
    }


def cost_figures(trades: Trades, mean_equity: float) -> Figures:
    """Fees, all costs, their share of the profit before costs, turnover, break-even cost."""
    sums = ledger_of(trades).tally
    before_costs = sums.pnl + sums.cost
    return {
        "fees": sums.fees,
        "costs": sums.cost,
        "cost_share": finite(sums.cost / before_costs) if before_costs > 0.0 else None,
        "traded_value": sums.traded,
        "turnover": finite(sums.traded / mean_equity) if mean_equity > 0.0 else None,
        "break_even_cost_bps": (
            finite(before_costs / sums.traded * 1e4) if sums.traded > 0.0 else None
        ),
    }


def exposure(trades: Trades, rows: int) -> float:
    """Share of rows at whose close some position was open; forced exits still count as open."""
    ledger = ledger_of(trades)
    if rows == 0 or len(ledger) == 0:
        return 0.0
    order = np.argsort(ledger.entry_row, kind="stable")
    starts = ledger.entry_row[order]
    ends = (ledger.exit_row + ledger.forced)[order]
    covered = np.concatenate(([0], np.maximum.accumulate(ends)[:-1]))  # by the trades before
    return float(np.maximum(ends - np.maximum(starts, covered), 0).sum()) / rows


def ambiguity_band(trades: Trades) -> Figures:
    """Gives the profit under the worst reading, which is the one taken, and under the best."""
    ledger = ledger_of(trades)
    return {
        "ambiguous_trades": int(np.count_nonzero(ledger.ambiguous)),
        "worst_pnl": ledger.tally.pnl,
        "best_pnl": ledger.tally.best_pnl,
    }


def by_year(
    trades: Trades,
    times: Times,
    equity: Rows,
    capital: float,
    years: Years | None = None,
    falls: Sequence[float] | None = None,
) -> dict[str, Figures]:
    """Return, drawdown and trades (by the year of their exit) of every calendar year, UTC.

    `years` and `falls`, their drawdowns, are worked out if the caller does not have them.
    """
    ledger = ledger_of(trades)
    order = np.argsort(ledger.exit_time, kind="stable")
    profits, ends, won = ledger.pnl[order], ledger.exit_time[order], ledger.outcomes[order] > 0
    table: dict[str, Figures] = {}
    before = capital
    rows = np.asarray(equity, dtype=np.float64)
    years = year_spans(times) if years is None else years
    if falls is None:
        falls = survey(rows, capital, [span for _, span in years])[1]
    for (year, (_, last)), fall in zip(years, falls, strict=True):
        final = float(rows[last - 1])
        first, after = np.searchsorted(ends, (_opens(year), _opens(year + 1)))
        pnl = profits[first:after]
        table[str(1970 + year)] = {
            "return": finite(final / before - 1.0) if before > 0.0 else None,
            "max_drawdown": finite(fall) if before > 0.0 else None,
            "trades": len(pnl),
            "pnl": exact_sum(pnl),
            "win_rate": int(np.count_nonzero(won[first:after])) / len(pnl) if len(pnl) else 0.0,
        }
        before = final
    return table


def _opens(year: int) -> int:
    """Tells when a year since 1970 begins, in milliseconds."""
    return int(np.datetime64(year, "Y").astype("datetime64[ms]").astype(np.int64))


def year_spans(times: Times) -> Years:
    """Lists the calendar years in the data since 1970, each with its rows."""
    if len(times) == 0:
        return []
    stamps = np.asarray(times, dtype=np.int64)
    ends = stamps[[0, -1]].astype("datetime64[ms]").astype("datetime64[Y]").astype(np.int64)
    years = np.arange(ends[0], ends[1] + 2)
    opens = years.astype("datetime64[Y]").astype("datetime64[ms]").astype(np.int64)
    places = np.searchsorted(stamps, opens).tolist()
    spans = zip(years.tolist(), places[:-1], places[1:], strict=False)
    return [(year, (first, last)) for year, first, last in spans if first < last]
