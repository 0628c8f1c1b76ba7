"""What a gate is: it looks at a case and answers with a verdict."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal, Protocol

# Why a gate refused: it found what it looks for, the candidate gave no answer, or its answers are
# not the contract's. Only the first is the gate's own reason.
Cause = Literal["", "found", "no answer", "contract"]


@dataclass(frozen=True)
class Verdict:
    """A gate's answer, the same words for the same case.

    Attributes:
        name: the gate.
        passed: whether the case may go on.
        figure: what was counted, as "12 tests"; never a time.
        reason: why not, in a sentence or two; empty when passed.
        where: file and line of the first offence.
        next_step: what to do about it.
        cause: what kind of reason it is; for programs that count, and not part of the evidence.
    """

    name: str
    passed: bool
    figure: str = ""
    reason: str = ""
    where: str = ""
    next_step: str = ""
    cause: Cause = ""

    def to_dict(self) -> dict[str, object]:
        """Give the verdict to programs."""
        return {name: value for name, value in asdict(self).items() if name != "cause"}


@dataclass(frozen=True)
class Case:
    """What the gates may look at.

    Attributes:
        files: the candidate's bytes by their path in the repository.
        planned: the paths that the plan gave to this candidate.
        links: paths of the candidate that are symbolic links, wherever they point.
    """

    files: Mapping[str, bytes]
    planned: frozenset[str]
    links: frozenset[str] = frozenset()


class Gate(Protocol):
    """Judges one property of a candidate; never changes it, never trusts it."""

    @property
    def name(self) -> str:
        """The gate's name in reports."""
        ...

    def judge(self, case: Case) -> Verdict:
        """Look at the case and answer."""
        ...
