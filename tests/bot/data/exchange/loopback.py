"""A loopback server with Binance's answers to exchangeInfo and klines, and faults on demand."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

HOUR = 3_600_000
START = 1_704_067_200_000  # 2024-01-01
MARKET = {
    "symbol": "BTCUSDT",
    "status": "TRADING",
    "baseAsset": "BTC",
    "baseAssetPrecision": 8,
    "quoteAsset": "USDT",
    "quotePrecision": 8,
    "isSpotTradingAllowed": True,
    "permissions": ["SPOT"],
    "filters": [
        {"filterType": "PRICE_FILTER", "minPrice": "0.01", "tickSize": "0.01"},
        {"filterType": "LOT_SIZE", "minQty": "0.00001", "stepSize": "0.00001"},
    ],
}


def kline(moment: int) -> list[Any]:
    """A candle as Binance writes it; its prices tell its hour."""
    price = 100 + (moment - START) // HOUR % 50
    text = [f"{value:.2f}" for value in (price, price + 1, price - 1, price + 0.5)]
    return [moment, *text, "12.5", moment + HOUR - 1, "1250.0", 7, "6.0", "600.0", "0"]


@dataclass
class Desk:
    """What the server has and how it misbehaves: one fault a request for klines, in order."""

    hours: int = 2500
    missing: frozenset[int] = frozenset()
    faults: list[str] = field(default_factory=list)
    asked: list[dict[str, str]] = field(default_factory=list)
    url: str = ""

    def page(self, query: dict[str, str]) -> list[list[Any]]:
        """The candles from startTime on."""
        since, limit = int(query.get("startTime", 0)), int(query.get("limit", 500))
        end = int(query.get("endTime", 1 << 60))
        hours = (hour for hour in range(self.hours) if hour not in self.missing)
        found = [kline(START + hour * HOUR) for hour in hours]
        return [row for row in found if since <= row[0] <= end][:limit]


def _shuffled(rows: list[Any]) -> list[Any]:
    return rows[1::2] + rows[::2]


PAGES: dict[str, Callable[[list[Any]], list[Any]]] = {
    "short": lambda rows: rows[:7],
    "empty": lambda rows: [],
    "doubled": lambda rows: [row for row in rows for _ in range(2)],
    "shuffled": _shuffled,
    "contradiction": lambda rows: [*rows, [rows[0][0], "9", "9", "9", "9", *rows[0][5:]]],
}


@contextmanager
def serving(desk: Desk) -> Iterator[Desk]:
    """Run the exchange for a while."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            place = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(place.query).items()}
            if place.path == "/api/v3/exchangeInfo":
                self.reply(200, {"timezone": "UTC", "rateLimits": [], "symbols": [MARKET]})
            elif place.path == "/api/v3/klines":
                desk.asked.append(query)
                self.candles(query, desk.faults.pop(0) if desk.faults else "")
            else:
                self.reply(404, {"code": -1, "msg": "no such place"})

        def candles(self, query: dict[str, str], fault: str) -> None:
            rows = desk.page(query)
            if fault == "429":
                told = {"code": -1003, "msg": "Too many requests"}
                self.reply(429, told, {"Retry-After": "11"})
            elif fault == "500":
                self.reply(500, {"code": -1000, "msg": "An unknown error occurred"})
            elif fault == "cut":
                self.reply(200, rows, cut=40)
            elif fault == "dropped":
                self.reply(200, rows, lost=400)
            else:
                self.reply(200, PAGES.get(fault, list)(rows))

        def reply(
            self,
            status: int,
            told: Any,
            headers: dict[str, str] | None = None,
            cut: int = 0,
            lost: int = 0,
        ) -> None:
            body = json.dumps(told).encode()
            body = body[: len(body) - cut]
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body[: len(body) - lost])
            self.close_connection = bool(lost)

        def log_message(self, *_: Any) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    desk.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield desk
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
