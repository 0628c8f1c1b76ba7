"""Reads a strategy's answers for all bars: where its rules hold, what its entries ask for.

A strategy offers them as a dict: `enter_long`, `exit_long`, `enter_short`, `exit_short` (one truth
a bar, absent rules left out) and, as in an order, `stop`, `target`, `trail`, `roi` and `size`. A
`stop` or `target` by distance may be one number a bar; where it is missing, nothing is entered.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from Backtest.fills import Step
from Backtest.orders import Trail, read_protection, read_size
from Backtest.sim_errors import BacktestError, OrderError, nearest

RULES = ("enter_long", "exit_long", "enter_short", "exit_short")
LEVELS = ("stop", "target")
WISHES = (*LEVELS, "trail", "roi", "size")
ACTION_RULES = {1: ("BUY", "enter_long"), -1: ("SELL", "enter_short")}


@dataclass(frozen=True)
class Signals:
    """Holds the signals of one symbol, checked."""

    enter: NDArray[np.int8]  # 1 for a long, -1 for a short, 0 for none; both at once cancel out
    exit_long: NDArray[np.bool_]
    exit_short: NDArray[np.bool_]
    stop: Step | None  # its size is that of the first bar if it has one a bar
    stop_sizes: NDArray[np.float64]  # one for every bar, or one for all
    target: Step | None
    target_sizes: NDArray[np.float64]
    trail: Trail | None
    roi: tuple[tuple[int, float], ...]  # milliseconds in the trade, profit taken from then on
    size_form: str  # units, equity or risk
    size_amount: float
    size_cap: float  # the most that a size by risk may be worth, as a fraction of equity
    asked: Mapping[str, object]  # what was offered, as it was

    def cut(self, first: int, last: int) -> Signals:
        """Gives the signals of some bars alone; what they were computed of stays as it is."""
        part = slice(first, last)
        return replace(
            self,
            enter=self.enter[part],
            exit_long=self.exit_long[part],
            exit_short=self.exit_short[part],
            stop_sizes=self.stop_sizes[part] if self.stop_sizes.size > 1 else self.stop_sizes,
            target_sizes=(
                self.target_sizes[part] if self.target_sizes.size > 1 else self.target_sizes
            ),
        )

    def order(self, idx: int, symbol: str, close: float) -> dict[str, Any] | None:
        """Gives the order that these signals mean at a bar, without its volume; None if none."""
        sign = int(self.enter[idx])
        if sign == 0:
            return None
        action, comment = ACTION_RULES[sign]
        order: dict[str, Any] = {
            "action": action,
            "symbol": symbol,
            "type": "MARKET",
            "comment": comment,
        }
        for name, absolute, against in (("stop", "sl", -1.0), ("target", "tp", 1.0)):
            step: Step | None = getattr(self, name)
            if step is None:
                continue
            sizes = getattr(self, f"{name}_sizes")
            size = float(sizes[0] if sizes.size == 1 else sizes[idx])
            order[name] = {"fraction" if step.is_fraction else "distance": size}
            order[absolute] = close + sign * against * (close * size if step.is_fraction else size)
        wishes = ("trail", "roi", "size")
        return order | {name: self.asked[name] for name in wishes if self.asked.get(name)}


def read_signals(offered: Mapping[str, object], bars: int) -> Signals:
    """Check what a strategy offers.

    Raises:
        BacktestError: a key is unknown, a series has another length, or a wish is malformed.
    """
    for key in offered:
        if key not in (*RULES, *WISHES):
            raise BacktestError(f"signals have no key {key!r}", nearest(str(key), RULES + WISHES))
    enter, exit_long, exit_short = read_rules(offered, bars)
    levels = {name: _level(offered.get(name), name, bars) for name in LEVELS}
    shown = {name: form for name, (form, _) in levels.items() if form is not None}
    wishes = {name: offered[name] for name in ("trail", "roi") if offered.get(name) is not None}
    protection = read_protection({**shown, **wishes})
    sizes = {
        name: _one(step) if listed is None else listed
        for (name, (_, listed)), step in zip(
            levels.items(), (protection.stop, protection.target), strict=True
        )
    }
    form, amount, cap = _size(offered.get("size"))
    for listed in sizes.values():
        if listed.size > 1:
            enter[np.isnan(listed)] = 0
    return Signals(
        enter=enter,
        exit_long=exit_long,
        exit_short=exit_short,
        stop=protection.stop,
        stop_sizes=sizes["stop"],
        target=protection.target,
        target_sizes=sizes["target"],
        trail=protection.trail,
        roi=protection.roi,
        size_form=form,
        size_amount=amount,
        size_cap=cap,
        asked=dict(offered),
    )


def read_rules(
    offered: Mapping[str, object], bars: int
) -> tuple[NDArray[np.int8], NDArray[np.bool_], NDArray[np.bool_]]:
    """Check where rules hold: the entries, and the exits of longs and of shorts.

    Raises:
        BacktestError: a series has another length, or is not of truths.
    """
    rules = {name: _truths(offered.get(name), name, bars) for name in RULES}
    enter = rules["enter_long"].astype(np.int8)
    if offered.get("enter_short") is not None:
        enter -= rules["enter_short"].view(np.int8)
    return enter, rules["exit_long"], rules["exit_short"]


def _truths(values: object, name: str, bars: int) -> NDArray[np.bool_]:
    """Gives one truth a bar; all false where the rule is absent."""
    if values is None:
        return np.zeros(bars, dtype=np.bool_)
    found = np.asarray(values)
    if found.dtype != np.bool_ or found.shape != (bars,):
        raise BacktestError(
            f"signals' {name} is {found.dtype} of shape {found.shape}",
            f"Give one True or False for each of the {bars} bars",
        )
    return np.ascontiguousarray(found)


def _one(step: Step | None) -> NDArray[np.float64]:
    """Gives the size for all bars."""
    return np.zeros(1) if step is None else np.array([step.size])


def _level(value: object, name: str, bars: int) -> tuple[object, NDArray[np.float64] | None]:
    """Gives a level as orders write it, and its sizes if it has one a bar."""
    sizes = value.get("distance") if isinstance(value, Mapping) and len(value) == 1 else None
    if sizes is None or isinstance(sizes, (int, float)):
        return value, None
    found = np.ascontiguousarray(sizes, dtype=np.float64)
    if found.shape != (bars,):
        raise BacktestError(
            f"signals' {name} has {found.shape} distances", f"Give one for each of the {bars} bars"
        )
    return {"distance": 1.0}, found


def _size(value: object) -> tuple[str, float, float]:
    try:
        form, amount, cap = read_size(value)
    except OrderError:
        form, amount, cap = "", 0.0, 0.0
    if form not in ("units", "equity", "risk") or amount == math.inf:
        raise BacktestError(
            f"signals' size is {value!r}", "Give {'equity': 0.1}, or units, or risk"
        )
    return form, amount, cap
