"""summary.json, recomputed from trades.csv, equity_curve.csv and the candles by pandas alone."""

import json
import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adapters.simbroker_adapter import SimBrokerAdapter
from adapters.strategy_loop import replay
from Backtest.simbroker import SimBroker

BARS, FEE, STOP, TARGET, CAPITAL = 2_600, 0.001, 0.02, 0.03, 10_000.0


class Often:
    """Buys on every fifth bar, sells on every seventh."""

    def __init__(self, cfg: dict[str, Any]) -> None:
        self.cfg = cfg

    def prepare_indicators(self, df: Any) -> dict[str, Any]:
        return {}

    def find_entries(self, df: Any, indicators: Any, idx: int) -> dict[str, Any] | None:
        if idx % 5:
            return None
        order = {"action": "BUY", "symbol": "A/B", "type": "MARKET", "size": {"equity": 0.5}}
        return {**order, "stop": {"fraction": STOP}, "target": {"fraction": TARGET}}

    def find_exits(self, position: Any, df: Any, indicators: Any, idx: int) -> Any:
        leaves = idx % 7 == 0
        return {"position_id": position["position_id"], "reason": "time"} if leaves else None


def candles() -> pd.DataFrame:
    """Daily candles of seven years that gap and reach both levels now and then."""
    chance = np.random.default_rng(11)
    close = 100 * np.exp(np.cumsum(chance.normal(0.0006, 0.012, BARS)))
    opened = np.concatenate(([100.0], close[:-1])) * np.exp(chance.normal(0, 0.003, BARS))
    wick = np.abs(chance.standard_t(3, (2, BARS))) * 0.006
    return pd.DataFrame(
        {
            "timestamp": pd.date_range("2017-03-01", periods=BARS, freq="D", tz="UTC"),
            "open": opened,
            "high": np.maximum(opened, close) * (1 + wick[0]),
            "low": np.minimum(opened, close) * (1 - np.minimum(wick[1], 0.5)),
            "close": close,
            "volume": 1.0,
        }
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, pd.DataFrame, pd.DataFrame]:
    """The summary, and the two tables that it has to follow from."""
    broker = SimBroker(capital=CAPITAL, commission=FEE, timeframe="1d", symbols=["A/B"])
    cfg = {"symbol": "A/B", "symbols": ["A/B"], "commission": FEE}
    replay(Often, SimBrokerAdapter(broker), candles(), cfg)
    out = tmp_path_factory.mktemp("out")
    broker.save_report(str(out))
    summary = json.loads((out / "summary.json").read_text("utf-8"))
    times = ["entry_time", "exit_time"]
    trades = pd.read_csv(out / "trades.csv", parse_dates=times)
    equity = pd.read_csv(out / "equity_curve.csv", parse_dates=["timestamp"])
    return summary, trades, equity


def near(value: float) -> Any:
    return pytest.approx(value, rel=1e-7, abs=1e-9)


def test_the_figures_of_the_trades(run: Any) -> None:
    summary, trades, _ = run
    done = trades[~trades["forced"]]
    won, lost = done[done["pnl"] > 0]["pnl"], done[done["pnl"] < 0]["pnl"]
    assert len(done) > 200
    assert summary["total_trades"] == len(done)
    assert summary["total_pnl"] == near(done["pnl"].sum())
    assert summary["win_rate"] == near(len(won) / len(done))
    assert summary["profit_factor"] == near(won.sum() / -lost.sum())
    assert summary["expectancy"] == near(done["pnl"].mean())


def test_the_figures_of_the_curve(run: Any) -> None:
    summary, _, equity = run
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import empyrical
    rows = pd.concat([pd.Series([CAPITAL]), equity["equity"]], ignore_index=True)
    returns = equity["equity"].pct_change().iloc[1:]  # between rows, as the conventions say
    years = (BARS - 1) / 365.25
    periods = BARS / years
    assert summary["periods_per_year"] == near(periods)
    assert summary["max_drawdown"] == near(-empyrical.max_drawdown(rows.pct_change().iloc[1:]))
    assert summary["sharpe"] == near(empyrical.sharpe_ratio(returns, annualization=periods))
    assert summary["sortino"] == near(empyrical.sortino_ratio(returns, annualization=periods))
    yearly = empyrical.cagr(returns, annualization=(BARS - 1) / years)
    assert summary["annual_return"] == near(yearly)
    assert summary["calmar"] == near(yearly / summary["max_drawdown"])
    assert summary["return"] == near(rows.iloc[-1] / CAPITAL - 1)


def test_the_figures_of_the_costs(run: Any) -> None:
    summary, trades, equity = run
    done = trades[~trades["forced"]]
    traded = (done["volume"] * (done["entry_price"] + done["exit_price"])).sum()
    moved = (done["volume"] * (done["exit_price"] - done["entry_price"])).sum()
    assert summary["fees"] == near(traded * FEE)
    assert summary["costs"] == near(traded * FEE)
    assert moved - traded * FEE == near(done["pnl"].sum())
    assert summary["cost_share"] == (near(traded * FEE / moved) if moved > 0 else None)
    assert summary["turnover"] == near(traded / equity["equity"].mean())
    assert summary["break_even_cost_bps"] == near(moved / traded * 1e4)


def test_the_share_of_bars_in_the_market(run: Any) -> None:
    summary, trades, equity = run
    held = np.zeros(len(equity), bool)
    moments = equity["timestamp"]
    for trade in trades.itertuples():
        open_at_end = moments.le(trade.exit_time) if trade.forced else moments.lt(trade.exit_time)
        held |= (moments.ge(trade.entry_time) & open_at_end).to_numpy()
    assert summary["exposure"] == near(held.mean())


def test_the_band_between_the_readings(run: Any) -> None:
    summary, trades, _ = run
    done = trades[~trades["forced"]]
    doubtful = done[done["ambiguous"]]
    assert len(doubtful) > 3
    better = doubtful["entry_price"] * (1 + TARGET) - doubtful["exit_price"]
    gain = (doubtful["volume"] * better * (1 - FEE)).sum()
    band = summary["ambiguity_band"]
    assert band["ambiguous_trades"] == len(doubtful)
    assert band["worst_pnl"] == near(done["pnl"].sum())
    assert band["best_pnl"] == near(done["pnl"].sum() + gain)


def test_the_years(run: Any) -> None:
    summary, trades, equity = run
    done = trades[~trades["forced"]]
    before = CAPITAL
    assert list(summary["by_year"]) == [str(year) for year in range(2017, 2025)]
    for year, rows in equity.groupby(equity["timestamp"].dt.year):
        told, of_year = summary["by_year"][str(year)], done[done["exit_time"].dt.year == year]
        curve = np.concatenate(([before], rows["equity"]))
        assert told["return"] == near(curve[-1] / before - 1)
        assert told["max_drawdown"] == near((1 - curve / np.maximum.accumulate(curve)).max())
        assert told["trades"] == len(of_year)
        assert told["pnl"] == near(math.fsum(of_year["pnl"]))
        assert told["win_rate"] == near((of_year["pnl"] > 0).mean())
        before = curve[-1]


def test_holding_beside_it(run: Any) -> None:
    summary, _, _ = run
    frame = candles()
    held = frame["close"].iloc[-1] / frame["open"].iloc[0] - 1
    assert summary["buy_and_hold"]["return"] == near(held)
