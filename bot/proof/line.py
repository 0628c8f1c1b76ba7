"""Turns an assignment into a proven candidate: write, prove, and again while the coder may."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from bot.coder.model.transcript import by_answers
from bot.coder.port import Candidate, Coder, Failure
from bot.gates.port import Case, Verdict
from bot.proof.assignment import Assignment
from bot.proof.edges import Prover
from bot.proof.examination import Examination, examine


@dataclass(frozen=True)
class Proven:
    """Holds a candidate that every gate has judged, for better or worse."""

    work: Assignment
    candidate: Candidate  # as the coder wrote it
    examination: Examination
    failures: tuple[Failure, ...] = ()  # what its coder did wrong in earlier rounds

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Gives what every gate said."""
        return self.examination.verdicts

    @property
    def passed(self) -> bool:
        """Says whether all gates passed; no verdicts means no."""
        return bool(self.verdicts) and all(verdict.passed for verdict in self.verdicts)

    @property
    def failure(self) -> Failure:
        """Gives what the coder is shown in its next round."""
        failed = (verdict for verdict in self.verdicts if not verdict.passed)
        return Failure(self.candidate, tuple(failed))

    @property
    def delivered(self) -> Candidate:
        """Gives the candidate without the file that is not delivered."""
        return self.work.targets.kept(self.work.contract, self.candidate)


def write(work: Assignment, coder: Coder, failures: tuple[Failure, ...] = ()) -> Candidate:
    """Let the coder write a candidate, with what earlier rounds did wrong in view."""
    return written_by(work, coder.write(work.contract, work.origin.contract_path, failures))


def written_by(work: Assignment, candidate: Candidate) -> Candidate:
    """Name who wrote a candidate: where a model answered the contract's prose, that model."""
    return by_answers(candidate, work.answers.transcript) if work.answers else candidate


def prove(work: Assignment, candidate: Candidate, prover: Prover) -> Proven:
    """Let every gate judge a candidate; its code runs in the sandbox and nowhere else.

    Raises:
        WorldError: the sandbox failed.
    """
    return Proven(work, candidate, examine(work, Case(candidate.contents, work.planned), prover))


def write_and_prove(work: Assignment, coder: Coder, prover: Prover) -> Iterator[Proven]:
    """Write and prove a candidate, and another where it is refused, as often as the coder may."""
    failures: tuple[Failure, ...] = ()
    while len(failures) < max(1, coder.rounds):
        proven = prove(work, write(work, coder, failures), prover)
        yield replace(proven, failures=failures)
        if proven.passed:
            return
        failures = (*failures, proven.failure)
