"""Writes orders, fills, accounts and markets in Binance's own words."""

from decimal import Decimal
from typing import Any

from tests.doubles.exchange.matching import (
    CROSSED,
    FEES,
    FUTURES,
    ISOLATED,
    MAINTENANCE,
    MIN_NOTIONAL,
    SPOT,
    STEP,
    STOPS,
    Order,
    Trade,
    Venue,
)
from tests.doubles.exchange.tape import FRAMES, MINUTE, TICK, Candle

Json = dict[str, Any]


def text(value: Decimal) -> str:
    """Writes a number with eight places, as Binance does."""
    return f"{value:.8f}"


def order_of(order: Order, trades: list[Trade] | None = None) -> Json:
    """Writes an order; spot and futures have fields of their own, as strict clients insist."""
    average = order.cost / order.filled if order.filled else Decimal(0)
    found: Json = {
        "symbol": order.symbol,
        "orderId": order.id,
        "clientOrderId": order.client,
        "price": text(order.price),
        "origQty": text(order.quantity),
        "executedQty": text(order.filled),
        "status": order.status,
        "timeInForce": order.time_in_force,
        "type": order.type,
        "side": order.side,
        "stopPrice": text(order.stop),
        "time": order.created,
        "updateTime": order.updated,
    }
    if order.market == SPOT:
        found |= {
            "orderListId": -1,
            "cummulativeQuoteQty": text(order.cost),
            "icebergQty": "0.00000000",
            "isWorking": not order.waits,
            "workingTime": order.created,
            "transactTime": order.created,
            "origQuoteOrderQty": "0.00000000",
            "selfTradePreventionMode": "EXPIRE_MAKER",
        }
    else:
        found |= {
            "cumQuote": text(order.cost),
            "avgPrice": text(average),
            "origType": order.type,
            "reduceOnly": order.reduce_only,
            "closePosition": False,
            "positionSide": "BOTH",
            "workingType": "CONTRACT_PRICE",
            "priceProtect": False,
            "priceMatch": "NONE",
            "selfTradePreventionMode": "EXPIRE_MAKER",
            "goodTillDate": 0,
        }
    if trades is not None:
        found["fills"] = [
            {
                "price": text(each.price),
                "qty": text(each.quantity),
                "commission": text(each.commission),
                "commissionAsset": each.asset,
                "tradeId": each.id,
            }
            for each in trades
        ]
    return found


def algo_of(order: Order) -> Json:
    """Writes a conditional order of futures, which has ids and states of its own."""
    return {
        "algoId": order.id,
        "clientAlgoId": order.client,
        "algoType": "CONDITIONAL",
        "orderType": order.type,
        "symbol": order.symbol,
        "side": order.side,
        "positionSide": "BOTH",
        "timeInForce": order.time_in_force,
        "quantity": text(order.quantity),
        "algoStatus": order.status,
        "actualOrderId": str(order.actual or ""),
        "actualPrice": "0.00000000",
        "triggerPrice": text(order.stop),
        "price": text(order.price),
        "workingType": "CONTRACT_PRICE",
        "priceMatch": "NONE",
        "closePosition": False,
        "priceProtect": False,
        "reduceOnly": order.reduce_only,
        "createTime": order.created,
        "updateTime": order.updated,
        "triggerTime": order.updated if order.triggered else 0,
        "goodTillDate": 0,
    }


def trade_of(trade: Trade) -> Json:
    """Writes a fill."""
    order = trade.order
    maker = order.type.startswith("LIMIT")
    found: Json = {
        "symbol": order.symbol,
        "id": trade.id,
        "orderId": order.id,
        "price": text(trade.price),
        "qty": text(trade.quantity),
        "quoteQty": text(trade.price * trade.quantity),
        "commission": text(trade.commission),
        "commissionAsset": trade.asset,
        "time": trade.time,
    }
    if order.market == SPOT:
        return found | {
            "orderListId": -1,
            "isBuyer": order.buys,
            "isMaker": maker,
            "isBestMatch": True,
        }
    return found | {
        "side": order.side,
        "buyer": order.buys,
        "maker": maker,
        "realizedPnl": text(trade.profit),
        "positionSide": "BOTH",
    }


def report_of(order: Order, what: str, trade: Trade | None, now: int) -> Json:
    """Writes what a user stream says of an order."""
    last = text(trade.quantity) if trade else "0.00000000"
    price = text(trade.price) if trade else "0.00000000"
    fee = text(trade.commission) if trade else "0"
    common: Json = {
        "s": order.symbol,
        "c": order.client,
        "S": order.side,
        "o": order.type,
        "f": order.time_in_force,
        "q": text(order.quantity),
        "p": text(order.price),
        "x": what,
        "X": order.status,
        "i": order.id,
        "l": last,
        "z": text(order.filled),
        "L": price,
        "n": fee,
        "T": now,
        "t": trade.id if trade else -1,
        "m": False,
    }
    if order.market == SPOT:
        return common | {
            "e": "executionReport",
            "E": now,
            "P": text(order.stop),
            "F": "0.00000000",
            "g": -1,
            "C": "",
            "r": "NONE",
            "N": trade.asset if trade else None,
            "I": order.id,
            "w": not order.waits,
            "M": False,
            "W": order.created,
            "V": "EXPIRE_MAKER",
            "O": order.created,
            "Z": text(order.cost),
            "Y": text(trade.price * trade.quantity) if trade else "0.00000000",
            "Q": "0.00000000",
        }
    average = order.cost / order.filled if order.filled else Decimal(0)
    inner = common | {
        "ap": text(average),
        "sp": text(order.stop),
        "N": "USDT",
        "R": order.reduce_only,
        "wt": "CONTRACT_PRICE",
        "ot": order.type,
        "ps": "BOTH",
        "cp": False,
        "rp": text(trade.profit) if trade else "0",
        "b": "0",
        "a": "0",
        "pP": False,
        "si": 0,
        "ss": 0,
        "gtd": 0,
        "V": "EXPIRE_MAKER",
    }
    return {"e": "ORDER_TRADE_UPDATE", "E": now, "T": now, "o": inner}


def account_event(venue: Venue, order: Order, now: int) -> Json:
    """Writes what a user stream says of the account after a fill."""
    if order.market == SPOT:
        coins = venue.symbols[order.symbol]
        rows = [
            {"a": coin, "f": text(venue.free[coin]), "l": text(venue.locked[coin])}
            for coin in coins
        ]
        return {"e": "outboundAccountPosition", "E": now, "u": now, "B": rows}
    wallet = text(venue.wallet)
    (row,) = [row for row in position_rows(venue, now) if row["symbol"] == order.symbol]
    position = {"s": order.symbol, "pa": row["positionAmt"], "ep": row["entryPrice"], "cr": "0"}
    position |= {"up": row["unRealizedProfit"], "mt": row["marginType"], "ps": "BOTH"}
    position |= {"iw": row["isolatedWallet"], "bep": row["breakEvenPrice"]}
    balance = {"a": "USDT", "wb": wallet, "cw": wallet, "bc": "0"}
    event = {"m": "ORDER", "B": [balance], "P": [position]}
    return {"e": "ACCOUNT_UPDATE", "E": now, "T": now, "a": event}


def exchange_info(venue: Venue, market: str, now: int) -> Json:
    """Writes the markets and their filters."""
    return {
        "timezone": "UTC",
        "serverTime": now,
        "rateLimits": [
            {
                "rateLimitType": "REQUEST_WEIGHT",
                "interval": "MINUTE",
                "intervalNum": 1,
                "limit": 6000,
            }
        ],
        "exchangeFilters": [],
        "assets": [{"asset": "USDT", "marginAvailable": True, "autoAssetExchange": "-10000"}],
        "symbols": [_symbol(name, *coins, market) for name, coins in venue.symbols.items()],
    }


def _symbol(name: str, base: str, quote: str, market: str) -> Json:
    lot = {"stepSize": text(STEP), "minQty": text(STEP), "maxQty": "9000.00000000"}
    least = str(MIN_NOTIONAL)
    found: Json = {
        "symbol": name,
        "status": "TRADING",
        "baseAsset": base,
        "quoteAsset": quote,
        "baseAssetPrecision": 8,
        "quotePrecision": 8,
        "orderTypes": ["LIMIT", "MARKET", *STOPS[market]],
        "filters": [
            {
                "filterType": "PRICE_FILTER",
                "tickSize": text(TICK),
                "minPrice": text(TICK),
                "maxPrice": "1000000.00000000",
            },
            {"filterType": "LOT_SIZE", **lot},
            {"filterType": "MARKET_LOT_SIZE", **lot},
        ],
    }
    if market == FUTURES:
        found["filters"].append({"filterType": "MIN_NOTIONAL", "notional": least})
        return found | {
            "pair": name,
            "contractType": "PERPETUAL",
            "deliveryDate": 4133404800000,
            "onboardDate": 1569398400000,
            "marginAsset": quote,
            "pricePrecision": 2,
            "quantityPrecision": 5,
            "underlyingType": "COIN",
            "underlyingSubType": ["PoW"],
            "settlePlan": 0,
            "maintMarginPercent": "2.5000",
            "requiredMarginPercent": "5.0000",
            "triggerProtect": "0.0500",
            "liquidationFee": "0.015",
            "marketTakeBound": "0.05",
            "timeInForce": ["GTC", "IOC", "FOK", "GTX"],
        }
    notional = {"filterType": "NOTIONAL", "minNotional": least, "applyMinToMarket": True}
    found["filters"].append(
        notional | {"maxNotional": "9000000", "applyMaxToMarket": False, "avgPriceMins": 5}
    )
    return found | {
        "quoteAssetPrecision": 8,
        "baseCommissionPrecision": 8,
        "quoteCommissionPrecision": 8,
        "icebergAllowed": False,
        "ocoAllowed": False,
        "otoAllowed": False,
        "quoteOrderQtyMarketAllowed": True,
        "allowTrailingStop": False,
        "cancelReplaceAllowed": False,
        "amendAllowed": False,
        "isSpotTradingAllowed": True,
        "isMarginTradingAllowed": False,
        "permissions": [],
        "permissionSets": [["SPOT"]],
        "defaultSelfTradePreventionMode": "EXPIRE_MAKER",
        "allowedSelfTradePreventionModes": ["EXPIRE_MAKER"],
    }


def kline_row(candle: Candle, frame: str) -> list[Any]:
    """Writes a candle as a row."""
    end = candle.time + FRAMES[frame] * MINUTE - 1
    prices = (candle.open, candle.high, candle.low, candle.close, candle.volume)
    quote = text(candle.volume * candle.close)
    return [candle.time, *map(text, prices), end, quote, 1, "0", "0", "0"]


def kline_event(symbol: str, frame: str, candle: Candle, now: int) -> Json:
    """Writes a candle as a stream says it."""
    row = kline_row(candle, frame)
    k = dict(zip("tohlcvTqn", row, strict=False))
    k |= {"s": symbol, "i": frame, "f": 1, "L": 1, "x": now > row[6], "V": "0", "Q": "0", "B": "0"}
    return {"e": "kline", "E": now, "s": symbol, "k": k}


def ticker(venue: Venue, symbol: str, now: int) -> Json:
    """Writes the last day of a symbol, flat but for the price."""
    price = venue.price(symbol)
    bid, ask = text(price * Decimal("0.9999")), text(price * Decimal("1.0001"))
    found = dict.fromkeys(
        (
            "lastPrice",
            "price",
            "openPrice",
            "highPrice",
            "lowPrice",
            "weightedAvgPrice",
            "prevClosePrice",
        ),
        text(price),
    )
    return found | {
        "symbol": symbol,
        "bidPrice": bid,
        "askPrice": ask,
        "bidQty": "1",
        "askQty": "1",
        "volume": "100",
        "quoteVolume": "9000000",
        "priceChange": "0",
        "priceChangePercent": "0",
        "lastQty": "1",
        "openTime": now - 86_400_000,
        "closeTime": now,
        "firstId": 1,
        "lastId": 2,
        "count": 2,
        "time": now,
    }


def depth(price: Decimal, now: int) -> Json:
    """Writes a book around a price."""
    steps = [Decimal(number) / 10_000 for number in range(1, 21)]
    return {
        "lastUpdateId": now,
        "E": now,
        "T": now,
        "bids": [[f"{price * (1 - step):.2f}", "5.0"] for step in steps],
        "asks": [[f"{price * (1 + step):.2f}", "5.0"] for step in steps],
    }


def spot_account(venue: Venue, now: int) -> Json:
    """Writes the spot account."""
    fee = str(FEES[SPOT])
    return {
        "makerCommission": 10,
        "takerCommission": 10,
        "buyerCommission": 0,
        "sellerCommission": 0,
        "commissionRates": {"maker": fee, "taker": fee, "buyer": "0", "seller": "0"},
        "canTrade": True,
        "canWithdraw": False,
        "canDeposit": False,
        "brokered": False,
        "requireSelfTradePrevention": False,
        "preventSor": False,
        "updateTime": now,
        "accountType": "SPOT",
        "permissions": ["SPOT"],
        "uid": 1,
        "balances": [
            {"asset": coin, "free": text(venue.free[coin]), "locked": text(venue.locked[coin])}
            for coin in venue.free
        ],
    }


def position_rows(venue: Venue, now: int) -> list[Json]:
    """Writes the futures positions."""
    rows = []
    for symbol, (size, entry) in venue.positions.items():
        price, leverage = venue.price(symbol), venue.leverage.get(symbol, 20)
        profit, margin = text(size * (price - entry)), text(venue.margin(symbol))
        isolated = venue.margin_type.get(symbol, CROSSED) == ISOLATED
        row: Json = dict.fromkeys(
            ("initialMargin", "positionInitialMargin", "isolatedMargin", "isolatedWallet"), margin
        )
        rows.append(
            row
            | {
                "symbol": symbol,
                "positionAmt": text(size),
                "entryPrice": text(entry),
                "breakEvenPrice": text(entry),
                "markPrice": text(price),
                "unRealizedProfit": profit,
                "unrealizedProfit": profit,
                "liquidationPrice": text(venue.liquidation_price(symbol)),
                "leverage": str(leverage),
                "marginType": "isolated" if isolated else "cross",
                "isolated": isolated,
                "isAutoAddMargin": "false",
                "maxNotionalValue": "1000000",
                "positionSide": "BOTH",
                "notional": text(size * price),
                "maintMargin": text(abs(size) * price * MAINTENANCE),
                "openOrderInitialMargin": "0",
                "adl": 0,
                "bidNotional": "0",
                "askNotional": "0",
                "marginAsset": "USDT",
                "updateTime": now,
            }
        )
    return rows


def futures_account(venue: Venue, now: int) -> Json:
    """Writes the futures account."""
    free, profit, wallet = text(venue.available()), text(venue.unrealized()), text(venue.wallet)
    margin = text(venue.wallet + venue.unrealized())
    margin_used = text(sum(map(venue.margin, venue.positions), Decimal(0)))
    asset: Json = dict.fromkeys(
        ("initialMargin", "maintMargin", "positionInitialMargin", "openOrderInitialMargin"), "0"
    )
    asset |= {"asset": "USDT", "walletBalance": wallet, "balance": wallet, "marginBalance": margin}
    asset |= {"availableBalance": free, "maxWithdrawAmount": free, "unrealizedProfit": profit}
    asset |= {"crossWalletBalance": wallet, "crossUnPnl": profit, "updateTime": now}
    return {
        "assets": [asset],
        "positions": position_rows(venue, now),
        "totalWalletBalance": wallet,
        "totalInitialMargin": margin_used,
        "totalMaintMargin": "0",
        "totalMarginBalance": margin,
        "availableBalance": free,
        "maxWithdrawAmount": free,
        "totalUnrealizedProfit": profit,
        "totalPositionInitialMargin": margin_used,
        "totalOpenOrderInitialMargin": "0",
        "totalCrossWalletBalance": wallet,
        "totalCrossUnPnl": profit,
        "feeTier": 0,
        "canTrade": True,
        "canDeposit": True,
        "canWithdraw": True,
        "updateTime": 0,
    }
