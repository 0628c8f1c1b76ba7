"""What lies behind the figures: the loop beside C, growth with the bars."""

import ctypes
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import talib

from Backtest.compiled import signal_run as compiled
from Backtest.compiled.signal_run import LoopRules
from Backtest.sim_settings import SimSettings
from Backtest.strategy_signals import read_signals
from benchmarks.engine.race_candles import write_candles

WARM_BARS = 5_000


def _dip(folder: Path) -> tuple[Any, Any, SimSettings, LoopRules]:
    from benchmarks.engine.ours import candles_of
    from benchmarks.engine.worker import FEE, OVERBOUGHT, OVERSOLD, STOP, TARGET, load

    candles = candles_of(load(str(folder)))
    rsi, trend = talib.RSI(candles.close, 14), talib.SMA(candles.close, 200)
    offered = {
        "enter_long": (rsi < OVERSOLD) & (candles.close > trend),
        "exit_long": rsi > OVERBOUGHT,
        "stop": {"fraction": STOP},
        "target": {"fraction": TARGET},
        "size": {"equity": 0.9},
    }
    signals = read_signals(offered, len(candles))
    return candles, signals, SimSettings(commission=FEE), LoopRules(commission=FEE)


def kernel_ratio(folder: Path, rounds: int = 15) -> None:
    """The compiled loop beside a hand-written one in C, on the same arrays, in turns."""
    source = Path(__file__).with_name("loop.c")
    with tempfile.TemporaryDirectory() as name:
        library = Path(name) / "loop.so"
        command = ["gcc", "-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC"]
        try:
            subprocess.run([*command, str(source), "-o", str(library)], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"\nthe loop in C was not compiled: {error}")
            return
        play = ctypes.CDLL(str(library)).play
        play.restype = ctypes.c_int64
        candles, signals, settings, rules = _dip(folder)
        bars = len(candles)
        equity = np.empty(bars)
        whole, exact = np.empty((16_384, 5), np.int64), np.empty((16_384, 5))

        def pointer(array: Any) -> ctypes.c_void_p:
            return ctypes.c_void_p(array.ctypes.data)

        def in_c() -> int:
            columns = (candles.open, candles.high, candles.low, candles.close)
            rest = (signals.enter, signals.exit_long, signals.exit_short)
            numbers = (0.02, 0.04, 0.9, settings.capital, settings.commission, 0.0)
            return int(
                play(
                    ctypes.c_int64(bars),
                    *map(pointer, (*columns, *rest)),
                    *map(ctypes.c_double, numbers),
                    *map(pointer, (equity, whole, exact)),
                )
            )

        from Backtest.compiled import kernel

        ours_s, c_s = np.inf, np.inf
        arguments = compiled.arguments_of(candles, signals, settings, rules)
        filled: list[Any] = [np.empty(bars), np.empty_like(whole), np.empty_like(exact)]
        for _ in range(rounds):
            start = time.perf_counter()
            rows = in_c()
            c_s = min(c_s, time.perf_counter() - start)
            start = time.perf_counter()
            end = kernel.play(*arguments, *filled)
            ours_s = min(ours_s, time.perf_counter() - start)
    same = rows == end.rows and bool((filled[0] == equity).all())
    print(
        f"\nkernel alone, {bars:,} bars: ours {ours_s * 1e3:.2f} ms, C {c_s * 1e3:.2f} ms, ratio"
        f" {ours_s / c_s:.2f}; equity {'the same to the last bit' if same else 'DIFFERS'}"
    )


def sweep_growth(folder: Path) -> None:
    """Seconds and memory of a sweep with ever more sets, then with two processes."""
    print("\nsweep on 100,000 bars    sets   workers   seconds a set   peak MB beyond the input")
    for stops, workers in ((1, 1), (10, 1), (300, 1), (300, 2)):
        command = [sys.executable, "-m", "benchmarks.engine.shape", str(folder), str(stops)]
        done = subprocess.run([*command, str(workers)], capture_output=True, text=True, check=False)
        print(done.stdout.rstrip() or done.stderr.strip().splitlines()[-1])


def _measure_sweep(folder: str, stops: int, workers: int) -> None:
    """One line of the table."""
    import Backtest.compiled.kernel  # noqa: F401 - loaded before memory is looked at
    from benchmarks.engine.ours import candles_of, contract_of, sweep_sets
    from benchmarks.engine.worker import load
    from bot.contract.language.program import compile_contract
    from bot.sweep.runs import run_sweep

    contract, candles = contract_of("sweep"), candles_of(load(folder))
    program, sets = compile_contract(contract), sweep_sets(stops)
    run_sweep(contract, program, candles.between(0, int(candles.times[5_000])), sets[:2])
    _shrink()
    start = time.perf_counter()
    run_sweep(contract, program, candles, sets, workers=workers)
    seconds = (time.perf_counter() - start) / len(sets)
    peak = (_peak_bytes() - _resident_before) / 2**20
    print(f"{len(sets):>28} {workers:9} {seconds:15.5f} {peak:14.1f}")


def linearity(largest: int) -> None:
    """Seconds and bytes a bar beyond the input, from 10,000 bars on, each in a new process.

    The candles are made by another one, whose memory cannot be used again.
    """
    print("\n     bars   seconds   ns a bar: ours   system   bytes a bar beyond the input")
    for power in range(4, largest + 1):
        with tempfile.TemporaryDirectory() as name:
            for bars in (WARM_BARS, 10**power):
                write_candles(Path(name) / str(bars), bars)
            command = [sys.executable, "-m", "benchmarks.engine.shape", name, str(10**power)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        print(done.stdout.rstrip() or f"{10**power}: {done.stderr.strip().splitlines()[-1]}")


def _measure(folder: Path, bars: int) -> None:
    """One line of the table."""
    import Backtest.compiled.kernel  # noqa: F401 - loaded before memory is looked at
    from adapters.loop.array_path import run_arrays
    from adapters.loop.feeds import Feed
    from adapters.loop.strategy_decisions import AskedDecisions
    from adapters.loop.views import CandleView
    from adapters.simbroker_adapter import SimBrokerAdapter
    from adapters.strategy_cli import broker_settings
    from adapters.strategy_loop import loop_rules
    from Backtest.simbroker import SimBroker
    from benchmarks.engine.ours import candles_of, generated
    from benchmarks.engine.worker import load

    module = generated("dip")
    cfg = dict(module["DEFAULT_CFG"])

    def play(folder: Path) -> tuple[float, float, float]:
        candles = candles_of(load(str(folder)))
        _shrink()
        adapter = SimBrokerAdapter(SimBroker(**broker_settings(cfg)))
        start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
        asked = AskedDecisions(module["Strategy"](cfg), CandleView(candles))
        feed = Feed("X/Y", candles, asked)
        if not run_arrays(adapter, [feed], loop_rules(adapter, cfg), always=True):
            raise RuntimeError("the compiled path was not taken")
        adapter.generate_report()
        after = resource.getrusage(resource.RUSAGE_SELF)
        spent = (after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime)
        return time.perf_counter() - start, *spent

    play(folder / str(WARM_BARS))
    seconds, ours, system = play(folder / str(bars))
    peak = _peak_bytes() - _resident_before
    a_bar = (f"{spent / bars * 1e9:10.1f}" for spent in (ours, system))
    print(f"{bars:>9} {seconds:9.4f} {'  '.join(a_bar)} {peak / bars:10.0f}")


_resident_before = 0


def _shrink() -> None:
    """Forget the peak so far; what is resident now, the input included, is the base."""
    global _resident_before
    Path("/proc/self/clear_refs").write_text("5", "utf-8")
    _resident_before = _peak_bytes()


def _peak_bytes() -> int:
    for line in Path("/proc/self/status").read_text("utf-8").splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    if len(sys.argv) == 3:
        _measure(Path(sys.argv[1]), int(sys.argv[2]))
    else:
        _measure_sweep(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
