"""What coders, the debugger and other programs may ask the brain."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

# Letters of English and code for each token of a model, on the safe side.
LETTERS_PER_TOKEN = 3


@dataclass(frozen=True)
class Answer:
    """A passage that answers a question, with where it comes from."""

    symbol: str
    kind: str
    page: str
    path: str
    source: str
    text: str
    score: float

    @property
    def tokens(self) -> int:
        """About how many tokens it costs a model to read it."""
        return (len(self.symbol) + len(self.source) + len(self.text)) // LETTERS_PER_TOKEN + 1

    def to_dict(self) -> dict[str, object]:
        """Give it as plain values."""
        return {**asdict(self), "tokens": self.tokens}


class Knowledge(Protocol):
    """The brain as its readers see it."""

    def search(self, question: str, limit: int = 5, tokens: int = 2000) -> tuple[Answer, ...]:
        """Find the passages that answer a question, best first, within a budget of tokens."""

    def read(self, name: str) -> str:
        """Give a page by its id or path.

        Raises:
            InputError: there is none.
        """

    @property
    def digest(self) -> str:
        """The digest of everything that it knows, for prompt_hash."""


def open_knowledge(repository: Path | None = None) -> Knowledge:
    """Opens the shipped brain, with the repository's own `brain/` laid over it if there is one."""
    from bot.knowledge.index import open_index
    from bot.knowledge.pages import SHIPPED

    own = repository / "brain" if repository is not None else SHIPPED
    beside = own.is_dir() and not own.is_symlink() and own.resolve() != SHIPPED
    return open_index((SHIPPED, own) if beside else (SHIPPED,))
