"""Holds what a run has come to, and lays out what a compiled run left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from Backtest.account import Account
from Backtest.book import Book
from Backtest.positions import Position
from Backtest.sim_settings import SimSettings
from Backtest.times import iso

if TYPE_CHECKING:  # reading a tape needs the compiled loop, and so numba
    from Backtest.compiled.tape import Tape


class RunState:
    """Holds the account, the books by symbol, and the numbers of bars stepped and of orders."""

    def __init__(self, settings: SimSettings) -> None:
        self.settings = settings
        self.account = Account(settings.capital)
        self.books: dict[str, Book] = {}
        self.feed = Book("", settings, self.account, 0)
        self.stepped = 0
        self.orders = 0

    @property
    def is_fresh(self) -> bool:
        """Says whether nothing has been asked of the broker yet."""
        return self.stepped == 0 and self.orders == 0 and not self.account.events

    def book(self, symbol: str) -> Book:
        """Gives the symbol's book, opened when it is first named."""
        book = self.books.get(symbol)
        if book is None:
            book = Book(symbol, self.settings, self.account, self.feed.bars)
            self.books[symbol] = book
        return book

    def find(self, position_id: str) -> tuple[Book, Position] | None:
        """Finds an open position and its book."""
        for book in self.books.values():
            position = book.find(position_id)
            if position is not None:
                return book, position
        return None

    def positions(self) -> list[tuple[Book, Position]]:
        """Lists the open positions by symbol, oldest first."""
        return [(book, held) for book in self.books.values() for held in book.positions]

    def equity(self) -> float:
        """Adds up the cash and what the positions are worth."""
        equity = self.account.cash
        for book in self.books.values():
            if book.positions:
                equity += book.value()
        return equity


def laid_out(tape: Tape) -> RunState:
    """Turns a compiled run into the state that stepping every bar would have left."""
    state = RunState(tape.settings)
    candles, account, book = tape.candles, state.account, state.book(tape.symbol)
    for trade in tape.trades():
        account.book(trade)
    for event, time, told in tape.events():
        account.tell(event, timestamp=time, **told)
    account.fill(candles.times, tape.equity, tape.cash)
    account.cash = tape.end.cash
    last = len(candles) - 1
    account.fresh = [
        event
        for event in account.fresh
        if event["timestamp"] == iso(account.times[last])
        and event["event"] == "position_closed"
        and tape.settings.execution == "this_close"
    ]
    state.stepped = len(candles)
    state.orders = tape.end.orders
    state.feed.time = account.times[last]
    book.bars = len(candles)
    book.first_open = float(candles.open[0])
    book.close = float(candles.close[last])
    book.time = account.times[last]
    book.row = last
    book.positions = tape.open_positions()
    book.orders = tape.waiting_orders()
    return state
