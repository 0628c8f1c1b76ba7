"""What can go wrong, as exceptions that carry a message, a hint and an exit code."""

# A user's repository has no page of ours: what people are told names the address.
MANUAL = "https://github.com/stratwright/stratwright/blob/main/docs"


class StratwrightError(Exception):
    """A failure that is told to the user without a traceback."""

    exit_code = 3
    cost = 0  # what models were paid before it, in millionths of a US dollar
    turns = 0  # how often they were asked

    def __init__(self, message: str, hint: str = "") -> None:
        """Keep what happened and what to do about it."""
        super().__init__(message)
        self.message = message
        self.hint = hint


class InputError(StratwrightError):
    """The contract, a file or an argument is wrong; the user can mend it."""

    exit_code = 2


class RefusedError(StratwrightError):
    """A gate said no; the evidence is written."""

    exit_code = 1


class WorldError(StratwrightError):
    """Something outside failed: no sandbox, forge unreachable, disk full."""

    exit_code = 4


class RateLimited(WorldError):
    """A service gives no more answers until a later time, which the message names."""


class SafetyStop(StratwrightError):
    """Stopped on purpose: going on could do harm."""

    exit_code = 5
