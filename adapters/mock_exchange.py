"""Turns candles into an exchange as CCXT shows one: the same methods and shapes, no network."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from Backtest.times import timeframe_ms

if TYPE_CHECKING:
    import pandas as pd

# What CCXT answers: each method has its own keys.
Answer = dict[str, Any]
_MOST_CANDLES = 100
_FEE = 0.001


class MockExchange:
    """Plays an exchange whose prices are given candles; the last close is the price of now.

    Orders at the market fill at once. Unlike a real exchange it never fails and has no limits but
    the number of candles in one answer.
    """

    id = "mock"

    def __init__(self, candles: Mapping[str, pd.DataFrame], timeframe: str = "1h") -> None:
        """Take candles by symbol, with a `timestamp` column, and the timeframe they have."""
        self._candles = dict(candles)
        self._timeframe = timeframe
        self._orders: dict[str, Answer] = {}
        self._numbers = itertools.count(1)
        self.balance: dict[str, float] = {"USDT": 10_000.0}
        self.markets = {symbol: _market(symbol) for symbol in self._candles}
        self.timeframes = {timeframe: timeframe}

    def load_markets(self, reload: bool = False) -> dict[str, Answer]:
        """Gives all markets by symbol."""
        del reload
        return self.markets

    def market(self, symbol: str) -> Answer:
        """Gives one market.

        Raises:
            KeyError: there is none of that name.
        """
        return self.markets[symbol]

    def fetch_ohlcv(
        self,
        symbol: str,
        timeframe: str = "1h",
        since: int | None = None,
        limit: int | None = None,
        params: Mapping[str, object] | None = None,
    ) -> list[list[float]]:
        """Candles as [milliseconds, open, high, low, close, volume], oldest first.

        With `since` the first ones from then on, without it the last ones; a hundred at most.
        """
        del params
        if timeframe != self._timeframe:
            raise ValueError(f"this exchange has candles of {self._timeframe}, not {timeframe}")
        rows = self._rows(symbol)
        most = min(limit or _MOST_CANDLES, _MOST_CANDLES)
        if since is None:
            return rows[-most:]
        return [row for row in rows if row[0] >= since][:most]

    def fetch_ticker(self, symbol: str) -> Answer:
        """Gives the price of now."""
        moment, _, high, low, close, volume = self._rows(symbol)[-1]
        now = int(moment) + timeframe_ms(self._timeframe)
        return {
            "symbol": symbol,
            "timestamp": now,
            "last": close,
            "close": close,
            "bid": close,
            "ask": close,
            "high": high,
            "low": low,
            "baseVolume": volume,
        }

    def fetch_order_book(self, symbol: str, limit: int = 1) -> Answer:
        """Gives a book without depth."""
        last = self.fetch_ticker(symbol)
        level = [[last["last"], 1.0]] * limit
        return {"symbol": symbol, "timestamp": last["timestamp"], "bids": level, "asks": level}

    def fetch_balance(self) -> Answer:
        """Tells what is held."""
        held = dict(self.balance)
        parts = {name: {"free": n, "used": 0.0, "total": n} for name, n in held.items()}
        return {**parts, "free": held, "used": dict.fromkeys(held, 0.0), "total": held}

    def create_order(
        self,
        symbol: str,
        type: str,  # noqa: A002 - as CCXT calls it
        side: str,
        amount: float,
        price: float | None = None,
    ) -> Answer:
        """Place an order; one at the market fills at the last close.

        Raises:
            ValueError: the balance is too small.
        """
        last = float(self.fetch_ticker(symbol)["last"])
        filled = type == "market"
        order = {
            "id": str(next(self._numbers)),
            "symbol": symbol,
            "type": type,
            "side": side,
            "amount": amount,
            "price": last if filled else price,
            "average": last if filled else None,
            "filled": amount if filled else 0.0,
            "remaining": 0.0 if filled else amount,
            "status": "closed" if filled else "open",
            "fee": {"currency": symbol.split("/")[1], "cost": amount * last * _FEE},
        }
        if filled:
            self._settle(symbol, side, amount, last)
        self._orders[str(order["id"])] = order
        return dict(order)

    def fetch_order(self, id: str, symbol: str | None = None) -> Answer:  # noqa: A002
        """Gives an order by its id."""
        del symbol
        return dict(self._orders[id])

    def fetch_open_orders(self, symbol: str | None = None) -> list[Answer]:
        """Orders that wait."""
        return [
            dict(order)
            for order in self._orders.values()
            if order["status"] == "open" and symbol in (None, order["symbol"])
        ]

    def cancel_order(self, id: str, symbol: str | None = None) -> Answer:  # noqa: A002
        """Take an order back."""
        del symbol
        self._orders[id]["status"] = "canceled"
        return dict(self._orders[id])

    def _rows(self, symbol: str) -> list[list[float]]:
        frame = self._candles[symbol]
        moments = frame["timestamp"].astype("int64") // (
            10**6 if frame["timestamp"].dt.unit == "ns" else 10**3
        )
        prices = frame[["open", "high", "low", "close", "volume"]].to_numpy().tolist()
        return [[int(moment), *row] for moment, row in zip(moments, prices, strict=True)]

    def _settle(self, symbol: str, side: str, amount: float, price: float) -> None:
        base, quote = symbol.split("/")
        sign = 1.0 if side == "buy" else -1.0
        money = self.balance.get(quote, 0.0) - sign * amount * price - amount * price * _FEE
        coins = self.balance.get(base, 0.0) + sign * amount
        if money < 0 or coins < 0:
            raise ValueError(f"insufficient balance to {side} {amount} {base}")
        self.balance[quote], self.balance[base] = money, coins


def _market(symbol: str) -> Answer:
    base, quote = symbol.split("/")
    return {
        "id": base + quote,
        "symbol": symbol,
        "base": base,
        "quote": quote,
        "active": True,
        "spot": True,
        "precision": {"amount": 1e-8, "price": 0.01},
        "limits": {"amount": {"min": 1e-8, "max": None}, "cost": {"min": 5.0, "max": None}},
        "taker": _FEE,
        "maker": _FEE,
    }
