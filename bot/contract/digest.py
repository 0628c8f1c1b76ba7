"""A contract to its canonical JSON and the digest of it: one meaning, one digest."""

import hashlib
import json

from bot.contract.model import AnyContract, Contract


def contract_digest(contract: AnyContract) -> str:
    """Give `sha256:` and the digest of the canonical JSON."""
    return f"sha256:{hashlib.sha256(canonical_json(contract).encode()).hexdigest()}"


def canonical_json(contract: AnyContract) -> str:
    """Write a contract with its defaults, sorted keys and one form for each number."""
    document = contract.model_dump(mode="python")
    if isinstance(contract, Contract):
        # 2 and 2.0 are one number everywhere but here: the form decides whether the optimiser
        # tries 2, 3 or 2.1, 2.2.
        for name, parameter in contract.parameters.items():
            document["parameters"][name]["integer"] = parameter.is_integer
        # These came after the first contracts, whose digests stay.
        if document["risk"]["size"]["cap"] is None:
            del document["risk"]["size"]["cap"]
        for indicator in document["indicators"].values():
            if indicator["timeframe"] is None:
                del indicator["timeframe"]
    plain = _plain(document)
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
