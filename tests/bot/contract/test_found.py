"""What a search found goes into the contract's own text, and the text before comes back."""

from pathlib import Path

import pytest

from bot.contract.digest import contract_digest
from bot.contract.found import as_searched, is_found, with_found
from bot.contract.goals import Optimized
from bot.contract.load import parse_contract
from bot.contract.model import Contract
from bot.errors import InputError

ROOT = Path(__file__).parents[3]
YAML = (ROOT / "contracts" / "oversold_dip.yaml").read_bytes() + b"optimize: {trials: 20}\n"
JSON = b"""{"version": "1.0", "workflow": "w", "task": "t", "kind": "strategy", "name": "Dip",
"market": {"symbols": ["A/B"], "timeframe": "1h"}, "data": {"source": "csv", "path": "a.csv"},
"parameters": {"dip": {"default": 30, "range": [15, 40]}, "far": {"default": 0.5}},
"indicators": {"rsi": {"function": "RSI", "timeperiod": 14}},
"rules": {"enter_long": "rsi < dip"}, "risk": {"stop_loss": 0.02},
"optimize": {"trials": 5}
}
"""


def read(data: bytes, form: str) -> Contract:
    return parse_contract(data, form, Path(f"c.{form}")).strategy  # type: ignore[arg-type]


def found_in(contract: Contract, sets: int = 20) -> Optimized:
    was = {name: each.default for name, each in contract.parameters.items() if each.range}
    return Optimized(searched=contract_digest(contract), seed=7, sets=sets, was=was)


@pytest.mark.parametrize(
    ("data", "form", "values"),
    [(YAML, "yaml", {"oversold": 31, "rsi_period": 12}), (JSON, "json", {"dip": 22})],
)
def test_only_the_defaults_and_one_line_change(
    data: bytes, form: str, values: dict[str, int]
) -> None:
    before = read(data, form)
    written = with_found(data, form, values, found_in(before))  # type: ignore[arg-type]
    after = read(written, form)
    assert {name: after.parameters[name].default for name in values} == values
    assert is_found(after)
    assert not is_found(before)
    assert contract_digest(as_searched(after)) == contract_digest(before)
    lines, again = data.decode().splitlines(), written.decode().splitlines()
    assert sum(line not in lines for line in again) <= len(values) + 2


@pytest.mark.parametrize(("data", "form"), [(YAML, "yaml"), (JSON, "json")])
def test_a_second_search_replaces_the_word_of_the_first(data: bytes, form: str) -> None:
    name = "oversold" if form == "yaml" else "dip"
    values = {n: p.default for n, p in read(data, form).parameters.items() if p.range}
    first = with_found(data, form, values, found_in(read(data, form)))  # type: ignore[arg-type]
    values[name] = 20
    second = with_found(first, form, values, found_in(read(data, form), 9))  # type: ignore[arg-type]
    assert second.count(b"optimized") == 1
    assert read(second, form).optimized == found_in(read(data, form), 9)


def test_a_contract_that_was_changed_since_is_searched_as_it_stands() -> None:
    before = read(YAML, "yaml")
    written = with_found(YAML, "yaml", {"oversold": 31, "rsi_period": 12}, found_in(before))
    other = read(written.replace(b"min_trades: 10", b"min_trades: 11"), "yaml")
    assert not is_found(other)
    assert as_searched(other).parameters["oversold"].default == 31
    assert as_searched(other).optimized is None


def test_a_text_that_cannot_take_it_is_refused() -> None:
    odd = YAML + b"...\n"
    with pytest.raises(InputError, match="cannot be written into the contract"):
        with_found(odd, "yaml", {"oversold": 31, "rsi_period": 12}, found_in(read(YAML, "yaml")))
