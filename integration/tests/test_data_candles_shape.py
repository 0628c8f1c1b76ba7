import time
from collections.abc import Callable
from typing import Any

import pytest

from bot.errors import InputError, WorldError
from integration.adapter.loopback import Loopback
from integration.config.config import RISK_DEFAULT, load_config
from integration.data import check_candles, get_candles

KEYS = ["timestamp", "open", "high", "low", "close", "volume"]


def test_data_candles_shape(exchange: Loopback) -> None:
    candles = get_candles("BTC/USDT")
    assert len(candles) == 200
    assert all(list(candle) == KEYS for candle in candles)
    times = [candle["timestamp"] for candle in candles]
    assert times == sorted(set(times))
    # The breakout is the last complete candle; the one that is open is left out.
    assert candles[-1]["close"] == 20_035.0
    assert len(get_candles("BTC/USDT", limit=7)) == 7


def test_an_exchange_that_fails_is_asked_again(exchange: Loopback, monkeypatch: Any) -> None:
    monkeypatch.setattr("integration.data._PAUSE_S", 0.0)
    exchange.control(fault={"kind": "drop", "call": "GET /api/v3/klines", "times": 2})
    assert len(get_candles("BTC/USDT")) == 200
    exchange.control(maintenance=True)
    with pytest.raises(WorldError, match="no candles of BTC/USDT"):
        get_candles("BTC/USDT")


def test_what_cannot_be_asked_for_is_named(exchange: Loopback) -> None:
    with pytest.raises(InputError, match="DOGE/USDT"):
        get_candles("DOGE/USDT")
    for limit in (0, 1001):
        with pytest.raises(InputError):
            get_candles("BTC/USDT", limit=limit)


def test_a_feed_that_stands_still_is_refused(exchange: Loopback) -> None:
    exchange.control(clock=int((time.time() - 3600) * 1000))
    with pytest.raises(WorldError, match="s old"):
        get_candles("BTC/USDT")


def rows(count: int = 10) -> list[list[float]]:
    return [[number * 300_000, 10, 12, 9, 11, 1] for number in range(count)]


NOW = 10 * 300.0


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda found: found.pop(4), "gap"),
        (lambda found: found.insert(4, list(found[4])), "gap"),
        (lambda found: found.reverse(), "gap"),
        (lambda found: found[3].__setitem__(4, float("nan")), "no number"),
        (lambda found: found[3].__setitem__(2, None), "no number"),
        (lambda found: found[3].__setitem__(2, 10.5), "impossible"),
        (lambda found: found[3].__setitem__(3, 0), "impossible"),
        (lambda found: found[3].__setitem__(5, -1), "impossible"),
        (lambda found: found.clear(), "no complete candle"),
        (lambda found: found.__delitem__(slice(6, None)), "s old"),
    ],
)
def test_doubtful_candles_are_refused(spoil: Callable[[Any], Any], reason: str) -> None:
    assert len(check_candles(rows(), 300, 200, NOW)) == 10
    found = rows()
    spoil(found)
    with pytest.raises(WorldError, match=reason):
        check_candles(found, 300, 200, NOW)


def test_an_open_candle_is_left_out() -> None:
    assert len(check_candles(rows(), 300, 200, NOW - 1)) == 9


GOOD = {
    "REDIS_URL": "redis://localhost:6379/0",
    "DEFAULT_SYMBOL": "BTC/USDT",
    "TIMEFRAME": "5m",
    "MAX_CAPITAL_PCT": "0.05",
}


def test_settings_come_from_the_environment() -> None:
    found = load_config(GOOD | {"MODEL_NAME": "gpt-4o-mini"})
    assert (found["symbol"], found["timeframe"]) == ("BTC/USDT", "5m")
    assert found["max_capital_pct"] == 0.05
    assert found["risk"] == RISK_DEFAULT
    found["risk"]["min_rr"] = 0.0
    assert load_config(GOOD)["risk"]["min_rr"] == 1.5


@pytest.mark.parametrize("name", GOOD)
def test_a_missing_variable_is_named(name: str) -> None:
    for given in ({k: v for k, v in GOOD.items() if k != name}, GOOD | {name: " "}):
        with pytest.raises(InputError, match=name):
            load_config(given)


@pytest.mark.parametrize(
    "change",
    [
        *({"TIMEFRAME": "7m"}, {"TIMEFRAME": "5M"}, {"DEFAULT_SYMBOL": "BTCUSDT"}),
        *({"DEFAULT_SYMBOL": "BTC/"}, {"MAX_CAPITAL_PCT": "5%"}, {"MAX_CAPITAL_PCT": "5"}),
        *({"MAX_CAPITAL_PCT": "0"}, {"MAX_CAPITAL_PCT": "nan"}, {"MAX_CAPITAL_PCT": "-0.1"}),
    ],
)
def test_a_wrong_variable_is_named(change: dict[str, str]) -> None:
    with pytest.raises(InputError, match=next(iter(change))):
        load_config(GOOD | change)
