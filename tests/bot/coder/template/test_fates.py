"""Drawn candles end an order where the contract says: by hand, by the broker, for every form."""

import itertools
import random
from typing import Any

import pytest

from adapters.testing import market, played_out
from bot.coder.template.expected import Expected, expect
from bot.contract.language.program import compile_contract
from bot.contract.model import Contract
from bot.contract.numbers import flat_settings
from tests.bot.coder.template.test_template_coder import contract

STOPS: tuple[Any, ...] = (0.02, 0.3, {"atr": 2.0}, {"atr": 1.5, "timeperiod": 5})
TARGETS: tuple[Any, ...] = (None, 0.04, 1.5, {"atr": 3.0})
TRAILS: tuple[Any, ...] = (
    None,
    0.03,
    {"distance": 0.01, "activate_at": 0.058},
    {"distance": 0.01, "activate_at": 0.02, "only_after_activation": True},
)
TABLES: tuple[Any, ...] = (
    None,
    {"0": 0.04, "60": 0.02, "240": 0},
    {"30": 0.01},
    {"0": 0.1, "90": -0.01},
)
COSTS = ({}, {"commission": 0.002, "slippage": 0.001, "spread": 0.0006}, {"commission": 0})
SIDES = {
    "long": {"enter_long": "close > open"},
    "short": {"enter_short": "close < open", "exit_short": "close > open"},
    "both": {"enter_long": "close > open", "enter_short": "close < open"},
}


def expected_of(made: Contract) -> tuple[Expected, dict[str, Any]]:
    program = compile_contract(made)
    cfg = dict(flat_settings(made, program).defaults)
    return expect(made, program, cfg), cfg


def held_to_the_broker(made: Contract) -> Expected:
    expected, cfg = expected_of(made)
    candles = market(expected.bars, expected.seed, expected.minutes)
    for name, (bar, after, trade) in expected.fates.items():
        found = played_out(expected.orders[bar], candles.iloc[bar], after, cfg)
        for mine, theirs in zip(found, trade, strict=True):
            assert mine == (theirs if isinstance(theirs, str) else pytest.approx(theirs)), name
    return expected


def rules_of(expected: Expected) -> set[str]:
    return {trade[5] for _, _, trade in expected.fates.values()}


def test_the_broker_agrees_for_every_form_of_risk() -> None:
    chance = random.Random(7)
    every = itertools.product(STOPS, TARGETS, TRAILS, TABLES, COSTS, SIDES)
    # No short can gain more than all.
    forms = [form for form in every if form[1] != 1.5 or form[5] == "long"]
    seen: set[str] = set()
    for stop, target, trail, table, costs, side in chance.sample(forms, 60):
        risk = {"stop_loss": stop, "take_profit": target, "trailing_stop": trail, "roi": table}
        given = {key: value for key, value in risk.items() if value is not None}
        spec: dict[str, Any] = {"symbols": ["BTC/USDT"], "timeframe": "1h", "type": "futures"}
        if chance.random() < 0.3:
            spec |= {"tick": 0.05, "lot": 0.5, "min_notional": 500}
        execution = "this_close" if chance.random() < 0.3 else "next_open"
        made = contract(
            risk=given,
            costs=costs,
            rules=SIDES[side],
            market=spec,
            execution=execution,
            targets=["adapter"],
        )
        seen |= rules_of(held_to_the_broker(made))
    kinds = {"stop", "stop_gap", "target", "target_gap", "roi", "roi_gap", "trailing_stop"}
    assert kinds | {"trailing_gap", "end_of_data"} == seen


def test_a_stop_and_a_target_are_surely_hit() -> None:
    made = contract(
        risk={"stop_loss": 0.05, "take_profit": 0.1}, costs={"commission": 0, "slippage": 0}
    )
    expected, _ = expected_of(made)
    bar, candles, trade = expected.fates["long: runs through the stop"]
    close = candles[0][1]
    assert bar in expected.orders
    assert trade[:6] == ("long", 1, close, 1, pytest.approx(0.95 * close), "stop")
    assert trade[6] == pytest.approx(-0.05 * close)
    reached = expected.fates["long: reaches the target"][2]
    assert reached[3:6] == (1, pytest.approx(1.1 * close), "target")


def test_a_short_pays_commission_slippage_and_its_stop() -> None:
    made = contract(
        rules=SIDES["short"],
        risk={"stop_loss": 0.1},
        costs={"commission": 0.01, "slippage": 0.02, "spread": 0.02},
    )
    expected, _ = expected_of(made)
    _, candles, trade = expected.fates["short: runs through the stop"]
    sold = 0.97 * candles[0][1]
    bought = 1.03 * 1.1 * sold
    assert trade[2] == pytest.approx(sold)
    assert trade[4] == pytest.approx(bought)
    assert trade[6] == pytest.approx(sold - bought - 0.01 * (sold + bought))


def test_an_roi_table_is_walked_key_by_key() -> None:
    made = contract(
        risk={"stop_loss": 0.3, "roi": {"0": 0.2, "120": 0.1}},
        costs={"commission": 0, "slippage": 0},
    )
    fates = expected_of(made)[0].fates
    close = fates["long: after 0 minutes reaches the ROI"][1][0][1]
    assert fates["long: after 0 minutes reaches the ROI"][2][4] == pytest.approx(1.2 * close)
    later = fates["long: after 120 minutes reaches the ROI"]
    assert later[1][-1][0] == 60 + 120
    assert later[2][3:6] == (2, pytest.approx(1.1 * close), "roi")
    sooner = fates["long: after 120 minutes and not before"]
    assert sooner[1][-1][2] == later[1][-1][2]
    assert sooner[2][5] == "end_of_data"


def test_a_trail_waits_for_its_activation() -> None:
    made = contract(
        risk={
            "stop_loss": 0.2,
            "trailing_stop": {
                "distance": 0.02,
                "activate_at": 0.05,
                "only_after_activation": True,
            },
        },
        costs={"commission": 0, "slippage": 0},
    )
    fates = expected_of(made)[0].fates
    fallen = fates["long: runs back through the trailing stop"]
    top = fallen[1][0][2]
    assert fallen[2][4:6] == (pytest.approx(0.98 * top), "trailing_stop")
    assert fates["long: runs back slowly, the trail stays"][2][4] == fallen[2][4]
    assert fates["long: does not trail before activate_at"][2][5] == "end_of_data"
