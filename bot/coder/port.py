"""What a coder is: a contract goes in, a candidate of code and tests comes out."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Protocol

from bot.contract.model import AnyContract
from bot.gates.port import Verdict


@dataclass(frozen=True)
class Candidate:
    """Files that want to be proven."""

    files: Mapping[str, str]  # text of each file by its path in the repository
    coder: str  # who wrote them: template, agent or cli
    model: str  # the model that was used; empty for the template coder
    prompt_hash: str  # digest of everything the coder was given
    _: KW_ONLY
    evidence: Mapping[str, bytes] = field(default_factory=dict)  # how it was written, by file name
    refused: tuple[Verdict, ...] = ()  # what refused the rounds before it
    round: int = 1  # in which it was written
    cost: int = 0  # what models were paid for it, in millionths of a US dollar
    turns: int = 0  # how often they were asked

    @property
    def contents(self) -> dict[str, bytes]:
        """Gives the files' bytes; text that is no Unicode stays visible to the gates as such."""
        return {path: text.encode("utf-8", "surrogatepass") for path, text in self.files.items()}


@dataclass(frozen=True)
class Failure:
    """Holds a candidate that was refused, and the verdicts that refused it: what to mend."""

    candidate: Candidate
    verdicts: tuple[Verdict, ...]

    @property
    def summary(self) -> str:
        """Gives every gate that refused it, with its reason, in one line."""
        return "; ".join(f"{v.name}: {v.reason} ({v.where})" for v in self.verdicts)


@dataclass
class CoderResult:
    """Says what came of one invocation of a coder."""

    success: bool
    output: str
    session_id: str | None = None
    cost_usd: float = 0.0
    files_modified: list[str] = field(default_factory=list)
    turns_used: int = 0
    duration_ms: int = 0
    error: str | None = None


class Coder(Protocol):
    """Writes candidates; never changes the contract. This is what the line calls."""

    @property
    def name(self) -> str:
        """Gives names the coder in candidates and evidence."""

    @property
    def rounds(self) -> int:
        """Says how many candidates it may try before the task is blocked."""

    def write(
        self, contract: AnyContract, contract_path: str, failures: tuple[Failure, ...] = ()
    ) -> Candidate:
        """Write the strategy and its tests, with what earlier rounds did wrong in view."""


class TextCoder(Coder, Protocol):
    """Works on a contract's text and on folders too, for programs."""

    def execute(self, prompt: str, context: Mapping[str, object]) -> CoderResult:
        """Write the files of a contract.

        Args:
            prompt: the contract's text.
            context: `path`, where the contract lies in its repository, and `root`, the folder to
                write under; without a root nothing is written.
        """

    def analyze(self, file_path: str, question: str) -> CoderResult:
        """Say what is known of a file."""

    def debug(self, error_description: str, context: Mapping[str, object]) -> CoderResult:
        """Try again with an error in view; `context` has `contract`, the text, beside the rest."""

    def validate_result(self, result: CoderResult) -> bool:
        """Check that only files were changed that a coder may change."""

    def get_statistics(self) -> dict[str, float]:
        """Count invocations, successes, first tries that succeeded, turns and cost so far."""
