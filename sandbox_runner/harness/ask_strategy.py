"""Turns a strategy and candles into its decisions as data; runs inside the sandbox.

`python -m sandbox_runner.harness.ask_strategy` reads /job/request.json (see `request.py`) and
writes /out/decisions.json:

    {"runs": [{"name": "whole", "symbol": "BTC/USDT", "bars": 3000,
               "passes": [[null, [order_request or null, exit_long or null, exit_short or null],
                           ...]],
               "indicators": ["digest of all indicator values", ...],
               "signals": {"enter_long": [bars at which it holds], ...}},
              {"name": "cut", "error": {"type": "ValueError", "message": "...", "line": 41}}]}

one answer for every bar that was asked about, in the order of `at`, null where all three parts of
it are; `line` is the last line of
the strategy's own file on the way to the error, null if it was never there. `signals` is there
where it was asked for.

Every run is a fresh child of this process, which has imported the libraries but never the
candidate and holds no candles, so nothing that a strategy keeps in a class or a module reaches the
next run; nor does a file, nor can a run read the candles of another (see `blind.py`). Where a run
says so, the first pass shows the light views that the engine shows when it asks bar by bar, and
the passes after it show pandas. But the candidate shares an interpreter with this code and can
replace any part of it: nothing written here is evidence. The trusted side parses it strictly, as
one would a stranger's letter, and computes the rest from its own prices.
"""

import ctypes
import functools
import gc
import hashlib
import importlib.util
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from adapters.loop.views import frame_view, series_view
from sandbox_runner.harness.blind import blind, landlock_version
from sandbox_runner.harness.fresh_children import Question, answer_all
from sandbox_runner.harness.moved_clock import prepare_clock, shift_clock
from sandbox_runner.harness.packed_candles import read_candles
from sandbox_runner.harness.plain_answers import plain
from sandbox_runner.request import DECISIONS_FILE, LONG_ID, REQUEST_FILE, SHORT_ID, Request, Run

# Imported before any candidate, so that no run pays for it: once instead of fifty times.
_WARM = (
    *("talib", "talib.abstract", "adapters.loop.array_path", "adapters.base_adapter"),
    *("adapters.loop.entries", "adapters.series", "adapters.sizing", "adapters.loop.quiet_bars"),
    *("adapters.strategy_cli", "adapters.strategy_loop"),
    "Backtest.compiled.signal_run",
)
_PR_SET_CHILD_SUBREAPER = 36
_MESSAGE = 500
# An order or null, and for a long and a short what its exit rule says; None where all are null.
Answer = list[object] | None
# Small and large, in turn: no exit rule may ask for more than the side.
_VOLUMES, _ENTRIES, _LEVELS = (0.001, 2.0, 450.0, 3e7), (0.02, 95.0, 61_000.0), (None, 1.0, 1e6)


def main(job: Path = Path("/job"), out: Path = Path("/out")) -> None:
    """Answer the request of a job."""
    request = Request.from_bytes((job / REQUEST_FILE).read_bytes())
    _warm_up()
    if any(run.clock_shift_s for run in request.runs):
        prepare_clock()
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    questions = [_question(job, request, run) for run in request.runs]
    answer_all(questions, request.workers, out / DECISIONS_FILE)


def _warm_up() -> None:
    """Load what every run will use, and keep the collector from copying it in each child."""
    for name in _WARM:
        with suppress(ImportError):
            importlib.import_module(name)
    # The first frame with text columns loads pyarrow, the first comparison numexpr and others.
    times = pd.date_range("2020-01-01", periods=3, freq="h", tz="UTC")
    frame = pd.DataFrame({"timestamp": times, "close": [1.0, 2.0, 3.0]})
    _ = (frame["close"].rolling(2).mean() > frame["close"].shift(1)).iloc[-1]
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)  # answers are many and hold no circles


def _question(job: Path, request: Request, run: Run) -> Question:
    return lambda: {"name": run.name, "symbol": run.symbol} | _run(job, request, run)


def _run(job: Path, request: Request, run: Run) -> dict[str, object]:
    path = job / request.strategy
    try:
        frame = read_candles(job / run.candles, run.bars)
        if landlock_version():
            blind(path.parent)
        shift_clock(run.clock_shift_s)
        strategy = _load(path).Strategy({**request.cfg, **run.cfg, "symbol": run.symbol})
        talks = [_converse(strategy, frame, run, number) for number in range(run.passes)]
        more = {"signals": _signals(strategy, frame)} if run.signals else {}
    except BaseException as error:  # SystemExit too: leaving early is an answer like any other
        return {"error": _describe(error, path)}
    passes, digests = [talk[0] for talk in talks], [talk[1] for talk in talks]
    return {"bars": len(frame), "passes": passes, "indicators": digests, **more}


def _load(path: Path) -> ModuleType:
    # A fixed name: a file called json.py must not become the module that others import.
    spec = importlib.util.spec_from_file_location("candidate_strategy", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path.name} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _converse(
    strategy: Any, frame: pd.DataFrame, run: Run, number: int
) -> tuple[list[Answer], str]:
    """Tells what is answered in one pass, and a digest of the indicators behind it."""
    asked: Sequence[int] = range(len(frame)) if run.at is None else run.at
    if number and run.later is not None:
        asked = run.later
    if run.ends:
        return [_ask_at_the_end(strategy, frame, run.symbol, idx) for idx in asked], ""
    indicators = strategy.prepare_indicators(frame)
    digest = _digest(indicators)
    shown: Any = frame
    held = [indicators]
    if run.views and number == 0:
        shown = frame_view(frame)
        held.append({name: series_view(values) for name, values in indicators.items()})
    answers = [_ask(strategy, shown, held[-1], run.symbol, idx) for idx in asked]
    if any(_digest(one) != digest for one in held):
        raise ValueError("the strategy changes its indicators while it is asked")
    return answers, digest


def _ask_at_the_end(strategy: Any, frame: pd.DataFrame, symbol: str, idx: int) -> Answer:
    """Asks about a bar as the last one of its history: one candle more is a new question."""
    history = frame.iloc[: idx + 1].copy()
    return _ask(strategy, history, strategy.prepare_indicators(history), symbol, idx)


def _ask(strategy: Any, frame: Any, indicators: Any, symbol: str, idx: int) -> Answer:
    answers = [plain(strategy.find_entries(frame, indicators, idx))]
    for position in _positions(symbol, idx % 12):
        shown = dict(position)
        answers.append(plain(strategy.find_exits(shown, frame, indicators, idx)))
        if shown != position:
            raise ValueError("find_exits changes the position that it is shown")
    return None if answers == [None, None, None] else answers


@functools.cache
def _positions(symbol: str, idx: int) -> tuple[dict[str, object], ...]:
    """Gives a long and a short position, to be copied."""
    return tuple(
        {
            "position_id": position_id,
            "order_id": f"order-of-{position_id}",
            "symbol": symbol,
            "action": action,
            "side": side,
            "volume": _VOLUMES[idx % 4],
            "entry_price": _ENTRIES[idx % 3],
            "entry_time": "2024-01-01T00:00:00Z",
            "price": _ENTRIES[(idx + 1) % 3],
            "sl": _LEVELS[idx % 3],
            "tp": _LEVELS[(idx + 1) % 3],
            "unrealized_pnl": (-1e4, 0.0, 25.0)[idx % 3],
            "fees": 0.1,
            "rule_in": "next_open",
            "comment": f"enter_{side}",
            "closing": False,
        }
        for position_id, action, side in ((LONG_ID, "BUY", "long"), (SHORT_ID, "SELL", "short"))
    )


def _signals(strategy: Any, frame: pd.DataFrame) -> dict[str, list[int]]:
    """Gives the bars at which each rule holds, as a compiled engine would read them."""
    offered = strategy.signals(strategy.prepare_indicators(frame))
    return {
        rule: np.flatnonzero(np.asarray(offered[rule])).tolist()
        for rule in ("enter_long", "exit_long", "enter_short", "exit_short")
        if rule in offered
    }


def _digest(indicators: Any) -> str:
    """Rare signals hide chance; the numbers behind them do not."""
    digest = hashlib.sha256()
    for name in sorted(indicators):
        values = np.ascontiguousarray(indicators[name])
        digest.update(f"{name}\0{values.dtype}\0{values.shape}\0".encode())
        digest.update(
            values.tobytes() if values.dtype != object else repr(values.tolist()).encode()
        )
    return digest.hexdigest()


def _describe(error: BaseException, path: Path) -> dict[str, object]:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame.lineno for frame in frames if frame.filename == str(path)]
    line = own[-1] if own else None
    if isinstance(error, SyntaxError) and error.filename == str(path):
        line = error.lineno
    with suppress(Exception):
        return {"type": type(error).__name__, "message": str(error)[:_MESSAGE], "line": line}
    return {"type": type(error).__name__, "message": "", "line": line}


if __name__ == "__main__":
    main()
