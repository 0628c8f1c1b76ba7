"""The broker agrees with a second, independently written one, trade for trade."""

import importlib.util
import random
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from Backtest.simbroker import SimBroker

STEP_MS = 15 * 60_000


def _load_reference() -> ModuleType:
    path = Path(__file__).with_name("reference.py")
    spec = importlib.util.spec_from_file_location("broker_reference", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["broker_reference"] = module
    spec.loader.exec_module(module)
    return module


reference = _load_reference()


def random_bars(rng: random.Random, count: int) -> list[tuple[float, float, float, float]]:
    """Jumpy candles on a coarse grid, so that levels are often met exactly."""
    bars, price = [], 100.0
    wild = rng.random() < 0.25  # prices double, so that shorts lose their collateral
    for _ in range(count):
        opened = max(20.0, price + rng.choice((0.0, 0.0, 0.5, -0.5, 3.0, -3.0, 6.0, -6.0)))
        if wild and rng.random() < 0.1:
            opened = rng.choice((0.5, 1.9, 2.0, 4.0)) * price if price < 1e4 else 100.0
        closed = max(20.0, opened + rng.randint(-8, 8) / 2)
        high = max(opened, closed) + rng.randint(0, 8) / 2
        low = min(opened, closed) - rng.randint(0, 8) / 2
        bars.append((opened, high, low, closed))
        price = closed
    return bars


def random_order(rng: random.Random, near: float) -> dict[str, Any]:
    """Any order that a strategy could send."""
    action = rng.choice(("BUY", "SELL"))
    side = 1 if action == "BUY" else -1
    order: dict[str, Any] = {
        "action": action,
        "symbol": "X",
        "volume": rng.choice((1.0, 5.0, 20.0, 60.0)),
        "type": rng.choice(("MARKET", "MARKET", "MARKET", "LIMIT", "STOP")),
    }
    if order["type"] != "MARKET":
        order["price"] = near + rng.randint(-10, 10) / 2 + rng.choice((0.0, 0.13))
    form = rng.randint(0, 3)
    if form == 0:
        order["stop"] = {"fraction": rng.choice((0.02, 0.05))}
    elif form == 1:
        order["stop"] = {"distance": rng.choice((2.0, 4.5))}
    elif form == 2:
        order["sl"] = near - side * rng.choice((2.0, 5.0))
    form = rng.randint(0, 3)
    if form == 0:
        order["target"] = {"fraction": rng.choice((0.02, 0.06))}
    elif form == 1:
        order["target"] = {"distance": rng.choice((2.0, 5.0))}
    elif form == 2:
        order["tp"] = near + side * rng.choice((2.0, 5.0))
    if rng.random() < 0.4 and "sl" not in order:
        order["trail"] = {"fraction": rng.choice((0.01, 0.03))}
        if rng.random() < 0.6:
            order["trail"]["activate_at"] = rng.choice((0.013, 0.037))
            order["trail"]["only_after_activation"] = rng.random() < 0.5
    if rng.random() < 0.4:
        order["roi"] = {0: 0.06, 30: 0.03, 90: rng.choice((0.0, 0.01))}
    return order


def random_world(seed: int) -> Any:
    """A few dozen candles with orders and closes strewn over them."""
    rng = random.Random(seed)
    bars = random_bars(rng, 60)
    world = reference.World(
        bars,
        STEP_MS,
        {},
        {},
        capital=rng.choice((1_000.0, 10_000.0)),
        commission=rng.choice((0.0, 0.001)),
        slippage=rng.choice((0.0, 0.0005)),
        spread=rng.choice((0.0, 0.0004)),
        tick=rng.choice((None, None, 0.05, 0.25)),
        execution=rng.choice(("next_open", "next_open", "this_close")),
    )
    number = 0
    for n in range(len(bars)):
        if rng.random() < 0.25:
            number += 1
            world.orders[n] = [random_order(rng, bars[n][3])]
        if rng.random() < 0.15 and number:
            world.closes[n + 1] = [rng.randint(max(1, number - 2), number)]
    return world


def play(world: Any) -> SimBroker:
    """The same world on the product."""
    broker = SimBroker(
        capital=world.capital,
        commission=world.commission,
        slippage=world.slippage,
        spread=world.spread,
        tick=world.tick,
        execution=world.execution,
    )
    positions: list[str] = []
    for n, (o, h, low, c) in enumerate(world.bars):
        for order in world.orders.get(n, []):
            answer = broker.place_order(order)
            assert answer["success"], answer
            positions.append(answer["position_id"])
        broker.step_candle(n * STEP_MS, o, h, low, c, 1.0, "X")
        for number in world.closes.get(n + 1, []):
            broker.close_position(positions[number - 1])
    return broker


@pytest.mark.parametrize("batch", range(10))
def test_every_trade_equals_the_references_trade(batch: int) -> None:
    for seed in range(batch * 60, batch * 60 + 60):
        world = random_world(seed)
        expected = reference.simulate(world)
        found = play(world).get_trades()
        assert len(found) == len(expected), seed
        for trade, wanted in zip(found, expected, strict=True):
            got = {
                "entry_bar": trade.entry_row,
                "exit_bar": trade.exit_row,
                "rule_in": trade.rule_in,
                "rule_out": trade.rule_out,
                "ambiguous": trade.ambiguous,
                "forced": trade.forced,
            }
            assert got == {key: wanted[key] for key in got}, (seed, trade, wanted)
            for key in ("entry_price", "exit_price", "pnl", "fees"):
                assert getattr(trade, key) == pytest.approx(wanted[key], rel=1e-9, abs=1e-7), seed


def test_the_random_worlds_reach_every_rule() -> None:
    rules_in, rules_out = set(), set()
    for seed in range(300):
        for trade in play(random_world(seed)).get_trades():
            rules_in.add(trade.rule_in)
            rules_out.add(trade.rule_out)
    assert rules_in == {
        "enter_long",
        "enter_short",
        "limit",
        "limit_better_open",
        "stop",
        "stop_gap",
    }
    assert rules_out == {
        "stop",
        "stop_gap",
        "trailing_stop",
        "trailing_gap",
        "target",
        "target_gap",
        "roi",
        "liquidated",
        "roi_gap",
        "exit_long",
        "exit_short",
        "end_of_data",
    }
