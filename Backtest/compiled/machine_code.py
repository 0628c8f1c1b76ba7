"""Turns Python functions into machine code that is kept on disk, found only by its own source.

Importing this module imports numba, which takes half a second. Who has few bars never imports it:
see `Backtest.compiled.signal_run`.
"""

import ctypes
import hashlib
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # glibc's malloc.h
KEPT_BYTES = 256 * 2**20
OWN_MAPPING_BYTES = 32 * 2**20  # the most that glibc takes; larger columns are always new
# numba has no types of its own.
NumbaType = Any
types: NumbaType = numba.types
njit: NumbaType = numba.njit
F = TypeVar("F", bound=Callable[..., object])


def _digest() -> str:
    """Takes eight digits of all source that becomes machine code.

    numba looks at the file of a function alone; what it calls from the others is in its code too.
    """
    found, house = hashlib.sha256(), Path(__file__).parent.parent
    for source in sorted(house.glob("compiled/*.py")) + sorted(house.glob("metrics/*.py")):
        found.update(source.read_bytes())
    return found.hexdigest()[:8]


def reads(kind: NumbaType, axes: int = 1) -> NumbaType:
    """Gives the type of an array that is only read."""
    return types.Array(kind, axes, "C", readonly=True)


def fills(kind: NumbaType, axes: int = 1) -> NumbaType:
    """Gives the type of an array that is filled."""
    return types.Array(kind, axes, "C")


def named(form: type[tuple[object, ...]]) -> NumbaType:
    """Gives the type of a NamedTuple of numbers and flags."""
    kinds = {int: types.int64, float: types.float64, bool: types.boolean}
    return types.NamedTuple([kinds[kind] for kind in form.__annotations__.values()], form)


NUMBERS, FLAGS, WHOLE = reads(types.float64), reads(types.boolean), reads(types.int64)


def part(function: F) -> F:
    """Compile a part of a loop, for whatever types it is called with; kept with the loop."""
    return cast(F, njit(error_model="numpy")(function))


def loop(*arguments: NumbaType) -> Callable[[F], F]:
    """Compile a function that Python calls, for arguments of these types."""

    def compiled(function: F) -> F:
        return cast(F, _compiled(function, arguments))

    return compiled


def _compiled(function: F, signature: NumbaType) -> NumbaType:
    """Machine code of a function, kept on disk where a folder for it can be written."""
    function.__qualname__ = f"{function.__qualname__}_{DIGEST}"  # names the file on disk
    try:
        return njit(signature, cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # numba's word for: no folder for the cache
        return njit(signature, nogil=True, error_model="numpy")(function)


@cache
def keep_freed_memory() -> None:
    """Lets the columns of a run use again the memory of the run before; once in a process.

    glibc hands freed memory back to the system, and having it faulted in anew takes longer than
    most loops here.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # not in every C library
        if mallopt is not None:
            mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)
            mallopt(M_MMAP_THRESHOLD, OWN_MAPPING_BYTES)


DIGEST = _digest()
