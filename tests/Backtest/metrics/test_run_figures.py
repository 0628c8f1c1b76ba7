"""Figures agree with hand calculations and with an established library."""

import math
import random
import warnings

import numpy as np
import pytest

from Backtest.metrics import curves
from Backtest.metrics import run_figures as metrics
from Backtest.positions import Trade
from Backtest.simbroker import SimBroker
from Backtest.times import DAY_MS, MINUTE_MS, to_ms


def trade(pnl: float, **more: object) -> Trade:
    fields: dict[str, object] = {
        "position_id": "pos_1",
        "symbol": "X",
        "side": "long",
        "volume": 2.0,
        "entry_time": 0,
        "entry_price": 100.0,
        "exit_time": 0,
        "exit_price": 110.0,
        "pnl": pnl,
        "fees": 0.5,
        "rule_in": "enter_long",
        "rule_out": "target",
        "ambiguous": False,
        "forced": False,
        "cost": 1.0,
        "best_pnl": pnl,
        "entry_row": 0,
        "exit_row": 1,
    }
    return Trade(**{**fields, **more})  # type: ignore[arg-type]


def random_equity(seed: int, rows: int = 300) -> list[float]:
    rng = random.Random(seed)
    equity = [10_000.0]
    for _ in range(rows):
        equity.append(equity[-1] * (1 + rng.gauss(0.0003, 0.01)))
    return equity


def test_trade_figures_by_hand() -> None:
    figures = metrics.trade_figures([trade(30.0), trade(-10.0), trade(0.0), trade(-5.0)])
    assert figures["total_trades"] == 4
    assert figures["total_pnl"] == 15.0
    assert figures["win_rate"] == 0.25
    assert figures["profit_factor"] == 2.0
    assert figures["expectancy"] == 3.75
    assert (figures["best_trade"], figures["worst_trade"]) == (30.0, -10.0)


def test_a_profit_factor_without_losses_is_none_not_infinite() -> None:
    assert metrics.trade_figures([trade(1.0)])["profit_factor"] is None


def test_drawdown_by_hand() -> None:
    assert curves.max_drawdown([100, 120, 90, 130, 117]) == pytest.approx(0.25)
    assert curves.drawdowns([90, 80], start=100).tolist() == pytest.approx([0.1, 0.2])
    assert curves.max_drawdown([]) == 0.0


def test_a_long_curve_is_measured_as_if_it_were_one_block() -> None:
    chance = np.random.default_rng(5)
    rows = 1e4 * np.exp(np.cumsum(chance.normal(1e-5, 1e-3, 3 * curves.BLOCK_ROWS + 17)))
    returns = rows[1:] / rows[:-1] - 1.0
    curve = curves.curve_of(rows, 2e4)
    assert curve.returns == len(returns)
    assert curve.mean == pytest.approx(returns.mean(), rel=1e-9)
    assert curve.deviation == pytest.approx(returns.std(ddof=1), rel=1e-9)
    assert curve.downside == pytest.approx(math.sqrt((np.minimum(returns, 0) ** 2).mean()))
    assert curve.deepest == curves.drawdowns(rows, 2e4).max()
    assert curves.max_drawdown(rows) == curves.drawdowns(rows).max()


def test_sharpe_and_sortino_by_hand() -> None:
    curve = curves.curve_of([100, 110, 99, 108.9])
    assert (curve.returns, curve.mean) == (3, pytest.approx(0.1 / 3))
    mean, deviation = 0.1 / 3, math.sqrt(((0.2 / 3) ** 2 * 2 + (0.4 / 3) ** 2) / 2)
    assert metrics.sharpe(curve, 252) == pytest.approx(mean / deviation * math.sqrt(252))
    downside = math.sqrt(0.01 / 3)
    assert metrics.sortino(curve, 252) == pytest.approx(mean / downside * math.sqrt(252))


def test_ratios_without_meaning_are_none() -> None:
    flat = curves.curve_of([100.0] * 5)
    assert metrics.sharpe(flat, 252) is None
    assert metrics.sortino(flat, 252) is None
    assert metrics.calmar(flat, 252) is None
    assert metrics.sharpe(curves.curve_of([1.0, 2.0, 1.0]), None) is None
    assert curves.curve_of([100.0, -5.0, 10.0]).returns == 0


def test_an_annual_return_too_large_to_write_is_none() -> None:
    assert metrics.annual_return(curves.curve_of([1.0, 10.0, 100.0]), 2 / 525_600) is None


@pytest.mark.parametrize("seed", range(5))
def test_ratios_agree_with_empyrical(seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        empyrical = pytest.importorskip("empyrical")
        equity = random_equity(seed)
        rows = np.asarray(equity)
        returns = rows[1:] / rows[:-1] - 1.0
        curve = curves.curve_of(equity)
        yearly = 365.0
        assert metrics.sharpe(curve, yearly) == pytest.approx(
            empyrical.sharpe_ratio(returns, annualization=365)
        )
        assert metrics.sortino(curve, yearly) == pytest.approx(
            empyrical.sortino_ratio(returns, annualization=365)
        )
        assert curve.deepest == pytest.approx(-empyrical.max_drawdown(returns))
        assert metrics.annual_return(curve, curve.returns / yearly) == pytest.approx(
            empyrical.annual_return(returns, annualization=365)
        )
        assert metrics.calmar(curve, curve.returns / yearly) == pytest.approx(
            empyrical.calmar_ratio(returns, annualization=365)
        )


def test_costs_by_hand() -> None:
    figures = metrics.cost_figures([trade(19.0), trade(-3.0)], mean_equity=1_000.0)
    assert figures["fees"] == 1.0
    assert figures["costs"] == 2.0
    assert figures["cost_share"] == pytest.approx(2 / 18)
    assert figures["traded_value"] == 840.0
    assert figures["turnover"] == pytest.approx(0.84)
    assert figures["break_even_cost_bps"] == pytest.approx(18 / 840 * 10_000)


def test_at_the_break_even_cost_the_profit_is_zero() -> None:
    one = trade(20.0, cost=0.0)
    bps = metrics.cost_figures([one], 1.0)["break_even_cost_bps"]
    paid = one.volume * (one.entry_price + one.exit_price) * bps / 10_000
    assert one.pnl - paid == pytest.approx(0.0)


def test_exposure_counts_closes_with_a_position_once() -> None:
    one, other = trade(1.0, entry_row=2, exit_row=5), trade(1.0, entry_row=4, exit_row=6)
    assert metrics.exposure([one, other], 10) == pytest.approx(0.4)
    still_open = trade(1.0, entry_row=8, exit_row=9, forced=True)
    assert metrics.exposure([still_open], 10) == pytest.approx(0.2)
    assert metrics.exposure([trade(1.0, entry_row=3, exit_row=3)], 10) == 0.0


def test_the_band_spans_worst_and_best() -> None:
    band = metrics.ambiguity_band([trade(-5.0, ambiguous=True, best_pnl=5.0), trade(3.0)])
    assert band == {"ambiguous_trades": 1, "worst_pnl": -2.0, "best_pnl": 8.0}


def test_years_are_told_apart() -> None:
    start = 1_703_980_800_000  # 2023-12-31
    times = [start + i * DAY_MS for i in range(4)]
    trades = [trade(5.0, exit_time=times[0]), trade(-2.0, exit_time=times[3])]
    table = metrics.by_year(trades, times, [105.0, 110.0, 99.0, 103.0], 100.0)
    assert list(table) == ["2023", "2024"]
    assert table["2023"]["return"] == pytest.approx(0.05)
    assert table["2024"]["return"] == pytest.approx(103 / 105 - 1)
    assert table["2024"]["max_drawdown"] == pytest.approx(0.1)
    assert (table["2023"]["trades"], table["2024"]["pnl"]) == (1, -2.0)


def test_a_year_after_equity_is_gone_has_no_return_and_no_drawdown() -> None:
    times = [to_ms(f"{year}-06-01") for year in (2021, 2022, 2023)]
    table = metrics.by_year([], times, [0.0, -10.0, 50.0], 100.0)
    assert table["2021"]["max_drawdown"] == 1.0
    for year in ("2022", "2023"):
        assert table[year]["return"] is None
        assert table[year]["max_drawdown"] is None


def test_a_trade_that_comes_out_even_has_not_won_or_lost() -> None:
    even = [trade(pnl, exit_time=DAY_MS) for pnl in (2e-14, -2e-14, 0.0)]
    trades = [*even, trade(1e-6, exit_time=DAY_MS), trade(-1e-6, exit_time=DAY_MS)]
    figures = metrics.trade_figures(trades)
    assert (figures["winners"], figures["losers"], figures["win_rate"]) == (1, 1, 0.2)
    year = metrics.by_year(trades, [0, DAY_MS], [100.0, 100.0], 100.0)["1970"]
    assert year["win_rate"] == 0.2


@pytest.mark.parametrize("action", ["BUY", "SELL"])
def test_an_roi_of_0_comes_out_even(action: str) -> None:
    broker = SimBroker(commission=0.001, slippage=0.0007)
    order = {"action": action, "symbol": "X", "volume": 0.37, "roi": {0: 0.0}}
    broker.place_order(order)
    for step, price in enumerate((97.3, 97.3, 97.3)):
        broker.step_candle(step * MINUTE_MS, price, price * 1.01, price * 0.99, price, 1.0, "X")
    report = broker.generate_report()
    assert report["total_trades"] == 1
    assert (report["winners"], report["losers"]) == (0, 0)
