"""Trades as columns, which is the form that figures are computed from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from Backtest.exact_sums import exact_sum
from Backtest.positions import Trade

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ledger:
    """One place a trade in each column, in closing order; see `Backtest.positions.Trade`."""

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
        """How many trades."""
        return len(self.pnl)

    @cached_property
    def total_pnl(self) -> float:
        """The profit of all of them."""
        return exact_sum(self.pnl)

    @cached_property
    def finished(self) -> Ledger:
        """The trades that were not forced to an end; mostly a forced one is the last."""
        forced = np.flatnonzero(self.forced)
        if len(forced) == 0:
            return self
        is_last = forced[0] == len(self) - 1
        wanted: Any = slice(int(forced[0])) if is_last else ~self.forced
        return Ledger(**{field.name: getattr(self, field.name)[wanted] for field in fields(self)})


KINDS: dict[str, Any] = {
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
