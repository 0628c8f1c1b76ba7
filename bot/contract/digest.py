"""Turns a contract into its canonical JSON and the digest of it: one meaning, one digest."""

import hashlib
import json

from bot.contract.field_types import Part
from bot.contract.indicators import Parameter
from bot.contract.model import AnyContract


def contract_digest(contract: AnyContract) -> str:
    """Give `sha256:` and the digest of the canonical JSON."""
    return f"sha256:{hashlib.sha256(canonical_json(contract).encode()).hexdigest()}"


def canonical_json(contract: AnyContract) -> str:
    """Write a contract with its defaults, sorted keys and one form for each number."""
    plain = _plain(contract)
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _plain(value: object) -> object:
    if isinstance(value, Part):
        fields = type(value).model_fields
        given = {
            key: item
            for key, item in value
            if key not in value.later or item != fields[key].get_default(call_default_factory=True)
        }
        if isinstance(value, Parameter):
            # 2 and 2.0 are one number everywhere but here: the form decides whether the optimiser
            # tries 2, 3 or 2.1, 2.2.
            given["integer"] = value.is_integer
        return _plain(given)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
