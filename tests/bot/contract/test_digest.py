"""One meaning, one digest."""

import copy
from typing import Any

import pytest

from bot.contract.digest import canonical_json, contract_digest
from bot.contract.model import Contract

CONTRACT: dict[str, Any] = {
    "version": "1.0",
    "workflow": "oversold-dip",
    "task": "strategy",
    "kind": "strategy",
    "name": "OversoldDip",
    "market": {"symbols": ["BTC/USDT"], "timeframe": "1h"},
    "data": {"source": "csv", "path": "data/btc.csv"},
    "parameters": {"oversold": {"default": 30, "range": [15, 40]}},
    "indicators": {"bands": {"function": "BBANDS", "timeperiod": 20, "nbdevup": 2}},
    "rules": {"enter_long": "close < bands.lowerband"},
    "risk": {"stop_loss": 0.02, "trailing_stop": 0.03, "roi": {"0": 1}},
}


def digest(path: str = "", value: object = None) -> str:
    document = copy.deepcopy(CONTRACT)
    if path:
        *parents, last = path.split(".")
        part = document
        for key in parents:
            part = part.setdefault(key, {})
        part[last] = value
    return contract_digest(Contract.model_validate(document))


def test_the_digest_is_stable() -> None:
    assert digest() == "sha256:45a3abc54a15373f22d0e0915c359940fde6ee6e3b18a9529b7489d85c73b043"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("capital", 10000),
        ("capital", 10000.0),
        ("seed", 7),
        ("costs", {"slippage": 0.0005}),
        ("risk.size", {"equity": 0.1}),
        ("risk.take_profit", None),
        ("risk.trailing_stop", {"distance": 0.03, "only_after_activation": False}),
        ("risk.roi", {0: 1.0}),
        ("targets", ["adapter"]),
        ("acceptance", {}),
        ("indicators.bands.nbdevup", 2.0),
        ("indicators.bands.timeperiod", 20.0),
        ("market.type", "spot"),
        ("optimize", None),
    ],
)
def test_spelling_a_default_or_a_number_otherwise_changes_nothing(path: str, value: object) -> None:
    assert digest(path, value) == digest()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("capital", 10001),
        ("notes", "x"),
        ("risk.stop_loss", 0.021),
        ("risk.take_profit", 0.04),
        ("parameters.oversold.default", 30.0),
        ("indicators.bands.nbdevup", 2.5),
        ("rules.exit_long", "never"),
    ],
)
def test_another_meaning_is_another_digest(path: str, value: object) -> None:
    assert digest(path, value) != digest()


def test_the_order_of_keys_changes_nothing() -> None:
    turned = Contract.model_validate(dict(reversed(CONTRACT.items())))
    assert canonical_json(turned) == canonical_json(Contract.model_validate(CONTRACT))
