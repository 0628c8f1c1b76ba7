"""Playing a contract's rules at once is the same as deciding bar by bar and replaying that."""

from pathlib import Path

import pytest

from bot.contract.language.program import compile_contract
from bot.contract.load import load_contract
from bot.data.market_data import read_market_data
from bot.proof.judge import decide, judge, judge_rules

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("path", sorted((ROOT / "contracts").glob("*.yaml")), ids=lambda p: p.stem)
def test_the_rules_played_at_once_are_the_decisions_replayed(path: Path) -> None:
    contract = load_contract(path).strategy
    program = compile_contract(contract)
    data = read_market_data(contract, ROOT)
    replayed = judge(contract, program, data, decide(contract, program, data))
    played = judge_rules(contract, program, data)
    assert played.summary == replayed.summary
    assert played.broker.get_trades() == replayed.broker.get_trades()
    assert played.broker.get_events() == replayed.broker.get_events()
