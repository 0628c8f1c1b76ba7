"""Measures `verify` against `gate` on the demo's contract, and `gate` against another checkout's.

    python -m benchmarks.verify [--rounds 7] [--base DIR]

Each round runs the commands one after the other, as processes with nothing remembered; one round
before them fills the caches of mypy and Python and is not counted. The figures are medians of the
rounds' own ratios: of the wall time, which has the limits, and of the processors' time, which other
programs on the machine change less. `--base` is a checkout of another commit with its `.venv`. The
limits: `verify` takes at most 1.5 times as long as `gate`, and `gate` at most 1.2 times as long as
the other's.
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

HOUSE = Path(__file__).resolve().parents[1]
CONTRACT = "contracts/oversold_dip.yaml"
CANDLES = "tests/fixtures/sample_btc.csv"
VERIFY_LIMIT = 1.5
BASE_LIMIT = 1.2


def make_repository(place: Path) -> None:
    """A trader's repository with the demo's contract and candles."""
    for path in (CONTRACT, CANDLES):
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(HOUSE / path, place / path)
    person = ("-c", "user.name=Demo", "-c", "user.email=demo@localhost")
    for command in (("init", "-q", "-b", "main"), ("add", "."), (*person, "commit", "-qm", "demo")):
        subprocess.run(("git", *command), cwd=place, check=True)  # noqa: S607 - the user's Git


def ask(house: Path, work: Path, *arguments: str) -> tuple[float, float]:
    """Run a command of a checkout; its wall time, and that of the processors.

    Raises:
        SystemExit: it did not end well, so that the figures are worthless.
    """
    python = sys.executable if house == HOUSE else str(house / ".venv/bin/python")
    start, before = time.monotonic(), os.times()
    done = subprocess.run(
        (python, "-m", "bot.cli", *arguments),
        cwd=work,
        env={**os.environ, "PYTHONPATH": str(house)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"bench: {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    after = os.times()
    worked = after.children_user - before.children_user
    worked += after.children_system - before.children_system
    return time.monotonic() - start, worked


def main() -> None:
    """Print the rounds; exit 1 if a median is above its limit."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--base", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        make_repository(work)
        ask(HOUSE, work, "run", CONTRACT)
        listed = ("git", "tag", "--list", "ai/*")
        tag = subprocess.run(listed, cwd=work, check=True, capture_output=True, text=True).stdout
        gate = ("gate", CONTRACT, "--fresh")
        asked = {"gate": (HOUSE, gate), "verify": (HOUSE, ("verify", tag.strip()))}
        asked |= {"base": (args.base.resolve(), gate)} if args.base else {}
        rounds: list[dict[str, tuple[float, float]]] = []
        print("".join(f"{name + ', s':>11}" for name in asked) + f"{'load':>8}")
        for number in range(args.rounds + 1):
            took = {name: ask(house, work, *words) for name, (house, words) in asked.items()}
            print("".join(f"{wall:>11.2f}" for wall, _ in took.values()), end="")
            print(f"{os.getloadavg()[0]:>8.1f}" + ("" if number else "  not counted"), flush=True)
            rounds += [took] if number else []
    against = {"verify / gate": ("verify", "gate", VERIFY_LIMIT)}
    against |= {"gate / base": ("gate", "base", BASE_LIMIT)} if args.base else {}
    wrong = False
    for name, (above, below, limit) in against.items():
        wall, worked = (
            statistics.median(took[above][part] / took[below][part] for took in rounds)
            for part in (0, 1)
        )
        print(f"{name}: {wall:.2f} (at most {limit}), by the processors' time {worked:.2f}")
        wrong |= wall > limit
    sys.exit(wrong)


if __name__ == "__main__":
    main()
