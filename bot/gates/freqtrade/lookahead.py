"""Finds whether anybody's Freqtrade strategy looks ahead, by its columns on cut-off histories.

There is no contract to compare with. The strategy is loaded by Freqtrade itself, in the sandbox and
without a network, and computes its indicators and signals on the whole history, on the whole
history again in another process, and on 48 cut-off ones, each in a fresh process. A column that has
another value at a bar because later bars were there has seen them.

The first quarter of the history is not asked about: there indicators warm up, Freqtrade itself
leaves `startup_candle_count` candles out of every trade, and some libraries fill the first bars
with a mean of all of them, which dies away and moves no order.
"""

import ast
import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import pandas as pd

from bot.contract.code_paths import FREQTRADE_FOLDER
from bot.errors import WorldError
from bot.gates.answer_reader import NoAnswer, plain_text, raise_for
from bot.gates.asking import ask
from bot.gates.freqtrade.installation import HOW_TO_INSTALL, find_freqtrade
from bot.gates.port import Verdict
from bot.gates.static.syntax_tree import last_name
from sandbox_runner.answer_cache import Memory
from sandbox_runner.harness.ask_lookahead import ANSWER, REQUEST
from sandbox_runner.harness.packed_candles import pack_candles
from sandbox_runner.jobs import columns_job
from sandbox_runner.port import Job, Outcome, Sandbox
from sandbox_runner.rules import USUAL_LIMITS

CUTS = 48
LAST = 6  # bars at the end of a cut history, where most leaks show
SPREAD = 24  # bars from all over it
_POOL = 150  # of which these are drawn
PAIR = "BTC/USDT"
SIGNALS = ("enter_long", "exit_long", "enter_short", "exit_short", "buy", "sell")
# Two ways to add the same numbers differ in the last digits; a bar that is seen early does not.
Cell = float | str | None  # a value of a column, as JSON has it
_TOLERANCE = 1e-7
_STEP = "compute every column from its own bar and earlier ones: no shift(-n), no whole-series "
_STEP += "mean, min or max, no resampled candle before it is complete"


@dataclass(frozen=True)
class Cut:
    """Holds a history of so many bars, and the bars that are asked about."""

    bars: int
    at: tuple[int, ...]


def strategy_classes(source: bytes) -> tuple[str, ...]:
    """Gives the names of the strategies in a file: its classes below IStrategy."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError):
        return ()
    known = {"IStrategy"}
    found = []
    for node in body:
        if isinstance(node, ast.ClassDef) and known & set(map(last_name, node.bases)):
            known.add(node.name)
            found.append(node.name)
    return tuple(found)


def judge_freqtrade_lookahead(
    names: Sequence[str],
    path: str,
    source: bytes,
    candles: pd.DataFrame,
    sandbox: Sandbox,
    memory: Memory | None = None,
) -> dict[str, tuple[Verdict, Verdict]]:
    """Gives the verdicts `determinism` and `lookahead` on the strategies of a file, by class.

    Raises:
        WorldError: there is no Freqtrade here, or the sandbox failed.
    """
    cuts = plan_cuts(len(candles), source)
    job = lookahead_job(names, Path(path).name, source, candles, cuts)
    outcome, _ = ask(job, sandbox, memory)
    return {
        name: judge_columns(name, number, outcome, cuts, len(candles), path)
        for number, name in enumerate(names)
    }


def plan_cuts(bars: int, source: bytes) -> list[Cut]:
    """Says where histories are cut: in their last three quarters, the shortest first."""
    chance = random.Random(sha256(b"freqtrade cuts\0" + source).digest())  # noqa: S311
    start = bars // 4
    room = range(start + LAST, bars)
    lengths = sorted(chance.sample(room, min(CUTS, len(room))))
    pool = chance.sample(range(start, bars), min(_POOL, bars - start))
    cuts = []
    for length in lengths:
        spread = [bar for bar in pool if bar < length]
        chance.shuffle(spread)
        at = {*range(length - LAST, length), *spread[:SPREAD]}
        cuts.append(Cut(length, tuple(sorted(at))))
    return cuts


def whole_of(bars: int, cuts: Sequence[Cut]) -> Cut:
    """Gives the whole history, asked about wherever a cut one is."""
    return Cut(bars, tuple(sorted({bar for cut in cuts for bar in cut.at})))


def lookahead_job(
    names: Sequence[str],
    file_name: str,
    source: bytes,
    candles: pd.DataFrame,
    cuts: Sequence[Cut],
) -> Job:
    """Gives the job for the strategies of a file; each of them has the time of one job.

    Raises:
        WorldError: there is no Freqtrade here.
    """
    packages = find_freqtrade()
    if packages is None:
        raise WorldError(
            "there is no Freqtrade here, which has to load the strategy",
            f"Install it: {HOW_TO_INSTALL}.",
        )
    whole = whole_of(len(candles), cuts)
    runs = [*cuts, whole, whole]
    request = {
        "folder": FREQTRADE_FOLDER,
        "pair": PAIR,
        "candles": "candles",
        "workers": 2,
        "runs": [
            {"strategy": name, "bars": run.bars, "at": run.at} for name in names for run in runs
        ],
    }
    files = {
        f"{FREQTRADE_FOLDER}/{file_name}": source,
        "candles": pack_candles(candles),
        REQUEST: json.dumps(request).encode(),
    }
    limits = replace(USUAL_LIMITS, time_s=USUAL_LIMITS.time_s * len(names))
    return columns_job(files, ANSWER, packages, limits)


def judge_columns(
    name: str, number: int, outcome: Outcome, cuts: Sequence[Cut], bars: int, path: str
) -> tuple[Verdict, Verdict]:
    """Compares the columns of cut-off histories with those of the whole one, of `bars` bars.

    `number` is the class's place among those that were asked about.
    """
    try:
        raise_for(outcome)
        every = whole_of(bars, cuts)
        *parts, whole, again = _read(outcome, number, [*cuts, every, every])
    except NoAnswer as error:
        step = "load it with Freqtrade and see; the message is Freqtrade's own"
        reason = f"{name}: {error.reason}"
        verdicts = [
            Verdict(gate, False, "no answer", reason, path, step)
            for gate in ("determinism", "lookahead")
        ]
        return verdicts[0], verdicts[1]
    known = {column: dict(zip(every.at, values, strict=True)) for column, values in whole.items()}
    repeated = _determinism(name, whole, again, every.at, path)
    return repeated, _lookahead(name, parts, known, cuts, path)


def _determinism(
    name: str,
    whole: Mapping[str, list[Cell]],
    again: Mapping[str, list[Cell]],
    bars: Sequence[int],
    path: str,
) -> Verdict:
    odd = next(iter(_differences(whole, again, bars).values()), "")
    if odd:
        step = "use no clock, no unseeded chance, no order of a set"
        reason = f"{name}: {odd} in another process"
        return Verdict("determinism", False, "columns differ", reason, path, step)
    return Verdict("determinism", True, f"{len(whole)} columns the same")


def _lookahead(
    name: str,
    parts: Sequence[Mapping[str, list[Cell]]],
    whole: Mapping[str, Mapping[int, Cell]],
    cuts: Sequence[Cut],
    path: str,
) -> Verdict:
    leaks: dict[str, str] = {}
    seen = 0
    for cut, part in zip(cuts, parts, strict=True):
        there = {column: [whole[column][bar] for bar in cut.at] for column in whole}
        found = _differences(part, there, cut.at)
        seen += bool(found)
        for column, words in found.items():
            leaks.setdefault(column, f"{words} on the first {cut.bars} candles and on all of them")
    figure = f"{len(cuts)} cuts, {len(whole)} columns"
    if not leaks:
        return Verdict("lookahead", True, figure)
    signals = [column for column in SIGNALS if column in leaks]
    first = leaks[signals[0]] if signals else next(iter(leaks.values()))
    others = ", ".join(plain_text(column, 40) for column in list(leaks)[:6])
    reason = f"{name}: {first}; {len(leaks)} columns differ ({others}), at {seen} of them cuts"
    return Verdict("lookahead", False, figure, plain_text(reason, 500), path, _STEP)


def _differences(
    left: Mapping[str, list[Cell]], right: Mapping[str, list[Cell]], bars: Sequence[int]
) -> dict[str, str]:
    found = {}
    for column in [*left, *(name for name in right if name not in left)]:
        if column not in left or column not in right:
            found[column] = f"column {column!r} is not there both"
            continue
        for bar, mine, theirs in zip(bars, left[column], right[column], strict=True):
            if not _same(mine, theirs):
                found[column] = f"column {column!r} at candle {bar} is {mine} and {theirs}"
                break
    return found


def _same(mine: Cell, theirs: Cell) -> bool:
    if isinstance(mine, float | int) and isinstance(theirs, float | int):
        return math.isclose(mine, theirs, rel_tol=_TOLERANCE, abs_tol=1e-9)
    return bool(mine == theirs)


def _read(outcome: Outcome, number: int, runs: Sequence[Cut]) -> list[dict[str, list[Cell]]]:
    """Reads the columns of every run of one strategy, of exactly the agreed form.

    Raises:
        NoAnswer: they are not, or a run failed.
    """
    content = outcome.outputs.get(ANSWER)
    if content is None:
        words = outcome.stderr.decode("utf-8", "replace").strip().splitlines()
        last = plain_text(words[-1], 200) if words else "no message"
        raise NoAnswer(f"no columns came out of Freqtrade's process: {last}")
    try:
        found = json.loads(content)["runs"][number * len(runs) : (number + 1) * len(runs)]
        if len(found) != len(runs):
            raise NoAnswer("the answer is not about what was asked")
        return [_columns(raw, run) for raw, run in zip(found, runs, strict=True)]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise NoAnswer("the answer is malformed") from None


def _columns(raw: dict[str, dict[str, list[Cell]]], run: Cut) -> dict[str, list[Cell]]:
    if "error" in raw:
        raise NoAnswer(f"on {run.bars} candles it failed with {plain_text(str(raw['error']), 260)}")
    columns = raw["columns"]
    for values in columns.values():
        plain = all(v is None or type(v) in (bool, int, float, str) for v in values)
        if len(values) != len(run.at) or not plain:
            raise NoAnswer("the answer is malformed")
    return dict(columns)
