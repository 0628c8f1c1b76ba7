"""Names what tells the time, so that nothing that decides by it reads a clock of its own."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time: the machine's, or one that is set."""

    def now(self) -> datetime:
        """Tells the present moment, in UTC."""
