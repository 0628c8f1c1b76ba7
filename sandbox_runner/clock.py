"""Turns the present into another one, for the strategy of this process only.

A strategy whose decisions depend on the date of the run is found by asking it again in another
year. Only honest use is caught: the usual functions are replaced, the kernel's clock is not.
"""

import datetime
import time

_RealDateTime = datetime.datetime
_RealDate = datetime.date


def shift_clock(seconds: float) -> None:
    """Move what `time`, `datetime.datetime` and `datetime.date` call now."""
    if seconds == 0:
        return
    shift = datetime.timedelta(seconds=seconds)
    real_time, real_time_ns = time.time, time.time_ns

    class ShiftedDateTime(_RealDateTime):
        """Today is another day."""

        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> "ShiftedDateTime":
            moved = _RealDateTime.now(tz) + shift
            return cls.combine(moved.date(), moved.timetz())

        @classmethod
        def utcnow(cls) -> "ShiftedDateTime":
            return cls.now(datetime.UTC).replace(tzinfo=None)

        @classmethod
        def today(cls) -> "ShiftedDateTime":
            return cls.now()

    class ShiftedDate(_RealDate):
        """Today is another day."""

        @classmethod
        def today(cls) -> "ShiftedDate":
            moved = _RealDateTime.now() + shift
            return cls(moved.year, moved.month, moved.day)

    time.time = lambda: real_time() + seconds
    time.time_ns = lambda: real_time_ns() + int(seconds * 1_000_000_000)
    datetime.datetime = ShiftedDateTime  # type: ignore[misc]
    datetime.date = ShiftedDate  # type: ignore[misc]
