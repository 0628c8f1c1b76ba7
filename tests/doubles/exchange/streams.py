"""Writes what everybody can see: trades, books and prices, as rows and as messages of streams."""

from typing import Any

from tests.doubles.exchange import shapes
from tests.doubles.exchange.matching import FUNDING_EVERY, FUNDING_RATE, FUTURES, SPOT, Venue
from tests.doubles.exchange.tape import Tape

Json = dict[str, Any]
_SECOND = 1000
_SIZE = "0.10000000"


def rows(name: str, tape: Tape, market: str, now: int, limit: int) -> Any:
    """Writes trades, one for each second until now, or the average price of five minutes."""
    if name == "avgPrice":
        return {"mins": 5, "price": shapes.text(tape.price(now)), "closeTime": now}
    last = now // _SECOND
    return [_row(name, tape, market, number) for number in range(last - limit + 1, last + 1)]


def _row(name: str, tape: Tape, market: str, number: int) -> Json:
    price, buyer_waited = tape.price(number * _SECOND), number % 2 == 0
    best = {"isBestMatch": True} if market == SPOT else {}
    if name == "aggTrades":
        found = {"a": number, "p": shapes.text(price), "q": _SIZE, "f": number, "l": number}
        found |= {"T": number * _SECOND, "m": buyer_waited}
        return found | ({"M": True} if market == SPOT else {})
    found = {"id": number, "price": shapes.text(price), "qty": _SIZE}
    found |= {"quoteQty": shapes.text(price / 10), "time": number * _SECOND}
    return found | {"isBuyerMaker": buyer_waited} | best


def premium(venue: Venue, symbol: str, now: int) -> Json:
    """Writes mark price and funding."""
    price = shapes.text(venue.price(symbol))
    found = {"symbol": symbol, "markPrice": price, "indexPrice": price, "time": now}
    found |= {"estimatedSettlePrice": price, "interestRate": "0.00010000"}
    following = (now // FUNDING_EVERY + 1) * FUNDING_EVERY
    return found | {"lastFundingRate": str(FUNDING_RATE), "nextFundingTime": following}


def funding(venue: Venue, symbol: str, now: int, since: str | None) -> list[Json]:
    """Writes the fundings since a moment."""
    start = int(since) if since else now - 100 * FUNDING_EVERY
    return [
        {
            "symbol": each,
            "fundingTime": moment * FUNDING_EVERY,
            "fundingRate": str(FUNDING_RATE),
            "markPrice": shapes.text(venue.tapes[each].price(moment * FUNDING_EVERY)),
        }
        for each in ([symbol] if symbol else venue.symbols)
        for moment in range(-(-start // FUNDING_EVERY), now // FUNDING_EVERY + 1)
    ]


def event(venue: Venue, market: str, symbol: str, what: str, now: int) -> Json | None:
    """Writes one message of a stream; None where there is no such stream."""
    tape, kind = venue.tapes[symbol], what.partition("@")[0]
    head: Json = {"E": now, "s": symbol}
    if kind.startswith("kline_"):
        frame = kind.removeprefix("kline_")
        return shapes.kline_event(symbol, frame, tape.klines(frame, now, None, None, 1)[-1], now)
    if kind in ("trade", "aggTrade"):
        row = _row("aggTrades", tape, market, now // _SECOND)
        if kind == "aggTrade":
            return head | row | {"e": "aggTrade"}
        found = head | {"e": "trade", "t": row["a"]} | {k: row[k] for k in ("p", "q", "T", "m")}
        return found | ({"M": True} if market == SPOT else {"X": "MARKET"})
    if kind.startswith("depth"):
        return _depth(venue, market, symbol, kind, now)
    if kind == "bookTicker":
        row = shapes.ticker(venue, symbol, now)
        found = {"u": now, "s": symbol, "b": row["bidPrice"], "B": row["bidQty"]}
        found |= {"a": row["askPrice"], "A": row["askQty"]}
        return found | ({"e": "bookTicker", "T": now, "E": now} if market == FUTURES else {})
    if kind == "ticker":
        return head | _ticker(shapes.ticker(venue, symbol, now), market) | {"e": "24hrTicker"}
    if kind == "markPrice" and market == FUTURES:
        row = premium(venue, symbol, now)
        found = head | {"e": "markPriceUpdate", "p": row["markPrice"], "i": row["indexPrice"]}
        return found | {"P": row["markPrice"], "r": str(FUNDING_RATE), "T": row["nextFundingTime"]}
    return None


def _depth(venue: Venue, market: str, symbol: str, kind: str, now: int) -> Json:
    book = shapes.depth(venue.price(symbol), now)
    if kind != "depth":  # as depth20: the best of one side and the other, on spot without a head
        count = int(kind.removeprefix("depth"))
        found = {"lastUpdateId": now, "bids": book["bids"][:count], "asks": book["asks"][:count]}
        if market == SPOT:
            return found
    found = {"e": "depthUpdate", "E": now, "s": symbol, "U": now, "u": now}
    found |= {"b": book["bids"], "a": book["asks"]}
    return found | ({"T": now, "pu": now - 1} if market == FUTURES else {})


def _ticker(row: Json, market: str) -> Json:
    names = {"p": "priceChange", "P": "priceChangePercent", "w": "weightedAvgPrice"}
    names |= {"c": "lastPrice", "Q": "lastQty", "o": "openPrice", "h": "highPrice", "l": "lowPrice"}
    names |= {"v": "volume", "q": "quoteVolume", "O": "openTime", "C": "closeTime"}
    names |= {"F": "firstId", "L": "lastId", "n": "count"}
    if market == SPOT:
        names |= {"x": "prevClosePrice", "b": "bidPrice", "B": "bidQty"}
        names |= {"a": "askPrice", "A": "askQty"}
    return {short: row[name] for short, name in names.items()}
