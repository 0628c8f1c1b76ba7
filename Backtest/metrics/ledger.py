"""Holds trades as columns, which is the form that figures are computed from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from Backtest.compiled.signal_run import is_loaded
from Backtest.metrics.exact_sums import exact_sum
from Backtest.positions import Trade

Floats = NDArray[np.float64]

CALL_TRADES = 8  # the sums of fewer are added sooner than machine code is called
DUST = 1e-12  # of an entry's value; a trade that earns less has come out even


class Tally(NamedTuple):
    """Sums over trades, each rounded once."""

    pnl: float
    gross_profit: float
    gross_loss: float
    fees: float
    cost: float
    traded: float
    best_pnl: float


@dataclass(frozen=True)
class Ledger:
    """Holds one place a trade in each column, in closing order; see `Backtest.positions.Trade`."""

    volume: Floats
    entry_price: Floats
    exit_price: Floats
    pnl: Floats
    fees: Floats
    cost: Floats
    best_pnl: Floats
    entry_row: NDArray[np.int64]
    exit_row: NDArray[np.int64]
    exit_time: NDArray[np.int64]
    ambiguous: NDArray[np.bool_]
    forced: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.pnl)

    @cached_property
    def tally(self) -> Tally:
        """Tells what they come to."""
        if len(self) >= CALL_TRADES and is_loaded():
            from Backtest.compiled.trade_pass import tally

            columns = (self.pnl, self.fees, self.cost, self.volume)
            prices = (self.entry_price, self.exit_price, self.best_pnl)
            found = tally(*(np.ascontiguousarray(column) for column in (*columns, *prices)))
            if all(map(math.isfinite, found)):
                return Tally(*found)
        return Tally(
            pnl=exact_sum(self.pnl),
            gross_profit=exact_sum(self.pnl[self.pnl > 0.0]),
            gross_loss=exact_sum(-self.pnl[self.pnl < 0.0]),
            fees=exact_sum(self.fees),
            cost=exact_sum(self.cost),
            traded=exact_sum(self.volume * (self.entry_price + self.exit_price)),
            best_pnl=exact_sum(self.best_pnl),
        )

    @cached_property
    def outcomes(self) -> NDArray[np.int8]:
        """1 where a trade won, -1 where it lost, 0 where only its last digits say so."""
        dust = DUST * self.volume * self.entry_price
        won, lost = self.pnl > dust, self.pnl < -dust
        return won.view(np.int8) - lost.view(np.int8)

    @cached_property
    def finished(self) -> Ledger:
        """Gives the trades that were not forced to an end; mostly a forced one is the last."""
        forced = np.flatnonzero(self.forced)
        if len(forced) == 0:
            return self
        is_last = forced[0] == len(self) - 1
        wanted: object = slice(int(forced[0])) if is_last else ~self.forced
        return Ledger(**{field.name: getattr(self, field.name)[wanted] for field in fields(self)})


KINDS: dict[str, type[np.generic]] = {
    "entry_row": np.int64,
    "exit_row": np.int64,
    "exit_time": np.int64,
    "ambiguous": np.bool_,
    "forced": np.bool_,
}


def ledger_of(trades: Sequence[Trade] | Ledger) -> Ledger:
    """Lay trades out in columns."""
    if isinstance(trades, Ledger):
        return trades
    return Ledger(
        **{
            field.name: np.array(
                [getattr(trade, field.name) for trade in trades],
                dtype=KINDS.get(field.name, np.float64),
            )
            for field in fields(Ledger)
        }
    )
