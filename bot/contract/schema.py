"""Turns the model into the JSON Schema that editors use: `python -m bot.contract.schema`."""

import json
import sys
from pathlib import Path

from pydantic.json_schema import models_json_schema

from bot.contract.model import Contract, ModuleContract

SCHEMA_PATH = Path("contracts/schema/contract-1.0.json")


def contract_schema() -> dict[str, object]:
    """Build the schema: a module's contract if kind says so, else a strategy's."""
    kinds = [(Contract, "validation"), (ModuleContract, "validation")]
    _, definitions = models_json_schema(kinds, ref_template="#/$defs/{model}")  # type: ignore[arg-type]
    parts = {name: _tidy(part) for name, part in definitions["$defs"].items()}
    is_module = {"properties": {"kind": {"const": "module"}}, "required": ["kind"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Stratwright contract 1.0",
        "description": "Generated from bot/contract/model.py by python -m bot.contract.schema.",
        "if": is_module,
        "then": {"$ref": "#/$defs/ModuleContract"},
        "else": {"$ref": "#/$defs/Contract"},
        "$defs": parts,
    }


def schema_text() -> str:
    """Give the schema as the file holds it."""
    return json.dumps(contract_schema(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _tidy(part: object) -> object:
    """Drop the titles, which repeat the keys."""
    if isinstance(part, dict):
        return {
            key: _tidy(value)
            for key, value in part.items()
            if not (key == "title" and isinstance(value, str))
        }
    return [_tidy(item) for item in part] if isinstance(part, list) else part


if __name__ == "__main__":
    SCHEMA_PATH.write_text(schema_text(), encoding="utf-8")
    sys.stdout.write(f"{SCHEMA_PATH}\n")
