"""States what the laboratory refuses, as exceptions with a message, a hint and an exit code."""

from collections.abc import Iterable
from difflib import get_close_matches


class BacktestError(ValueError):
    """Something in the user's input cannot be simulated; the user can mend it."""

    exit_code = 2

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}. {self.hint}" if self.hint else self.message


class SettingError(BacktestError):
    """A setting of the simulator is unknown or out of its range."""


class OrderError(BacktestError):
    """An order request cannot be understood."""


class CandleError(BacktestError):
    """A candle is malformed; `row` counts from 0, the header not counted."""

    def __init__(self, message: str, hint: str = "", row: int | None = None) -> None:
        super().__init__(message, hint)
        self.row = row


def nearest(name: str, allowed: Iterable[str]) -> str:
    """Say which allowed name was probably meant, or list them all."""
    known = sorted(allowed)
    close = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"Did you mean {close[0]!r}?" if close else f"Allowed: {', '.join(known)}"
