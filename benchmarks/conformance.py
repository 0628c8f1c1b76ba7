"""Writes docs/conformance.md: every fill case, what honesty expects, what both paths give.

    python -m benchmarks.conformance [--check]

The first bar decides, the second opens at 100, the bar of the case comes third unless it is said
otherwise. Bars are open, high, low, close. No costs unless they are the case.
"""

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from Backtest.candles import Candles
from benchmarks.worlds import STEP_MS, World, play

PAGE = Path(__file__).parents[1] / "docs" / "conformance.md"
Bar = tuple[float, float, float, float]
STILL: Bar = (100.0, 100.0, 100.0, 100.0)
LEVELS = {"stop": {"fraction": 0.05}, "target": {"fraction": 0.05}}
HEAD = """# Fill conformance

Written by `python -m benchmarks.conformance`; a test keeps it true. Each case is one trade: a
decision on the first bar, an entry at the open of the second. The entry is at 100, levels are 5 %
from the fill and there are no costs unless the case says otherwise. Bars are open, high, low,
close. *event* is the path that any strategy takes, *compiled* the one for array signals.

| case | bars from the entry on | expected | event | compiled | rule |
|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Case:
    """One trade and its honest end."""

    name: str
    bars: tuple[Bar, ...]  # from the entry bar on
    expected: str
    rule: str
    short: bool = False
    asked: dict[str, Any] = field(default_factory=lambda: dict(LEVELS))
    exit_at: int | None = None
    broker: dict[str, Any] = field(default_factory=dict)
    loop: dict[str, Any] = field(default_factory=dict)


def _trail(**more: Any) -> dict[str, Any]:
    return {"stop": {"fraction": 0.05}, "trail": {"fraction": 0.03, **more}}


CASES = (
    Case("gap below the stop, trades back up", (STILL, (90, 96, 88, 91)), "90", "stop_gap"),
    Case("gap below the stop, stays below", (STILL, (90, 94, 88, 91)), "90", "stop_gap"),
    Case("both levels in one bar", (STILL, (100, 106, 94, 101)), "95 ambiguous", "stop"),
    Case("both levels, open near the target", (STILL, (104, 106, 94, 101)), "95 ambiguous", "stop"),
    Case("both levels on the entry bar", ((100, 106, 94, 101),), "95 ambiguous", "stop"),
    Case("gap above the target", (STILL, (110, 112, 109, 111)), "110", "target_gap"),
    Case("stop inside the bar", (STILL, (99, 101, 94, 96)), "95", "stop"),
    Case("stop touched exactly", (STILL, (99, 101, 95, 96)), "95", "stop"),
    Case("opens exactly at the stop", (STILL, (95, 101, 94, 96)), "95", "stop_gap"),
    Case("target touched exactly", (STILL, (101, 105, 100, 104)), "105", "target"),
    Case("stop on the entry bar", ((100, 101, 94, 96),), "95", "stop"),
    Case("target on the entry bar", ((100, 106, 99, 105),), "105", "target"),
    Case(
        "stop counts from the fill", ((110, 110, 105, 106), (106, 107, 104, 105)), "104.5", "stop"
    ),
    Case("short: gap above the stop", (STILL, (110, 112, 104, 109)), "110", "stop_gap", short=True),
    Case(
        "short: both levels in one bar",
        (STILL, (100, 106, 94, 101)),
        "105 ambiguous",
        "stop",
        short=True,
    ),
    Case("short: gap below the target", (STILL, (90, 92, 89, 91)), "90", "target_gap", short=True),
    Case(
        "trailing from earlier bars only",
        (STILL, (100, 110, 100, 109), (109, 109, 106, 107)),
        "106.7",
        "trailing_stop",
        asked=_trail(),
    ),
    Case(
        "trailing ignores the high of its own bar",
        (STILL, (100, 110, 97.5, 109), (109, 110, 108, 109)),
        "109 forced",
        "end_of_data",
        asked=_trail(),
    ),
    Case(
        "gap below the trailing stop",
        (STILL, (100, 110, 100, 109), (105, 108, 104, 107)),
        "105",
        "trailing_gap",
        asked=_trail(),
    ),
    Case(
        "trailing waits for its activation",
        (STILL, (100, 104, 100, 103), (103, 103, 96, 97), (97, 98, 94, 95)),
        "95",
        "stop",
        asked=_trail(activate_at=0.05, only_after_activation=True),
    ),
    Case(
        "ROI after its minutes",
        (STILL, (100, 102, 99.5, 101), (101, 103, 100, 102)),
        "102",
        "roi",
        asked={"stop": {"fraction": 0.05}, "roi": {30: 0.02}},
    ),
    Case(
        "gap above the ROI",
        (STILL, (100, 101, 99.5, 101), (104, 105, 103, 104)),
        "104",
        "roi_gap",
        asked={"stop": {"fraction": 0.05}, "roi": {30: 0.02}},
    ),
    Case(
        "exit rule fills at the next open",
        (STILL, (101, 102, 100, 101), (102, 103, 101, 102)),
        "102",
        "exit_long",
        exit_at=2,
    ),
    Case(
        "exit rule before a stop at the same open",
        (STILL, (99, 100, 98, 99), (90, 91, 89, 90)),
        "90",
        "exit_long",
        exit_at=2,
    ),
    Case(
        "exit_profit_only holds a loser",
        (STILL, (99, 100, 98, 99), (98, 99, 97, 98)),
        "98 forced",
        "end_of_data",
        exit_at=2,
        loop={"exit_profit_only": True},
    ),
    Case("open at the end", (STILL, (101, 102, 100, 101)), "101 forced", "end_of_data"),
    Case(
        "slippage and half the spread on a stop",
        (STILL, (99, 101, 94, 96)),
        "94.9525",
        "stop",
        asked={"stop": {"distance": 5.05}},
        broker={"slippage": 0.0002, "spread": 0.0006},
    ),
    Case(
        "no slippage on a target",
        (STILL, (101, 106, 100, 104)),
        "105.05",
        "target",
        asked={"target": {"distance": 5.03}},
        broker={"slippage": 0.0002},
    ),
    Case(
        "fills round to the tick against the trader",
        (STILL, (99, 101, 94, 96)),
        "94.75",
        "stop",
        asked={"stop": {"distance": 5.1}},
        broker={"tick": 0.25},
    ),
    Case(
        "this_close: stops count from the next bar",
        ((100, 101, 99, 100), (100, 101, 94, 96)),
        "95",
        "stop",
        broker={"execution": "this_close"},
    ),
    Case(
        "short: gap beyond the collateral",
        (STILL, (400, 420, 390, 400)),
        "200",
        "liquidated",
        short=True,
    ),
    Case(
        "short: liquidated before a stop further away",
        (STILL, (150, 260, 140, 160)),
        "200",
        "liquidated",
        short=True,
        asked={"stop": {"distance": 120.0}},
    ),
    Case(
        "short: the exit rule at an open beyond the collateral",
        (STILL, (101, 102, 100, 101), (210, 220, 205, 210)),
        "200",
        "liquidated",
        short=True,
        asked={},
        exit_at=2,
    ),
    Case(
        "short: costs bring the liquidation nearer",
        (STILL, (150, 196.5, 140, 160)),
        "198",
        "liquidated",
        short=True,
        asked={},
        broker={"slippage": 0.01},
    ),
    Case("too little cash", (STILL, STILL), "rejected", "enter_long", broker={"capital": 50.0}),
    Case(
        "below the minimum value",
        (STILL, STILL),
        "rejected",
        "enter_long",
        broker={"min_notional": 500.0},
    ),
)


def world_of(case: Case) -> World:
    """The case as a run of one decision."""
    bars = (STILL, *case.bars)
    if case.broker.get("execution") == "this_close":
        bars = case.bars
    columns = np.array([(*bar, 1.0) for bar in bars]).T
    times = np.arange(len(bars), dtype=np.int64) * STEP_MS + 1_700_000_000_000
    side = "short" if case.short else "long"
    offered: dict[str, Any] = {
        f"enter_{side}": np.arange(len(bars)) == 0,
        f"exit_{side}": np.arange(len(bars)) == (-1 if case.exit_at is None else case.exit_at),
        "size": {"units": 1.0},
        **case.asked,
    }
    candles = Candles(times, *np.ascontiguousarray(columns))
    return World(candles, offered, case.broker, case.loop)


def got(case: Case, *, compiled: bool) -> tuple[str, str]:
    """What a path makes of the case, and by which rule."""
    broker = play(world_of(case), compiled=compiled)
    if broker is None:
        return "refused", ""
    trades = broker.get_trades()
    if not trades:
        events = broker.get_events()
        return ("rejected", str(events[0]["rule"])) if events else ("nothing", "")
    (trade,) = trades
    marks = [word for word in ("ambiguous", "forced") if getattr(trade, word)]
    return " ".join([f"{trade.exit_price:.10g}", *marks]), trade.rule_out


def page() -> str:
    """The table."""
    lines = []
    for case in CASES:
        event, compiled = got(case, compiled=False), got(case, compiled=True)
        bars = " → ".join(" ".join(f"{price:g}" for price in bar) for bar in case.bars)
        rules = event[1] if event[1] == compiled[1] else f"{event[1]} / {compiled[1]}"
        cells = (case.name, bars, case.expected, event[0], compiled[0], rules)
        lines.append(f"| {' | '.join(cells)} |")
    return HEAD + "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Write the page, or say whether it is up to date."""
    text = page()
    if "--check" in arguments:
        return 0 if PAGE.read_text("utf-8") == text else 1
    PAGE.write_text(text, "utf-8")
    print(f"wrote {PAGE.name}, {len(CASES)} cases")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
