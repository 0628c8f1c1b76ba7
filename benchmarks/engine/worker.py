"""The far end of a benchmark: does one kind of work again and again, each time it is told to.

Runs inside a peer's own environment, so it stands on the standard library and numpy alone. It is
told a work and a folder of columns a line and answers each with one line of JSON.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Columns = dict[str, Any]
STOP, TARGET, FEE, CAPITAL = 0.02, 0.04, 0.001, 10_000.0
OVERSOLD, OVERBOUGHT = 30.0, 70.0


def load(folder: str) -> Columns:
    """Candles as columns: time (ns), open, high, low, close, volume."""
    return {path.stem: np.load(path) for path in Path(folder).glob("*.npy")}


def crossed_above(a: Any, b: Any) -> Any:
    """a is above b now and was not one bar ago."""
    crossed = a > b
    crossed[1:] &= a[:-1] <= b[:-1]
    crossed[0] = False
    return crossed


def serve(makers: dict[str, Callable[[Columns], Callable[[], Any]]]) -> None:
    """Answer lines of `work folder`, each with one run of that work; ends with stdin.

    A maker takes the columns and returns what is timed; that returns the trades, as (entry bar,
    exit bar, entry price, exit price), or their number. A work is made ready once for a folder.
    """
    ready, run = "", None
    for line in sys.stdin:
        work, folder = line.split(maxsplit=1)
        if work not in makers:
            answer({"error": f"no driver for {work}"})
            continue
        if run is None or line != ready:
            run = None  # the work before it may hold much memory
            run, ready = makers[work](load(folder.strip())), line
        start = time.perf_counter()
        found = run()
        seconds = time.perf_counter() - start
        trades = found() if callable(found) else found
        found = None  # what a run has left behind is not cleared away in the time of the next
        answer({"seconds": seconds, "trades": trades})


def answer(told: dict[str, Any]) -> None:
    """Write a line."""
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()
