"""Reads the machine's clock, for everybody who takes a `Clock`."""

from datetime import UTC, datetime


class MachineClock:
    """Tells the machine's own time."""

    def now(self) -> datetime:
        """Tells the present moment, in UTC."""
        return datetime.now(UTC)


MACHINE_CLOCK = MachineClock()
