"""Keeps accounts and orders: reserves, matches along the tape, fills, charges, liquidates."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from decimal import ROUND_DOWN, Decimal
from typing import Any

from tests.doubles.exchange.tape import TICK, Leg, Tape

SPOT, FUTURES = "spot", "futures"
OPEN = ("NEW", "PARTIALLY_FILLED")
ZERO = Decimal(0)
STEP = Decimal("0.00001")
MIN_NOTIONAL = Decimal(5)
FEES = {SPOT: Decimal("0.001"), FUTURES: Decimal("0.0005")}
SLIP = Decimal("0.0001")
FUNDING_EVERY = 8 * 3_600_000
FUNDING_RATE = Decimal("0.0001")
MAINTENANCE = Decimal("0.004")
ISOLATED, CROSSED = "ISOLATED", "CROSSED"
STOPS = {
    SPOT: ("STOP_LOSS", "STOP_LOSS_LIMIT", "TAKE_PROFIT", "TAKE_PROFIT_LIMIT"),
    FUTURES: ("STOP", "STOP_MARKET", "TAKE_PROFIT", "TAKE_PROFIT_MARKET"),
}


class Refusal(Exception):
    """An answer of Binance's that says no, with its code."""

    def __init__(self, code: int, text: str, status: int = 400) -> None:
        super().__init__(text)
        self.code, self.text, self.status = code, text, status


@dataclass
class Order:
    """One order, plain or with a stop price that has to be reached first."""

    id: int
    client: str
    market: str
    symbol: str
    side: str
    type: str
    quantity: Decimal
    price: Decimal
    stop: Decimal
    time_in_force: str
    reduce_only: bool
    created: int
    algo: bool = False
    status: str = "NEW"
    filled: Decimal = ZERO
    cost: Decimal = ZERO
    updated: int = 0
    triggered: bool = False
    reserved: Decimal = ZERO
    actual: int = 0  # the order that a conditional one of futures became

    @property
    def buys(self) -> bool:
        """Says whether it buys."""
        return self.side == "BUY"

    @property
    def waits(self) -> bool:
        """Says whether its stop price has yet to be reached."""
        return bool(self.stop) and not self.triggered


@dataclass
class Trade:
    """One fill."""

    id: int
    order: Order
    price: Decimal
    quantity: Decimal
    commission: Decimal
    asset: str
    profit: Decimal
    time: int


@dataclass
class Venue:
    """All accounts of one customer: spot balances, futures wallet and positions, orders, fills."""

    tapes: dict[str, Tape]
    symbols: dict[str, tuple[str, str]]
    now: Callable[[], int]
    heard: Callable[[Order, str, Trade | None], None] = lambda order, what, trade: None
    free: dict[str, Decimal] = field(default_factory=dict)
    locked: dict[str, Decimal] = field(default_factory=dict)
    wallet: Decimal = Decimal(10_000)
    positions: dict[str, tuple[Decimal, Decimal]] = field(default_factory=dict)
    leverage: dict[str, int] = field(default_factory=dict)
    margin_type: dict[str, str] = field(default_factory=dict)
    thin: bool = False  # a resting order gets half of what it wants, and no more
    orders: list[Order] = field(default_factory=list)
    trades: list[Trade] = field(default_factory=list)
    income: list[dict[str, Any]] = field(default_factory=list)
    seen: int = 0

    def __post_init__(self) -> None:
        self._ids = itertools.count(1001)
        self._trade_ids = itertools.count(1)
        for coins in self.symbols.values():
            for coin in coins:
                self.free.setdefault(coin, Decimal(10_000) if coin == "USDT" else ZERO)
                self.locked.setdefault(coin, ZERO)
        self.seen = self.now()

    def price(self, symbol: str) -> Decimal:
        """Gives where the market is."""
        return self.tapes[symbol].price(self.seen)

    def advance(self) -> None:
        """Lets resting orders meet every move since the last look, and positions their funding."""
        since, self_now = self.seen, self.now()
        if self_now <= since:
            return
        for symbol, tape in self.tapes.items():
            resting = [o for o in self.orders if o.symbol == symbol and o.status in OPEN]
            held = self.positions.get(symbol, (ZERO, ZERO))[0]
            if resting or held:
                for leg in tape.legs(since, self_now):
                    for order in resting:
                        if order.status in OPEN:
                            self._meet(order, leg)
                    self._liquidate(symbol, leg)
        self.seen = self_now
        for moment in range(since // FUNDING_EVERY + 1, self_now // FUNDING_EVERY + 1):
            self._fund(moment * FUNDING_EVERY)

    def _fund(self, moment: int) -> None:
        for symbol, (size, _) in self.positions.items():
            if size:
                paid = -size * self.tapes[symbol].price(moment) * FUNDING_RATE
                self.wallet += paid
                self._earn(symbol, "FUNDING_FEE", paid, moment)

    def _earn(self, symbol: str, kind: str, amount: Decimal, moment: int) -> None:
        row = {"symbol": symbol, "incomeType": kind, "income": f"{amount:.8f}", "asset": "USDT"}
        self.income.append(row | {"time": moment, "info": kind, "tradeId": "", "tranId": moment})

    def _meet(self, order: Order, leg: Leg) -> None:
        if order.waits:
            profit = order.type.startswith("TAKE_PROFIT")
            falling = order.buys if profit else not order.buys
            if not leg.reaches(order.stop, falling=falling):
                return
            order.triggered = True
            at = leg.first(order.stop, falling=falling)
            order = self._actual(order) if order.algo else order
            if order.price == 0:
                self.fill(order, self._available(order), at)
                if order.status in OPEN:
                    self.end(order, "EXPIRED")
                return
            leg = Leg(leg.time, at, leg.end)
        wanted = self._available(order)
        if wanted and order.price and leg.reaches(order.price, falling=order.buys):
            better = leg.first(order.price, falling=order.buys)
            self.fill(order, wanted, better)

    def _available(self, order: Order) -> Decimal:
        """Gives how much of an order the market takes."""
        if self.thin:
            return ZERO if order.filled else (order.quantity / 2).quantize(STEP, ROUND_DOWN)
        return order.quantity - order.filled

    def _actual(self, stop: Order) -> Order:
        """Ends a conditional order of futures whose price was reached: a plain one takes over."""
        order = replace(
            stop, id=next(self._ids), type="LIMIT" if stop.price else "MARKET", algo=False
        )
        stop.actual, stop.status, stop.updated = order.id, "FINISHED", self.now()
        self.orders.append(order)
        self.heard(order, "NEW", None)
        return order

    def margin(self, symbol: str) -> Decimal:
        """Gives what a position was opened with."""
        size, entry = self.positions.get(symbol, (ZERO, ZERO))
        return abs(size) * entry / self.leverage.get(symbol, 20)

    def liquidation_price(self, symbol: str) -> Decimal:
        """Gives where an isolated position is taken away; 0 where there is none."""
        size, entry = self.positions.get(symbol, (ZERO, ZERO))
        if not size or self.margin_type.get(symbol, CROSSED) != ISOLATED:
            return ZERO
        price = (size * entry - self.margin(symbol)) / (size - abs(size) * MAINTENANCE)
        return max(price, ZERO)

    def _liquidate(self, symbol: str, leg: Leg) -> None:
        """Takes an isolated position away with its whole margin, once the price is reached."""
        size, price = self.positions.get(symbol, (ZERO, ZERO))[0], self.liquidation_price(symbol)
        if not price or not leg.reaches(price, falling=size > 0):
            return
        left = self.wallet - self.margin(symbol)
        number = next(self._ids)
        side = "SELL" if size > 0 else "BUY"
        words = (number, f"autoclose-{number}", FUTURES, symbol, side, "LIMIT")
        limit = price.quantize(TICK)
        order = Order(*words, abs(size), limit, ZERO, "IOC", True, self.now())
        self.orders.append(order)
        self.fill(order, abs(size), price)
        paid, self.wallet = left - self.wallet, left
        self._earn(symbol, "INSURANCE_CLEAR", paid, leg.time)

    def place(
        self, market: str, asked: dict[str, str], *, partial: bool = False, algo: bool = False
    ) -> Order:
        """Takes an order, or says with Binance's code why not."""
        order = self._read(market, asked, algo=algo)
        self._filters(order)
        self._reserve(order)
        self.orders.append(order)
        self.heard(order, "NEW", None)
        price = self.price(order.symbol)
        if order.type == "MARKET":
            at = price * (1 + SLIP if order.buys else 1 - SLIP)
            half = (order.quantity / 2).quantize(STEP, ROUND_DOWN)
            self.fill(order, half if partial else order.quantity, at)
            if order.status in OPEN:
                self.end(order, "EXPIRED")
        elif not order.stop:
            leg = Leg(self.seen, price, price)
            if partial:
                half = (order.quantity / 2).quantize(STEP, ROUND_DOWN)
                self.fill(order, half, order.price)
            else:
                self._meet(order, leg)
        if order.time_in_force in ("IOC", "FOK") and order.status in OPEN:
            self.end(order, "EXPIRED")
        return order

    def _read(self, market: str, asked: dict[str, str], *, algo: bool) -> Order:
        symbol = asked.get("symbol", "")
        if symbol not in self.symbols:
            raise Refusal(-1121, "Invalid symbol.")
        for name in ("side", "type"):
            if not asked.get(name):
                raise Refusal(
                    -1102,
                    f"Mandatory parameter '{name}' was not sent, was empty/null, or malformed.",
                )
        number = next(self._ids)
        client = asked.get("newClientOrderId") or asked.get("clientAlgoId") or f"own-{number}"
        # Binance refuses a client id only while the first order with it is open.
        if any(o.client == client and o.status in OPEN and o.market == market for o in self.orders):
            raise Refusal(-2010 if market == SPOT else -4116, "Duplicate order sent.")
        kind = asked["type"]
        if kind not in ("MARKET", "LIMIT", "LIMIT_MAKER", *STOPS[market]):
            raise Refusal(-1116, "Invalid orderType.")
        if market == FUTURES and not algo and kind in STOPS[FUTURES]:
            raise Refusal(
                -4120,
                "Order type not supported for this endpoint: use the Algo Order API.",
            )
        quantity = _number(asked, "quantity")
        if not quantity and asked.get("quoteOrderQty"):
            quantity = (_number(asked, "quoteOrderQty") / self.price(symbol)).quantize(
                STEP, ROUND_DOWN
            )
        stop = _number(asked, "stopPrice") or _number(asked, "triggerPrice")
        if (kind in STOPS[market]) != bool(stop):
            raise Refusal(
                -1102, "Mandatory parameter 'stopPrice' was not sent, was empty/null, or malformed."
            )
        price = _number(asked, "price")
        if (kind.endswith("LIMIT") or kind == "STOP") and not price:
            raise Refusal(
                -1102, "Mandatory parameter 'price' was not sent, was empty/null, or malformed."
            )
        return Order(
            *(number, client, market, symbol, asked["side"], kind, quantity, price, stop),
            asked.get("timeInForce", "GTC"),
            asked.get("reduceOnly") == "true" or asked.get("closePosition") == "true",
            self.now(),
            algo,
            updated=self.now(),
        )

    def _filters(self, order: Order) -> None:
        if order.quantity < STEP or order.quantity % STEP:
            raise Refusal(-1013, "Filter failure: LOT_SIZE")
        if order.price % TICK or order.stop % TICK or order.price < 0:
            raise Refusal(-1013, "Filter failure: PRICE_FILTER")
        worth = order.quantity * (order.price or order.stop or self.price(order.symbol))
        if worth < MIN_NOTIONAL and not order.reduce_only:
            if order.market == FUTURES:
                raise Refusal(
                    -4164,
                    "Order's notional must be no smaller than 5 (unless you choose reduce only).",
                )
            raise Refusal(-1013, "Filter failure: NOTIONAL")
        price = self.price(order.symbol)
        if order.market == SPOT and order.stop:
            # A sell stop lies below the market, a buy stop above it.
            profit = order.type.startswith("TAKE_PROFIT")
            if (order.stop >= price) != (order.buys ^ profit):
                raise Refusal(-2010, "Stop price would trigger immediately.")

    def _coin(self, order: Order) -> str:
        base, quote = self.symbols[order.symbol]
        return quote if order.buys else base

    def _reserve(self, order: Order) -> None:
        price = order.price or order.stop or self.price(order.symbol) * (1 + SLIP)
        if order.market == FUTURES:
            size, _ = self.positions.get(order.symbol, (ZERO, ZERO))
            if order.reduce_only and (size == 0 or (size > 0) == order.buys) and not order.algo:
                raise Refusal(-2022, "ReduceOnly Order is rejected.")
            leverage = self.leverage.get(order.symbol, 20)
            if not order.reduce_only and order.quantity * price > self.available() * leverage:
                raise Refusal(-2019, "Margin is insufficient.")
            return
        coin = self._coin(order)
        amount = order.quantity * price if order.buys else order.quantity
        if self.free[coin] < amount:
            raise Refusal(-2010, "Account has insufficient balance for requested action.")
        order.reserved = amount
        self.free[coin] -= amount
        self.locked[coin] += amount

    def _release(self, order: Order) -> None:
        coin = self._coin(order)
        self.locked[coin] -= order.reserved
        self.free[coin] += order.reserved
        order.reserved = ZERO

    def fill(self, order: Order, quantity: Decimal, price: Decimal) -> None:
        """Fills a part of an order, or all of it, at a price."""
        price = price.quantize(TICK)
        order.filled += quantity
        order.cost += quantity * price
        order.status = "FILLED" if order.filled >= order.quantity else "PARTIALLY_FILLED"
        order.updated = self.now()
        fill = self._on_spot if order.market == SPOT else self._on_futures
        commission, asset, profit = fill(order, quantity, price)
        trade = Trade(
            next(self._trade_ids), order, price, quantity, commission, asset, profit, self.now()
        )
        self.trades.append(trade)
        self.heard(order, "TRADE", trade)

    def _on_spot(
        self, order: Order, quantity: Decimal, price: Decimal
    ) -> tuple[Decimal, str, Decimal]:
        base, quote = self.symbols[order.symbol]
        used = quantity * price if order.buys else quantity
        coin = self._coin(order)
        self.locked[coin] -= min(used, order.reserved)
        self.free[coin] -= max(ZERO, used - order.reserved)
        order.reserved = max(ZERO, order.reserved - used)
        if order.status == "FILLED":
            self._release(order)
        got, asset = (quantity, base) if order.buys else (quantity * price, quote)
        commission = (got * FEES[SPOT]).quantize(Decimal("1e-8"))
        self.free[asset] += got - commission
        return commission, asset, ZERO

    def _on_futures(
        self, order: Order, quantity: Decimal, price: Decimal
    ) -> tuple[Decimal, str, Decimal]:
        size, entry = self.positions.get(order.symbol, (ZERO, ZERO))
        signed = quantity if order.buys else -quantity
        if order.reduce_only:
            signed = max(min(signed, max(ZERO, -size)), min(ZERO, -size))
        closing = min(abs(size), abs(signed)) if size * signed < 0 else ZERO
        profit = closing * (price - entry) * (1 if size > 0 else -1)
        new = size + signed
        if size * signed >= 0 and new:
            entry = (abs(size) * entry + abs(signed) * price) / abs(new)
        elif size * new < 0:
            entry = price
        self.positions[order.symbol] = (new, entry if new else ZERO)
        commission = (abs(signed) * price * FEES[FUTURES]).quantize(Decimal("1e-8"))
        self.wallet += profit - commission
        return commission, "USDT", profit

    def end(self, order: Order, status: str = "CANCELED") -> None:
        """Takes an order back, or lets it expire."""
        order.status, order.updated = status, self.now()
        if order.market == SPOT:
            self._release(order)
        self.heard(order, status, None)

    def find(self, market: str, asked: dict[str, str], *, algo: bool = False) -> Order:
        """Finds an order by one of its ids; the newest of several with one client id."""
        number = asked.get("algoId") if algo else asked.get("orderId")
        client = asked.get("clientAlgoId") if algo else asked.get("origClientOrderId")
        for order in reversed(self.orders):
            mine = order.market == market and order.algo == algo
            if mine and (
                (number and str(order.id) == number) or (client and order.client == client)
            ):
                return order
        raise Refusal(-2013, "Order does not exist.")

    def listed(
        self, market: str, symbol: str, *, only_open: bool, algo: bool = False
    ) -> Iterator[Order]:
        """Gives the orders of a market, oldest first."""
        for order in self.orders:
            wanted = order.market == market and order.algo == algo and symbol in ("", order.symbol)
            if wanted and (order.status in OPEN or not only_open):
                yield order

    def unrealized(self) -> Decimal:
        """Gives what open positions would bring now."""
        return sum((s * (self.price(n) - e) for n, (s, e) in self.positions.items()), ZERO)

    def set_margin_type(self, symbol: str, kind: str) -> None:
        """Changes how a position is paid for, where Binance would."""
        if self.margin_type.get(symbol, CROSSED) == kind:
            raise Refusal(-4046, "No need to change margin type.")
        if self.positions.get(symbol, (ZERO, ZERO))[0]:
            raise Refusal(-4048, "Margin type cannot be changed if there exists position.")
        self.margin_type[symbol] = kind

    def available(self) -> Decimal:
        """Gives what futures can still use."""
        return self.wallet + self.unrealized() - sum(map(self.margin, self.positions), ZERO)


def _number(asked: dict[str, str], name: str) -> Decimal:
    try:
        value = Decimal(asked.get(name) or "0")
    except ArithmeticError:
        value = Decimal("NaN")
    if not value.is_finite() or value < 0:
        raise Refusal(-1100, f"Illegal characters found in parameter '{name}'.")
    return value
