"""What a strategy is asked in the sandbox, and the values that hold its answers."""

import hashlib
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from bot.contract.language.evaluator import evaluate
from bot.contract.language.program import Program
from bot.data.market_data import MarketData
from bot.gates.answer_reader import Answers, NoAnswer, all_answered, read_each
from bot.gates.elsewhere import Place
from sandbox_runner.harness.packed_candles import pack_candles
from sandbox_runner.jobs import decisions_job
from sandbox_runner.port import Job, Limits, Outcome
from sandbox_runner.request import Run

ELSEWHERE = "elsewhere"
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
class Conversation:
    """Questions to a strategy, the candles they are about, and what came back."""

    runs: tuple[Run, ...]
    frames: Mapping[str, pd.DataFrame]
    outcome: Outcome

    @cached_property
    def _read(self) -> list[Answers | NoAnswer]:
        lengths = {name: len(frame) for name, frame in self.frames.items()}
        return read_each(self.outcome, self.runs, lengths)

    def each(self, named: str = "") -> list[Answers | NoAnswer]:
        """Says what the runs whose names begin so answered; where one failed, why. Read only once.

        Raises:
            NoAnswer: the job failed.
        """
        pairs = zip(self.runs, self._read, strict=True)
        return [answers for run, answers in pairs if run.name.startswith(named)]

    def answers(self, named: str = "") -> list[Answers]:
        """Says what the runs whose names begin so answered.

        Raises:
            NoAnswer: the job or one of these runs failed, or an answer is not of the agreed form.
        """
        return all_answered(self.each(named))


@dataclass(frozen=True)
class TrustedTests:
    """Tests that the trusted side wrote, and how a candidate's strategy did in them."""

    source: bytes
    outcome: Outcome


@dataclass(frozen=True)
class Trial:
    """Holds everything that the sandbox brought out; data of unknown honesty."""

    tools: Mapping[str, Outcome]  # flake8, mypy and bandit
    tests: Outcome  # pytest
    whole: Conversation  # the strategy asked about every bar, twice; see MOST_ASKED_AGAIN
    # The same in another process, with another hash seed and other clocks, and then the places
    # elsewhere.
    again: Conversation
    # The strategy asked at the end of cut-off histories, each in a fresh process, and about other
    # prices.
    cuts: Conversation
    perturbed: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    places: tuple[Place, ...] = ()
    trusted: TrustedTests | None = None
    # The parts that were not run, because their answer was known.
    remembered: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Talks:
    """Asks one strategy; `some` are the bars of each file that are asked about again."""

    strategy: str
    source: bytes
    cfg: Mapping[str, object]
    data: MarketData
    limits: Limits
    some: Mapping[str, tuple[int, ...] | None]

    def job(
        self,
        name: str,
        runs: tuple[Run, ...],
        frames: Mapping[str, pd.DataFrame],
        hash_seed: int = 0,
    ) -> Job:
        """Gives a job that asks them all."""
        candles = {key: pack_candles(frame) for key, frame in self.named(frames).items()}
        asked = (self.strategy, self.source, self.cfg, candles, runs)
        workers = 1 if name == "whole" else 2
        return decisions_job(*asked, workers=workers, hash_seed=hash_seed, limits=self.limits)

    def named(self, frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
        """Frames by the names of their files in the job."""
        return {_file_name(key): frame for key, frame in frames.items()}

    def whole(self) -> tuple[Run, ...]:
        """Asks about every bar, twice on the same object; of a long history some of them twice.

        The first time it is shown views, the second time pandas, and whatever else is asked shows
        pandas too. Every bar is held against the contract as the engine asks it, and a strategy
        that tells the two forms apart has to do so at bars that it cannot know.
        """
        runs = []
        for symbol in self.data.frames:
            name, file, later = f"whole {symbol}", _file_name(symbol), self.some[symbol]
            runs.append(Run(name, file, symbol, passes=2, later=later, views=True))
        return tuple(runs)

    def again(self) -> tuple[Run, ...]:
        """Asks about every bar, or some, in another year, and about some in one long gone."""
        ahead, back = SHIFTED_CLOCK_S
        runs = []
        for symbol, frame in self.data.frames.items():
            few = tuple(range(0, len(frame), -(-len(frame) // ASKED_IN_THE_PAST)))
            name, file = f"again {symbol}", _file_name(symbol)
            runs.append(Run(name, file, symbol, at=self.some[symbol], clock_shift_s=ahead))
            runs.append(Run(name, file, symbol, at=few, clock_shift_s=back))
        return tuple(runs)

    def elsewhere(self, found: tuple[Place, ...]) -> tuple[Run, ...]:
        """Asks about what the contract's own candles and settings do not show."""
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
        """Asks about the last bars of cut-off histories, then about other prices.

        The shortest history comes first: whatever one run could tell a later one, it knows no bar
        that the later one lacks.
        """
        cuts: list[tuple[pd.Timestamp, Run]] = []
        each = -(-CUTS // len(self.data.frames))
        for symbol, frame in self.data.frames.items():
            for bars in cut_points(len(frame), each, self.source):
                at = asked_bars(bars, self.source)
                run = Run(f"cut {symbol} {bars}", _file_name(symbol), symbol, bars, at)
                cuts.append((frame["timestamp"].iloc[bars - 1], run))
        cuts.sort(key=lambda cut: cut[0])
        others = [
            Run(f"other {symbol}", _file_name(name), symbol, at=self.some[name])
            for symbol, name in ((symbol, other_name(symbol)) for symbol in self.data.frames)
        ]
        return (*(run for _, run in cuts), *others)


def cut_points(bars: int, count: int, source: bytes) -> list[int]:
    """Says where histories are cut: all over the data, where the candidate cannot guess."""
    chance = random.Random(hashlib.sha256(b"cuts\0" + source).digest())  # noqa: S311 - no secret
    if bars <= count:
        return list(range(1, bars + 1))
    return sorted(chance.sample(range(1, bars + 1), count))


def some_bars(program: Program, frame: pd.DataFrame, source: bytes) -> tuple[int, ...] | None:
    """Draws the bars of a long history that are asked about again; None for all of a short one.

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
    """Draws the bars of a cut-off history to ask about: the last ones, and some before them."""
    chance = random.Random(hashlib.sha256(b"bars\0%d\0" % bars + source).digest())  # noqa: S311
    last = max(0, bars - ASKED_AT_A_CUT)
    return (*sorted(chance.sample(range(last), min(ASKED_BEFORE, last))), *range(last, bars))


def place_name(number: int) -> str:
    """Says what the candles of a place elsewhere are called."""
    return f"{ELSEWHERE} {number}"


def other_name(symbol: str) -> str:
    """Says what the perturbed candles of a symbol are called."""
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
    return hashlib.sha256(key.encode()).hexdigest()[:16] + ".candles"
