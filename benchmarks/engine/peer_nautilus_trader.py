"""nautilus_trader: its BacktestEngine on bars, brackets at the venue, TA-Lib ahead of the run.

A market order sent from on_bar fills at that bar's close: bars have no later open to wait for. Of
high and low the high comes first, its default; `bar_adaptive_high_low_ordering` was tried and took
neither the nearer nor one fixed side first.
"""

from decimal import Decimal
from typing import Any

import pandas as pd
import talib
from nautilus_trader.backtest.engine import (  # type: ignore[import-not-found]
    BacktestEngine,
    BacktestEngineConfig,
)
from nautilus_trader.config import LoggingConfig, RiskEngineConfig  # type: ignore[import-not-found]
from nautilus_trader.model.currencies import BTC, USDT  # type: ignore[import-not-found]
from nautilus_trader.model.data import BarType  # type: ignore[import-not-found]
from nautilus_trader.model.enums import (  # type: ignore[import-not-found]
    AccountType,
    OmsType,
    OrderSide,
    OrderType,
)
from nautilus_trader.model.identifiers import (  # type: ignore[import-not-found]
    InstrumentId,
    Symbol,
    Venue,
)
from nautilus_trader.model.instruments import CurrencyPair  # type: ignore[import-not-found]
from nautilus_trader.model.objects import Money, Price, Quantity  # type: ignore[import-not-found]
from nautilus_trader.persistence.wranglers import (  # type: ignore[import-not-found]
    BarDataWrangler,
)
from nautilus_trader.trading.strategy import Strategy  # type: ignore[import-not-found]
from worker import (  # type: ignore[import-not-found]
    FEE,
    OVERBOUGHT,
    OVERSOLD,
    STOP,
    TARGET,
    crossed_above,
    serve,
)

VENUE = Venue("SIM")
IDENTITY = InstrumentId(Symbol("XY"), VENUE)
KIND = BarType.from_str("XY.SIM-5-MINUTE-LAST-EXTERNAL")
INSTRUMENT = CurrencyPair(
    instrument_id=IDENTITY,
    raw_symbol=Symbol("XY"),
    base_currency=BTC,
    quote_currency=USDT,
    price_precision=2,
    size_precision=6,
    price_increment=Price(0.01, 2),
    size_increment=Quantity(0.000001, 6),
    lot_size=None,
    maker_fee=Decimal(str(FEE)),
    taker_fee=Decimal(str(FEE)),
    ts_event=0,
    ts_init=0,
)
SIZE = Quantity(0.2, 6)


class Rules(Strategy):  # type: ignore[misc]
    def __init__(self, signals: Any, levels: bool) -> None:
        super().__init__()
        self.signals, self.levels = signals, levels

    def on_start(self) -> None:
        self.bar, self.held = -1, False
        self.enter, self.leave = self.signals()
        self.subscribe_bars(KIND)

    def on_reset(self) -> None:
        self.bar, self.held = -1, False

    def on_position_opened(self, event: Any) -> None:
        self.held = True

    def on_position_closed(self, event: Any) -> None:
        self.held = False

    def on_bar(self, bar: Any) -> None:
        self.bar += 1
        if self.held:
            if self.leave[self.bar]:
                self.cancel_all_orders(IDENTITY)
                self.close_all_positions(IDENTITY)
        elif self.enter[self.bar]:
            self.buy(float(bar.close))

    def buy(self, price: float) -> None:
        if not self.levels:
            self.submit_order(self.order_factory.market(IDENTITY, OrderSide.BUY, SIZE))
            return
        orders = self.order_factory.bracket(
            instrument_id=IDENTITY,
            order_side=OrderSide.BUY,
            quantity=SIZE,
            entry_order_type=OrderType.MARKET,
            sl_trigger_price=Price(price * (1 - STOP), 2),
            tp_price=Price(price * (1 + TARGET), 2),
            tp_post_only=False,
        )
        self.submit_order_list(orders)


def _engine(c: Any, strategy: Any) -> Any:
    frame = pd.DataFrame(
        {name: c[name] for name in ("open", "high", "low", "close", "volume")},
        index=pd.DatetimeIndex(c["time"], tz="UTC", name="timestamp"),
    )
    quiet = LoggingConfig(bypass_logging=True)
    risk = RiskEngineConfig(bypass=True)
    engine = BacktestEngine(BacktestEngineConfig(logging=quiet, risk_engine=risk))
    engine.add_venue(
        venue=VENUE,
        oms_type=OmsType.HEDGING,
        account_type=AccountType.CASH,
        starting_balances=[Money(1_000_000, USDT), Money(1, BTC)],
    )
    engine.add_instrument(INSTRUMENT)
    engine.add_data(BarDataWrangler(KIND, INSTRUMENT).process(frame))
    engine.add_strategy(strategy)
    return engine


def _maker(signals: Any, levels: bool) -> Any:
    def make(c: Any) -> Any:
        engine = _engine(c, Rules(lambda: signals(c["close"]), levels))
        rows = {moment: row for row, moment in enumerate(c["time"].tolist())}

        def run() -> Any:
            engine.reset()
            engine.run()
            assert engine.get_result().stats_pnls  # noqa: S101 - the report is part of the work
            closed = sorted(engine.cache.positions_closed(), key=lambda p: p.ts_opened)
            return lambda: [
                (rows[p.ts_opened], rows[p.ts_closed], p.avg_px_open, p.avg_px_close)
                for p in closed
            ]

        return run

    return make


def dip(close: Any) -> Any:
    rsi, trend = talib.RSI(close, 14), talib.SMA(close, 200)
    return ((rsi < OVERSOLD) & (close > trend)).tolist(), (rsi > OVERBOUGHT).tolist()


def cross(close: Any) -> Any:
    fast, slow = talib.SMA(close, 20), talib.SMA(close, 100)
    return crossed_above(fast, slow).tolist(), crossed_above(slow, fast).tolist()


serve({"dip": _maker(dip, levels=True), "cross": _maker(cross, levels=False)})
