"""`make bench-engine`: the same work on our engine and on its peers, interleaved, as ratios.

    python -m benchmarks.engine [--bars N] [--rounds N] [--quick]

Each peer has its own environment under build/peers; one that cannot be installed is reported as
such. The peers and our paths take turns, one run each a round, so that a busy machine slows all of
them alike; figures are the best round's.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.engine import cold, shape

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
PEERS = ROOT / "build" / "peers"
PACKAGES = {
    "backtesting": ("backtesting", "TA-Lib"),
    "vectorbt": ("vectorbt", "TA-Lib"),
    "backtrader": ("backtrader", "TA-Lib", "pandas"),
    "raptorbt": ("raptorbt", "numpy"),
    "nautilus_trader": ("nautilus_trader",),
    "freqtrade": ("freqtrade",),
    "jesse": ("jesse",),
}
SLOW = {"backtesting", "backtrader", "ours-event", "ours-naive"}  # tenths of the bars
ROUNDS = 5


def install(peer: str) -> str | None:
    """Make a peer's environment; what went wrong, if it did."""
    folder = PEERS / peer
    python = folder / "bin" / "python"
    ready = folder / ".ready"
    if ready.exists():
        return None
    log = ""
    for command in (
        (sys.executable, "-m", "venv", str(folder)),
        (str(python), "-m", "pip", "install", "--quiet", *PACKAGES[peer]),
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        log = done.stderr.strip()
        if done.returncode != 0:
            return log.splitlines()[-1] if log else "pip failed"
    ready.touch()
    return None


def write_candles(folder: Path, bars: int) -> None:
    """Seeded candles as columns."""
    chance = np.random.default_rng(3)
    close = 40_000 * np.exp(np.cumsum(chance.normal(0, 0.003, bars)))
    opened = np.concatenate((close[:1], close[:-1])) * (1 + chance.normal(0, 0.0002, bars))
    columns = {
        "time": np.arange(bars, dtype=np.int64) * 300_000_000_000 + 1_420_070_400_000_000_000,
        "open": opened,
        "high": np.maximum(opened, close) * (1 + np.abs(chance.normal(0, 0.001, bars))),
        "low": np.minimum(opened, close) * (1 - np.abs(chance.normal(0, 0.001, bars))),
        "close": close,
        "volume": np.ones(bars),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, column in columns.items():
        np.save(folder / f"{name}.npy", column)


class Far:
    """A worker process, asked for one run at a time."""

    def __init__(self, name: str, work: str, folder: Path) -> None:
        self.name = name
        command = [str(PEERS / name / "bin" / "python"), str(HERE / f"peer_{name}.py"), work]
        if name.startswith("ours"):
            kind = f"{work}{name.removeprefix('ours')}"
            command = [sys.executable, "-m", "benchmarks.engine.ours", kind]
        single = {"RAYON_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [*command, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
            env={**os.environ, **single},
        )

    def run(self) -> dict[str, Any]:
        """One run: seconds and trades, or an error."""
        pipe, answers = self._process.stdin, self._process.stdout
        if pipe is None or answers is None:
            return {"error": "no pipes"}
        try:
            pipe.write("run\n")
            pipe.flush()
            line = answers.readline()
        except BrokenPipeError:
            line = ""
        found: dict[str, Any] = json.loads(line) if line else {"error": "the worker died"}
        return found

    def end(self) -> None:
        """Let it go."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait(timeout=60)


def race(work: str, names: list[str], bars: int, folder: Path, rounds: int) -> dict[str, Any]:
    """Let everybody take turns; the best seconds a bar and the trades of each."""
    slow_bars = max(1_000, bars // 10)
    places = {bars: folder / str(bars), slow_bars: folder / str(slow_bars)}
    for count, place in places.items():
        if not place.exists():
            write_candles(place, count)
    sizes = {name: slow_bars if name in SLOW else bars for name in names}
    far = [Far(name, work, places[sizes[name]]) for name in names]
    best: dict[str, Any] = {}
    for turn in range(rounds + 1):  # the first turn warms up
        for one in far:
            told = one.run() if best.get(one.name, {}).get("error") is None else best[one.name]
            if "error" in told:
                best[one.name] = told
            elif turn:
                a_bar = told["seconds"] / sizes[one.name]
                before = best.get(one.name, {"a_bar": np.inf})
                best[one.name] = {"a_bar": min(a_bar, before["a_bar"]), "trades": told["trades"]}
    for one in far:
        one.end()
    return best


def table(title: str, best: dict[str, Any], base: str) -> None:
    """Print a race, and everybody's time over that of one of us."""
    print(f"\n{title}")
    for name, found in best.items():
        if "error" in found:
            print(f"  {name:<16} {found['error']}")
            continue
        ratio = found["a_bar"] / best[base]["a_bar"] if "a_bar" in best.get(base, {}) else np.nan
        count = len(found["trades"]) if isinstance(found["trades"], list) else found["trades"]
        print(
            f"  {name:<16} {1e-6 / found['a_bar']:9.2f} M bars/s   {ratio:7.2f} x the time of"
            f" {base}   {count} trades"
        )


def agreement(best: dict[str, Any], base: str) -> None:
    """Say how many of our trades each peer has, and the fill rule behind the others."""
    ours = best.get(base, {}).get("trades")
    for name, found in best.items():
        theirs = found.get("trades")
        if name == base or not isinstance(ours, list) or not isinstance(theirs, list):
            continue
        print(f"  {name:<16} {shape.explain(name, ours, theirs)}")


def main() -> int:
    """Install, race, explain."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bars", type=int, nargs="*", default=[1_000, 100_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--quick", action="store_true", help="no linearity table beyond 1 M bars")
    arguments = parser.parse_args()
    PEERS.mkdir(parents=True, exist_ok=True)
    here = []
    for peer in PACKAGES:
        trouble = install(peer)
        if trouble:
            print(f"{peer}: not installed: {trouble}")
        elif (HERE / f"peer_{peer}.py").exists():
            here.append(peer)
        else:
            print(f"{peer}: installed; it runs from its own project folder and has no driver here")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for work in ("dip", "cross"):
            for bars in arguments.bars:
                names = [
                    "ours",
                    "ours-contract",
                    "ours-event",
                    *(["ours-naive"] if work == "dip" else []),
                    *here,
                ]
                best = race(work, names, bars, folder, arguments.rounds)
                table(f"{work}, {bars:,} bars (slow ones a tenth)", best, "ours")
                if bars == min(100_000, max(arguments.bars)):
                    print("  trades beside ours:")
                    same = race(work, ["ours", *here], bars, folder, 1)
                    agreement({k: v for k, v in same.items() if k not in SLOW}, "ours")
        quick = [name for name in ("raptorbt", "vectorbt") if name in here]
        best = race("sweep", ["ours", *quick], 100_000, folder, arguments.rounds)
        table("sweep of 100 sets on 100,000 bars, one core (bars of one set)", best, "ours")
        if "backtesting" in here and (folder / "1000").exists():
            cold.cold_starts(folder / "1000", folder / "cold", PEERS)
        shape.kernel_ratio(folder / "1000000")
        shape.sweep_growth(folder / "100000")
        shape.linearity(7 if not arguments.quick else 6)
    return 0


if __name__ == "__main__":
    sys.exit(main())
