"""Times `gate` and `run` of one contract, this checkout and others in turn.

    python -m benchmarks.line [--bars N] [--pairs N] [--command gate|run] [STRATWRIGHT ...]

Each STRATWRIGHT is the command of another checkout, as `../base/.venv/bin/stratwright`. Without
`--bars` the contract is the demo's, on its own candles; with it, the demo's rules on so many made
candles of a minute: 525600 are a year. Every run starts from a fresh copy of a repository and
asks everything anew (`--fresh`); warm means that one run of the demo was not counted, so that the
compiled loop and mypy's cache of the libraries exist. Other programs on the machine make the
seconds longer and the ratio uncertain; the load is printed.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).parents[1]
CONTRACT = "contracts/oversold_dip.yaml"
CANDLES = "tests/fixtures/sample_btc.csv"
OWN = Path(sys.executable).with_name("stratwright")


def make_repository(folder: Path, bars: int) -> Path:
    """Write a repository with the demo's contract; on made candles if `bars` is not 0."""
    for name in (CONTRACT, CANDLES):
        (folder / name).parent.mkdir(parents=True)
        shutil.copyfile(ROOT / name, folder / name)
    if bars:
        minutes(bars).to_csv(folder / CANDLES, index=False)
        text = (folder / CONTRACT).read_text("utf-8").replace("timeframe: 1h", "timeframe: 1m")
        # A random walk of minutes loses to its costs, and Freqtrade is measured elsewhere.
        text = text.replace("max_drawdown: 0.30", "max_drawdown: 1.0")
        text = text.replace("targets: [adapter, freqtrade]", "targets: [adapter]")
        (folder / CONTRACT).write_text(text, "utf-8")
    who = ("-c", "user.name=Bench", "-c", "user.email=bench@localhost")
    for arguments in (("init", "-q", "-b", "main"), ("add", "."), (*who, "commit", "-qm", "start")):
        subprocess.run(["git", *arguments], cwd=folder, check=True)  # noqa: S607
    return folder


def minutes(bars: int) -> pd.DataFrame:
    """A random walk of candles a minute apart."""
    chance = np.random.Generator(np.random.PCG64(7))
    close = 30_000 * np.exp(np.cumsum(chance.normal(0, 0.0006, bars)))
    opened = np.concatenate(([30_000.0], close[:-1]))
    above, below = np.abs(chance.normal(0, 0.0002, (2, bars)))
    moments = pd.date_range("2023-01-01", periods=bars, freq="min", tz="UTC")
    columns = {
        "timestamp": moments.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "open": opened.round(2),
        "high": (np.maximum(opened, close) * (1 + above)).round(2) + 0.01,
        "low": (np.minimum(opened, close) * (1 - below)).round(2) - 0.01,
        "close": close.round(2),
        "volume": chance.uniform(1, 20, bars).round(3),
    }
    return pd.DataFrame(columns)


def seconds(program: Path, command: str, repository: Path) -> float:
    """One run in a fresh copy of a repository, with its own cache."""
    with tempfile.TemporaryDirectory() as folder:
        work = shutil.copytree(repository, Path(folder) / "repository")
        start = time.monotonic()
        done = subprocess.run(
            [program, command, "--fresh", CONTRACT],
            cwd=work,
            env={**os.environ, "GIT_AUTHOR_NAME": "Bench", "GIT_COMMITTER_NAME": "Bench"}
            | {"GIT_AUTHOR_EMAIL": "bench@localhost", "GIT_COMMITTER_EMAIL": "bench@localhost"},
            capture_output=True,
            check=False,
        )
        spent = time.monotonic() - start
    if done.returncode != 0:
        raise SystemExit(f"bench: {program} exited with {done.returncode}\n{done.stderr.decode()}")
    return spent


def main() -> None:
    """Print every run and the medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("others", nargs="*", type=Path, metavar="STRATWRIGHT")
    parser.add_argument("--bars", type=int, default=0)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--command", choices=("gate", "run"), default="run")
    args = parser.parse_args()
    programs = [other.absolute() for other in (*args.others, OWN)]
    with tempfile.TemporaryDirectory() as folder:
        demo = make_repository(Path(folder) / "demo", 0)
        measured = make_repository(Path(folder) / "measured", args.bars) if args.bars else demo
        for program in programs:
            seconds(program, args.command, demo)
        spent: dict[Path, list[float]] = {program: [] for program in programs}
        for number in range(args.pairs):
            # The order turns: what a run leaves behind slows the next one's start.
            for program in programs if number % 2 == 0 else programs[::-1]:
                spent[program].append(seconds(program, args.command, measured))
                told = f"{spent[program][-1]:8.2f} s  load {os.getloadavg()[0]:5.1f}  {program}"
                print(told, flush=True)
    own = statistics.median(spent[OWN.absolute()])
    for program, each in spent.items():
        middle = statistics.median(each)
        ratio = f"ours is {own / middle:.2f} of it" if program != OWN.absolute() else "ours"
        print(f"median {middle:8.2f} s  {ratio}  {program}")


if __name__ == "__main__":
    main()
