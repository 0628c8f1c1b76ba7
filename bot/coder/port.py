"""What a coder is: a contract goes in, a candidate of code and tests comes out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from bot.contract.model import AnyContract


@dataclass(frozen=True)
class Candidate:
    """Files that want to be proven.

    Attributes:
        files: text of each file by its path in the repository.
        coder: who wrote them: template, agent or cli.
        model: the model that was used; empty for the template coder.
        prompt_hash: digest of everything the coder was given.
    """

    files: Mapping[str, str]
    coder: str
    model: str
    prompt_hash: str


class Coder(Protocol):
    """Writes candidates; never changes the contract."""

    def write(self, contract: AnyContract, contract_path: str) -> Candidate:
        """Write the strategy and its tests."""
        ...
