"""Turns a run's trades and equity into the report: every figure, and the conventions behind it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from Backtest import metrics
from Backtest.conventions import FILL_CONVENTIONS, METRIC_CONVENTIONS
from Backtest.positions import Trade
from Backtest.settings import SimSettings
from Backtest.times import iso, timeframe_ms


def make_report(
    *,
    settings: SimSettings,
    trades: Sequence[Trade],
    times: Sequence[int],
    equity: Sequence[float],
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
    done = [trade for trade in trades if not trade.forced]
    capital = settings.capital
    final = equity[-1] if equity else capital
    returns = metrics.returns_of(equity)
    deepest = metrics.max_drawdown(equity, capital)
    yearly = _periods(settings, times, held)
    mean_equity = sum(equity) / len(equity) if equity else capital
    figures = {
        **metrics.trade_figures(done),
        "max_drawdown": metrics.finite(deepest),
        "capital": capital,
        "final_equity": metrics.finite(final),
        "return": metrics.finite(final / capital - 1.0),
        "annual_return": metrics.annual_return(returns, yearly),
        "sharpe": metrics.sharpe(returns, yearly),
        "sortino": metrics.sortino(returns, yearly),
        "calmar": metrics.calmar(returns, deepest, yearly),
        "exposure": metrics.exposure(trades, len(times)),
        **metrics.cost_figures(done, mean_equity),
        "ambiguity_band": metrics.ambiguity_band(done),
        "by_year": metrics.by_year(done, times, equity, capital),
        "buy_and_hold": _buy_and_hold(held),
        "forced_exits": len(trades) - len(done),
        "forced_pnl": sum(trade.pnl for trade in trades if trade.forced),
        "orders_rejected": rejected,
        "bars": len(times),
        "start": iso(times[0]) if times else None,
        "end": iso(times[-1]) if times else None,
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
    settings: SimSettings, times: Sequence[int], held: Mapping[str, tuple[float, float]]
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
