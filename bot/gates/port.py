"""What a gate is: it looks at a case and answers with a verdict."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal, Protocol

# Why a gate refused: it found what it looks for, the candidate gave no answer, or its answers are
# not the contract's. Only the first is the gate's own reason.
Cause = Literal["", "found", "no answer", "contract"]


@dataclass(frozen=True)
class Verdict:
    """Holds a gate's answer, the same words for the same case."""

    name: str  # the gate
    passed: bool  # whether the case may go on
    figure: str = ""  # what was counted, as "12 tests"; never a time
    reason: str = ""  # why not, in a sentence or two; empty when passed
    where: str = ""  # file and line of the first offence
    next_step: str = ""  # what to do about it
    # What kind of reason it is; for programs that count, and not part of the evidence.
    cause: Cause = ""

    def to_dict(self) -> dict[str, object]:
        """Give the verdict to programs."""
        return {name: value for name, value in asdict(self).items() if name != "cause"}


@dataclass(frozen=True)
class Case:
    """Holds what the gates may look at."""

    files: Mapping[str, bytes]  # the candidate's bytes by their path in the repository
    planned: frozenset[str]  # the paths that the plan gave to this candidate
    # Paths of the candidate that are symbolic links, wherever they point.
    links: frozenset[str] = frozenset()


class Gate(Protocol):
    """Judges one property of a candidate; never changes it, never trusts it."""

    @property
    def name(self) -> str:
        """Gives the gate's name in reports."""

    def judge(self, case: Case) -> Verdict:
        """Look at the case and answer."""
