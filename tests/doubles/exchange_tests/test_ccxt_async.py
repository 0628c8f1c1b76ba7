"""ccxt's async and streaming clients trade on the exchange."""

import asyncio
from typing import Any

import aiohttp
import ccxt.async_support
import ccxt.pro
import pytest

from tests.doubles.exchange.client import Running

PAIR = "BTC/USDT"
FUTURE = "BTC/USDT:USDT"


def test_the_async_client_trades(exchange: Running) -> None:
    async def trade() -> Any:
        client = ccxt.async_support.binance(exchange.settings())
        try:
            orders = [client.create_order(PAIR, "market", "buy", 0.01) for _ in range(3)]
            done = await asyncio.gather(*orders)
            return [order["status"] for order in done], await client.fetch_balance()
        finally:
            await client.close()

    statuses, balance = asyncio.run(trade())
    assert statuses == ["closed"] * 3
    assert balance["BTC"]["total"] == pytest.approx(0.02997)


async def subscribed(exchange: Running, call: str) -> None:
    while not exchange.control()["hits"].get(call):
        await asyncio.sleep(0.05)


async def reports(client: Any, pair: str, number: int) -> list[tuple[str, float]]:
    seen: list[tuple[str, float]] = []
    while len(seen) < number:
        seen += [(order["status"], order["filled"]) for order in await client.watch_orders(pair)]
    return seen


def test_the_streaming_client_hears_of_its_orders_and_candles(exchange: Running) -> None:
    async def watch() -> Any:
        client = ccxt.pro.binance(exchange.settings(newUpdates=True))
        try:
            await client.load_markets()
            heard = asyncio.create_task(reports(client, PAIR, 2))
            candles = asyncio.create_task(client.watch_ohlcv(PAIR, "5m"))
            await subscribed(exchange, "WS userDataStream.subscribe.signature")
            await client.create_order(PAIR, "market", "buy", 0.01)
            return await heard, await candles
        finally:
            await client.close()

    seen, candles = asyncio.run(watch())
    assert seen == [("open", 0.0), ("closed", 0.01)]
    assert candles[-1][1] == 20_035.0


@pytest.mark.parametrize(("key", "code"), [("loopback-key", -1022), ("other", -2015)])
def test_a_stream_with_a_wrong_signature_is_refused(exchange: Running, key: str, code: int) -> None:
    async def ask() -> Any:
        asked = {"apiKey": key, "timestamp": 1, "signature": "0" * 64}
        call = {"id": 1, "method": "userDataStream.subscribe.signature", "params": asked}
        async with aiohttp.ClientSession() as session:
            address = exchange.address.replace("http", "ws")
            async with session.ws_connect(f"{address}/ws-api/v3") as socket:
                await socket.send_json(call)
                return await socket.receive_json()

    assert asyncio.run(ask())["error"]["code"] == code


async def for_ever(client: Any) -> None:
    while True:
        await client.watch_ohlcv(PAIR, "5m")


def test_a_socket_that_is_cut_is_an_error_that_the_client_gets_over(exchange: Running) -> None:
    async def watch() -> Any:
        client = ccxt.pro.binance(exchange.settings())
        try:
            await client.load_markets()
            await client.watch_ohlcv(PAIR, "5m")
            exchange.control(fault={"kind": "cut"})
            with pytest.raises(ccxt.NetworkError):
                await for_ever(client)
            return await client.watch_ohlcv(PAIR, "5m")
        finally:
            await client.close()

    assert asyncio.run(watch())


def test_futures_are_heard_by_their_listen_key(exchange: Running) -> None:
    async def watch() -> Any:
        client = ccxt.pro.binance(exchange.settings("swap"))
        try:
            await client.load_markets()
            heard = asyncio.create_task(client.watch_orders(FUTURE))
            while not exchange.control()["listeners"]:
                await asyncio.sleep(0.05)
            await client.create_order(FUTURE, "market", "sell", 0.01)
            return await heard
        finally:
            await client.close()

    assert asyncio.run(watch())[0]["symbol"] == FUTURE
