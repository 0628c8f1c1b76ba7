"""Parts of a history, and several symbols, give what plain runs of the same candles give."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bot.contract.language.program import compile_contract
from bot.contract.load import load_contract
from bot.contract.model import Contract
from bot.data.market_data import MarketData, read_market_data
from bot.proof.judge import judge_rules
from bot.sweep.joining import joined
from bot.sweep.runs import FIGURES, Player, timeline

ROOT = Path(__file__).parents[3]
CONTRACT = load_contract(ROOT / "contracts" / "oversold_dip.yaml").strategy
DATA = read_market_data(CONTRACT, ROOT)
CANDLES = DATA.candles["BTC/USDT"]
SET = {"oversold": 38, "rsi_period": 9}


def with_defaults(contract: Contract, values: dict[str, Any]) -> Contract:
    parameters = {
        name: each.model_copy(update={"default": values.get(name, each.default)})
        for name, each in contract.parameters.items()
    }
    return contract.model_copy(update={"parameters": parameters})


def test_a_part_is_a_run_of_its_own_whose_values_are_warm() -> None:
    player = Player(CONTRACT, compile_contract(CONTRACT))
    whole, late = player.parts(CANDLES, [SET], [(0, 3000), (1500, 3000)])[0]
    assert whole.figures == player.rows(CANDLES, [SET])[0].figures
    # The same rows, with as much history before them as the slowest value needs, trade alike;
    # the first bars could not enter before.
    (longer,) = player.parts(CANDLES.rows(1200, 3000), [SET], [(300, 1800)])[0]
    assert longer.figures == pytest.approx(late.figures)
    assert late.figures["total_trades"] > 0


def several() -> tuple[Contract, MarketData]:
    market = CONTRACT.market.model_copy(update={"symbols": ("BTC/USDT", "ETH/USDT")})
    contract = CONTRACT.model_copy(update={"market": market})
    other = replace(CANDLES.rows(500, 3000), volume=CANDLES.volume[500:])
    return contract, MarketData({"BTC/USDT": CANDLES, "ETH/USDT": other}, DATA.digest, {})


def test_several_symbols_give_what_the_line_itself_computes() -> None:
    contract, data = several()
    player = Player(contract, compile_contract(contract))
    (row,) = player.rows(data.candles, [SET])
    own = with_defaults(contract, SET)
    summary = judge_rules(own, compile_contract(own), data).summary
    assert row.figures == {name: summary[name] for name in FIGURES}
    assert row.sums[..., 0].sum() == len(timeline(data.candles)) - 1
    # And in several processes the same.
    many = Player(contract, compile_contract(contract), workers=2)
    first, _ = many.rows(data.candles, [SET, {}])
    assert first.figures == row.figures


def test_joined_parts_have_the_ratio_of_all_their_returns() -> None:
    player = Player(CONTRACT, compile_contract(CONTRACT))
    spans = [(200, 1000), (1000, 2000), (2000, 3000)]
    parts = player.parts(CANDLES, [SET], spans)[0]
    row = joined(parts, 8766.0)
    assert row.figures["total_trades"] == sum(part.figures["total_trades"] or 0 for part in parts)
    grown = np.prod([1 + (part.figures["return"] or 0) for part in parts]) - 1
    assert row.figures["return"] == pytest.approx(grown)
    in_all = row.figures["total_trades"]
    won = sum(part.figures["win_rate"] * part.figures["total_trades"] for part in parts)
    assert row.figures["win_rate"] == pytest.approx(won / in_all)
    assert row.figures["expectancy"] == pytest.approx(row.figures["total_pnl"] / in_all)
    count, total, squares = (float(row.sums[:, place].sum()) for place in range(3))
    mean = total / count
    deviation = math.sqrt((squares - count * mean * mean) / (count - 1))
    assert row.figures["sharpe"] == pytest.approx(mean / deviation * math.sqrt(8766.0))
    assert joined(parts[:1], 8766.0) is parts[0]
