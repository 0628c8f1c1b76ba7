import json
import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.errors import InputError, WorldError
from integration import publish
from integration.publish import claim, fetch_latest_signal, publish_signal, published
from integration.schema.signal import TradingSignal
from integration.tests.test_signal_roundtrip import plain
from tests.redis_server import RedisServer

pytestmark = pytest.mark.usefixtures("redis_url")


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    publish._said.clear()


def signal(name: str = "d1", age_s: float = 0.0, **changes: Any) -> TradingSignal:
    time = datetime.now(UTC) - timedelta(seconds=age_s)
    return TradingSignal.model_validate(plain(decision_id=name, timestamp=time, **changes))


def test_publish_consume_signal(redis_server: RedisServer) -> None:
    assert fetch_latest_signal("BTC/USDT") is None
    sent = signal()
    publish_signal(sent)
    assert fetch_latest_signal("BTC/USDT") == sent
    assert redis_server.client().llen("signals") == 1
    newer = signal("d2")
    publish_signal(newer)
    assert fetch_latest_signal("BTC/USDT") == newer


def test_a_decision_is_published_once(redis_server: RedisServer) -> None:
    assert not published("d1")
    for _ in range(3):
        publish_signal(signal())
    assert published("d1")
    assert redis_server.client().llen("signals") == 1


def test_the_list_does_not_grow(redis_server: RedisServer) -> None:
    for number in range(130):
        publish_signal(signal(f"d{number}"))
    assert redis_server.client().llen("signals") == 100
    latest = fetch_latest_signal("BTC/USDT")
    assert latest is not None
    assert latest.decision_id == "d129"


def test_a_signal_of_another_symbol_is_passed_over() -> None:
    publish_signal(signal("d1"))
    publish_signal(signal("d2", symbol="ETH/USDT"))
    assert [fetch_latest_signal(s).decision_id for s in ("BTC/USDT", "ETH/USDT")] == ["d1", "d2"]  # type: ignore[union-attr]
    assert fetch_latest_signal("LTC/USDT") is None


@pytest.mark.parametrize(
    ("age_s", "reason"), [(601, "older than 600 s"), (-30, "a clock runs ahead")]
)
def test_a_signal_of_another_time_is_none_with_one_line(
    age_s: float, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    publish_signal(signal(age_s=age_s))
    for _ in range(5):
        assert fetch_latest_signal("BTC/USDT") is None
    (line,) = caplog.messages
    assert reason in line
    assert "d1" in line


def text(**changes: Any) -> str:
    return json.dumps(plain(timestamp=datetime.now(UTC).isoformat(), **changes))


@pytest.mark.parametrize(
    "row",
    [
        "",
        "{}",
        "not json",
        "[" * 50_000,
        "x" * 20_000,
        text(version="1.1"),
        text(version="0.9"),
        text(confidence=float("nan")),
        text(risk={"initial_stop": float("nan")}),
        text(risk={"take_profits": plain()["risk"]["take_profits"][::-1]}),
        text()[:-2],
        text(more=1),
    ],
)
def test_what_cannot_be_read_is_none_with_one_line_and_hides_older_ones(
    row: str, redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    publish_signal(signal())
    redis_server.client().lpush("signals", row)
    for _ in range(3):
        assert fetch_latest_signal("BTC/USDT") is None
    (line,) = caplog.messages
    assert "cannot be used" in line
    publish_signal(signal("d2"))
    assert fetch_latest_signal("BTC/USDT") is not None


def test_no_redis_is_no_signal_and_a_new_one_is_found_again(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    publish_signal(signal())
    redis_server.kill()
    for _ in range(3):
        assert fetch_latest_signal("BTC/USDT") is None
    with pytest.raises(WorldError):
        publish_signal(signal("d2"))
    with pytest.raises(WorldError):
        claim("d1", "me")
    assert len(caplog.messages) == 1
    redis_server.start()
    assert fetch_latest_signal("BTC/USDT") is not None


def test_without_an_address_nothing_is_read_or_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REDIS_URL")
    assert fetch_latest_signal("BTC/USDT") is None
    with pytest.raises(InputError, match="REDIS_URL"):
        publish_signal(signal())


def test_a_decision_is_claimed_once() -> None:
    assert claim("d1", "one")
    assert not claim("d1", "one")
    assert not claim("d1", "other")
    assert claim("d2", "other")
