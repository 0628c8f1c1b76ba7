"""NautilusTrader's schemas, which are stricter than ccxt, read what the exchange really answers."""

import asyncio
import contextlib
import hashlib
import hmac
import http.client
import json
import os
import subprocess
import time
from pathlib import Path
from urllib.parse import urlencode

import pytest
from aiohttp import ClientSession

from tests.doubles.exchange.client import Running
from tests.doubles.exchange.server import KEY, SECRET

JUDGE = Path(__file__).with_name("nautilus_schemas.py")
HOME = Path(os.environ.get("STRATWRIGHT_NAUTILUS") or JUDGE.parents[3] / "build" / "nautilus")
pytestmark = pytest.mark.skipif(
    not (HOME / "bin" / "python").exists(), reason="needs NautilusTrader: `make nautilus`"
)
Answer = tuple[str, bool, str]
BUY = {"symbol": "BTCUSDT", "side": "BUY", "type": "MARKET", "quantity": "0.01"}
REST = {"side": "BUY", "type": "LIMIT", "quantity": "0.01", "price": "19000", "timeInForce": "GTC"}
STOP = {"symbol": "BTCUSDT", "side": "SELL", "quantity": "0.009"}
SPOT_STOP = {"type": "STOP_LOSS_LIMIT", "stopPrice": "19900", "price": "19800"}
FUTURES_STOP = {"type": "STOP_MARKET", "triggerPrice": "19900", "reduceOnly": "true"}
# Method, path, what is asked, schema, whether the answer is a list; in this order, on one account.
CALLS: tuple[tuple[str, str, dict[str, str], str, bool], ...] = (
    ("GET", "/api/v3/time", {}, "common.market.BinanceTime", False),
    ("GET", "/api/v3/exchangeInfo", {}, "spot.market.BinanceSpotExchangeInfo", False),
    ("GET", "/api/v3/klines", {"interval": "5m"}, "common.market.BinanceKline", True),
    ("GET", "/api/v3/depth", {}, "common.market.BinanceDepth", False),
    ("GET", "/api/v3/trades", {}, "common.market.BinanceTrade", True),
    ("GET", "/api/v3/aggTrades", {}, "common.market.BinanceAggTrade", True),
    ("GET", "/api/v3/avgPrice", {}, "spot.market.BinanceSpotAvgPrice", False),
    ("GET", "/api/v3/ticker/24hr", {}, "common.market.BinanceTicker24hr", False),
    ("GET", "/api/v3/ticker/price", {}, "common.market.BinanceTickerPrice", False),
    ("GET", "/api/v3/ticker/bookTicker", {}, "common.market.BinanceTickerBook", False),
    ("POST", "/api/v3/userDataStream", {}, "common.user.BinanceListenKey", False),
    ("POST", "/api/v3/order", BUY, "common.account.BinanceOrder", False),
    ("POST", "/api/v3/order", REST, "common.account.BinanceOrder", False),
    ("POST", "/api/v3/order", STOP | SPOT_STOP, "common.account.BinanceOrder", False),
    ("GET", "/api/v3/order", {"orderId": "1001"}, "common.account.BinanceOrder", False),
    ("GET", "/api/v3/openOrders", {}, "common.account.BinanceOrder", True),
    ("GET", "/api/v3/allOrders", {}, "common.account.BinanceOrder", True),
    ("GET", "/api/v3/myTrades", {}, "common.account.BinanceUserTrade", True),
    ("GET", "/api/v3/account", {}, "spot.account.BinanceSpotAccountInfo", False),
    ("GET", "/sapi/v1/asset/tradeFee", {}, "spot.wallet.BinanceSpotTradeFee", True),
    ("DELETE", "/api/v3/order", {"orderId": "1002"}, "common.account.BinanceOrder", False),
    ("DELETE", "/api/v3/openOrders", {}, "common.account.BinanceOrder", True),
    ("GET", "/fapi/v1/exchangeInfo", {}, "futures.market.BinanceFuturesExchangeInfo", False),
    ("GET", "/fapi/v1/klines", {"interval": "5m"}, "common.market.BinanceKline", True),
    ("GET", "/fapi/v1/depth", {}, "common.market.BinanceDepth", False),
    ("GET", "/fapi/v1/trades", {}, "common.market.BinanceTrade", True),
    ("GET", "/fapi/v1/aggTrades", {}, "common.market.BinanceAggTrade", True),
    ("GET", "/fapi/v1/ticker/24hr", {}, "common.market.BinanceTicker24hr", False),
    ("GET", "/fapi/v1/premiumIndex", {}, "futures.market.BinanceFuturesMarkFunding", False),
    ("POST", "/fapi/v1/listenKey", {}, "common.user.BinanceListenKey", False),
    (
        "POST",
        "/fapi/v1/leverage",
        {"leverage": "5"},
        "futures.account.BinanceFuturesLeverage",
        False,
    ),
    (
        *("POST", "/fapi/v1/marginType", {"marginType": "ISOLATED"}),
        *("futures.account.BinanceFuturesMarginTypeResponse", False),
    ),
    ("POST", "/fapi/v1/order", BUY, "common.account.BinanceOrder", False),
    ("POST", "/fapi/v1/order", REST, "common.account.BinanceOrder", False),
    ("GET", "/fapi/v1/openOrders", {}, "common.account.BinanceOrder", True),
    ("GET", "/fapi/v1/allOrders", {}, "common.account.BinanceOrder", True),
    ("DELETE", "/fapi/v1/allOpenOrders", {}, "common.account.BinanceStatusCode", False),
    ("GET", "/fapi/v1/userTrades", {}, "common.account.BinanceUserTrade", True),
    ("GET", "/fapi/v2/account", {}, "futures.account.BinanceFuturesAccountInfo", False),
    ("GET", "/fapi/v2/positionRisk", {}, "futures.account.BinanceFuturesPositionRisk", True),
    ("GET", "/fapi/v3/positionRisk", {}, "futures.account.BinanceFuturesPositionRisk", True),
    ("GET", "/fapi/v1/symbolConfig", {}, "futures.account.BinanceFuturesSymbolConfig", True),
    (
        *("GET", "/fapi/v1/positionSide/dual", {}),
        *("futures.account.BinanceFuturesDualSidePosition", False),
    ),
    ("GET", "/fapi/v1/commissionRate", {}, "futures.wallet.BinanceFuturesCommissionRate", False),
)
STREAMS = {
    "spot": {
        "btcusdt@kline_5m": "common.market.BinanceCandlestickMsg",
        "btcusdt@trade": "spot.market.BinanceSpotTradeMsg",
        "btcusdt@aggTrade": "common.market.BinanceAggregatedTradeMsg",
        "btcusdt@depth@100ms": "common.market.BinanceOrderBookMsg",
        "btcusdt@depth20": "spot.market.BinanceSpotOrderBookPartialDepthMsg",
        "btcusdt@bookTicker": "common.market.BinanceQuoteMsg",
        "btcusdt@ticker": "common.market.BinanceTickerMsg",
    },
    "futures": {
        "btcusdt@kline_5m": "common.market.BinanceCandlestickMsg",
        "btcusdt@trade": "futures.market.BinanceFuturesTradeMsg",
        "btcusdt@aggTrade": "common.market.BinanceAggregatedTradeMsg",
        "btcusdt@depth@100ms": "common.market.BinanceOrderBookMsg",
        "btcusdt@bookTicker": "common.market.BinanceQuoteMsg",
        "btcusdt@ticker": "common.market.BinanceTickerMsg",
        "btcusdt@markPrice": "futures.market.BinanceFuturesMarkPriceMsg",
    },
}
EVENTS = {
    "executionReport": "spot.user.BinanceSpotOrderUpdateWrapper",
    "outboundAccountPosition": "spot.user.BinanceSpotAccountUpdateWrapper",
    "ORDER_TRADE_UPDATE": "futures.user.BinanceFuturesOrderUpdateWrapper",
    "ACCOUNT_UPDATE": "futures.user.BinanceFuturesAccountUpdateWrapper",
}


def ask(exchange: Running, method: str, path: str, asked: dict[str, str]) -> str:
    """Makes a signed call, and gives the answer as it came."""
    words = urlencode(
        {"symbol": "BTCUSDT"} | asked | {"timestamp": int(time.time() * 1000), "recvWindow": 60_000}
    )
    sign = hmac.new(SECRET.encode(), words.encode(), hashlib.sha256).hexdigest()
    host = exchange.address.removeprefix("http://")
    with contextlib.closing(http.client.HTTPConnection(host, timeout=30)) as connection:
        connection.request(
            method, f"{path}?{words}&signature={sign}", headers={"X-MBX-APIKEY": KEY}
        )
        answer = connection.getresponse()
        text = answer.read().decode()
    assert answer.status == 200, f"{method} {path}: {text}"
    return text


async def listen(exchange: Running, market: str) -> list[Answer]:
    """Takes one message of each public stream, and each event of an order and a stop."""
    found: dict[str, Answer] = {}
    wanted = STREAMS[market]
    base = exchange.address + ("/fut" if market == "futures" else "")
    path, name = ("/api/v3/", "userDataStream") if market == "spot" else ("/fapi/v1/", "listenKey")
    key = json.loads(ask(exchange, "POST", path + name, {}))["listenKey"]
    async with ClientSession() as session:
        async with session.ws_connect(f"{base}/stream?streams={'/'.join(wanted)}") as socket:
            while len(found) < len(wanted):
                text = await asyncio.wait_for(socket.receive_str(), 20)
                stream = json.loads(text)["stream"]
                found[stream] = (wanted[stream], False, text)
        async with session.ws_connect(f"{base}/stream?streams={key}") as socket:
            for asked in (BUY, REST, BUY | {"side": "SELL", "quantity": "0.009"}):
                await asyncio.to_thread(ask, exchange, "POST", f"{path}order", asked)
            kinds = ("executionReport", "outboundAccountPosition")
            if market == "futures":
                kinds = ("ORDER_TRADE_UPDATE", "ACCOUNT_UPDATE")
            heard: list[Answer] = []
            while len(heard) < 5 or not all(any(k in t for _, _, t in heard) for k in kinds):
                text = await asyncio.wait_for(socket.receive_str(), 20)
                heard.append((EVENTS[json.loads(text)["data"]["e"]], False, text))
    return [*found.values(), *heard]


def judge(answers: list[Answer]) -> list[str]:
    """Asks NautilusTrader."""
    done = subprocess.run(
        [str(HOME / "bin" / "python"), str(JUDGE)],
        input=json.dumps(answers),
        capture_output=True,
        text=True,
        check=True,
    )
    said: list[str] = json.loads(done.stdout)
    return said


@pytest.fixture
def answers(exchange: Running) -> list[Answer]:
    """What the exchange says to every call and on every stream."""
    found = [(schema, many, ask(exchange, *call)) for *call, schema, many in CALLS]
    assert not [schema for schema, many, text in found if many and text == "[]"]
    for market in STREAMS:
        found += asyncio.run(listen(exchange, market))
    return found


def test_every_answer_is_what_the_strict_schemas_ask_for(answers: list[Answer]) -> None:
    said = judge(answers)
    wrong = [
        f"{a[0]}: {words}: {a[2][:300]}" for a, words in zip(answers, said, strict=True) if words
    ]
    assert not wrong, "\n".join(wrong)


def test_no_schema_is_blind(answers: list[Answer]) -> None:
    spoilt = [(a[0], a[1], '[{"other": 1}]' if a[1] else '{"other": 1}') for a in answers]
    said = judge(spoilt)
    assert not {a[0] for a, words in zip(spoilt, said, strict=True) if not words}
