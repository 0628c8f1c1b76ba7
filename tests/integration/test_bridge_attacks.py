"""What a stranger could try: everything doubtful is no trade, and one clear line."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from bot.errors import SafetyStop
from integration import publish
from integration.adapter.freqtrade_config import make_config
from integration.adapter.loopback import HOUSE
from integration.publish import fetch_latest_signal, publish_signal
from integration.scripts import run_cycle as script
from integration.tests.conftest import bridge, exchange, settings
from integration.tests.test_publish_consume_signal import signal
from integration.tests.test_signal_roundtrip import plain
from tests.redis_server import RedisServer, redis_server, redis_url

__all__ = ["bridge", "exchange", "redis_server", "redis_url", "settings"]


def text(**changes: Any) -> str:
    """A signal as it would come, at a time that is the same in every worker."""
    return json.dumps(plain(**({"timestamp": "2026-11-17T12:00:00+00:00"} | changes)))


@pytest.mark.parametrize(
    "row",
    [
        text(confidence="0.6"),
        text(confidence=True),
        text(confidence=10**400),
        text(version=1.0),
        text(timestamp=1_800_000_000),
        text(timestamp="2026-11-17T12:00:00"),
        text(decision_id="=1+1"),
        text(decision_id="-1"),
        text(decision_id="d1\n"),
        text(symbol="BTC/USDT\n"),
        text(rationale=7),
        text(entry={"type": "market", "price": "100"}),
        text(entry={"type": "market", "price": float("inf")}),
        text(entry={"type": "limit", "price": 100}),
        text(risk={"initial_stop": -1}),
        text(risk={"max_capital_pct": 0}),
        text(risk={"max_capital_pct": float("inf")}),
        text(risk={"take_profits": plain()["risk"]["take_profits"] * 2}),
        text(side="both"),
        text()[:-1] + ', "side": "long"}',
        f"[{text()}]",
        "1" * 9_999,
        "\x00",
        '"\\ud800"',
    ],
    ids=range(24),
)
@pytest.mark.usefixtures("redis_url")
def test_a_signal_is_read_to_the_letter(
    row: str, redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    publish._said.clear()
    redis_server.client().lpush("signals", row)
    for _ in range(2):
        assert fetch_latest_signal("BTC/USDT") is None
    (line,) = caplog.messages
    assert "cannot be used" in line
    assert "\n" not in line


@pytest.mark.usefixtures("redis_url")
def test_a_row_of_megabytes_and_a_list_of_a_million_are_looked_at_no_further(
    redis_server: RedisServer,
) -> None:
    client = redis_server.client()
    for _ in range(100):
        client.rpush("signals", *["x"] * 10_000)
    client.lpush("signals", "x" * 50_000_000)
    assert fetch_latest_signal("BTC/USDT") is None
    publish_signal(signal())
    assert fetch_latest_signal("BTC/USDT") is not None
    assert client.llen("signals") == 100


@pytest.mark.usefixtures("redis_url")
def test_another_kind_of_key_and_a_wrong_password_are_no_signal(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    redis_server.client().set("signals", "x")
    assert fetch_latest_signal("BTC/USDT") is None
    assert "WRONGTYPE" in caplog.messages[-1]
    redis_server.client().config_set("requirepass", "right")
    monkeypatch.setenv("REDIS_URL", f"unix://:wr0ng@{redis_server.socket}")
    assert fetch_latest_signal("BTC/USDT") is None
    assert "Authentication" in caplog.messages[-1]
    assert "wr0ng" not in "".join(caplog.messages)


def _directory(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("decision_log.csv", _directory),
        ("decision_log.csv", lambda path: path.write_text("other,columns\n")),
        ("decision_log.csv", lambda path: path.write_bytes(b"\xff\xfe\n")),
        ("outbox.json", lambda path: path.write_text("{")),
        ("outbox.json", lambda path: path.write_text("")),
        ("outbox.json", lambda path: path.write_text(text(version="2.0"))),
        ("outbox.json", _directory),
        ("cycle.lock", _directory),
    ],
)
@pytest.mark.usefixtures("bridge")
def test_a_log_that_cannot_be_written_is_no_trade(
    name: str,
    spoil: Any,
    tmp_path: Path,
    redis_server: RedisServer,
    capsys: pytest.CaptureFixture[str],
) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    spoil(logs / name)
    assert script.main(["--logs", str(logs)]) != 0
    out, err = capsys.readouterr()
    assert out == "NO_TRADE\n"
    assert err.count("\n") == 1
    assert name in err
    assert redis_server.client().llen("signals") == 0


@pytest.mark.usefixtures("bridge")
def test_cycles_at_the_same_time_publish_once(tmp_path: Path, redis_server: RedisServer) -> None:
    found: list[Any] = []
    work = [
        threading.Thread(target=lambda: found.append(script.run_cycle(tmp_path / "logs")))
        for _ in range(4)
    ]
    for each in work:
        each.start()
    for each in work:
        each.join()
    assert sorted(each is None for each in found) == [False, True, True, True]
    assert redis_server.client().llen("signals") == 1
    assert len((tmp_path / "logs" / "decision_log.csv").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    "address", ["http://10.0.0.1", "binance", "ftp://127.0.0.1", "http://127.0.0.1@10.0.0.1"]
)
@pytest.mark.usefixtures("settings")
def test_candles_come_over_tls_or_from_this_machine(
    address: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("STRATWRIGHT_BINANCE_URL", address)
    assert script.main(["--logs", str(tmp_path)]) == 2
    assert "STRATWRIGHT_BINANCE_URL" in capsys.readouterr().err


@contextmanager
def server(answer: Any) -> Iterator[tuple[str, list[str]]]:
    """A server that answers every call in the same way, and what it was asked."""
    heard: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.path)
            answer(self)
            self.end_headers()

        do_POST = do_GET  # noqa: N815 - the name is the base class's

        def log_message(self, *_: Any) -> None:
            pass

    found = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=found.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{found.server_port}", heard
    finally:
        found.shutdown()
        thread.join()
        found.server_close()


CALLS = """
import asyncio, sys
import ccxt, ccxt.async_support
from integration.adapter.freqtrade_config import make_config
from integration.adapter.loopback_only import keep_to_loopback
keep_to_loopback()
given = make_config("BTC/USDT", "5m", address=sys.argv[1])["exchange"]["ccxt_config"]
given |= {"apiKey": "key", "secret": "secret"}
said = []
for call in ("public_get_time", "papi_get_um_account", "private_post_order"):
    try:
        getattr(ccxt.binance(given), call)()
    except Exception as error:
        said.append(type(error).__name__)
async def later():
    api = ccxt.async_support.binance(given)
    for call in ("public_get_time", "papi_get_um_account"):
        try:
            await getattr(api, call)()
            said.append("answered")
        except Exception as error:
            said.append(type(error).__name__)
    await api.close()
asyncio.run(later())
print(*said)
"""


def test_no_redirect_is_followed_and_no_other_address_called() -> None:
    with server(lambda found: found.send_response(200)) as (beyond, reached):

        def send_on(found: BaseHTTPRequestHandler) -> None:
            found.send_response(307)
            found.send_header("Location", beyond + found.path)

        with server(send_on) as (address, heard):
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", CALLS, address],
                cwd=HOUSE,
                capture_output=True,
                text=True,
                check=True,
            )
    assert len(heard) == 3
    assert reached == []
    first, papi, order, *rest = done.stdout.split()
    assert (first, papi, order) == ("ExchangeError", "SafetyStop", "ExchangeError")
    assert rest[1] == "SafetyStop"


@pytest.mark.freqtrade
@pytest.mark.parametrize("way", ["second file", "variable"])
def test_the_launcher_refuses_real_money_however_it_is_asked_for(way: str, tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps(make_config("BTC/USDT", "5m")))
    more, variables = [], dict(os.environ) | {"PYTHONPATH": str(HOUSE)}
    if way == "second file":
        (tmp_path / "more.json").write_text('{"dry_run": false}')
        more = ["-c", str(tmp_path / "more.json")]
    else:
        variables["FREQTRADE__DRY_RUN"] = "false"
    (tmp_path / "user_data").mkdir()
    done = subprocess.run(
        [
            f"{os.environ['STRATWRIGHT_FREQTRADE']}/bin/python",
            *("-m", "integration.adapter.safe_freqtrade", "trade", "-c", str(config), *more),
            *("--userdir", str(tmp_path / "user_data"), "--strategy", "AgentBridgeStrategy"),
            *("--strategy-path", str(HOUSE / "integration" / "strategy")),
        ],
        cwd=tmp_path,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == SafetyStop.exit_code, done.stderr[-2000:]
    assert "no approval names these bytes" in done.stderr
    assert "Traceback" not in done.stderr
