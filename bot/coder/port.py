"""What a coder is: a contract goes in, a candidate of code and tests comes out."""

from collections.abc import Mapping
from dataclasses import dataclass
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

    @property
    def contents(self) -> dict[str, bytes]:
        """Gives the files' bytes; text that is no Unicode stays visible to the gates as such."""
        return {path: text.encode("utf-8", "surrogatepass") for path, text in self.files.items()}


@dataclass(frozen=True)
class Failure:
    """Holds a candidate that was refused, and the verdicts that refused it: what to mend."""

    candidate: Candidate
    verdicts: tuple[Verdict, ...]


class Coder(Protocol):
    """Writes candidates; never changes the contract."""

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
