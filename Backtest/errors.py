"""What the laboratory refuses, as exceptions with a message, a hint and an exit code."""


class BacktestError(ValueError):
    """Something in the user's input cannot be simulated; the user can mend it."""

    exit_code = 2

    def __init__(self, message: str, hint: str = "") -> None:
        """Keep what happened and what to do about it."""
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """One line: the message, then the hint."""
        return f"{self.message}. {self.hint}" if self.hint else self.message


class SettingError(BacktestError):
    """A setting of the simulator is unknown or out of its range."""


class OrderError(BacktestError):
    """An order request cannot be understood."""


class CandleError(BacktestError):
    """A candle is malformed; `row` counts from 0, the header not counted."""

    def __init__(self, message: str, hint: str = "", row: int | None = None) -> None:
        """Keep the row beside the message."""
        super().__init__(message, hint)
        self.row = row
