"""What the rules for code that the template did not write find."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """Something that may not be there."""

    line: int
    reason: str
    next_step: str
