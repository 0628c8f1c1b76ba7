"""docs/contract.md is what the generator writes, and its examples hold."""

import re
from pathlib import Path

from bot.contract.language.functions import FUNCTIONS
from bot.contract.load import parse_contract
from tools.contract_reference import REFERENCE_PATH, reference_text

ROOT = Path(__file__).parents[2]


def test_the_committed_page_is_the_generators() -> None:
    committed = (ROOT / REFERENCE_PATH).read_text(encoding="utf-8")
    assert committed == reference_text(), "run python -m tools.contract_reference"


def test_every_function_is_on_the_page() -> None:
    page = reference_text()
    for function in FUNCTIONS.values():
        assert f"`{function.signature}`" in page


def test_the_complete_example_is_a_contract_without_mistakes() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", reference_text(), re.DOTALL)
    example = next(block for block in blocks if block.startswith("version"))
    assert parse_contract(example.encode(), "yaml", Path("x.yaml")).contract.name == "OversoldDip"
