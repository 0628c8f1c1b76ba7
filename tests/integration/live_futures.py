"""Hits each call of Freqtrade in live mode on futures, isolated margin; part of `make bridge`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.errors import WorldError
from integration.adapter.loopback import Loopback, variables
from tests.integration.live_orders import FAULTS, Outcome, protected

SYMBOL = "BTC/USDT:USDT"
STRATEGY = Path(__file__).parent / "futures" / "OnceInFutures.py"
SIDE = "STRATWRIGHT_TEST_SIDE"
CALLS = {
    "margin": {"call": "POST /fapi/v1/marginType", "skip": 0},
    "leverage": {"call": "POST /fapi/v1/leverage", "skip": 0},
    "entry": {"call": "POST /fapi/v1/order", "skip": 0},
    "stop": {"call": "POST /fapi/v1/algoOrder", "skip": 0},
    "exit": {"call": "POST /fapi/v1/order", "skip": 1},
}
FILLS = ("entry", "exit")


@dataclass(frozen=True)
class FuturesOutcome(Outcome):
    """What was left on futures, with what only they have."""

    liquidation: tuple[Any, ...] = ()
    funding: tuple[Any, ...] = ()


def rows() -> list[tuple[str, str]]:
    """Gives every fault at every call; only an order can be filled in part."""
    return [(leg, fault) for leg in CALLS for fault in FAULTS if fault != "partial" or leg in FILLS]


def run_row(folder: Path, freqtrade: Path, leg: str, fault: str, *, safe: bool) -> Outcome:
    """Makes one trade to its target, with one fault at one call."""
    world = Loopback(folder, freqtrade)
    try:
        try:
            _trade(world, leg, fault, safe=safe)
        except WorldError:
            if safe:
                raise
        world.end("freqtrade")
        return outcome(world)
    finally:
        world.close()


def start(world: Loopback, *, safe: bool = True, side: str = "long") -> None:
    """Starts Freqtrade on futures."""
    with variables({SIDE: side}):
        world.start_freqtrade(
            dry_run=False, safe=safe, symbol=SYMBOL, strategy=STRATEGY, timeout=3_000
        )


def _trade(world: Loopback, leg: str, fault: str, *, safe: bool) -> None:
    if not safe:
        world.patience_s = 60.0
    world.start_exchange()
    world.control(fault={**CALLS[leg], **FAULTS[fault]})
    start(world, safe=safe)
    if leg == "exit":
        protected(world)
        world.control(advance_s=600)
    if fault == "kill -9":
        call, wanted = str(CALLS[leg]["call"]), int(CALLS[leg]["skip"]) + 1
        world.wait(
            lambda: world.control()["hits"].get(call, 0) >= wanted,
            *("freqtrade", "the call was made"),
        )
        world.end("freqtrade", kill=True)
        start(world, safe=safe)
    if leg == "exit":
        open_ones = "SELECT id FROM trades WHERE is_open = 1"
        world.wait(lambda: not world.ask(open_ones), "freqtrade", "the trade is closed")
        world.wait(lambda: not _stops(world), "freqtrade", "its stop is taken back")
    else:
        protected(world)


def _stops(world: Loopback) -> int:
    return sum("algoId" in o and o["status"] == "NEW" for o in world.control()["orders"])


def outcome(world: Loopback) -> FuturesOutcome:
    """Looks at what the exchange and the database have."""
    state = world.control()
    plain = [o for o in state["orders"] if "orderId" in o and float(o["executedQty"]) > 0]
    words = "SELECT is_open, CASE is_open WHEN 1 THEN amount ELSE 0 END FROM trades"
    more = world.ask("SELECT liquidation_price, leverage FROM trades")
    fees = world.ask("SELECT funding_fees FROM trades")
    entries = sum(not o["reduceOnly"] for o in plain)
    return FuturesOutcome(
        *(entries, _stops(world), len(plain) - entries),
        abs(sum(float(size) for size in state["positions"].values())),
        *(world.ask(words), tuple(more), tuple(fees)),
    )
