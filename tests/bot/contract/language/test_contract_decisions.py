"""What a contract decides at some bars is what it decides there among all bars."""

from pathlib import Path

import pytest

from bot.contract.language.contract_decisions import contract_decisions
from bot.contract.language.program import compile_contract
from bot.contract.load import load_contract
from bot.data.market_data import read_market_data

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize("name", ["oversold_dip", "channel_breakout"])
def test_some_bars_are_decided_as_all_of_them_are(name: str) -> None:
    contract = load_contract(ROOT / "contracts" / f"{name}.yaml").strategy
    program, data = compile_contract(contract), read_market_data(contract, ROOT)
    symbol, frame = next(iter(data.frames.items()))
    whole = contract_decisions(contract, program, frame, symbol)
    asked = [*range(0, len(frame), 3), *(int(bar) for bar in list(whole["entries"])[::2])]
    some = contract_decisions(contract, program, frame, symbol, asked)
    assert 0 < len(some["entries"]) < len(whole["entries"])
    assert some == {
        "entries": {bar: one for bar, one in whole["entries"].items() if int(bar) in asked},
        "exit_long": [bar for bar in whole["exit_long"] if bar in asked],
        "exit_short": [bar for bar in whole["exit_short"] if bar in asked],
    }
    nothing = contract_decisions(contract, program, frame, symbol, [])
    assert nothing == {"entries": {}, "exit_long": [], "exit_short": []}
