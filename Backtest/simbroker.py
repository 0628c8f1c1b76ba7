"""Simulates a broker: takes orders, is stepped bar by bar, answers with events and trades.

Its conventions are stated in `metrics.conventions`, and in every report. They are pessimistic
where a candle leaves room: see `Backtest.fills` for what a bar proves and `Backtest.book` for the
order of things inside a bar.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from Backtest.account import refusal_details
from Backtest.book import Book
from Backtest.fills import STEP_ERROR, Bar, round_down
from Backtest.orders import positive, read_order
from Backtest.positions import Closing, Position, Trade
from Backtest.rejections import by_cause
from Backtest.rows import INFINITY, Row, fault_of, read_row
from Backtest.run_state import RunState, laid_out
from Backtest.sim_errors import CandleError, OrderError
from Backtest.sim_settings import read_settings
from Backtest.times import LAST_MS, iso
from Backtest.trading_types import AccountView, BrokerEvent, OrderAnswer, PositionView, Report

if TYPE_CHECKING:  # reading a tape needs the compiled loop, and so numba
    from Backtest.compiled.tape import Tape


NOT_TAKEN: OrderAnswer = {
    "success": False,
    "order_id": None,
    "position_id": None,
    "fill_price": None,
}
VOLUME_NOISE = 1e-12  # of a position; 0.3 less 0.1 less 0.1 is not quite 0.1


class SimBroker:
    """Simulates a broker: MARKET, LIMIT and STOP orders, longs and shorts, symbols sharing cash.

    Positions never net: each filled order is its own position. A bar without a symbol belongs to
    every symbol with orders. All settings of `Backtest.sim_settings.SimSettings` are keywords here.
    """

    def __init__(self, **settings: object) -> None:
        """Open an account.

        Raises:
            SettingError: a setting is unknown or out of its range.
        """
        self.settings = read_settings(settings)
        self._state = RunState(self.settings)
        self._tape: Tape | None = None

    @property
    def _run(self) -> RunState:
        """Gives the state of the run; an adopted one is laid out when it is first looked into."""
        if self._tape is not None:
            self._state, self._tape = laid_out(self._tape), None
        return self._state

    # Orders -----------------------------------------------------------------------------------

    def place_order(self, order_request: Mapping[str, object]) -> OrderAnswer:
        """Take an order; it fills from the bar after the decision bar on.

        Returns:
            success, order_id, position_id (reserved for the fill), fill_price (None until
            filled), and error if it was refused.
        """
        run = self._run
        number = run.orders + 1
        try:
            order = read_order(order_request, self.settings, f"ord_{number}", f"pos_{number}")
        except OrderError as error:
            return self._turn_down(order_request, str(error))
        run.orders = number
        run.book(order.symbol).add(order)
        ids = (order.order_id, order.position_id)
        return {"success": True, "order_id": ids[0], "position_id": ids[1], "fill_price": None}

    def _turn_down(self, request: Mapping[str, Any], reason: str) -> OrderAnswer:
        """Refuse a request at once, with an event that says why."""
        run = self._run
        moment = run.feed.time if run.stepped else None
        told = refusal_details(request, reason)
        run.account.tell("order_rejected", timestamp=moment, **told)
        return {**NOT_TAKEN, "error": reason}

    def cancel_order(self, order_id: str) -> bool:
        """Withdraw an order or a close that has not filled; False if there is none."""
        return any(book.cancel(order_id) for book in self._run.books.values())

    def close_position(
        self, pos_id: str, price: float | None = None, volume: float | None = None
    ) -> OrderAnswer:
        """Ask for a close: at the next open, or at `price` or better; all of it, or a volume.

        A position has one close at a time: another one takes the place of a close that waits.
        Under `this_close` a close without a price fills at once, at the last close.

        Returns:
            success, order_id, position_id, fill_price (None until filled), error if refused.
        """
        answer: OrderAnswer = {**NOT_TAKEN, "position_id": pos_id}
        run = self._run
        found = run.find(pos_id)
        if found is None:
            return {**answer, "error": f"no open position {pos_id!r}"}
        book, position = found
        try:
            part = self._closing_volume(position, volume)
            limit = None if price is None else position.sign * positive(price, "price")
        except OrderError as error:
            return {**answer, "error": str(error)}
        run.orders += 1
        order_id = f"ord_{run.orders}"
        if limit is None and self.settings.execution == "this_close":
            filled = book.close_now(position, part)
            run.account.mark(run.feed.time, run.equity())
            return {**answer, "success": True, "order_id": order_id, "fill_price": filled}
        position.closing = Closing(order_id, part, limit)
        return {**answer, "success": True, "order_id": order_id}

    def hold_roi(self, pos_id: str) -> bool:
        """Leave a position's ROI out of the next bar (`ignore_roi_if_entry_signal`)."""
        found = self._run.find(pos_id)
        if found is None:
            return False
        book, position = found
        position.roi_held_bar = book.bars
        return True

    def _closing_volume(self, position: Position, volume: float | None) -> float:
        """Gives the volume to close: a part in whole lots, or everything."""
        if volume is None:
            return position.volume
        part = positive(volume, "volume")
        noise = position.volume * VOLUME_NOISE
        if part > position.volume + noise:
            raise OrderError(f"volume {part!r} is more than the open {position.volume!r}")
        if part >= position.volume - noise:
            return position.volume
        lot = self.settings.lot
        if lot is not None and abs(round_down(part, lot) - part) > lot * 1e-6 + part * STEP_ERROR:
            raise OrderError(f"volume {part!r} is no multiple of the lot {lot!r}", "Round it down")
        return part

    # Time -------------------------------------------------------------------------------------

    def step_bar(self, bar: object) -> list[BrokerEvent]:
        """Play one bar: a Series, a dict or a `Row`, names in either case of letters.

        Returns:
            Events: position_opened, position_closed, sl_hit, tp_hit, liquidated, order_rejected;
            each with position_id, order_id, symbol, action, side, volume, price, rule, timestamp.

        Raises:
            CandleError: the bar is malformed or out of order; it names the bar's number.
        """
        return self.step_candle(*read_row(bar, self._run.stepped))

    def step_candle(
        self,
        timestamp: int,
        open_: float,
        high: float,
        low: float,
        close: float,
        volume: float = 0.0,
        symbol: str | None = None,
    ) -> list[BrokerEvent]:
        """Play one bar of plain numbers; `step_bar` for loops that hold columns."""
        run = self._run
        book = run.feed if symbol is None else run.book(symbol)
        sound = (
            0.0 < low <= open_ <= high < INFINITY
            and low <= close <= high
            and 0.0 <= volume < INFINITY
            and timestamp > book.time
            and run.feed.time <= timestamp <= LAST_MS
        )
        if not sound:
            self._refuse(Row(timestamp, open_, high, low, close, volume, symbol), book)
        run.stepped += 1
        account = run.account
        new_moment = not account.times or account.times[-1] != timestamp
        row = len(account.times) - (0 if new_moment else 1)
        bar = Bar(open_, high, low, close)
        for other in run.books.values() if symbol is None else ():
            self._play(other, timestamp, row, bar)
        self._play(book, timestamp, row, bar)
        run.feed.time = timestamp
        account.mark(timestamp, run.equity())
        return account.take_fresh() if account.fresh else []

    def _play(self, book: Book, timestamp: int, row: int, bar: Bar) -> None:
        if book.first_open == 0.0:
            book.first_open = bar.open
        book.bars += 1
        book.time = timestamp
        book.close = bar.close
        book.row = row
        if book.orders or book.positions:
            book.play(timestamp, row, bar)

    def _refuse(self, row: Row, book: Book) -> None:
        fault = fault_of(row)
        if fault is None and row.timestamp > LAST_MS:
            fault = f"its time {row.timestamp} is no timestamp in milliseconds"
        if fault is None:
            last = max(book.time, self._state.feed.time)
            kind = "repeats" if row.timestamp == last else "is before"
            fault = f"its time {iso(row.timestamp)} {kind} the last bar's {iso(last)}"
        number = self._state.stepped
        raise CandleError(
            f"bar {number} (counting from 0): {fault}",
            "Mend or remove the candle; the run stops at bad data",
            number,
        )

    def open_book(self, symbol: str) -> Book:
        """Opens the book of a symbol for who passes its quiet bars in bulk."""
        return self._run.book(symbol)

    def skip(self, book: Book, timestamp: int, close: float, bars: int) -> None:
        """Pass bars that were accounted for already, to the time and close of the last of them."""
        run = self._state
        run.stepped += bars
        book.bars += bars
        book.time = run.feed.time = timestamp
        book.close = close
        book.row = len(run.account.times) - 1

    @property
    def stepped_bars(self) -> int:
        """Tells how many bars have been stepped; a compiled run counts when it is laid out."""
        return self._state.stepped

    @property
    def equity(self) -> float:
        """Cash and what the open positions are worth at the last close."""
        return self._run.equity()

    # The compiled path -------------------------------------------------------------------------

    @property
    def is_fresh(self) -> bool:
        """Says whether nothing has been asked of the broker yet."""
        return self._tape is None and self._state.is_fresh

    def adopt(self, tape: "Tape") -> None:
        """Take over what a compiled run did, as if every bar had been stepped here.

        Raises:
            ValueError: the broker has been used, or the run had other settings.
        """
        if not self.is_fresh or tape.settings != self.settings:
            raise ValueError("only an unused broker of the same settings can adopt a run")
        self._tape = tape

    # Views ------------------------------------------------------------------------------------

    def get_positions(self) -> list[PositionView]:
        """Show the open positions by symbol, oldest first.

        Keys: position_id, order_id, symbol, action, side, volume, entry_price, entry_time, price
        (last close), sl and tp (the levels in force, None if none), unrealized_pnl, fees,
        rule_in, comment, closing.
        """
        return [position.view(book.close) for book, position in self._run.positions()]

    def get_account(self) -> AccountView:
        """Show the account: capital, cash, equity, positions_value, realized_pnl, ..."""
        run = self._run
        books, account = run.books.values(), run.account
        value = sum(book.value() for book in books)
        held = [position for _, position in run.positions()]
        return {
            "capital": self.settings.capital,
            "cash": account.cash,
            "equity": account.cash + value,
            "positions_value": value,
            "realized_pnl": account.realized_pnl,
            "fees": account.paid_fees + sum(p.entry_fee for p in held),
            "open_positions": len(held),
            "pending_orders": sum(len(book.orders) for book in books),
        }

    def get_trades(self) -> list[Trade]:
        """Gives every trade in closing order, then the forced exits of what is still open."""
        run = self._run
        forced = [trade for book in run.books.values() for trade in book.forced_exits()]
        return [*run.account.trades, *forced]

    def get_events(self) -> list[BrokerEvent]:
        """Gives every event since the start, as `step_bar` returned them."""
        return [event.copy() for event in self._run.account.events]

    def get_equity_curve(self) -> list[tuple[int, float, float]]:
        """Gives one row a moment: UTC milliseconds, equity, cash."""
        account = self._run.account
        return list(zip(account.times, account.equity_rows, account.cash_rows, strict=True))

    def get_equity_rows(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Gives the moments and the equity of that curve as arrays, without its cash."""
        account = self._run.account
        return np.array(account.times, dtype=np.int64), np.array(account.equity_rows)

    def generate_report(self) -> Report:
        """Summarise the run so far; asking twice gives the same and changes nothing."""
        from Backtest.metrics.run_report import make_report

        if self._tape is not None:
            tape = self._tape
            first, last = float(tape.candles.open[0]), float(tape.candles.close[-1])
            return make_report(
                settings=self.settings,
                trades=tape.ledger(),
                times=tape.candles.times,
                equity=tape.equity,
                held={tape.symbol: (first, last)},
                rejected=tape.rejected,
                alone=True,
            )
        run, account = self._state, self._state.account
        fed = [book for book in (run.feed, *run.books.values()) if book.first_open > 0.0]
        named = [book for book in fed if book.symbol]
        refused = (event for event in account.events if event["event"] == "order_rejected")
        return make_report(
            settings=self.settings,
            trades=self.get_trades(),
            times=account.times,
            equity=account.equity_rows,
            held={book.symbol: (book.first_open, book.close) for book in named or fed},
            rejected=by_cause(event["reason"] for event in refused),
        )

    def save_report(self, out_dir: str) -> dict[str, str]:
        """Write trades.csv, equity_curve.csv and summary.json; returns their paths by name."""
        from Backtest.metrics.report_files import write_report

        return write_report(
            out_dir, self.get_trades(), self.get_equity_curve(), self.generate_report()
        )
