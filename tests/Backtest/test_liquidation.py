"""A short loses its collateral and no more: it is liquidated, and equity is never below zero."""

import random
from typing import Any

import pytest

from Backtest.simbroker import SimBroker

STEP_MS = 60_000


def shorted(volume: float = 100.0, /, **settings: Any) -> SimBroker:
    """A short from 100, held since the open of the third bar."""
    order = settings.pop("order", {})
    broker = SimBroker(**settings)
    broker.step_candle(0, 100.0, 100.0, 100.0, 100.0, 1.0, "X")
    answer = broker.place_order({"action": "SELL", "symbol": "X", "volume": volume, **order})
    assert answer["success"]
    for n in (1, 2):
        broker.step_candle(n * STEP_MS, 100.0, 100.0, 100.0, 100.0, 1.0, "X")
    return broker


def last_bar(broker: SimBroker, *prices: float) -> dict[str, Any]:
    (event,) = broker.step_candle(3 * STEP_MS, *prices, 1.0, "X")
    return event


@pytest.mark.parametrize("bar", [(400, 420, 390, 400), (200, 210, 190, 195), (100, 200, 99, 120)])
@pytest.mark.parametrize("order", [{}, {"stop": {"distance": 120.0}}, {"sl": 250.0}])
def test_a_short_whose_price_doubles_loses_its_collateral_and_no_more(
    bar: tuple[float, ...], order: dict[str, Any]
) -> None:
    broker = shorted(order=order)
    event = last_bar(broker, *bar)
    assert (event["event"], event["rule"], event["price"]) == ("liquidated", "liquidated", 200.0)
    assert broker.get_account()["equity"] == 0.0
    (trade,) = broker.get_trades()
    assert (trade.rule_in, trade.rule_out, trade.pnl) == ("enter_short", "liquidated", -10_000.0)


def test_a_gap_beyond_stop_and_collateral_is_a_liquidation_a_smaller_one_the_stop() -> None:
    order = {"stop": {"fraction": 0.02}}
    assert last_bar(shorted(order=order), 400, 400, 400, 400)["event"] == "liquidated"
    event = last_bar(shorted(order=order), 199.9, 260, 199, 250)
    assert (event["rule"], event["price"]) == ("stop_gap", 199.9)


def test_a_close_that_was_asked_for_comes_too_late_at_an_open_beyond() -> None:
    broker = shorted()
    broker.close_position("pos_1")
    assert last_bar(broker, 400, 400, 400, 400)["rule"] == "liquidated"
    broker = shorted()
    broker.close_position("pos_1")
    event = last_bar(broker, 150, 400, 150, 400)
    assert (event["event"], event["rule"], event["price"]) == ("position_closed", "exit_short", 150)


def test_costs_bring_the_liquidation_nearer() -> None:
    costs = {"commission": 0.01, "slippage": 0.02}
    assert shorted(90.0, **costs).step_candle(3 * STEP_MS, 150, 190.1, 150, 150, 1.0, "X") == []
    broker = shorted(90.0, **costs)
    event = last_bar(broker, 150, 190.4, 150, 150)  # sold at 98: 196 / 1.01 / 1.02 is 190.25
    assert event["rule"] == "liquidated"
    assert event["price"] == pytest.approx(196 / 1.01)
    (trade,) = broker.get_trades()
    assert trade.pnl == pytest.approx(-90 * 98 * 1.01)
    assert broker.equity == pytest.approx(10_000 - 90 * 98 * 1.01)


def test_positions_are_isolated_from_each_other() -> None:
    broker = SimBroker(capital=10_000.0)
    for symbol in ("X", "Y"):
        broker.step_candle(0, 100.0, 100.0, 100.0, 100.0, 1.0, symbol)
        broker.place_order({"action": "SELL", "symbol": symbol, "volume": 20})
    for n in (1, 2):
        for symbol in ("X", "Y"):
            broker.step_candle(n * STEP_MS, 100.0, 100.0, 100.0, 100.0, 1.0, symbol)
    broker.step_candle(3 * STEP_MS, 900.0, 900.0, 900.0, 900.0, 1.0, "X")
    assert [position["symbol"] for position in broker.get_positions()] == ["Y"]
    assert broker.equity == 8_000.0


def test_a_long_is_never_liquidated() -> None:
    broker = SimBroker()
    broker.step_candle(0, 100.0, 100.0, 100.0, 100.0, 1.0, "X")
    broker.place_order({"action": "BUY", "symbol": "X", "volume": 100})
    for n in (1, 2):
        broker.step_candle(n * STEP_MS, 100.0, 100.0, 100.0, 100.0, 1.0, "X")
    assert broker.step_candle(3 * STEP_MS, 0.01, 0.01, 0.01, 0.01, 1.0, "X") == []
    assert broker.equity == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(60))
def test_equity_is_never_below_zero(seed: int) -> None:
    """Wild prices, any costs and ticks, several symbols that share cash, every kind of order."""
    rng = random.Random(seed)
    broker = SimBroker(
        capital=rng.choice((100.0, 10_000.0)),
        commission=rng.choice((0.0, 0.001, 0.3)),
        slippage=rng.choice((0.0, 0.001, 0.4)),
        tick=rng.choice((None, 0.01, 7.0)),
        execution=rng.choice(("next_open", "this_close")),
    )
    prices = {"X": 100.0, "Y": 30.0}
    for n in range(150):
        for symbol, price in prices.items():
            if rng.random() < 0.4:
                share = rng.choice((0.2, 0.9, 1.0)) * max(0.0, broker.get_account()["cash"])
                order: dict[str, Any] = {
                    "action": rng.choice(("SELL", "SELL", "BUY")),
                    "symbol": symbol,
                    "volume": share / price,
                    "type": rng.choice(("MARKET", "MARKET", "LIMIT", "STOP")),
                }
                if order["type"] != "MARKET":
                    order["price"] = price * rng.uniform(0.8, 1.3)
                if rng.random() < 0.5:
                    order["stop"] = {"fraction": rng.choice((0.1, 0.9, 0.999))}
                broker.place_order(order)
            opened = max(1.0, price * rng.choice((1.0, 1.0, 0.5, 1.95, 2.1, 4.0)))
            close = opened * rng.uniform(0.7, 1.4)
            high, low = max(opened, close) * rng.choice((1.0, 1.9)), min(opened, close) * 0.9
            broker.step_candle(n * STEP_MS, opened, high, low, close, 1.0, symbol)
            prices[symbol] = close if close < 1e6 else 50.0
            for position in broker.get_positions():
                if rng.random() < 0.1:
                    broker.close_position(position["position_id"])
    rows = broker.get_equity_curve()
    assert min(equity for _, equity, _ in rows) >= 0.0
    assert min(cash for _, _, cash in rows) >= 0.0
    traded = sum(trade.pnl for trade in broker.get_trades() if not trade.forced)
    assert broker.get_account()["realized_pnl"] == pytest.approx(traded)
