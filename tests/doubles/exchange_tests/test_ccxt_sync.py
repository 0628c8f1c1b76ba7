"""ccxt's plain client trades on the exchange, and gets Binance's own errors."""

import re
import time
from typing import Any

import ccxt
import pytest

from tests.doubles.exchange.client import Running

PAIR = "BTC/USDT"
FUTURE = "BTC/USDT:USDT"


@pytest.fixture
def spot(exchange: Running) -> Any:
    found = ccxt.binance(exchange.settings())
    found.load_markets()
    return found


@pytest.fixture
def futures(exchange: Running) -> Any:
    found = ccxt.binance(exchange.settings("swap"))
    found.load_markets()
    found.set_leverage(1, FUTURE)
    return found


def test_a_market_order_pays_its_commission_in_the_coin_that_it_buys(spot: Any) -> None:
    price = spot.fetch_ticker(PAIR)["last"]
    order = spot.create_order(PAIR, "market", "buy", 0.01, None, {"clientOrderId": "mine"})
    assert (order["status"], order["filled"], order["clientOrderId"]) == ("closed", 0.01, "mine")
    assert order["average"] == pytest.approx(price * 1.0001, abs=0.01)
    assert order["fee"] == {"currency": "BTC", "cost": pytest.approx(0.00001)}
    balance = spot.fetch_balance()
    assert balance["BTC"]["free"] == pytest.approx(0.00999)
    assert balance["USDT"]["free"] == pytest.approx(10_000 - order["cost"])
    assert spot.fetch_order(None, PAIR, {"clientOrderId": "mine"})["id"] == order["id"]
    (trade,) = spot.fetch_my_trades(PAIR)
    assert trade["order"] == order["id"]
    sold = spot.create_order(PAIR, "market", "sell", 0.00999)
    assert sold["fee"]["currency"] == "USDT"
    assert spot.fetch_balance()["BTC"]["total"] == 0


def test_candles_prices_and_book_agree(exchange: Running, spot: Any) -> None:
    candles = spot.fetch_ohlcv(PAIR, "5m", limit=50)
    assert len(candles) == 50
    assert candles[-2][1:] == [20_005, 20_035, 19_995, 20_035, 30]
    longer = spot.fetch_ohlcv(PAIR, "15m", limit=10)
    whole = [c for c in candles if longer[-3][0] <= c[0] < longer[-2][0]]
    assert longer[-3][2] == max(c[2] for c in whole)
    assert longer[-3][3] == min(c[3] for c in whole)
    since = spot.fetch_ohlcv(PAIR, "5m", since=candles[10][0], limit=5)
    assert since == candles[10:15]
    price = spot.fetch_ticker(PAIR)["last"]
    book = spot.fetch_order_book(PAIR)
    assert book["bids"][0][0] < price < book["asks"][0][0]
    exchange.control(advance_s=600)
    assert spot.fetch_ticker(PAIR)["last"] > price + 60


def test_a_resting_order_holds_its_money_until_it_is_filled_or_taken_back(
    exchange: Running, spot: Any
) -> None:
    order = spot.create_order(PAIR, "limit", "buy", 0.1, 19_000)
    assert spot.fetch_balance()["USDT"]["used"] == pytest.approx(1_900)
    assert [each["id"] for each in spot.fetch_open_orders(PAIR)] == [order["id"]]
    with pytest.raises(ccxt.InsufficientFunds):
        spot.create_order(PAIR, "limit", "buy", 0.5, 19_000)
    spot.cancel_order(order["id"], PAIR)
    assert spot.fetch_balance()["USDT"] == {"free": 10_000, "used": 0, "total": 10_000}
    with pytest.raises(ccxt.OrderNotFound):
        spot.cancel_order(order["id"], PAIR)
    spot.create_order(PAIR, "market", "buy", 0.1)
    target = spot.create_order(PAIR, "limit", "sell", 0.05, 20_100)
    exchange.control(advance_s=900)
    done = spot.fetch_order(target["id"], PAIR)
    assert (done["status"], done["average"]) == ("closed", 20_100)


def test_a_stop_waits_for_its_price_and_fills_at_the_open_after_a_gap(
    exchange: Running, spot: Any
) -> None:
    spot.create_order(PAIR, "market", "buy", 0.1)
    low = spot.create_order(PAIR, "STOP_LOSS_LIMIT", "sell", 0.05, 19_900, {"stopPrice": 20_000})
    assert low["status"] == "open"
    assert spot.fetch_balance()["BTC"]["used"] == pytest.approx(0.05)
    exchange.control(advance_s=1200)
    assert spot.fetch_order(low["id"], PAIR)["status"] == "open"
    with pytest.raises(ccxt.ExchangeError, match="would trigger immediately"):
        spot.create_order(PAIR, "STOP_LOSS_LIMIT", "sell", 0.01, 29_000, {"stopPrice": 30_000})
    high = spot.create_order(PAIR, "STOP_LOSS", "buy", 0.01, None, {"stopPrice": 20_400})
    exchange.control(advance_s=1800)
    assert spot.fetch_order(high["id"], PAIR)["average"] == pytest.approx(20_400, abs=6)


@pytest.mark.parametrize(
    ("change", "code", "error"),
    [
        ({"secret": "wrong"}, -1022, ccxt.AuthenticationError),
        ({"apiKey": "wrong"}, -2015, ccxt.AuthenticationError),
    ],
)
def test_a_wrong_key_or_signature_is_refused(
    exchange: Running, change: dict[str, str], code: int, error: type[Exception]
) -> None:
    client = ccxt.binance(exchange.settings(**change))
    with pytest.raises(error, match=f'"code": ?{code}'):
        client.fetch_balance()


def test_an_old_timestamp_is_refused(exchange: Running) -> None:
    client = ccxt.binance(exchange.settings())
    client.options["recvWindow"] = 5_000
    for seconds in (-60, 60):
        client.milliseconds = lambda s=seconds: int((time.time() + s) * 1000)
        with pytest.raises(ccxt.InvalidNonce, match="-1021"):
            client.fetch_balance()


@pytest.mark.parametrize(
    ("order", "code"),
    [
        ({"quantity": "0.000001"}, "-1013.*LOT_SIZE"),
        ({"quantity": "0.0001"}, "-1013.*NOTIONAL"),
        ({"quantity": "0.01", "type": "LIMIT", "price": "19000.001"}, "-1013.*PRICE_FILTER"),
        ({"quantity": "9"}, "-2010.*insufficient balance"),
        ({"symbol": "DOGEUSDT", "quantity": "1"}, "-1121"),
        ({"quantity": "0.01", "type": "ODD"}, "-1116"),
        ({"quantity": "0.01", "type": "STOP_LOSS"}, "-1102.*stopPrice"),
        ({"quantity": "x"}, "-1100"),
    ],
)
def test_what_breaks_a_filter_gets_the_code_of_binance(
    spot: Any, order: dict[str, str], code: str
) -> None:
    asked = {"symbol": "BTCUSDT", "side": "BUY", "type": "MARKET", **order}
    with pytest.raises(ccxt.BaseError):
        spot.private_post_order(asked)
    assert re.search(code, spot.last_http_response)


def test_a_client_id_is_refused_only_while_its_first_order_is_open(spot: Any) -> None:
    spot.create_order(PAIR, "limit", "buy", 0.01, 19_000, {"clientOrderId": "twice"})
    with pytest.raises(ccxt.ExchangeError, match="Duplicate order"):
        spot.create_order(PAIR, "limit", "buy", 0.01, 19_000, {"clientOrderId": "twice"})
    spot.cancel_all_orders(PAIR)
    for _ in range(2):
        spot.create_order(PAIR, "market", "buy", 0.01, None, {"clientOrderId": "twice"})


@pytest.mark.parametrize(
    ("fault", "error", "landed"),
    [
        ({"kind": "lost"}, ccxt.NetworkError, True),
        ({"kind": "drop"}, ccxt.NetworkError, False),
        ({"kind": "slow", "seconds": 3}, ccxt.RequestTimeout, True),
        ({"kind": "error", "status": 503}, ccxt.OperationFailed, False),
        ({"kind": "error-after", "status": 504}, ccxt.OperationFailed, True),
        ({"kind": "error", "status": 429, "code": -1003}, ccxt.DDoSProtection, False),
        ({"kind": "error", "status": 418, "code": -1003}, ccxt.DDoSProtection, False),
        ({"kind": "reject"}, ccxt.ExchangeError, False),
    ],
)
def test_a_fault_at_a_call_is_what_ccxt_makes_of_it(
    exchange: Running, spot: Any, fault: dict[str, Any], error: type[Exception], landed: bool
) -> None:
    exchange.control(fault={"call": "POST /api/v3/order", "skip": 1, **fault})
    spot.create_order(PAIR, "market", "buy", 0.01)
    spot.timeout = 1_000 if fault["kind"] == "slow" else 10_000
    with pytest.raises(error):
        spot.create_order(PAIR, "market", "buy", 0.01, None, {"clientOrderId": "unsure"})
    found = {order["clientOrderId"] for order in exchange.control()["orders"]}
    assert ("unsure" in found) == landed


def test_a_partial_fill_gives_back_the_rest(exchange: Running, spot: Any) -> None:
    exchange.control(fault={"kind": "partial", "call": "POST /api/v3/order"})
    order = spot.create_order(PAIR, "market", "buy", 0.1)
    assert (order["status"], order["filled"]) == ("expired", 0.05)
    assert spot.fetch_balance()["USDT"]["used"] == 0


def test_maintenance_and_limits(exchange: Running, spot: Any) -> None:
    exchange.control(maintenance=True)
    with pytest.raises(ccxt.ExchangeNotAvailable):
        spot.fetch_ticker(PAIR)
    exchange.control(maintenance=False, limit_per_minute=1)
    errors = []
    for _ in range(13):
        try:
            spot.fetch_ticker(PAIR)
        except ccxt.DDoSProtection as error:
            errors.append(str(error))
    assert "429" in errors[0]
    assert "418" in errors[-1]


def test_futures_have_positions_stops_and_funding(exchange: Running, futures: Any) -> None:
    order = futures.create_order(FUTURE, "market", "buy", 0.1)
    assert order["status"] == "closed"
    asked = {"stopPrice": 19_000, "reduceOnly": True, "clientOrderId": "stop"}
    stop = futures.create_order(FUTURE, "STOP_MARKET", "sell", 0.1, None, asked)
    assert exchange.control()["hits"]["POST /fapi/v1/algoOrder"] == 1
    assert futures.fetch_order(stop["id"], FUTURE, {"trigger": True})["status"] == "open"
    (position,) = futures.fetch_positions([FUTURE])
    assert (position["side"], position["contracts"]) == ("long", 0.1)
    exchange.control(advance_s=9 * 3600)
    (paid,) = futures.fetch_funding_history(FUTURE)[:1]
    assert paid["amount"] < 0
    futures.cancel_order(stop["id"], FUTURE, {"trigger": True})
    high = {"stopPrice": 999_999, "reduceOnly": True}
    futures.create_order(FUTURE, "STOP_MARKET", "buy", 0.1, None, high)
    futures.create_order(FUTURE, "market", "sell", 0.1, None, {"reduceOnly": True})
    assert futures.fetch_positions([FUTURE]) == []
    assert futures.fetch_balance()["USDT"]["total"] > 10_000
    with pytest.raises(ccxt.ExchangeError, match="-2022"):
        futures.create_order(FUTURE, "market", "sell", 0.1, None, {"reduceOnly": True})
    with pytest.raises(ccxt.ExchangeError, match="-2019"):
        futures.create_order(FUTURE, "market", "buy", 9)


def test_a_futures_stop_at_the_plain_address_is_sent_to_the_right_one(futures: Any) -> None:
    asked = {"symbol": "BTCUSDT", "side": "SELL", "type": "STOP_MARKET", "quantity": "0.1"}
    with pytest.raises(ccxt.BaseError, match="-4120"):
        futures.fapiPrivatePostOrder(asked | {"stopPrice": "19000"})


def test_a_futures_stop_whose_price_is_reached_becomes_an_order_of_its_own(
    exchange: Running, futures: Any
) -> None:
    futures.create_order(FUTURE, "market", "sell", 0.1)
    asked = {"stopPrice": 20_100, "reduceOnly": True, "clientOrderId": "stop"}
    stop = futures.create_order(FUTURE, "STOP_MARKET", "buy", 0.1, None, asked)
    exchange.control(thin=True, advance_s=1200)
    found = futures.fetch_order(stop["id"], FUTURE, {"trigger": True})
    actual = futures.fetch_order(found["info"]["actualOrderId"], FUTURE)
    assert (found["status"], actual["status"], actual["filled"]) == ("closed", "expired", 0.05)
    (position,) = futures.fetch_positions([FUTURE])
    assert (position["side"], position["contracts"]) == ("short", 0.05)


def test_an_isolated_position_is_taken_away_at_its_liquidation_price(
    exchange: Running, futures: Any
) -> None:
    futures.set_margin_mode("isolated", FUTURE)
    with pytest.raises(ccxt.MarginModeAlreadySet, match="-4046"):
        futures.set_margin_mode("isolated", FUTURE)
    futures.set_leverage(100, FUTURE)
    before = futures.fetch_balance()["USDT"]["total"]
    order = futures.create_order(FUTURE, "market", "sell", 0.1)
    (position,) = futures.fetch_positions([FUTURE])
    margin = order["average"] * 0.1 / 100
    price = (order["average"] * 0.1 + margin) / (0.1 * 1.004)
    assert position["liquidationPrice"] == pytest.approx(price, abs=0.01)
    with pytest.raises(ccxt.ExchangeError, match="-4048"):
        futures.set_margin_mode("cross", FUTURE)
    exchange.control(advance_s=3600)
    assert futures.fetch_positions([FUTURE]) == []
    lost = before - futures.fetch_balance()["USDT"]["total"]
    assert lost == pytest.approx(margin + order["cost"] * 0.0005, abs=0.001)
