"""Turns the sets of a search into what the best of them is worth."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from Backtest.metrics.overfitting import neighbours_of, overfitting, stability
from Backtest.metrics.sharpe_odds import (
    best_by_chance,
    least_track_record,
    moments_of,
    probable_sharpe,
    spread_of_ratios,
)

if TYPE_CHECKING:
    from Backtest.metrics.trade_chance import TradeChance

LOW_IS_GOOD = ("max_drawdown", "exposure", "turnover", "costs")


@dataclass(frozen=True)
class Tried:
    """One set of values and what it gave; figures without a meaning are None."""

    values: Mapping[str, int | float]
    figures: Mapping[str, float | None]
    rejections: Mapping[str, int] = field(default_factory=dict)  # rejected orders by cause
    # By block of the history: how many returns, and the sums of their first four powers.
    sums: Any = None


@dataclass(frozen=True)
class Luck:
    """What picking the best of many sets is worth; None where it cannot be said."""

    sets: int  # how many were tried
    trials: int = 0  # with those of other days, as far as a ledger has them
    # The annual Sharpe ratio that the best of so many unrelated sets without an edge would have, if
    # they scatter as these do (Bailey and Lopez de Prado, 2014).
    expected_best: float | None = None
    deflated: float | None = None  # probability that the best set's true ratio is above that
    years: float | None = None  # of the candles
    years_needed: float | None = None  # to be 95 % sure that its true ratio is above that
    overfitting: float | None = None  # probability that the best of one half fails on the other
    stability: float | None = None  # share of its neighbours that keep half of its result
    neighbours: int = 0
    break_even_cost_bps: float | None = None
    trades: TradeChance | None = None  # its trades in other orders, and with some missed
    # How many worlds without an edge were searched in the same way, and in how many of them the
    # best set was as good as here.
    worlds: int = 0
    worlds_as_good: int = 0

    @property
    def by_worlds(self) -> float | None:
        """Gives the measured chance of so good a result without an edge."""
        return (self.worlds_as_good + 1) / (self.worlds + 1) if self.worlds else None


def luck_of(
    rows: Sequence[Tried], metric: str, periods_per_year: float | None, years: float | None
) -> Luck:
    """Judge the first of some sets, the best by a figure."""
    best, around = rows[0], neighbours_of(rows[0].values, [row.values for row in rows])
    kept = stability(worth_of(best, metric), [worth_of(rows[place], metric) for place in around])
    blocks = np.array([row.sums for row in rows])
    fits = overfitting(blocks)
    luck = Luck(
        sets=len(rows),
        years=years,
        overfitting=None if fits is None else fits.probability,
        stability=kept,
        neighbours=len(around),
        break_even_cost_bps=best.figures["break_even_cost_bps"],
    )
    return deflate(luck, rows, periods_per_year, len(rows))


def deflate(
    luck: Luck,
    rows: Sequence[Tried],
    periods_per_year: float | None,
    trials: int,
    others: int = 0,
) -> Luck:
    """Judge the first of some sets as the best of so many trials, those of other days too.

    Of the `others` among them nobody kept the ratios. They are taken to scatter as these do, and no
    less than chance alone lets ratios scatter: these may be few, and close to what others found.
    """
    known = [ratio for row in rows if (ratio := row.figures["sharpe"]) is not None]
    spread, found = spread_of_ratios(known), moments_of(rows[0].sums.sum(axis=0))
    luck = replace(luck, trials=trials)
    if periods_per_year is None or spread is None:
        return luck
    by_chance = periods_per_year / max(float(rows[0].sums[..., 0].sum()) - 1.0, 1.0)
    unknown = others * max(by_chance - spread**2, 0.0)
    expected = best_by_chance(trials, math.sqrt(spread**2 + unknown / trials))
    if found is None:
        return replace(luck, expected_best=expected)
    least = expected / math.sqrt(periods_per_year)
    needed = least_track_record(found, least)
    return replace(
        luck,
        expected_best=expected,
        deflated=probable_sharpe(found, least),
        years_needed=None if needed is None else needed / periods_per_year,
    )


def worth_of(row: Tried, metric: str) -> float | None:
    """A figure, turned so that more is better; half of a low one is twice it."""
    value = row.figures[metric]
    if value is None or metric not in LOW_IS_GOOD:
        return value
    return 1.0 / value if value > 0.0 else math.inf
