"""Turns a run's trades and equity into the report: every figure, and the conventions behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from Backtest.metrics import run_figures as metrics
from Backtest.metrics.conventions import FILL_CONVENTIONS, METRIC_CONVENTIONS
from Backtest.metrics.curves import Curve, Floats, Rows, Spans, survey
from Backtest.metrics.exact_sums import exact_sum
from Backtest.metrics.ledger import Ledger, ledger_of
from Backtest.sim_settings import SETTING_NAMES, SimSettings
from Backtest.times import iso
from Backtest.trading_types import Figures, Report


def make_report(
    *,
    settings: SimSettings,
    trades: metrics.Trades,
    times: metrics.Times,
    equity: Rows,
    held: Mapping[str, tuple[float, float]],
    rejected: Mapping[str, int],
    calendar: Calendar | None = None,
    alone: bool = False,
) -> Report:
    """Computes the report; it is JSON as it stands, without NaN or infinities.

    `trades` are all of them, forced exits included; `times` are UTC milliseconds of the equity
    rows; `held` is first open and last close by symbol; `rejected` counts orders by cause.
    `alone`: one position was held at a time, and equity moved only from its entry to its exit.
    """
    ledger = ledger_of(trades)
    done = ledger.finished
    capital = settings.capital
    moments = np.asarray(times, dtype=np.int64)
    rows = np.asarray(equity, dtype=np.float64)
    known = calendar or calendar_of(moments)
    curve, falls = _surveyed(ledger, rows, capital, [span for _, span in known.years], alone)
    figures = {
        **_key_figures(capital, ledger, rows, known, curve),
        "ambiguity_band": metrics.ambiguity_band(done),
        "by_year": metrics.by_year(done, moments, rows, capital, known.years, falls),
        "buy_and_hold": buy_and_hold(held),
        "forced_exits": len(ledger) - len(done),
        "forced_pnl": exact_sum(ledger.pnl[ledger.forced]),
        "orders_rejected": sum(rejected.values()),
        "rejections": dict(sorted(rejected.items())),
        "bars": len(moments),
        "start": known.start,
        "end": known.end,
        "years": known.span_years,
        "periods_per_year": known.periods_per_year,
    }
    stated = {name: getattr(settings, name) for name in SETTING_NAMES if name != "compiled"}
    return {
        **figures,
        "execution": settings.execution,
        "settings": stated,
        "conventions": {**FILL_CONVENTIONS, **METRIC_CONVENTIONS},
    }


def key_figures(
    capital: float, trades: metrics.Trades, equity: Rows, known: Calendar, *, alone: bool = False
) -> Figures:
    """Computes the figures that runs are compared by; `alone` as in `make_report`."""
    ledger, rows = ledger_of(trades), np.asarray(equity, dtype=np.float64)
    curve, _ = _surveyed(ledger, rows, capital, [(0, len(rows))] if len(rows) else [], alone)
    return _key_figures(capital, ledger, rows, known, curve)


def _surveyed(
    ledger: Ledger, rows: Floats, capital: float, spans: Spans, alone: bool
) -> tuple[Curve, list[float]]:
    return survey(rows, capital, spans, (ledger.entry_row, ledger.exit_row) if alone else None)


def _key_figures(
    capital: float, ledger: Ledger, rows: Floats, known: Calendar, curve: Curve
) -> Figures:
    done, yearly = ledger.finished, known.periods_per_year
    final = float(rows[-1]) if len(rows) else capital
    mean_equity = curve.mean_equity if len(rows) else capital
    return {
        **metrics.trade_figures(done),
        "max_drawdown": metrics.finite(curve.deepest),
        "capital": capital,
        "final_equity": metrics.finite(final),
        "return": metrics.finite(final / capital - 1.0),
        "annual_return": metrics.annual_return(curve, known.span_years),
        "sharpe": metrics.sharpe(curve, yearly),
        "sortino": metrics.sortino(curve, yearly),
        "calmar": metrics.calmar(curve, known.span_years),
        "exposure": metrics.exposure(ledger, len(rows)),
        **metrics.cost_figures(done, mean_equity),
    }


@dataclass(frozen=True)
class Calendar:
    """Holds what a report says of its times alone; the same for every run on the same candles."""

    years: metrics.Years
    span_years: float | None
    periods_per_year: float | None
    start: str | None
    end: str | None


def calendar_of(times: metrics.Times) -> Calendar:
    """Work out the ends, the years between them and how many rows a year has."""
    span = metrics.years_of(times)
    return Calendar(
        years=metrics.year_spans(times),
        span_years=span,
        periods_per_year=None if span is None else len(times) / span,
        start=iso(int(times[0])) if len(times) else None,
        end=iso(int(times[-1])) if len(times) else None,
    )


def buy_and_hold(held: Mapping[str, tuple[float, float]]) -> Report:
    """Tells what holding everything from the start would have returned."""
    growth = {name: last / first - 1.0 for name, (first, last) in held.items()}
    mean = sum(growth.values()) / len(growth) if growth else None
    return {"return": metrics.finite(mean), "by_symbol": {k: v for k, v in growth.items() if k}}
