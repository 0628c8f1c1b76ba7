"""`make bench-engine`: the same work on our engine and on its peers, interleaved, as ratios.

    python -m benchmarks.engine [--quick] [--bars N ...] [--rounds N] [--limit-s S]

Each peer has its own environment under build/peers; one that cannot be installed is named with the
reason. The engines take turns, one run each a round, so that a busy machine slows all of them
alike; the best round counts. Whoever would need longer than the limit for a run sits that size
out.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.engine import shape, tables
from benchmarks.engine.explain import PEER_RULES, compare, lines_of, work_of
from benchmarks.engine.peers import PACKAGES, PEERS, install, version_of
from benchmarks.engine.race import OWN_COLD, Field, Result, cold_start
from benchmarks.engine.race_candles import WILD, write_candles
from benchmarks.engine.worker import load

WILD_BARS = 20_221  # both works hold a position at the end of these
SMALL = 10_000  # below, half of the time is taken to be what a run costs by itself
OURS = ["ours", "ours-contract", "ours-event"]


def say(text: str) -> None:
    """What is going on, beside the tables."""
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


def installed() -> tuple[list[str], dict[str, str]]:
    """The peers that are there, and why others are not."""
    PEERS.mkdir(parents=True, exist_ok=True)
    missing: dict[str, str] = {}
    for peer in PACKAGES:
        say(f"{peer}: looking at its environment")
        trouble = install(peer)
        if trouble:
            missing[peer] = trouble
    return [peer for peer in PACKAGES if peer not in missing], missing


def explained(field: Field, peers: list[str], folder: Path) -> int:
    """Print every peer's trades beside ours; how many nothing explains."""
    place = write_candles(folder / "wild", WILD_BARS, WILD)
    columns, odd = load(str(place)), 0
    for work in ("dip", "cross"):
        say(f"{work}: whether the trades agree")
        found = field.race(work, ["ours", *peers], place, 0, 60)
        print(f"\nTrades of {work} on {WILD_BARS:,} wild candles; differences by fill rule")
        for peer in peers:
            if found[peer].why_not or found["ours"].why_not:
                print(f"{peer:<16} {found[peer].why_not or found['ours'].why_not}")
                odd += 1
                continue
            told = compare(
                columns,
                work_of(work, columns),
                PEER_RULES[peer],
                found["ours"].trades,
                found[peer].trades,
            )
            odd += len(told.unexplained)
            print("\n".join(lines_of(peer, told)))
    return odd


def raced(field: Field, work: str, peers: list[str], folder: Path, given: Any) -> Any:
    """Everybody's results by size; whoever would need too long is left out, with the reason."""
    names = [*OURS, *(["ours-naive"] if work == "dip" else []), *peers]
    results: dict[int, dict[str, Result]] = {}
    pace: dict[str, float] = {}  # seconds a bar
    for bars in given.bars:
        place = write_candles(folder / str(bars), bars)
        expected = {name: pace.get(name, 0.0) * bars for name in names}  # seconds
        able = [name for name in names if expected[name] <= given.limit_s]
        say(f"{work}, {bars:,} bars: {', '.join(able)}")
        results[bars] = field.race(work, able, place, given.rounds, 2 * given.limit_s)
        for name in names:
            if name not in able:
                why = f"about {expected[name]:.0f} s"
                results[bars][name] = Result(why_not=why)
            elif results[bars][name].seconds is not None:
                pace[name] = results[bars][name].seconds / bars * (0.5 if bars < SMALL else 1.0)
    return results


def measure(field: Field, peers: list[str], folder: Path, given: Any) -> dict[str, Any]:
    """All races."""
    found: dict[str, Any] = {
        work: raced(field, work, peers, folder, given) for work in ("dip", "cross")
    }
    say("sweep of 100 sets")
    sweepers = ["ours", *(name for name in ("raptorbt", "vectorbt") if name in peers)]
    place = write_candles(folder / "100000", 100_000)
    found["sweep"] = field.race("sweep", sweepers, place, given.rounds, 60)
    field.end()
    say("cold start")
    place = write_candles(folder / "1000", 1_000)
    write_text_inputs(place)
    found["cold"] = cold_start([*OWN_COLD, *peers], place, min(3, given.rounds))
    return found


def write_text_inputs(folder: Path) -> None:
    """The same candles as csv, the work as a contract, and the strategy file made of it."""
    from benchmarks.engine.ours import COMMON, CONTRACTS, frame_of, strategy_of

    frame_of(load(str(folder))).to_csv(folder / "candles.csv", index=False)
    text = json.dumps({**COMMON, **CONTRACTS["dip"]})
    (folder / "contract.json").write_text(text, "utf-8")
    (folder / "dip_work.py").write_text(strategy_of("dip"), "utf-8")


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="1,000 and 100,000 bars, fewer rounds")
    parser.add_argument("--bars", type=int, nargs="+", help="default: 1,000, 100,000, 1,000,000")
    parser.add_argument("--rounds", type=int, help="counted turns; default 5, quick 2")
    parser.add_argument("--limit-s", type=float, help="longest run; default 45 s, quick 10 s")
    given = parser.parse_args()
    given.bars = given.bars or ([1_000, 100_000] if given.quick else [1_000, 100_000, 1_000_000])
    given.rounds = given.rounds or (2 if given.quick else 5)
    given.limit_s = given.limit_s or (10.0 if given.quick else 45.0)
    return given


def main() -> int:
    """Install, compare, race, print."""
    given, start = arguments(), time.monotonic()
    peers, missing = installed()
    for peer in peers:
        print(f"{peer:<16} {version_of(peer)}")
    for peer, why in missing.items():
        print(f"{peer:<16} NOT INSTALLED: {why}")
    with tempfile.TemporaryDirectory() as name:
        folder, field = Path(name), Field()
        try:
            odd = explained(field, peers, folder)
            found = measure(field, peers, folder, given)
        finally:
            field.end()
        tables.show(found, given.bars)
        say("the loop beside C")
        shape.kernel_ratio(write_candles(folder / "1000000", 1_000_000))
        say("growth with the sets of a sweep, and with the bars")
        shape.sweep_growth(write_candles(folder / "100000", 100_000))
        shape.linearity(6 if given.quick else 7)
    print(f"\nUnexplained trades: {odd}. The whole took {time.monotonic() - start:.0f} s.")
    return 1 if odd else 0


if __name__ == "__main__":
    sys.exit(main())
