"""Judges a candidate's tests by how many of the strategy's mutants they kill."""

import hashlib
import json
import os
import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.contract.model import Contract
from bot.gates.asking import ask
from bot.gates.mutation.mutant_sources import Mutant, make_mutants
from bot.gates.mutation.survivors import Likeness, compare
from bot.gates.port import Verdict
from sandbox_runner.jobs import MUTANTS_FILE, mutants_job
from sandbox_runner.port import Sandbox

GATE = "mutation"
# Of all mutants that are not argued and not undecided; the examples are held to 1.
LEAST_SCORE = 0.95
_BATCH = 100
_OUTCOMES = ("passed", "failed", "error", "time")


@dataclass(frozen=True)
class Mutation:
    """Holds what became of a strategy's mutants."""

    mutants: tuple[Mutant, ...]  # all of them
    killed: Mapping[int, str]  # by number, the test that failed first, or `error` or `time`
    survivors: tuple[Mutant, ...]  # those on which every test passed
    likeness: Likeness = field(default_factory=Likeness)  # what random markets say of the survivors
    broken: str = ""  # why nothing can be said; empty if all ran

    @property
    def argued(self) -> tuple[Mutant, ...]:
        """Gives the survivors that are no mistakes as far as anybody can see."""
        return tuple(m for m in self.survivors if self.likeness.is_argued(m))

    @property
    def open(self) -> tuple[Mutant, ...]:
        """Gives the survivors that a better test would kill."""
        no_mistakes = (*self.argued, *self.undecided)
        return tuple(mutant for mutant in self.survivors if mutant not in no_mistakes)

    @property
    def undecided(self) -> tuple[Mutant, ...]:
        """Gives the survivors in a clause that no market decides, so that no test kills them."""
        return tuple(m for m in self.survivors if self.likeness.is_undecided(m))

    @property
    def score(self) -> float:
        """Killed, as a part of those that some market could tell from the strategy."""
        counted = len(self.mutants) - len(self.argued) - len(self.undecided)
        return len(self.killed) / counted if counted else 0.0

    @property
    def verdict(self) -> Verdict:
        """Sums up what became of the mutants."""
        figure = f"{len(self.killed)} of {len(self.mutants)} mutants killed"
        if self.argued:
            figure += f", {len(self.argued)} argued"
        if self.undecided:
            idle = {name: None for m in self.undecided for name in self.likeness.idle[m.number]}
            figure += f", {len(self.undecided)} undecided: {'; '.join(idle)}"
        if self.broken or not self.mutants:
            return Verdict(GATE, False, figure, self.broken or "the strategy has no mutants")
        if self.score >= LEAST_SCORE:
            return Verdict(GATE, True, figure)
        shown = "; ".join(str(mutant) for mutant in self.open[:3])
        return Verdict(
            GATE,
            False,
            figure,
            f"the tests pass on strategies with a mistake: {shown}",
            f"line {self.open[0].line}",
            "let the tests expect values that this part of the strategy decides",
        )

    def to_dict(self) -> dict[str, object]:
        """Give it to programs."""
        kinds = {"survived": self.open, "argued": self.argued, "undecided": self.undecided}
        told = {
            kind: [f"{mutant} ({self.likeness.why(mutant)})" for mutant in mutants]
            for kind, mutants in kinds.items()
        }
        return {"made": len(self.mutants), "killed": len(self.killed), **told}


def try_mutants(
    contract: Contract, files: Mapping[str, bytes], sandbox: Sandbox, most: int | None = None
) -> Mutation:
    """Runs tests on every mutant of a strategy, in the sandbox.

    At most `most` mutants are tried, drawn from the digest of the strategy.

    Raises:
        WorldError: the sandbox itself failed.
    """
    strategy = contract.strategy_file
    tests = contract.tests_file
    source = files[strategy].decode()
    mutants = make_mutants(source)
    if most is not None and len(mutants) > most:
        chance = random.Random(hashlib.sha256(files[strategy]).digest())  # noqa: S311 - no secret
        mutants = [mutants[place] for place in sorted(chance.sample(range(len(mutants)), most))]
    killed: dict[int, str] = {}
    survivors: list[Mutant] = []
    for first in range(0, len(mutants), _BATCH):
        batch = mutants[first : first + _BATCH]
        sources = [source, *(mutant.source for mutant in batch)]
        job = mutants_job(strategy, tests, files[tests], sources, workers=os.cpu_count() or 1)
        outcome, _ = ask(job, sandbox)
        answers = _read(outcome.outputs.get(MUTANTS_FILE, b""), len(sources))
        if answers is None or answers[0][0] != "passed":
            why = "the tests fail on the strategy itself" if answers else "the tests did not run"
            return Mutation(tuple(mutants), {}, tuple(mutants), broken=why)
        for mutant, (word, by) in zip(batch, answers[1:], strict=True):
            if word == "passed":
                survivors.append(mutant)
            else:
                killed[mutant.number] = by or word
    likeness = compare(contract, source, survivors, sandbox)
    return Mutation(tuple(mutants), killed, tuple(survivors), likeness)


def _read(content: bytes, count: int) -> list[tuple[str, str]] | None:
    """Reads what the sandbox wrote; nothing of it is trusted."""
    try:
        outcomes = json.loads(content)["outcomes"]
        found = [(str(each["outcome"]), str(each["by"])[:200]) for each in outcomes]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    good = len(found) == count and all(word in _OUTCOMES for word, _ in found)
    return found if good else None
