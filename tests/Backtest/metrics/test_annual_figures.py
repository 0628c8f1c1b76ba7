"""Annual figures go by the calendar, whatever candles are missing: held against empyrical."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adapters.simbroker_adapter import SimBrokerAdapter
from adapters.strategy_loop import replay
from Backtest.candles import columns_of
from Backtest.metrics import run_figures as metrics
from Backtest.metrics.curves import curve_of
from Backtest.metrics.many_runs import Played, sweep
from Backtest.simbroker import SimBroker

DAY_S = 86_400.0
STEP = {"stop": {"fraction": 0.03}, "target": {"fraction": 0.04}, "size": {"equity": 0.3}}


class Often:
    """Buys on every fifth bar, sells on every seventh; offers both as arrays."""

    def __init__(self, cfg: dict[str, Any]) -> None:
        self.cfg = cfg

    def prepare_indicators(self, df: Any) -> dict[str, Any]:
        return {"bars": len(df)}

    def find_entries(self, df: Any, indicators: Any, idx: int) -> dict[str, Any] | None:
        order = {"action": "BUY", "type": "MARKET", "comment": "enter_long", **STEP}
        if len(self.cfg["symbols"]) == 1:
            order["symbol"] = self.cfg["symbol"]
        return None if idx % 5 else order

    def find_exits(self, position: Any, df: Any, indicators: Any, idx: int) -> Any:
        if idx % 7 or position["action"] != "BUY":
            return None
        return {"position_id": position["position_id"], "action": "BUY"}

    def signals(self, indicators: Any) -> dict[str, Any]:
        return offered(indicators["bars"])


def offered(bars: int) -> dict[str, Any]:
    rows = np.arange(bars)
    return {"enter_long": rows % 5 == 0, "exit_long": rows % 7 == 0, **STEP}


def candles(moments: pd.DatetimeIndex, seed: int, drift: float = 0.0008) -> pd.DataFrame:
    """A market that gains, one row at each moment."""
    chance = np.random.default_rng(seed)
    bars = len(moments)
    close = 100 * np.exp(np.cumsum(chance.normal(drift, 0.012, bars)))
    opened = np.concatenate(([100.0], close[:-1]))
    wick = np.abs(chance.normal(0, 0.006, (2, bars)))
    prices = {
        "open": opened,
        "high": np.maximum(opened, close) * (1 + wick[0]),
        "low": np.minimum(opened, close) * (1 - wick[1]),
        "close": close,
        "volume": 1.0,
    }
    return pd.DataFrame({"timestamp": moments, **prices})


def days(first: str, count: int, freq: str = "D") -> pd.DatetimeIndex:
    return pd.date_range(first, periods=count, freq=freq, tz="UTC")


def gapped() -> pd.DataFrame:
    hours = days("2023-02-01", 4_000, "h")
    kept = np.sort(np.random.default_rng(3).choice(len(hours), 2_000, replace=False))
    return candles(hours[kept], 4, 0.0002)


def together(*histories: pd.DatetimeIndex) -> pd.DataFrame:
    frames = [candles(moments, seed) for seed, moments in enumerate(histories)]
    return pd.concat(
        [frame.assign(symbol=f"{name}/USDT") for name, frame in zip("ABC", frames, strict=False)],
        ignore_index=True,
    )


MARKETS = {
    "whole": lambda: candles(days("2017-05-04", 2_000), 1),
    "gapped": gapped,
    "weekdays": lambda: candles(days("2012-01-02", 2_100, "B"), 2),
    "months": lambda: candles(days("1930-01-01", 1_100, "MS"), 5, 0.002),
    "several symbols": lambda: together(days("2022-01-01", 500), days("2022-06-01", 500)),
    "disjoint": lambda: together(
        days("2015-01-01", 200), days("2018-01-01", 200), days("2022-01-01", 200)
    ),
}


def played(frame: pd.DataFrame, compiled: bool) -> SimBroker:
    symbols = list(dict.fromkeys(frame.get("symbol", pd.Series(["A/USDT"]))))
    broker = SimBroker(commission=0.0005, symbols=symbols, compiled=compiled)
    cfg = {"symbols": symbols, "symbol": symbols[0], "max_positions": 3, "commission": 0.0005}
    replay(Often, SimBrokerAdapter(broker), frame, cfg)
    return broker


@pytest.mark.parametrize("market", MARKETS)
def test_annual_figures_are_those_of_calendar_years(market: str) -> None:
    frame = MARKETS[market]()
    broker = played(frame, compiled=True)
    summary = broker.generate_report()
    curve = pd.Series(
        {pd.Timestamp(time, unit="ms"): equity for time, equity, _ in broker.get_equity_curve()}
    )
    returns = curve.pct_change().iloc[1:]
    years = (curve.index[-1] - curve.index[0]).total_seconds() / (365.25 * DAY_S)
    periods = len(curve) / years
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import empyrical
    near = lambda value: pytest.approx(value, rel=1e-9)  # noqa: E731
    assert len(curve) == frame["timestamp"].nunique()
    assert summary["years"] == near(years)
    assert summary["periods_per_year"] == near(periods)
    assert summary["annual_return"] == near((curve.iloc[-1] / curve.iloc[0]) ** (1 / years) - 1)
    assert summary["annual_return"] == near(
        empyrical.cagr(returns, annualization=len(returns) / years)
    )
    assert summary["sharpe"] == near(empyrical.sharpe_ratio(returns, annualization=periods))
    assert summary["sortino"] == near(empyrical.sortino_ratio(returns, annualization=periods))
    assert summary["calmar"] == near(summary["annual_return"] / summary["max_drawdown"])


@pytest.mark.parametrize("market", ["whole", "gapped", "weekdays"])
def test_both_paths_and_the_sweep_give_the_same_figures(market: str) -> None:
    import Backtest.compiled.kernel  # noqa: F401 - loaded, so that few bars are enough

    frame = MARKETS[market]()
    compiled, stepped = played(frame, True), played(frame, False)
    report = compiled.generate_report()
    assert report == stepped.generate_report()
    (swept,) = sweep(
        columns_of(frame),
        lambda columns, _: offered(len(columns)),
        [{}],
        Played.report,
        symbol="A/USDT",
        settings=compiled.settings,
    )
    for name in ("years", "periods_per_year", "annual_return", "sharpe", "sortino", "calmar"):
        assert swept[name] == report[name] is not None


def test_half_of_the_candles_do_not_change_the_yearly_growth() -> None:
    """The same growth in the same time is the same growth a year, however many rows tell it."""
    times = days("2021-01-01", 1_001).as_unit("ms").asi8.tolist()
    rows = (100 * np.exp(np.linspace(0, 0.5, 1_001))).tolist()
    whole = metrics.annual_return(curve_of(rows), metrics.years_of(times))
    halved = metrics.annual_return(curve_of(rows[::2]), metrics.years_of(times[::2]))
    assert whole == pytest.approx(np.exp(0.5 / (1_000 / 365.25)) - 1)
    assert halved == pytest.approx(whole)


@pytest.mark.parametrize("times", [[], [5], [0, 1, 2, 3], [7_000, 7_000]])
def test_times_without_a_span_give_no_annual_figure(times: list[int]) -> None:
    assert metrics.years_of(times) is None
    assert metrics.annual_return(curve_of([100.0, 101.0]), None) is None


def test_one_bar_gives_no_annual_figure() -> None:
    broker = SimBroker()
    broker.step_candle(1_700_000_000_000, 1.0, 1.0, 1.0, 1.0)
    report = broker.generate_report()
    names = ("years", "periods_per_year", "annual_return", "sharpe", "sortino", "calmar")
    assert [report[name] for name in names] == [None] * 6
