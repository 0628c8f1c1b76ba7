"""What the readers of YAML and JSON refuse, placed by the character in the text."""

from dataclasses import dataclass

from bot.contract.document.problems import Where


@dataclass(frozen=True)
class Flaw:
    """Something that the file may not contain, at a character of its text."""

    index: int
    message: str
    where: Where = ()
    allowed: str = ""


class Unreadable(Exception):
    """The file gives no document; never leaves `read_source`."""

    def __init__(self, *flaws: Flaw, text: str | None = None) -> None:
        """Keep the flaws, and the text as far as it was decoded."""
        super().__init__(flaws[0].message)
        self.flaws = flaws
        self.text = text
