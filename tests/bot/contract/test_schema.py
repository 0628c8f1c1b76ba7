"""The published schema is the model's, and tells good contracts from bad ones."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from bot.contract.schema import SCHEMA_PATH, contract_schema, schema_text

ROOT = Path(__file__).parents[3]
GOOD = yaml.safe_load((ROOT / "tests/golden/plan/oversold_dip.yaml").read_text())
# JSON Schema knows text keys only; editors treat YAML's numbers as such.
GOOD["risk"]["roi"] = {str(key): value for key, value in GOOD["risk"]["roi"].items()}
VALIDATOR = jsonschema.Draft202012Validator(contract_schema())


def test_the_committed_schema_is_the_models() -> None:
    committed = (ROOT / SCHEMA_PATH).read_text(encoding="utf-8")
    assert committed == schema_text(), "run python -m bot.contract.schema"


def test_the_schema_is_valid_and_takes_a_good_contract() -> None:
    jsonschema.Draft202012Validator.check_schema(contract_schema())
    VALIDATOR.validate(GOOD)
    module = {key: GOOD[key] for key in ("version", "workflow", "task", "name")}
    VALIDATOR.validate({**module, "kind": "module", "files": [{"path": "a.py"}]})


@pytest.mark.parametrize(
    "change",
    [
        {"version": 1.0},
        {"workflow": "Over Dip"},
        {"kind": "modul"},
        {"unknown": 1},
        {"market": {"symbols": ["BTC/USDT"], "timeframe": "2m"}},
        {"data": {"source": "csv", "path": "../x.csv"}},
        {"risk": {"stop_loss": 2}},
        {"risk": {}},
        {"seed": 1.5},
        {"targets": ["adaptor"]},
        {"files": []},
    ],
)
def test_the_schema_refuses(change: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid({**GOOD, **change})


def test_every_field_has_a_description_and_an_example() -> None:
    parts = contract_schema()["$defs"]
    for name, part in parts.items():
        for key, field in part["properties"].items():
            referred = parts[field["$ref"].rpartition("/")[2]] if "$ref" in field else {}
            assert field.get("description") or referred.get("description"), f"{name}.{key}"
            assert field.get("examples"), f"{name}.{key}"
