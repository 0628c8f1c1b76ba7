"""Hits each order call of Freqtrade in live mode, with our launcher and without it.

`python -m tests.integration.live_orders` runs the whole matrix (`make bridge`), and says for
every row how many orders there were and whether account and database agree.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bot.errors import WorldError
from integration.adapter.loopback import Loopback, variables
from integration.scripts.run_cycle import run_cycle

CALLS = {
    "entry": {"call": "POST /api/v3/order", "skip": 0},
    "stop": {"call": "POST /api/v3/order", "skip": 1},
    "exit": {"call": "POST /api/v3/order", "skip": 2},
}
FAULTS: dict[str, dict[str, Any]] = {
    "lost": {"kind": "lost"},
    "dropped": {"kind": "drop"},
    "slow": {"kind": "slow", "seconds": 8},
    "late": {"kind": "late", "seconds": 4},
    "5xx, done": {"kind": "error-after", "status": 503},
    "5xx, not done": {"kind": "error", "status": 503},
    "partial": {"kind": "partial"},
    "kill -9": {"kind": "slow", "seconds": 600},
}
NOT_DONE = ("dropped", "5xx, not done")


@dataclass(frozen=True)
class Outcome:
    """What was left at the end."""

    buys: int
    stops: int
    sells: int
    coins: float
    trades: list[tuple[Any, ...]]

    @property
    def is_clean(self) -> bool:
        """One entry with one trade, or none of both; the account is what the database says."""
        held = sum(amount for _, amount in self.trades)
        stops = sum(is_open for is_open, _ in self.trades)
        same = self.buys == len(self.trades) <= 1 and self.stops == stops
        return same and abs(self.coins - held) < 1e-4


def run_row(folder: Path, freqtrade: Path, leg: str, fault: str, *, safe: bool) -> Outcome:
    """Trades one signal to its target, with one fault at one call."""
    world = Loopback(folder, freqtrade)
    try:
        try:
            _trade(world, leg, fault, safe=safe)
        except WorldError:
            if safe:
                raise
        world.end("freqtrade")
        return _outcome(world)
    finally:
        world.close()


def _trade(world: Loopback, leg: str, fault: str, *, safe: bool) -> None:
    if not safe:
        world.patience_s = 45.0  # what is not so by then will not be
    world.start_redis()
    world.start_exchange()
    world.control(fault={**CALLS[leg], **FAULTS[fault]})
    _start(world, safe=safe)
    with variables(world.environment):
        signal = run_cycle(world.logs)
    assert signal is not None
    if leg == "exit":
        protected(world)
        world.control(advance_s=600)
    if fault == "kill -9":
        calls = list(CALLS).index(leg) + 1
        world.wait(
            lambda: world.control()["hits"].get("POST /api/v3/order", 0) >= calls,
            *("freqtrade", "the call was made"),
        )
        world.end("freqtrade", kill=True)
        _start(world, safe=safe)
    if leg == "exit":
        world.wait(lambda: not _open(world), "freqtrade", "the trade is closed")
    elif leg == "entry" and fault in NOT_DONE:
        # A signal acts once: what never arrived is no trade, and none is tried again.
        said = world.folder / "freqtrade.txt"
        words = "never arrived" if safe else "Could not place"
        world.wait(lambda: words in said.read_text(), "freqtrade", "it gives the entry up")
    else:
        protected(world)


# The market falls to the stop; what is left of a stop that was filled in part is sold as well.
HITS = (
    "whole",
    "partial",
    "partial, lost cancel",
    "partial, lost exit",
    "partial, kill -9",
    "while down",
)


def run_hit(folder: Path, freqtrade: Path, how: str, *, safe: bool) -> Outcome:
    """Trades one signal to its stop at the exchange."""
    world = Loopback(folder, freqtrade)
    try:
        world.start_redis()
        world.start_exchange("--fall")
        if how == "while down":
            world.control(fault={**CALLS["stop"], **FAULTS["kill -9"]})
        _start(world, safe=safe)
        # The candle that breaks out is the last one at the market's time, which stands.
        now = world.control()["now"] / 1000
        with variables(world.environment), patch("integration.data._now", lambda: now):
            assert run_cycle(world.logs) is not None
        if how == "while down":
            hits = "POST /api/v3/order"
            world.wait(lambda: world.control()["hits"].get(hits, 0) >= 2, "freqtrade", "its stop")
            world.end("freqtrade", kill=True)
        else:
            protected(world)
            first = min(
                float(o["stopPrice"]) for o in world.control()["orders"] if "STOP" in o["type"]
            )
            assert first > 19_900, f"its first stop was at {first}, not at the signal's"
        if "cancel" in how:
            world.control(fault={"kind": "lost", "call": "DELETE /api/v3/order"})
        if "exit" in how:
            world.control(fault={"kind": "lost", "call": "POST /api/v3/order"})
        world.control(thin="partial" in how, advance_s=600)
        if how == "partial, kill -9":
            world.end("freqtrade", kill=True)
        if how in ("while down", "partial, kill -9"):
            _start(world, safe=safe)
        world.wait(lambda: world.ask(_CLOSED), "freqtrade", "the trade is closed")
        world.end("freqtrade")
        return _outcome(world)
    finally:
        world.close()


def _start(world: Loopback, *, safe: bool) -> None:
    world.start_freqtrade(dry_run=False, safe=safe, timeout=3_000)


_CLOSED = "SELECT 1 FROM trades WHERE is_open = 0"


def _open(world: Loopback) -> list[tuple[Any, ...]]:
    return world.ask("SELECT id FROM trades WHERE is_open = 1")


def protected(world: Loopback) -> None:
    """Waits until the database has an open trade with a stop at the exchange."""
    words = (
        "SELECT 1 FROM trades JOIN orders ON orders.ft_trade_id = trades.id "
        "WHERE trades.is_open = 1 AND ft_order_side = 'stoploss' AND orders.status = 'open'"
    )
    world.wait(lambda: world.ask(words), "freqtrade", "there is a trade with a stop")


def _outcome(world: Loopback) -> Outcome:
    state = world.control()
    done = [o for o in state["orders"] if float(o["executedQty"]) > 0]
    stops = [o for o in state["orders"] if "STOP" in o["type"] and o["status"] == "NEW"]
    coins = float(state["free"]["BTC"]) + float(state["locked"]["BTC"])
    trades = world.ask("SELECT is_open, CASE is_open WHEN 1 THEN amount ELSE 0 END FROM trades")
    return Outcome(
        sum(o["side"] == "BUY" for o in done),
        len(stops),
        sum(o["side"] == "SELL" for o in done),
        coins,
        trades,
    )


def _matrix() -> Iterator[tuple[str, Callable[..., Outcome]]]:
    """Gives every row by its name."""
    from tests.integration import live_futures

    for leg in CALLS:
        for fault in FAULTS:
            if (leg, fault) != ("stop", "partial"):  # a stop that rests fills nothing when placed
                yield f"{leg}/{fault}", partial(run_row, leg=leg, fault=fault)
    for each in HITS:
        yield f"stop hit/{each}", partial(run_hit, how=each)
    for leg, fault in live_futures.rows():
        yield f"futures {leg}/{fault}", partial(live_futures.run_row, leg=leg, fault=fault)


def main() -> int:
    """Runs the matrix and prints it; 1 if a row with the launcher is not clean."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--freqtrade", type=Path, required=True)
    parser.add_argument("--row", help="as in entry/lost or futures stop/kill -9")
    parser.add_argument("--plain", action="store_true", help="without the launcher, to compare")
    args = parser.parse_args()
    bad = 0
    for name, run in _matrix():
        if args.row not in (None, name):
            continue
        with tempfile.TemporaryDirectory(prefix="stratwright-row-") as folder:
            try:
                found = run(Path(folder), args.freqtrade, safe=not args.plain)
                words = f"{'clean' if found.is_clean else 'NOT CLEAN'}  {found}"
                bad += not found.is_clean
            except WorldError as error:
                words, bad = f"STUCK  {error.message[-600:]}", bad + 1
        sys.stdout.write(f"{name:22} {words}\n")
        sys.stdout.flush()
    return 1 if bad and not args.plain else 0


if __name__ == "__main__":
    sys.exit(main())
