"""Freqtrade in live mode on the exchange: a sample of `make bridge`, with our launcher."""

import os
from pathlib import Path

import pytest

from integration.adapter.loopback import Loopback
from tests.integration import live_futures
from tests.integration.live_orders import protected, run_hit, run_row
from tests.redis_server import PROGRAM, WHY

pytestmark = [
    pytest.mark.freqtrade,
    pytest.mark.skipif(PROGRAM is None, reason=WHY),
]


@pytest.fixture
def freqtrade() -> Path:
    return Path(os.environ["STRATWRIGHT_FREQTRADE"])


@pytest.mark.parametrize(("leg", "fault"), [("entry", "lost"), ("entry", "kill -9")])
def test_a_fault_at_an_order_call_leaves_one_order_and_one_stop(
    tmp_path: Path, freqtrade: Path, leg: str, fault: str
) -> None:
    found = run_row(tmp_path, freqtrade, leg, fault, safe=True)
    assert found.is_clean, found
    assert (found.buys, found.stops, found.sells) == (1, 1, 0)


def test_what_a_stop_left_is_sold_too(tmp_path: Path, freqtrade: Path) -> None:
    found = run_hit(tmp_path, freqtrade, "partial", safe=True)
    assert found.is_clean, found
    assert (found.buys, found.stops, found.sells) == (1, 0, 2)


def test_a_futures_stop_that_freqtrade_was_killed_at_is_one_stop(
    tmp_path: Path, freqtrade: Path
) -> None:
    found = live_futures.run_row(tmp_path, freqtrade, "stop", "kill -9", safe=True)
    assert found.is_clean, found
    assert (found.buys, found.stops, found.sells) == (1, 1, 0)


def test_a_long_pays_its_funding(world: Loopback) -> None:
    live_futures.start(world)
    protected(world)
    world.control(advance_s=9 * 3600)
    closed = "SELECT exit_reason, funding_fees FROM trades WHERE is_open = 0"
    ((reason, fees),) = world.wait(lambda: world.ask(closed), "freqtrade", "its target ends it")
    paid = sum(float(row["income"]) for row in world.control()["income"])
    assert reason == "target"
    assert fees == pytest.approx(paid)
    assert fees < 0


def test_a_short_has_a_liquidation_price_and_ends_at_its_stop(world: Loopback) -> None:
    live_futures.start(world, side="short")
    protected(world)
    state = world.control()
    (stop,) = [order for order in state["orders"] if "algoId" in order]
    assert stop["reduceOnly"]
    asked = "SELECT open_rate, amount, liquidation_price, leverage FROM trades"
    ((price, amount, liquidation, leverage),) = world.ask(asked)
    assert leverage == 3
    assert state["hits"]["POST /fapi/v1/marginType"]
    assert state["hits"]["POST /fapi/v1/leverage"]
    assert -float(state["positions"]["BTCUSDT"]) == pytest.approx(amount)
    # Where the exchange takes it away, less the twentieth that Freqtrade keeps away from there.
    taken = price * (1 + 1 / 3) / 1.004
    assert liquidation == pytest.approx(taken - (taken - price) * 0.05, rel=1e-4)
    before = float(state["wallet"])
    world.control(advance_s=9 * 3600)
    closed = "SELECT exit_reason, funding_fees, close_profit_abs FROM trades WHERE is_open = 0"
    ((reason, fees, profit),) = world.wait(
        lambda: world.ask(closed), "freqtrade", "the stop ends it"
    )
    after = world.control()
    assert reason == "stoploss_on_exchange"
    assert float(after["positions"]["BTCUSDT"]) == 0
    assert fees == 0  # its stop came before the hour of funding
    assert profit == pytest.approx(
        float(after["wallet"]) - before - price * amount * 0.0005, abs=0.01
    )
