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
        *("http://127.0.0.1@10.0.0.1:8080", "http://10.0.0.1\\@127.0.0.1:8080", "http://127.1"),
        *("http://0177.0.0.1", "http://127.0.0.999", "http://2130706433", "http://0.0.0.0:8080"),
        *("http://[::ffff:10.0.0.1]", "http://[::]:80", "http://127.0.0.1:80@10.0.0.1"),
        *("http://127.0.0.1#@10.0.0.1", "http://127.0.0.1/{hostname}", "http://127.0.0.1\n.x.com"),
        *("//127.0.0.1", "ftp://127.0.0.1", "http://\u0661\u0662\u0667.0.0.1", "HTTP://127.0.0.1 "),
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
        lambda ccxt: ccxt.update(aiohttp_proxy="http://10.0.0.1", aiohttp_trust_env=True),
        lambda ccxt: ccxt["urls"].update(test={"public": "https://testnet.binance.vision"}),
    ],
)
def test_one_address_beyond_this_machine_is_enough(spoil: Callable[[Any], Any]) -> None:
    given = config()
    spoil(given["exchange"]["ccxt_config"])
    assert not is_loopback(given)


def test_so_is_one_of_the_async_client() -> None:
    given = config()
    more = {"urls": {"api": {"public": "https://api.binance.com"}}}
    given["exchange"]["ccxt_async_config"] = more
    assert not is_loopback(given)


@pytest.mark.parametrize("words", ["", "{", "[]7", "null", "7"])
def test_an_approval_that_cannot_be_read_is_none(words: str) -> None:
    with pytest.raises(SafetyStop, match=r"no approval|cannot be read"):
        check_live(config("https://api.binance.com"), words)


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
    del given["timeframe"]
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
        (lambda c: c.update(stoploss=-0.99), "changes what was approved: stoploss"),
        (lambda c: c.update(timeframe="1m", order_types={}), "timeframe, order_types"),
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
