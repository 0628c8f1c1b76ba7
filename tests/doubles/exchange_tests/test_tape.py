"""Prices come from candles, and orders meet them in the order in which they came."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from tests.doubles.exchange.matching import SPOT, Venue
from tests.doubles.exchange.tape import MINUTE, Tape, candle, wander

NOW = [0]


def venue(*rows: tuple[float, float, float, float]) -> Venue:
    NOW[0] = 0
    tape = Tape([candle(n * MINUTE, *row, 1) for n, row in enumerate(rows)], "1m")
    found = Venue({"BTCUSDT": tape}, {"BTCUSDT": ("BTC", "USDT")}, lambda: NOW[0])
    found.free["BTC"] = Decimal(10)
    return found


def order(kind: str, side: str, **more: str) -> dict[str, str]:
    asked = {"symbol": "BTCUSDT", "side": side, "type": kind, "quantity": "1"}
    return asked | more


def drive(found: Venue, minutes: float) -> None:
    NOW[0] = int(minutes * MINUTE)
    found.advance()


def test_a_stop_fills_at_its_price_and_after_a_gap_at_the_open() -> None:
    found = venue((100, 101, 99, 100), (100, 100, 94, 96), (100, 100, 100, 100))
    stop = found.place(SPOT, order("STOP_LOSS", "SELL", stopPrice="95"))
    drive(found, 2)
    assert stop.cost == 95
    found = venue((100, 101, 99, 100), (90, 96, 88, 91))
    stop = found.place(SPOT, order("STOP_LOSS", "SELL", stopPrice="95"))
    drive(found, 2)
    assert stop.cost == 90


def test_a_limit_that_the_market_jumps_over_gets_the_better_price() -> None:
    found = venue((100, 101, 99, 100), (110, 112, 109, 111))
    limit = found.place(SPOT, order("LIMIT", "SELL", price="105"))
    drive(found, 2)
    assert limit.cost == 110


def test_of_two_orders_the_one_whose_price_comes_first_is_filled_first() -> None:
    # A candle that rises goes to its low first.
    found = venue((100, 100, 100, 100), (100, 106, 94, 101))
    target = found.place(SPOT, order("LIMIT", "SELL", price="105"))
    stop = found.place(SPOT, order("STOP_LOSS", "SELL", stopPrice="95"))
    drive(found, 2)
    assert [trade.order for trade in found.trades] == [stop, target]


@given(st.lists(st.integers(0, 400 * MINUTE), min_size=1, max_size=8), st.integers(0, 9))
def test_looking_more_often_changes_no_fill(moments: list[int], seed: int) -> None:
    def run(stops: list[int]) -> list[tuple[Decimal, Decimal]]:
        NOW[0] = 0
        tape = Tape(wander(0, 401, "1m", 100.0, seed), "1m")
        found = Venue({"BTCUSDT": tape}, {"BTCUSDT": ("BTC", "USDT")}, lambda: NOW[0])
        found.free["BTC"] = Decimal(10)
        found.place(SPOT, order("LIMIT", "SELL", price="100.5"))
        found.place(SPOT, order("LIMIT", "BUY", price="99.5"))
        for moment in stops:
            NOW[0] = moment
            found.advance()
        return [(trade.price, trade.quantity) for trade in found.trades]

    last = 400 * MINUTE
    assert run([*sorted(moments), last]) == run([last])


@given(st.lists(st.sampled_from(["BUY", "SELL"]), max_size=12), st.integers(0, 9))
def test_no_money_appears(sides: list[str], seed: int) -> None:
    NOW[0] = 0
    tape = Tape(wander(0, 200, "1m", 100.0, seed), "1m")
    found = Venue({"BTCUSDT": tape}, {"BTCUSDT": ("BTC", "USDT")}, lambda: NOW[0])
    found.free["BTC"] = Decimal(20)
    for number, side in enumerate(sides):
        NOW[0] = number * 10 * MINUTE
        found.advance()
        found.place(
            SPOT,
            order(
                "MARKET" if number % 2 else "LIMIT", side, price="100" if number % 2 == 0 else "0"
            ),
        )
    for each in list(found.listed(SPOT, "", only_open=True)):
        found.end(each)
    bought = sum(t.quantity for t in found.trades if t.order.buys)
    sold = sum(t.quantity for t in found.trades if not t.order.buys)
    paid = sum(t.commission for t in found.trades if t.asset == "BTC")
    assert found.free["BTC"] == 20 + bought - sold - paid
    assert found.locked == {"BTC": 0, "USDT": 0}
