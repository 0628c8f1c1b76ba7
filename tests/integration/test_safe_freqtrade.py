"""What the launcher starts, and what it refuses, from the configuration alone."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.errors import SafetyStop
from integration.adapter.freqtrade_config import make_config
from integration.adapter.safe_freqtrade import check_live, digest_of_file, is_loopback


def config(address: str = "http://127.0.0.1:8080") -> dict[str, Any]:
    return make_config("BTC/USDT", "5m", address=address, dry_run=False)


def test_a_loopback_exchange_needs_no_approval() -> None:
    check_live(config(), None)
    check_live(config("http://[::1]:8080"), None)


@pytest.mark.parametrize(
    "address",
    [
        *("", "http://10.0.0.1:8080", "https://api.binance.com", "http://localhost.example.com"),
        *("http://127.0.0.1.example.com", "http://localhost:8080", "file:///x"),
    ],
)
def test_everything_else_does(address: str) -> None:
    with pytest.raises(SafetyStop, match="no approval names these bytes"):
        check_live(config(address), None)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda ccxt: ccxt["urls"]["api"].pop("private"),
        lambda ccxt: ccxt["urls"]["api"].update(sapi="https://api.binance.com/sapi/v1"),
        lambda ccxt: ccxt["urls"]["api"].update(more={"deep": "https://api.binance.com"}),
        lambda ccxt: ccxt["urls"]["api"].update(more=7),
        lambda ccxt: ccxt.update(httpsProxy="http://10.0.0.1"),
        lambda ccxt: ccxt.update(hostname="binance.com"),
    ],
)
def test_one_address_beyond_this_machine_is_enough(spoil: Callable[[Any], Any]) -> None:
    given = config()
    spoil(given["exchange"]["ccxt_config"])
    assert not is_loopback(given)


def test_an_exchange_whose_orders_cannot_be_looked_up_is_refused() -> None:
    given = config()
    given["exchange"]["name"] = "kraken"
    with pytest.raises(SafetyStop, match="kraken"):
        check_live(given, None)


@pytest.fixture
def approved(tmp_path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """A configuration and the approval that fits it."""
    file = tmp_path / "OversoldDip.py"
    file.write_text("class OversoldDip(IStrategy): pass\n")
    given = config("") | {"strategy": "OversoldDip", "strategy_path": str(tmp_path)}
    allowed = {"strategy": digest_of_file(file), "symbols": ["BTC/USDT"], "brokers": ["binance"]}
    return given | {"available_capital": 1000}, allowed | {"capital": "1000"}


def test_approved_bytes_trade_within_their_limits(approved: Any) -> None:
    check_live(approved[0], json.dumps(approved[1]))


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda c: Path(c["strategy_path"], "OversoldDip.py").write_text("x"), "not the file"),
        (lambda c: Path(c["strategy_path"], "Other.py").write_text("x"), "other files"),
        (lambda c: Path(c["strategy_path"], "OversoldDip.json").write_text("{}"), "other files"),
        (lambda c: c.update(strategy="Other"), "other files"),
        (lambda c: c["exchange"].update(pair_whitelist=["BTC/USDT", "ETH/USDT"]), "ETH/USDT"),
        (lambda c: c["exchange"].update(pair_whitelist=[]), "only BTC/USDT was approved"),
        (lambda c: c.update(pairlists=[{"method": "VolumePairList"}]), "StaticPairList"),
        (lambda c: c.update(available_capital=1000.01), "available_capital"),
        (lambda c: c.pop("available_capital"), "available_capital"),
    ],
)
def test_what_goes_beyond_the_approval_is_refused(
    approved: Any, spoil: Callable[[Any], Any], reason: str
) -> None:
    given, allowed = approved
    spoil(given)
    with pytest.raises(SafetyStop, match=reason):
        check_live(given, json.dumps(allowed))


def test_another_broker_than_the_approved_is_refused(approved: Any) -> None:
    given, allowed = approved
    with pytest.raises(SafetyStop, match="binance was not approved"):
        check_live(given, json.dumps(allowed | {"brokers": ["paper"]}))
