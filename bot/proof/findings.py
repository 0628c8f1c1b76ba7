"""Says what can be said of a tag, or of one thing about it."""

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """What can be said of a tag, or of one thing about it."""

    HOLDS = "holds"  # it was computed again and is the same
    CANNOT_CHECK = "cannot-check"  # something that is needed is not here
    NOT_VERIFIED = "not-verified"  # it cannot be computed again, or was not
    BROKEN = "broken"  # it was computed again and is not the same


_WORST = (Outcome.BROKEN, Outcome.NOT_VERIFIED, Outcome.CANNOT_CHECK, Outcome.HOLDS)


@dataclass(frozen=True)
class Finding:
    """One thing that was checked."""

    name: str
    outcome: Outcome
    detail: str = ""

    @property
    def holds(self) -> bool:
        """Whether it was computed again and is the same."""
        return self.outcome is Outcome.HOLDS


@dataclass(frozen=True)
class Verification:
    """What came out of checking a tag."""

    findings: tuple[Finding, ...]  # everything that was checked, in the order of checking
    left_out: tuple[str, ...] = ()  # what was not checked because nobody asked for it

    @property
    def outcome(self) -> Outcome:
        """The worst of all; what was left out is not verified, and nothing checked is nothing."""
        found = {finding.outcome for finding in self.findings}
        if self.left_out or not found:
            found.add(Outcome.NOT_VERIFIED)
        return next(outcome for outcome in _WORST if outcome in found)

    @property
    def exit_code(self) -> int:
        """0 it holds; 4 what is needed is not here; 1 anything else."""
        return {Outcome.HOLDS: 0, Outcome.CANNOT_CHECK: 4}.get(self.outcome, 1)


class Stop(Exception):
    """The rest cannot be checked."""

    def __init__(self, name: str, outcome: Outcome, detail: str) -> None:
        super().__init__(detail)
        self.finding = Finding(name, outcome, detail)


def judged(name: str, holds: bool, detail: str = "", good: str = "") -> Finding:
    """A finding that holds, or that is broken for a reason."""
    return Finding(name, Outcome.HOLDS if holds else Outcome.BROKEN, good if holds else detail)
