"""Turns a run's trades and equity into the report: every figure, and the conventions behind it."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from Backtest import metrics
from Backtest.conventions import FILL_CONVENTIONS, METRIC_CONVENTIONS
from Backtest.curves import Rows, survey
from Backtest.exact_sums import exact_sum
from Backtest.ledger import ledger_of
from Backtest.settings import SimSettings
from Backtest.times import iso, timeframe_ms


def make_report(
    *,
    settings: SimSettings,
    trades: metrics.Trades,
    times: metrics.Times,
    equity: Rows,
    held: Mapping[str, tuple[float, float]],
    rejected: int,
) -> dict[str, Any]:
    """Compute the report; it is JSON as it stands, without NaN or infinities.

    Args:
        settings: what the broker charged.
        trades: all of them, forced exits included.
        times: UTC milliseconds of the equity rows.
        equity: equity after each of them.
        held: first open and last close by symbol.
        rejected: how many orders were rejected.
    """
    ledger = ledger_of(trades)
    done = ledger.where(~ledger.forced)
    capital = settings.capital
    moments = np.asarray(times, dtype=np.int64)
    rows = np.asarray(equity, dtype=np.float64)
    final = float(rows[-1]) if len(rows) else capital
    spans = [span for _, span in metrics.year_spans(moments)]
    curve, falls = survey(rows, capital, spans)
    yearly = _periods(settings, moments, held)
    mean_equity = curve.mean_equity if len(rows) else capital
    figures = {
        **metrics.trade_figures(done),
        "max_drawdown": metrics.finite(curve.deepest),
        "capital": capital,
        "final_equity": metrics.finite(final),
        "return": metrics.finite(final / capital - 1.0),
        "annual_return": metrics.annual_return(curve, yearly),
        "sharpe": metrics.sharpe(curve, yearly),
        "sortino": metrics.sortino(curve, yearly),
        "calmar": metrics.calmar(curve, yearly),
        "exposure": metrics.exposure(ledger, len(rows)),
        **metrics.cost_figures(done, mean_equity),
        "ambiguity_band": metrics.ambiguity_band(done),
        "by_year": metrics.by_year(done, moments, rows, capital, falls),
        "buy_and_hold": _buy_and_hold(held),
        "forced_exits": len(ledger) - len(done),
        "forced_pnl": exact_sum(ledger.pnl[ledger.forced]),
        "orders_rejected": rejected,
        "bars": len(moments),
        "start": iso(int(moments[0])) if len(moments) else None,
        "end": iso(int(moments[-1])) if len(moments) else None,
        "periods_per_year": yearly,
    }
    stated = {name: value for name, value in asdict(settings).items() if name != "compiled"}
    return {
        **figures,
        "execution": settings.execution,
        "settings": stated,
        "conventions": {**FILL_CONVENTIONS, **METRIC_CONVENTIONS},
    }


def _periods(
    settings: SimSettings, times: metrics.Times, held: Mapping[str, tuple[float, float]]
) -> float | None:
    """Candles a year, by the timeframe and whether the symbols are pairs."""
    symbols = [name for name in (settings.symbols or tuple(held)) if name]
    crypto = bool(symbols) and all("/" in name for name in symbols)
    step = None if settings.timeframe is None else timeframe_ms(settings.timeframe)
    return metrics.periods_per_year(times, step, crypto)


def _buy_and_hold(held: Mapping[str, tuple[float, float]]) -> dict[str, Any]:
    """What holding everything from the start would have returned."""
    growth = {name: last / first - 1.0 for name, (first, last) in held.items()}
    mean = sum(growth.values()) / len(growth) if growth else None
    return {"return": metrics.finite(mean), "by_symbol": {k: v for k, v in growth.items() if k}}
