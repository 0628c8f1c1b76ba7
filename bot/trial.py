"""A candidate to what came out of the sandbox: linters, tests and conversations, side by side."""

import hashlib
import os
import random
import tokenize
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bot.coder.settings import flat_settings
from bot.contract.evaluator import evaluate
from bot.contract.language import Program
from bot.contract.model import Contract
from bot.elsewhere import Place, places
from bot.errors import WorldError
from bot.gates.static.tree import comments_of
from bot.market_data import MarketData
from bot.memory import Memory
from sandbox_runner.candles import pack_candles
from sandbox_runner.jobs import TOOLS, decisions_job, pytest_job, tool_job
from sandbox_runner.port import Job, Outcome, Sandbox, SandboxUnavailable
from sandbox_runner.request import Run

ELSEWHERE = "elsewhere"
_TRUSTED = "pytest, the contract's tests"
# What the jobs of a trial do, for people who wait.
_IN_WORDS = {
    "whole": "decisions on every candle",
    "cuts": "decisions on cut-off histories",
    "again": "the same decisions again, and elsewhere",
}
CUTS = 48
ASKED_AT_A_CUT = 4
# Earlier bars of each cut: a figure over the whole history moves every answer a little, and the
# last bars alone may not show it.
ASKED_BEFORE = 28
# Determinism asks again in another year, ahead and back; elsewhere draws others.
SHIFTED_CLOCK_S = (86_400 * 1370, -86_400 * 2900)
ASKED_IN_THE_PAST = 100
# Of a longer history every bar is asked about once; the second time, in another process and on
# other prices, as many as this.
MOST_ASKED_AGAIN = 20_000


@dataclass(frozen=True)
class Limits:
    """What each job in the sandbox may use."""

    time_s: float = 300.0
    memory_mb: int = 1024


USUAL_LIMITS = Limits()


@dataclass(frozen=True)
class Conversation:
    """Questions to a strategy, the candles they are about, and what came back."""

    runs: tuple[Run, ...]
    frames: Mapping[str, pd.DataFrame]
    outcome: Outcome

    @property
    def lengths(self) -> dict[str, int]:
        """How many bars each file of candles has."""
        return {name: len(frame) for name, frame in self.frames.items()}


@dataclass(frozen=True)
class TrustedTests:
    """Tests that the trusted side wrote, and how a candidate's strategy did in them."""

    source: bytes
    outcome: Outcome


@dataclass(frozen=True)
class Trial:
    """Everything that the sandbox brought out; data of unknown honesty.

    Attributes:
        tools: flake8, mypy and bandit.
        tests: pytest.
        whole: the strategy asked about every bar, twice; see MOST_ASKED_AGAIN.
        again: the same in another process, with another hash seed and other clocks, and then the
            places elsewhere.
        cuts: the strategy asked at the end of cut-off histories, each in a fresh process, and
            about other prices.
        remembered: the parts that were not run, because their answer was known.
    """

    tools: Mapping[str, Outcome]
    tests: Outcome
    whole: Conversation
    again: Conversation
    cuts: Conversation
    perturbed: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    places: tuple[Place, ...] = ()
    trusted: TrustedTests | None = None
    remembered: frozenset[str] = frozenset()


def run_trial(
    contract: Contract,
    program: Program,
    files: Mapping[str, bytes],
    data: MarketData,
    sandbox: Sandbox,
    mypy_cache: Path | None = None,
    on_done: Callable[[str], None] = lambda name: None,
    limits: Limits = USUAL_LIMITS,
    memory: Memory | None = None,
    trusted_tests: bytes | None = None,
) -> Trial:
    """Run everything that needs the candidate to run, in the sandbox and nowhere else.

    Args:
        contract: what the candidate was written from.
        program: its Program.
        files: the candidate's bytes by repository path.
        data: the trusted side's candles.
        sandbox: where it runs.
        mypy_cache: a warm cache, only read.
        on_done: told each part in words as it ends.
        limits: time and memory of each job.
        memory: answers of earlier runs; none are used or kept without it.
        trusted_tests: the template's tests, where it did not write the candidate: they run beside
            the candidate's own, and many more places are asked about.

    Raises:
        WorldError: the sandbox itself failed.
    """
    strategy = f"Backtest/codes/{contract.file_stem}.py"
    tests = f"tests/test_{contract.file_stem}.py"
    cfg = dict(flat_settings(contract, program).defaults)
    perturbed = perturb(data, files[strategy])
    frames = {**data.frames, **perturbed}
    some = {key: some_bars(program, frame, files[strategy]) for key, frame in frames.items()}
    talks = Talks(strategy, files[strategy], cfg, data, limits, some)
    thorough = trusted_tests is not None
    elsewhere = places(contract, program, data, files[strategy], thorough)
    again = (*talks.again(), *talks.elsewhere(elsewhere))
    others = {**data.frames, **{place_name(n): p.frame for n, p in enumerate(elsewhere)}}
    jobs: dict[str, Job] = {
        # The longest first, so that the others fit beside it.
        "cuts": talks.job("cuts", talks.cuts(), frames),
        "whole": talks.job("whole", talks.whole(), data.frames),
        "mypy": _tool("mypy", files, mypy_cache, limits),
        "pytest": pytest_job(tests, files, timeout_s=limits.time_s, memory_mb=limits.memory_mb),
        "again": talks.job("again", again, others, hash_seed=4242),
        "flake8": _tool("flake8", files, None, limits),
        "bandit": _tool("bandit", files, None, limits),
    }
    if trusted_tests is not None:
        jobs[_TRUSTED] = pytest_job(
            tests,
            {**files, tests: trusted_tests},
            timeout_s=limits.time_s,
            memory_mb=limits.memory_mb,
        )
    known = {} if memory is None else _recall(jobs, sandbox, memory, on_done)
    unknown = {name: job for name, job in jobs.items() if name not in known}
    outcomes = known | _side_by_side(unknown, sandbox, on_done)
    if memory is not None:
        for name, job in unknown.items():
            memory.keep(job, sandbox, outcomes[name])
    return Trial(
        tools={tool: outcomes[tool] for tool in TOOLS},
        tests=outcomes["pytest"],
        whole=Conversation(talks.whole(), talks.named(data.frames), outcomes["whole"]),
        again=Conversation(again, talks.named(others), outcomes["again"]),
        cuts=Conversation(talks.cuts(), talks.named(frames), outcomes["cuts"]),
        perturbed=perturbed,
        places=elsewhere,
        trusted=None if trusted_tests is None else TrustedTests(trusted_tests, outcomes[_TRUSTED]),
        remembered=frozenset(known),
    )


def _recall(
    jobs: Mapping[str, Job], sandbox: Sandbox, memory: Memory, on_done: Callable[[str], None]
) -> dict[str, Outcome]:
    known = {}
    for name, job in jobs.items():
        outcome = memory.recall(job, sandbox)
        if outcome is not None:
            known[name] = outcome
            on_done(f"{_IN_WORDS.get(name, name)} (remembered: same files, same tools)")
    return known


def _tool(tool: str, files: Mapping[str, bytes], cache: Path | None, limits: Limits) -> Job:
    targets = [path for path in files if path.endswith(".py")]
    if tool == "bandit":
        # bandit calls every assert an offence, and pytest is made of them.
        targets = [path for path in targets if not path.startswith("tests/")]
    if tool == "mypy":
        files = {path: without_comments(content) for path, content in files.items()}
    return tool_job(
        tool,
        files,
        targets,
        mypy_cache=cache,
        timeout_s=limits.time_s,
        memory_mb=limits.memory_mb,
    )


def without_comments(content: bytes) -> bytes:
    """A file with its comments blanked, in place: mypy obeys some, and no option stops it."""
    try:
        text = content.decode("utf-8")
        comments = comments_of(text)
    except (ValueError, SyntaxError, tokenize.TokenError):
        return content  # no Python, as mypy will say
    lines = text.split("\n")
    for line, column, comment in comments:
        old = lines[line - 1]
        blank = "#".ljust(len(comment))
        lines[line - 1] = old[: column - 1] + blank + old[column - 1 + len(comment) :]
    return "\n".join(lines).encode()


def _side_by_side(
    jobs: Mapping[str, Job], sandbox: Sandbox, on_done: Callable[[str], None]
) -> dict[str, Outcome]:
    def run(name: str) -> Outcome:
        outcome = sandbox.run(jobs[name])
        on_done(_IN_WORDS.get(name, name))
        return outcome

    # One more than there are processors: a job that starts or ends leaves one idle.
    workers = (os.cpu_count() or 1) + 1
    try:
        with ThreadPoolExecutor(workers) as pool:
            # A copy of the context each: what is logged inside carries the run's id.
            parts = {name: pool.submit(copy_context().run, run, name) for name in jobs}
            return {name: part.result() for name, part in parts.items()}
    except SandboxUnavailable as error:
        raise WorldError(error.message, error.hint) from None


class Talks:
    """The questions to one strategy."""

    def __init__(
        self,
        strategy: str,
        source: bytes,
        cfg: dict[str, Any],
        data: MarketData,
        limits: Limits,
        some: Mapping[str, tuple[int, ...] | None],
    ) -> None:
        self._strategy = strategy
        self._source = source
        self._cfg = cfg
        self._data = data
        self._limits = limits
        self._some = some

    def job(
        self,
        name: str,
        runs: tuple[Run, ...],
        frames: Mapping[str, pd.DataFrame],
        hash_seed: int = 0,
    ) -> Job:
        """A job that asks them all."""
        candles = {key: pack_candles(frame) for key, frame in self.named(frames).items()}
        return decisions_job(
            self._strategy,
            self._source,
            self._cfg,
            candles,
            runs,
            workers=1 if name == "whole" else 2,
            hash_seed=hash_seed,
            timeout_s=self._limits.time_s,
            memory_mb=self._limits.memory_mb,
        )

    def named(self, frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
        """Frames by the names of their files in the job."""
        return {_file_name(key): frame for key, frame in frames.items()}

    def whole(self) -> tuple[Run, ...]:
        """Every bar, twice on the same object; of a long history some of them twice."""
        return tuple(
            Run(f"whole {symbol}", _file_name(symbol), symbol, passes=2, later=self._some[symbol])
            for symbol in self._data.frames
        )

    def again(self) -> tuple[Run, ...]:
        """Every bar, or some, in another year, and some of them in one that is long gone."""
        ahead, back = SHIFTED_CLOCK_S
        runs = []
        for symbol, frame in self._data.frames.items():
            few = tuple(range(0, len(frame), -(-len(frame) // ASKED_IN_THE_PAST)))
            name, file = f"again {symbol}", _file_name(symbol)
            runs.append(Run(name, file, symbol, at=self._some[symbol], clock_shift_s=ahead))
            runs.append(Run(name, file, symbol, at=few, clock_shift_s=back))
        return tuple(runs)

    def elsewhere(self, found: tuple[Place, ...]) -> tuple[Run, ...]:
        """What the contract's own candles and settings do not show."""
        return tuple(
            Run(
                f"{ELSEWHERE} {number}",
                _file_name(place_name(number)),
                place.symbol,
                at=place.at,
                clock_shift_s=place.clock_s,
                cfg=place.changes,
                ends=place.ends,
                signals=not place.ends,
            )
            for number, place in enumerate(found)
        )

    def cuts(self) -> tuple[Run, ...]:
        """The last bars of cut-off histories, then every bar of other prices, or some of them.

        The shortest history comes first: whatever one run could tell a later one, it knows no bar
        that the later one lacks.
        """
        cuts: list[tuple[Any, Run]] = []
        each = -(-CUTS // len(self._data.frames))
        for symbol, frame in self._data.frames.items():
            for bars in cut_points(len(frame), each, self._source):
                at = asked_bars(bars, self._source)
                run = Run(f"cut {symbol} {bars}", _file_name(symbol), symbol, bars, at)
                cuts.append((frame["timestamp"].iloc[bars - 1], run))
        cuts.sort(key=lambda cut: cut[0])
        others = [
            Run(f"other {symbol}", _file_name(name), symbol, at=self._some[name])
            for symbol, name in ((symbol, other_name(symbol)) for symbol in self._data.frames)
        ]
        return (*(run for _, run in cuts), *others)


def cut_points(bars: int, count: int, source: bytes) -> list[int]:
    """Where histories are cut: spread over the data, at places that the candidate cannot guess."""
    chance = random.Random(hashlib.sha256(b"cuts\0" + source).digest())  # noqa: S311 - no secret
    if bars <= count:
        return list(range(1, bars + 1))
    return sorted(chance.sample(range(1, bars + 1), count))


def some_bars(program: Program, frame: pd.DataFrame, source: bytes) -> tuple[int, ...] | None:
    """The bars of a long history that are asked about more than once; None for all of a short one.

    Half of them are drawn where a rule of the contract holds, half anywhere.
    """
    if len(frame) <= MOST_ASKED_AGAIN:
        return None
    chance = random.Random(hashlib.sha256(b"some\0" + source).digest())  # noqa: S311 - no secret
    values, half = evaluate(program, frame), MOST_ASKED_AGAIN // 2
    rules = np.logical_or.reduce([np.asarray(values[rule], np.bool_) for rule in program.rules])
    held = np.flatnonzero(rules).tolist()
    drawn = {*chance.sample(held, min(half, len(held))), *chance.sample(range(len(frame)), half)}
    return tuple(sorted(drawn))


def asked_bars(bars: int, source: bytes) -> tuple[int, ...]:
    """The bars of a cut-off history that are asked about: the last ones, and some before them."""
    chance = random.Random(hashlib.sha256(b"bars\0%d\0" % bars + source).digest())  # noqa: S311
    last = max(0, bars - ASKED_AT_A_CUT)
    return (*sorted(chance.sample(range(last), min(ASKED_BEFORE, last))), *range(last, bars))


def place_name(number: int) -> str:
    """What the candles of a place elsewhere are called."""
    return f"{ELSEWHERE} {number}"


def other_name(symbol: str) -> str:
    """What the perturbed candles of a symbol are called."""
    return f"other {symbol}"


def perturb(data: MarketData, source: bytes) -> dict[str, pd.DataFrame]:
    """Other prices at the same times: a strategy that knows dates instead of rules shows itself."""
    digest = hashlib.sha256(b"prices\0" + source).digest()
    chance = np.random.Generator(np.random.PCG64(int.from_bytes(digest[:8], "big")))
    frames = {}
    for symbol, frame in data.frames.items():
        steps = chance.normal(0.0, 0.01, len(frame))
        # Rounded: processors differ in the last digit of exp, and a recorded answer is found by
        # the digest of its question.
        factor = np.round(np.exp(np.cumsum(steps - steps.mean())), 6)
        prices = {name: frame[name] * factor for name in ("open", "high", "low", "close")}
        volume = frame["volume"] * chance.uniform(0.5, 1.5, len(frame))
        frames[other_name(symbol)] = frame.assign(**prices, volume=volume)
    return frames


def _file_name(key: str) -> str:
    """A plain file name for a symbol's candles."""
    return hashlib.sha256(key.encode()).hexdigest()[:16] + ".candles"
