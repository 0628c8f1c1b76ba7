"""Lets engines do the same work in turns, each in a process of its own; the best turn counts."""

import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.engine.peers import ROOT, driver_of, python_of

ONE_CORE = dict.fromkeys(
    ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"
)
LONG_TURN_S = 4.0  # whoever needs longer has one counted turn


class Result(NamedTuple):
    """An engine's best seconds and its trades (rows or their number), or why there are none."""

    seconds: float | None = None
    trades: Any = None
    why_not: str = ""


class Worker:
    """An engine's process, asked for one run at a time."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self._process = subprocess.Popen(
            command_of(name),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            cwd=ROOT,
            env={**os.environ, **ONE_CORE},
        )
        self._watch = selectors.DefaultSelector()
        self._watch.register(self._process.stdout, selectors.EVENT_READ)  # type: ignore[arg-type]

    def run(self, work: str, folder: Path, limit_s: float) -> Result:
        """One run; a worker that does not answer in time is ended."""
        pipe, answers = self._process.stdin, self._process.stdout
        if pipe is None or answers is None or self._process.poll() is not None:
            return Result(why_not=self._last_words())
        try:
            pipe.write(f"{work} {folder}\n".encode())
            pipe.flush()
        except BrokenPipeError:
            return Result(why_not=self._last_words())
        if not self._watch.select(limit_s):
            self._process.kill()
            return Result(why_not=f"no answer in {limit_s:.0f} s")
        line = answers.readline()
        if not line:
            return Result(why_not=self._last_words())
        told = json.loads(line)
        if "error" in told:
            return Result(why_not=told["error"])
        return Result(told["seconds"], told["trades"])

    def _last_words(self) -> str:
        self._process.wait(timeout=10)
        self._complaints.seek(0)
        lines = self._complaints.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"it ended with {self._process.returncode}"

    def end(self) -> None:
        """Let it go, or end it if it stays."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._watch.close()
        self._complaints.close()


def command_of(name: str) -> list[str]:
    """How an engine's process is started; ours-event and ours-naive are paths of ours."""
    if name.startswith("ours"):
        return [sys.executable, "-m", "benchmarks.engine.ours", name]
    return [str(python_of(name)), str(driver_of(name))]


class Field:
    """The engines that run, one process each for all races."""

    def __init__(self) -> None:
        self._workers: dict[str, Worker] = {}

    def race(
        self, work: str, names: list[str], folder: Path, rounds: int, limit_s: float
    ) -> dict[str, Result]:
        """Everybody's best turn; with rounds, everybody's first one is a warm-up."""
        best: dict[str, Result] = {}
        for turn in range(rounds + 1):
            for name in names:
                before = best.get(name, Result())
                if not _has_turn(turn, before):
                    continue
                # A first turn may import, compile and load.
                found = self._run(name, work, folder, limit_s * (3 if turn == 0 else 1))
                if turn > 1 and before.seconds is not None and found.seconds is not None:
                    found = min(found, before, key=lambda one: one.seconds or 0.0)
                best[name] = found
        return best

    def _run(self, name: str, work: str, folder: Path, limit_s: float) -> Result:
        if name not in self._workers:
            self._workers[name] = Worker(name)
        found = self._workers[name].run(work, folder, limit_s)
        if found.why_not:
            self._workers.pop(name).end()  # the next race gets a new one
        return found

    def end(self) -> None:
        """Let all of them go."""
        for worker in self._workers.values():
            worker.end()
        self._workers.clear()


def _has_turn(turn: int, before: Result) -> bool:
    if before.why_not:
        return False
    return turn < 2 or (before.seconds is not None and before.seconds < LONG_TURN_S)


OWN_COLD = {
    "ours": lambda folder: ["-m", "bot.cli", "backtest", str(folder / "contract.json")],
    "ours-file": lambda folder: [str(folder / "dip_work.py")],
}


def cold_start(names: list[str], folder: Path, rounds: int) -> dict[str, Result]:
    """Seconds from the start of a new process to the end of its first run, in turns.

    We, with a contract and with the strategy file made of it, and backtesting.py read a csv and
    write trades, equity and figures; the other peers read columns and write nothing.
    """
    best: dict[str, Result] = {}
    for _ in range(rounds):
        for name in names:
            found = _own_cold(name, folder) if name in OWN_COLD else _peer_cold(name, folder)
            before = best.get(name)
            if before is None or found.why_not or (found.seconds or 0) < (before.seconds or 0):
                best[name] = found
    return best


def _peer_cold(name: str, folder: Path) -> Result:
    whole = driver_of(name).with_name(f"cold_{name}.py")
    if whole.exists():
        return _written(name, [str(python_of(name)), str(whole), str(folder / "candles.csv")])
    start = time.perf_counter()
    worker = Worker(name)
    found = worker.run("dip", folder, 120)
    seconds = time.perf_counter() - start
    worker.end()
    return found._replace(seconds=seconds) if not found.why_not else found


def _own_cold(kind: str, folder: Path) -> Result:
    command = [sys.executable, *OWN_COLD[kind](folder), "--data", str(folder / "candles.csv")]
    return _written(kind, [*command, "--out"])


def _written(name: str, command: list[str]) -> Result:
    """Seconds from the start of a command to the report that it writes where it is told last."""
    with tempfile.TemporaryDirectory() as out:
        start = time.perf_counter()
        done = subprocess.run(
            [*command, out],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT) if name in OWN_COLD else ""},
        )
        seconds = time.perf_counter() - start
        report = Path(out) / "summary.json"
        if done.returncode != 0 or not report.exists():
            return Result(why_not=done.stderr.strip() or "no report was written")
        figures = json.loads(report.read_text())
    return Result(seconds, figures.get("total_trades", figures.get("# Trades")))
