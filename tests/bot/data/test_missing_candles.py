from pathlib import Path

import pytest

from bot.contract.load import load_contract
from bot.data.market_data import read_market_data
from bot.errors import InputError

HOUSE = Path(__file__).parents[3]
CONTRACT = load_contract(HOUSE / "contracts/oversold_dip.yaml").strategy


def test_a_missing_file_of_the_contract_is_named_as_the_contract_names_it(tmp_path: Path) -> None:
    with pytest.raises(InputError) as told:
        read_market_data(CONTRACT, tmp_path)
    assert told.value.message == "tests/fixtures/sample_btc.csv is not there"


def test_a_missing_file_of_the_command_line_is_named_as_it_was_given(tmp_path: Path) -> None:
    with pytest.raises(InputError) as told:
        read_market_data(CONTRACT, HOUSE, tmp_path / "x.csv")
    assert str(tmp_path / "x.csv") in told.value.message
