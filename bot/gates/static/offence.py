"""One thing in a file that the static gates refuse, with what to write instead."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True, order=True)
class Offence:
    """A place in a file that is refused.

    Attributes:
        line: from 1; 0 if it is the file as a whole.
        column: from 1.
        name: what was found there.
        why: why that is refused.
        instead: what to write.
    """

    line: int
    column: int
    name: str
    why: str
    instead: str

    def __str__(self) -> str:
        """Say it in one line."""
        return f"{self.line}:{self.column}: {self.name}: {self.why}; {self.instead}"

    def to_dict(self) -> dict[str, object]:
        """Give the offence to programs."""
        return asdict(self)


def printable(text: str, limit: int = 60) -> str:
    """Show a piece of somebody else's text without its control characters."""
    shown = text if len(text) <= limit else text[: limit - 3] + "..."
    return shown if shown.isprintable() else ascii(shown)[1:-1]
