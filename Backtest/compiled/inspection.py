"""Looks candles through on another core while a strategy works out its indicators on them."""

from threading import Thread

from Backtest.candles import Candles, check_columns, pass_columns
from Backtest.compiled.signal_run import is_loaded

WORTH_A_THREAD_BARS = 100_000


class Inspection:
    """Holds a check that has begun; what it finds is told at its end, before anything is traded."""

    def __init__(self) -> None:
        self._threads: list[Thread] = []
        self._begun: list[Candles] = []
        self._sound: list[Candles] = []

    def begin(self, columns: Candles) -> None:
        """Check candles, beside what comes next where that is worth a thread.

        Raises:
            CandleError: names the first row that is wrong, where it was checked at once.
        """
        if not is_loaded(len(columns)) or len(columns) < WORTH_A_THREAD_BARS:
            check_columns(columns)
            return
        self._begun.append(columns)
        thread = Thread(target=self._check, args=(columns,), daemon=True)
        self._threads.append(thread)
        thread.start()

    def _check(self, columns: Candles) -> None:
        if pass_columns(columns):
            self._sound.append(columns)

    def end(self) -> None:
        """Wait for what was begun.

        Raises:
            CandleError: names the first row that is wrong.
        """
        for thread in self._threads:
            thread.join()
        for columns in self._begun:
            if not any(columns is sound for sound in self._sound):  # also where a look broke off
                check_columns(columns)
