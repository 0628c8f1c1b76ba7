"""One thing in a file that the static gates refuse, with what to write instead."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True, order=True)
class Offence:
    """Holds a place in a file that is refused."""

    line: int  # from 1; 0 if it is the file as a whole
    column: int  # from 1
    name: str  # what was found there
    why: str  # why that is refused
    instead: str  # what to write

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
