"""Turns a wrong name into the nearest right one, for error messages."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, allowed: Iterable[str]) -> str:
    """Say which allowed name was probably meant, or list them all."""
    known = sorted(allowed)
    close = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"Did you mean {close[0]!r}?" if close else f"Allowed: {', '.join(known)}"
