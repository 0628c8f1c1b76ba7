"""Serves the venue as Binance does: REST and WebSocket, signed calls, limits, faults on demand."""

import asyncio
import contextlib
import hashlib
import hmac
import json
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import WSMsgType, web

from tests.doubles.exchange import shapes, streams
from tests.doubles.exchange.matching import (
    CROSSED,
    FUTURES,
    MAINTENANCE,
    OPEN,
    SPOT,
    Order,
    Refusal,
    Trade,
    Venue,
)
from tests.doubles.exchange.tape import Tape

KEY, SECRET = "loopback-key", "loopback-secret"
LISTEN = "listen-key-of-the-loopback-exchange"
PUSH_S = 0.25


@dataclass
class Fault:
    """Something that goes wrong at a call: `call` is the start of METHOD and path.

    Kinds: lost (done, the answer is cut), drop (not done, cut), slow (done, answered late), late
    (done late), error and error-after (with status and code), reject, partial, cut (sockets).
    """

    kind: str
    call: str = ""
    times: int = 1
    skip: int = 0
    seconds: float = 5.0
    status: int = 500
    code: int = -1000


@dataclass
class Exchange:
    """The venue with its clock and its faults."""

    tapes: dict[str, Tape]
    symbols: dict[str, tuple[str, str]]
    faults: list[Fault] = field(default_factory=list)
    hits: Counter[str] = field(default_factory=Counter)
    calls: list[str] = field(default_factory=list)
    maintenance: bool = False
    limit_per_minute: int = 0
    set_to: int | None = None  # the market's clock; None follows the machine's

    def __post_init__(self) -> None:
        self.venue = Venue(self.tapes, self.symbols, self.market_now, self._heard)
        self.listeners: dict[str, list[Listener]] = {SPOT: [], FUTURES: []}
        self.sockets: list[Listener] = []
        self._window: list[float] = []
        self._warned = 0

    def market_now(self) -> int:
        """Tells where the tape is; it can be driven, and stands still then."""
        return wall() if self.set_to is None else self.set_to

    def fault(self, call: str, *kinds: str) -> Fault | None:
        """Takes the first fault of these kinds that waits for a call."""
        for each in self.faults:
            if each.kind in kinds and call.startswith(each.call) and each.times > 0:
                if each.skip > 0:
                    each.skip -= 1
                    continue
                each.times -= 1
                return each
        return None

    def too_many(self) -> int:
        """Gives 429 above the limit, and 418 to who goes on; 0 if all is well."""
        if not self.limit_per_minute:
            return 0
        now = time.monotonic()
        self._window = [moment for moment in self._window if now - moment < 60] + [now]
        if len(self._window) <= self.limit_per_minute:
            return 0
        self._warned += 1
        return 418 if self._warned > 10 else 429

    def control(self, wish: dict[str, Any]) -> None:
        """Does what a test asks for."""
        if "clock" in wish:
            self.set_to = wish["clock"]
        if "advance_s" in wish:
            self.set_to = self.market_now() + int(wish["advance_s"] * 1000)
        if "fault" in wish:
            self.faults.append(Fault(**wish["fault"]))
        if "faults" in wish and wish["faults"] is None:
            self.faults.clear()
        self.maintenance = wish.get("maintenance", self.maintenance)
        self.venue.thin = wish.get("thin", self.venue.thin)
        self.limit_per_minute = wish.get("limit_per_minute", self.limit_per_minute)
        for coin, amount in wish.get("balances", {}).items():
            self.venue.free[coin] = Decimal(str(amount))
        self.venue.advance()

    def state(self) -> dict[str, Any]:
        """Shows everything."""
        venue = self.venue
        return {
            "now": self.market_now(),
            "prices": {name: str(venue.price(name)) for name in self.tapes},
            "orders": [
                (shapes.algo_of(o) if o.algo else shapes.order_of(o))
                | {"market": o.market, "status": o.status}
                for o in venue.orders
            ],
            "free": {coin: str(amount) for coin, amount in venue.free.items()},
            "locked": {coin: str(amount) for coin, amount in venue.locked.items()},
            "wallet": str(venue.wallet),
            "positions": {name: str(size) for name, (size, _) in venue.positions.items()},
            "income": venue.income[-100:],
            "hits": dict(self.hits),
            "listeners": sum(map(len, self.listeners.values())),
            "calls": self.calls[-500:],
        }

    def _heard(self, order: Order, what: str, trade: Trade | None) -> None:
        if order.algo:
            return  # heard of once it is a plain order
        events = [shapes.report_of(order, what, trade, wall())]
        if trade:
            events.append(shapes.account_event(self.venue, order, wall()))
        for listener in list(self.listeners[order.market]):
            for event in events:
                listener.send(
                    {"subscriptionId": 0, "event": event}
                    if listener.wrapped
                    else listener.named(LISTEN, event)
                )


@dataclass(eq=False)
class Listener:
    """One socket: what it wants, and a queue, so that messages keep their order."""

    ws: web.WebSocketResponse
    market: str
    wanted: set[str] = field(default_factory=set)
    wrapped: bool = False
    combined: bool = False  # each message is sent with the name of its stream
    queue: asyncio.Queue[dict[str, Any]] = field(default_factory=asyncio.Queue)

    def named(self, stream: str, data: dict[str, Any]) -> dict[str, Any]:
        """Writes a message as this socket wants it."""
        return {"stream": stream, "data": data} if self.combined else data

    def send(self, message: dict[str, Any]) -> None:
        """Puts a message into the queue."""
        self.queue.put_nowait(message)

    async def pump(self) -> None:
        """Sends what is in the queue until the socket is gone."""
        with contextlib.suppress(ConnectionError, RuntimeError):
            while True:
                await self.ws.send_json(await self.queue.get())


def wall() -> int:
    """Tells the machine's time in milliseconds: signatures are held against it."""
    return int(time.time() * 1000)


def signed(sent: str, given: str, asked: dict[str, str], key: str | None) -> None:
    """Refuses what is not signed rightly, or signed too long ago.

    Raises:
        Refusal: with Binance's code.
    """
    if key != KEY:
        raise Refusal(-2015, "Invalid API-key, IP, or permissions for action.", 401)
    right = hmac.new(SECRET.encode(), sent.encode(), hashlib.sha256).hexdigest()
    if not hmac.compare_digest(right, given):
        raise Refusal(-1022, "Signature for this request is not valid.")
    if not asked.get("timestamp", "").isdigit():
        raise Refusal(
            -1102, "Mandatory parameter 'timestamp' was not sent, was empty/null, or malformed."
        )
    ahead = int(asked["timestamp"]) - wall()
    if ahead > 1000 or -ahead > int(asked.get("recvWindow", 5000)):
        raise Refusal(-1021, "Timestamp for this request is outside of the recvWindow.")


class Desk:
    """Answers requests."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.venue = exchange.venue

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answers one request, with whatever goes wrong at it."""
        exchange, path = self.exchange, request.path
        body = await request.text()
        if path == "/_control":
            exchange.control(json.loads(body))
        if path in ("/_control", "/_state"):
            return web.json_response(exchange.state())
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return await self._socket(request)
        call = f"{request.method} {path}"
        exchange.hits[call] += 1
        exchange.calls.append(call)
        if status := exchange.too_many():
            words = {"code": -1003, "msg": "Too many requests; current limit is exceeded."}
            return web.json_response(words, status=status, headers={"Retry-After": "1"})
        if exchange.maintenance:
            return web.Response(status=503, text="The system is under maintenance.")
        return await self._answer(request, call, body)

    async def _answer(self, request: web.Request, call: str, body: str) -> web.StreamResponse:
        before = self.exchange.fault(call, "drop", "late", "error", "reject")
        after = self.exchange.fault(call, "lost", "slow", "error-after", "partial")
        if before and before.kind == "drop":
            return _cut(request)
        if before and before.kind == "error":
            words = {"code": before.code, "msg": "A fault on demand."}
            return web.json_response(words, status=before.status, headers={"Retry-After": "1"})
        if before and before.kind == "late":
            await asyncio.sleep(before.seconds)
        try:
            if before and before.kind == "reject":
                raise Refusal(-2010, "New order rejected.")
            self.venue.advance()
            answer = self._route(request, body, partial=bool(after and after.kind == "partial"))
        except Refusal as refusal:
            return web.json_response(
                {"code": refusal.code, "msg": refusal.text}, status=refusal.status
            )
        if after and after.kind == "lost":
            return _cut(request)
        if after and after.kind == "error-after":
            words = {"code": after.code, "msg": "Unknown error, the order may have been taken."}
            return web.json_response(words, status=after.status)
        if after and after.kind == "slow":
            await asyncio.sleep(after.seconds)
        return web.json_response(answer)

    def _route(self, request: web.Request, body: str, *, partial: bool) -> Any:
        market = FUTURES if request.path.startswith("/fapi") else SPOT
        name = request.path.split("/", 3)[-1]
        query = request.query_string
        pairs = parse_qsl(query, keep_blank_values=True) + parse_qsl(body, keep_blank_values=True)
        asked = dict(pairs)
        public = self._public(market, name, asked)
        if public is not None:
            return public
        key = request.headers.get("X-MBX-APIKEY")
        if name in ("listenKey", "userDataStream"):
            if key != KEY:
                raise Refusal(-2015, "Invalid API-key, IP, or permissions for action.", 401)
            return {"listenKey": LISTEN}
        sent, _, given = (query + body).rpartition("&signature=")
        signed(sent, given, asked, key)
        return self._private(market, request.method, name, asked, partial=partial)

    def _public(self, market: str, name: str, asked: dict[str, str]) -> Any:
        venue, now, symbol = self.venue, wall(), asked.get("symbol", "")
        if symbol and symbol not in venue.symbols:
            raise Refusal(-1121, "Invalid symbol.")
        if name == "ping":
            return {}
        if name == "time":
            return {"serverTime": now}
        if name == "exchangeInfo":
            return shapes.exchange_info(venue, market, now)
        if name == "klines":
            start, end = (int(asked[k]) if k in asked else None for k in ("startTime", "endTime"))
            frame, limit = asked["interval"], min(1500, int(asked.get("limit", 500)))
            found = venue.tapes[symbol].klines(frame, self.exchange.market_now(), start, end, limit)
            return [shapes.kline_row(candle, frame) for candle in found]
        if name == "depth":
            return shapes.depth(venue.price(symbol), now)
        if name in ("trades", "aggTrades", "avgPrice"):
            market_now, limit = self.exchange.market_now(), min(1000, int(asked.get("limit", 500)))
            return streams.rows(name, venue.tapes[symbol], market, market_now, limit)
        if name.startswith("ticker/"):
            rows = [
                shapes.ticker(venue, each, now) for each in ([symbol] if symbol else venue.symbols)
            ]
            return rows[0] if symbol else rows
        if name == "premiumIndex":
            rows = [
                streams.premium(venue, each, now)
                for each in ([symbol] if symbol else venue.symbols)
            ]
            return rows[0] if symbol else rows
        if name == "fundingRate":
            return streams.funding(
                venue, symbol, self.exchange.market_now(), asked.get("startTime")
            )
        return None

    def _private(
        self, market: str, method: str, name: str, asked: dict[str, str], *, partial: bool
    ) -> Any:
        venue, symbol, now = self.venue, asked.get("symbol", ""), wall()
        if name in ("order", "order/test", "algoOrder"):
            return self._order(market, method, name, asked, partial=partial)
        if name in ("openOrders", "allOrders", "allOpenOrders", "openAlgoOrders", "allAlgoOrders"):
            algo = "Algo" in name
            rows = [
                *venue.listed(
                    market,
                    symbol,
                    only_open=not name.startswith("allO") or name == "allOpenOrders",
                    algo=algo,
                )
            ]
            if method == "DELETE":
                for order in rows:
                    venue.end(order)
                if market == FUTURES:
                    words = "The operation of cancel all open order is done."
                    return {"code": 200, "msg": words}
            return [shapes.algo_of(o) if algo else shapes.order_of(o) for o in rows]
        if name in ("myTrades", "userTrades"):
            return [
                shapes.trade_of(trade)
                for trade in venue.trades
                if (trade.order.market, trade.order.symbol) == (market, symbol)
                and asked.get("orderId") in (None, str(trade.order.id))
                and trade.time >= int(asked.get("startTime", 0))
            ]
        if name == "account" and market == SPOT:
            return shapes.spot_account(venue, now)
        if name == "account":
            return shapes.futures_account(venue, now)
        if name == "balance":
            return shapes.futures_account(venue, now)["assets"]
        if name == "positionRisk":
            return [
                row for row in shapes.position_rows(venue, now) if symbol in ("", row["symbol"])
            ]
        if name == "income":
            since = int(asked.get("startTime", 0))
            return [r for r in venue.income if symbol in ("", r["symbol"]) and r["time"] >= since]
        if name == "leverage":
            venue.leverage[symbol] = int(asked["leverage"])
            return {
                "symbol": symbol,
                "leverage": int(asked["leverage"]),
                "maxNotionalValue": "1000000",
            }
        if name == "marginType" and method == "POST":
            venue.set_margin_type(symbol, asked["marginType"])
        return self._settings(name, method, symbol)

    def _order(
        self, market: str, method: str, name: str, asked: dict[str, str], *, partial: bool
    ) -> Any:
        venue, algo = self.venue, name == "algoOrder"
        if method == "POST":
            order = venue.place(market, asked, partial=partial, algo=algo)
            if algo:
                return shapes.algo_of(order)
            fills = [trade for trade in venue.trades if trade.order is order]
            return shapes.order_of(order, fills if market == SPOT else None)
        order = venue.find(market, asked, algo=algo)
        if method == "DELETE":
            if order.status not in OPEN:
                raise Refusal(-2011, "Unknown order sent.")
            venue.end(order)
            if algo:
                return {
                    "algoId": order.id,
                    "clientAlgoId": order.client,
                    "code": "200",
                    "msg": "success",
                }
        return shapes.algo_of(order) if algo else shapes.order_of(order)

    def _settings(self, name: str, method: str, symbol: str) -> Any:
        symbols = self.venue.symbols
        done = {"code": 200, "msg": "success"}
        bracket: dict[str, Any] = {
            "bracket": 1,
            "initialLeverage": 125,
            "notionalCap": 9_000_000,
            "notionalFloor": 0,
        }
        bracket |= {"maintMarginRatio": float(MAINTENANCE), "cum": 0}
        config = {"isAutoAddMargin": False, "maxNotionalValue": "1000000"}
        kinds = self.venue.margin_type
        answers: dict[str, Any] = {
            "marginType": done,
            "positionSide/dual": {"dualSidePosition": False} if method == "GET" else done,
            "multiAssetsMargin": {"multiAssetsMargin": False} if method == "GET" else done,
            "leverageBracket": [{"symbol": each, "brackets": [bracket]} for each in symbols],
            "symbolConfig": [
                {"symbol": each, "leverage": self.venue.leverage.get(each, 20), **config}
                | {"marginType": kinds.get(each, CROSSED)}
                for each in symbols
                if symbol in ("", each)
            ],
            "accountConfig": {
                "canTrade": True,
                "dualSidePosition": False,
                "multiAssetsMargin": False,
            },
            "asset/tradeFee": [
                {"symbol": each, "makerCommission": "0.001", "takerCommission": "0.001"}
                for each in symbols
            ],
            "commissionRate": {
                "symbol": symbol,
                "makerCommissionRate": "0.0002",
                "takerCommissionRate": "0.0005",
            },
        }
        if name not in answers:
            raise Refusal(-1102, f"{method} {name} is not here", 404)
        return answers[name]

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        ws = web.WebSocketResponse()
        await ws.prepare(request)
        market = FUTURES if request.path.startswith("/fut") else SPOT
        wanted = {x for x in request.query.get("streams", "").split("/") if x}
        combined = request.path.endswith("/stream")
        listener = Listener(ws, market, wanted, combined=combined)
        self.exchange.sockets.append(listener)
        if LISTEN in request.path_qs:
            self.exchange.listeners[market].append(listener)
        pump = asyncio.create_task(listener.pump())
        try:
            async for message in ws:
                if message.type == WSMsgType.TEXT:
                    self._command(listener, json.loads(message.data))
        finally:
            pump.cancel()
            self.exchange.sockets.remove(listener)
            for group in self.exchange.listeners.values():
                if listener in group:
                    group.remove(listener)
        return ws

    def _command(self, listener: Listener, call: dict[str, Any]) -> None:
        method, asked = call.get("method", ""), call.get("params") or {}
        self.exchange.hits[f"WS {method}"] += 1
        if method == "SUBSCRIBE":
            listener.wanted.update(asked)
            listener.send({"result": None, "id": call["id"]})
        elif method == "userDataStream.subscribe.signature":
            plain = {name: str(value) for name, value in asked.items()}
            given, key = plain.pop("signature", ""), plain.get("apiKey")
            sent = "&".join(f"{name}={plain[name]}" for name in sorted(plain))
            try:
                signed(sent, given, plain, key)
            except Refusal as refusal:
                words = {"code": refusal.code, "msg": refusal.text}
                listener.send({"id": call["id"], "status": refusal.status, "error": words})
                return
            listener.wrapped = True
            self.exchange.listeners[listener.market].append(listener)
            listener.send({"id": call["id"], "status": 200, "result": {"subscriptionId": 0}})
        else:
            listener.send({"id": call["id"], "status": 200, "result": {}})

    async def push(self, _app: web.Application) -> AsyncIterator[None]:
        """Sends prices to those who asked, until the server ends."""
        task = asyncio.create_task(self._push())
        yield
        task.cancel()
        for listener in list(self.exchange.sockets):
            await listener.ws.close()

    async def _push(self) -> None:
        while True:
            await asyncio.sleep(PUSH_S)
            self.venue.advance()
            if self.exchange.fault("WS", "cut"):
                for listener in list(self.exchange.sockets):
                    await listener.ws.close()
            for listener in list(self.exchange.sockets):
                for stream in sorted(listener.wanted):
                    self._stream(listener, stream)

    def _stream(self, listener: Listener, stream: str) -> None:
        symbol, _, what = stream.partition("@")
        if symbol.upper() in self.venue.symbols:
            now = self.exchange.market_now()
            event = streams.event(self.venue, listener.market, symbol.upper(), what, now)
            if event:
                listener.send(listener.named(stream, event))


def _cut(request: web.Request) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=500)


def application(exchange: Exchange) -> web.Application:
    """Makes the server's application."""
    desk = Desk(exchange)
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", desk.handle)
    app.cleanup_ctx.append(desk.push)
    return app
