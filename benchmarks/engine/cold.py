"""New processes to written reports on 1,000 bars: a contract, a strategy file, backtesting.py."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from Backtest.candles import COLUMNS
from Backtest.times import iso
from benchmarks.engine.ours import COMMON, CONTRACTS, contract_of
from benchmarks.engine.worker import load
from bot.coder.template import TemplateCoder

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent


def write_work(candles: Path, folder: Path) -> None:
    """The candles as csv, the contract, and the strategy that our template writes for it."""
    columns = load(str(candles))
    lines = [",".join(("timestamp", *COLUMNS))]
    for row, time_ns in enumerate(columns["time"].tolist()):
        cells = (repr(float(columns[name][row])) for name in COLUMNS)
        lines.append(",".join((iso(time_ns // 1_000_000), *cells)))
    (folder / "candles.csv").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "contract.json").write_text(json.dumps({**COMMON, **CONTRACTS["dip"]}), "utf-8")
    files = TemplateCoder().write(contract_of("dip"), "contract.json").files
    (code,) = [text for path, text in files.items() if path.startswith("Backtest/codes/")]
    (folder / "dip_work.py").write_text(code, "utf-8")


def commands(folder: Path, peers: Path) -> dict[str, list[str]]:
    """Who is started, by name."""
    data, out = str(folder / "candles.csv"), str(folder / "out")
    ours = [sys.executable, "-m", "bot.cli", "backtest", str(folder / "contract.json")]
    python = str(peers / "backtesting" / "bin" / "python")
    return {
        "ours-contract": [*ours, "--data", data, "--out", out],
        "ours-file": [sys.executable, str(folder / "dip_work.py"), "--data", data, "--out", out],
        "backtesting": [python, str(HERE / "cold_backtesting.py"), data, out],
    }


def spent(command: list[str]) -> tuple[float, float]:
    """Seconds on the clock and of the processor, from start to end."""
    start, before = time.perf_counter(), os.times()
    single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT, env={**os.environ, **single})
    after = os.times()
    used = after.children_user + after.children_system
    return time.perf_counter() - start, used - before.children_user - before.children_system


def cold_starts(candles: Path, folder: Path, peers: Path, rounds: int = 5) -> None:
    """Let them take turns, and print each one's best beside backtesting.py's."""
    folder.mkdir(parents=True, exist_ok=True)
    write_work(candles, folder)
    print("\nnew process to written report, 1,000 bars")
    best: dict[str, tuple[float, ...]] = {}
    for turn in range(rounds + 1):  # the first turn fills the caches
        for name, command in commands(folder, peers).items():
            try:
                found = spent(command)
            except (OSError, subprocess.CalledProcessError) as error:
                print(f"  {name:<16} {error}")
                return
            if turn:
                best[name] = tuple(np.minimum(best.get(name, found), found))
    base = best["backtesting"]
    for name, (seconds, processor) in best.items():
        print(
            f"  {name:<16} {seconds:6.2f} s, processor {processor:5.2f} s;  backtesting.py takes"
            f" {base[0] / seconds:5.2f} x as long, {base[1] / processor:5.2f} x the processor"
        )
