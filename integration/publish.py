"""Carries signals over the Redis list `signals`: each is published once, and read fail-closed."""

import json
import logging
import os
import time
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from bot.bus.redis_streams import connect, place_of, told
from bot.errors import InputError, StratwrightError
from integration.schema.signal import TradingSignal

LIST = "signals"
KEPT = 100
AHEAD_S = 5.0
_MEMORY_S = 7 * 86_400
_LONGEST = 10_000
_LOG = logging.getLogger(__name__)
# One step for Redis: a decision that was published is not published again.
_PUBLISH = """
if not redis.call('SET', KEYS[2], 1, 'NX', 'EX', ARGV[2]) then return 0 end
redis.call('LPUSH', KEYS[1], ARGV[1])
redis.call('LTRIM', KEYS[1], 0, ARGV[3])
return 1
"""
# What is too long to be a signal stays where it is: only its place is told.
_READ = """
local rows = redis.call('LRANGE', KEYS[1], 0, ARGV[1])
for number, row in ipairs(rows) do if #row > tonumber(ARGV[2]) then rows[number] = '' end end
return rows
"""
_said: dict[str, str] = {}
_clients: dict[tuple[int, str], Any] = {}


def publish_signal(signal: TradingSignal) -> None:
    """Publishes a signal; one with the same decision_id that was published before changes nothing.

    Raises:
        WorldError: Redis did not answer. Publishing again is safe.
    """
    url = _url()
    keys = (LIST, f"{LIST}:published:{signal.decision_id}")
    with told(place_of(url)):
        _client(url).eval(_PUBLISH, 2, *keys, signal.model_dump_json(), _MEMORY_S, KEPT - 1)


def fetch_latest_signal(symbol: str, max_age_sec: int = 600) -> TradingSignal | None:
    """Gives the newest signal of a symbol, if it can be trusted; else None and one line in the log.

    What cannot be read, or has another version, hides older ones: nobody knows what it wanted.
    """
    try:
        url = _url()
        with told(place_of(url)):
            rows = _client(url).eval(_READ, 1, LIST, KEPT - 1, _LONGEST)
    except StratwrightError as error:
        return _said_once(symbol, f"no signal: {error.message}")
    for row in rows:
        try:
            signal = parse_signal(row)
        except (ValidationError, ValueError, RecursionError) as error:
            reason = str(error).replace("\n", " ")[:200]
            return _said_once(symbol, f"no signal: the newest cannot be used: {reason}")
        if signal.symbol == symbol:
            return _fresh(signal, max_age_sec)
    return None


def parse_signal(text: str) -> TradingSignal:
    """Reads a signal to the letter: no key twice, no text for a number.

    Raises:
        ValueError: it is none.
    """
    if not text:
        raise ValueError("it is empty, or too long")
    json.loads(text, object_pairs_hook=_once)
    return TradingSignal.model_validate_json(text, strict=True)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("it says something twice")
    return dict(pairs)


def published(decision_id: str) -> bool:
    """Says whether a decision is in the list or was.

    Raises:
        WorldError: Redis did not answer.
    """
    url = _url()
    with told(place_of(url)):
        return bool(_client(url).exists(f"{LIST}:published:{decision_id}"))


def claim(decision_id: str, who: str) -> bool:
    """Takes a decision for one trader, once; False if it was taken before.

    Raises:
        WorldError: Redis did not answer.
    """
    url, key = _url(), f"{LIST}:acted:{decision_id}"
    with told(place_of(url)):
        return bool(_client(url).set(key, who, nx=True, ex=_MEMORY_S))


def _fresh(signal: TradingSignal, max_age_sec: int) -> TradingSignal | None:
    age = (datetime.fromtimestamp(time.time(), UTC) - signal.timestamp).total_seconds()
    if age > max_age_sec:
        reason = f"it is older than {max_age_sec} s"
        return _said_once(signal.symbol, f"no signal: {signal.decision_id}: {reason}")
    if age < -AHEAD_S:
        reason = "it is from the future: a clock runs ahead"
        return _said_once(signal.symbol, f"no signal: {signal.decision_id}: {reason}")
    _said.pop(signal.symbol, None)
    return signal


def _said_once(symbol: str, words: str) -> TradingSignal | None:
    """Gives no signal, and says the reason once, however often the same question is asked."""
    if _said.get(symbol) != words:
        _said[symbol] = words
        _LOG.warning("%s: %s", symbol, words)
    return None


def _url() -> str:
    url = os.environ.get("REDIS_URL", "").strip()
    if not url:
        raise InputError("not set: REDIS_URL", "See .env.example.")
    return url


def _client(url: str) -> Any:
    """Keeps one client for each process and address."""
    key = (os.getpid(), url)
    if key not in _clients:
        _clients.clear()
        _clients[key] = connect(url)
    return _clients[key]
