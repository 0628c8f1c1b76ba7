"""Runs the four gates of the bridge for real, and gives a figure for each."""

import csv
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bot.errors import StratwrightError
from integration.adapter.loopback import HOUSE, Loopback, variables
from integration.publish import LIST
from integration.scripts.run_cycle import run_cycle

LIMIT_S = 3.0
CYCLES = 5
_CANDLES_S = 600


@dataclass(frozen=True)
class Gate:
    """What one gate says."""

    name: str
    passed: bool
    figure: str


def verify(
    freqtrade: Path, cycles: int = CYCLES, say: Callable[[str], None] = lambda _: None
) -> Iterator[Gate]:
    """Runs G1 to G4, one after the other; what cannot run has failed.

    Args:
        freqtrade: the environment that has Freqtrade.
        cycles: how many are timed for G4.
        say: is told what is going on.
    """
    say("G1: the bridge's own tests")
    yield _tests(freqtrade)
    with tempfile.TemporaryDirectory(prefix="stratwright-bridge-") as folder:
        world = Loopback(Path(folder), freqtrade)
        try:
            say("G2: a signal, and a trade of it in Freqtrade's dry run")
            yield _guarded("G2", lambda: _trade(world))
            yield _guarded("G3", lambda: _logs(world.logs))
            say(f"G4: {cycles} cycles")
            yield _guarded("G4", lambda: _latency(world, cycles))
        finally:
            world.close()


def _guarded(name: str, judge: Callable[[], Gate]) -> Gate:
    try:
        return judge()
    except StratwrightError as error:
        return Gate(name, False, f"{error.message}".strip())


def _tests(freqtrade: Path) -> Gate:
    folder = HOUSE / "integration" / "tests"
    if not folder.is_dir():
        return Gate("G1", False, "the tests are not here; run this in a checkout of stratwright")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", folder],
        cwd=HOUSE,
        env={**os.environ, "STRATWRIGHT_FREQTRADE": str(freqtrade)},
        capture_output=True,
        text=True,
        check=False,
    )
    last = (done.stdout.strip().splitlines() or ["no words"])[-1].strip("= ")
    skipped = re.search(r"[1-9]\d* skipped", last)
    passed = done.returncode == 0 and re.search(r"[1-9]\d* passed", last) and not skipped
    return Gate("G1", bool(passed), last)


def _trade(world: Loopback) -> Gate:
    """Publishes a signal by a real cycle, and drives the market to its first target."""
    world.start_redis()
    world.start_exchange()
    world.start_freqtrade()
    with variables(world.environment):
        signal = run_cycle(world.logs)
    if signal is None:
        return Gate("G2", False, "the cycle gave no signal")
    tag = signal.decision_id
    opened = "SELECT 1 FROM trades WHERE enter_tag = ?"
    world.wait(lambda: world.ask(opened, tag), "freqtrade", "a trade is opened")
    world.control(advance_s=_CANDLES_S)
    closed = (
        "SELECT exit_reason, open_rate, close_rate FROM trades WHERE is_open = 0 AND enter_tag = ?"
    )
    found = world.wait(lambda: world.ask(closed, tag), "freqtrade", "the trade is closed")
    results = world.logs / "trade_results.csv"
    world.wait(lambda: results.exists() and tag in results.read_text(), "freqtrade", "it is logged")
    world.end("freqtrade")
    reason, begin, end = found[0]
    figure = f"{len(found)} trade opened at {begin:g}, closed at {end:g} ({reason})"
    return Gate("G2", len(found) == 1 and reason == "tp1", figure)


def _logs(logs: Path) -> Gate:
    """Joins both logs by decision_id."""
    ids = [_ids(logs / name) for name in ("decision_log.csv", "trade_results.csv")]
    both = set(ids[0]) & set(ids[1])
    whole = all(len(each) == len(set(each)) for each in ids)
    passed = bool(both) and whole and set(ids[1]) <= set(ids[0])
    figure = f"{len(both)} of {len(ids[1])} results match one of {len(ids[0])} decisions"
    return Gate("G3", passed, figure)


def _ids(path: Path) -> list[str]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [row["decision_id"] for row in csv.DictReader(file)]


def _latency(world: Loopback, cycles: int) -> Gate:
    """Times cycles from the first request to the signal in Redis and log."""
    from bot.bus.redis_streams import connect

    world.end("exchange")
    world.start_exchange()
    seconds: list[float] = []
    with variables(world.environment):
        client = connect(world.environment["REDIS_URL"])
        for number in range(cycles):
            for key in (LIST, *client.scan_iter(f"{LIST}:*")):
                client.delete(key)
            begun = time.perf_counter()
            signal = run_cycle(world.folder / f"cycle-{number}")
            seconds.append(time.perf_counter() - begun)
            if signal is None:
                return Gate("G4", False, f"cycle {number + 1} gave no signal")
    mean = statistics.fmean(seconds)
    ordered = sorted(seconds)
    high = ordered[min(len(ordered) - 1, round(0.99 * (len(ordered) - 1)))]
    figure = f"{mean:.3f} s mean of {cycles} cycles, p50 {statistics.median(seconds):.3f} s"
    return Gate("G4", mean < LIMIT_S, f"{figure}, p99 {high:.3f} s; the limit is {LIMIT_S:g} s")
