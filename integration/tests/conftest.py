"""What the bridge's tests share: settings, candles, a real Redis, the exchange."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import tests.chance  # noqa: F401 - registers the profiles before any test is read
from integration.adapter.loopback import Loopback
from tests.redis_server import RedisServer, redis_server, redis_url

__all__ = ["redis_server", "redis_url"]
START = datetime(2026, 11, 1, tzinfo=UTC)


def candles_of(closes: list[float], spread: float = 1.0) -> list[dict[str, Any]]:
    """Makes candles around closes, five minutes each."""
    return [
        {
            "timestamp": START + timedelta(minutes=5 * number),
            "open": close,
            "high": close + spread,
            "low": close - spread,
            "close": close,
            "volume": 1.0,
        }
        for number, close in enumerate(closes)
    ]


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables that a cycle needs, but for where Redis is."""
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    monkeypatch.setenv("DEFAULT_SYMBOL", "BTC/USDT")
    monkeypatch.setenv("TIMEFRAME", "5m")
    monkeypatch.setenv("MAX_CAPITAL_PCT", "0.05")


@pytest.fixture
def exchange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: None) -> Iterator[Loopback]:
    """The loopback exchange with a breakout on its last complete candle; the time stands still."""
    world = Loopback(tmp_path, tmp_path)
    try:
        world.start_exchange()
        monkeypatch.setenv("STRATWRIGHT_BINANCE_URL", world.address)
        now = world.control()["now"] / 1000
        monkeypatch.setattr("integration.data._now", lambda: now)
        yield world
    finally:
        world.close()


@pytest.fixture
def bridge(
    exchange: Loopback, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> Loopback:
    """Exchange and Redis together."""
    monkeypatch.setenv("REDIS_URL", redis_server.url)
    return exchange
