"""Python functions to machine code that is kept on disk, found again only by its own source.

Importing this module imports numba, which takes half a second. Who has few bars never imports it:
see `Backtest.compiled`.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np

KEPT_BYTES = 31 * 2**20  # glibc learns from allocations below 32 MiB
types: Any = numba.types
F = TypeVar("F", bound=Callable[..., Any])

# numba looks at the file of a function alone; what it calls from the others is in its code too.
SOURCES = (
    "candle_pass",
    "kernel",
    "kernel_forms",
    "kernel_parts",
    "machine_code",
    "measures",
)


def _digest() -> str:
    """Eight digits of all source that becomes machine code."""
    found = hashlib.sha256()
    for name in SOURCES:
        found.update(Path(__file__).with_name(f"{name}.py").read_bytes())
    return found.hexdigest()[:8]


def reads(kind: Any, axes: int = 1) -> Any:
    """The type of an array that is only read."""
    return types.Array(kind, axes, "C", readonly=True)


def fills(kind: Any, axes: int = 1) -> Any:
    """The type of an array that is filled."""
    return types.Array(kind, axes, "C")


def named(form: Any) -> Any:
    """The type of a NamedTuple of numbers and flags."""
    kinds = {int: types.int64, float: types.float64, bool: types.boolean}
    return types.NamedTuple([kinds[kind] for kind in form.__annotations__.values()], form)


NUMBERS, FLAGS, WHOLE = reads(types.float64), reads(types.boolean), reads(types.int64)


def part(function: F) -> F:
    """Compile a part of a loop, for whatever types it is called with; kept with the loop."""
    njit: Any = numba.njit
    return cast(F, njit(error_model="numpy")(function))


def loop(*arguments: Any) -> Callable[[F], F]:
    """Compile a function that Python calls, for arguments of these types."""

    def compiled(function: F) -> F:
        return cast(F, _compiled(function, arguments))

    return compiled


def _compiled(function: Callable[..., Any], signature: Any) -> Any:
    """Machine code of a function, kept on disk where a folder for it can be written."""
    njit: Any = numba.njit
    function.__qualname__ = f"{function.__qualname__}_{DIGEST}"  # names the file on disk
    try:
        return njit(signature, cache=True, error_model="numpy")(function)
    except RuntimeError:  # numba's word for: no folder for the cache
        return njit(signature, error_model="numpy")(function)


def _keep_memory() -> None:
    """Have columns of up to four million numbers use again the memory of those before them.

    glibc hands freed memory back and has the next run fault it in anew, which takes longer than
    most loops here, until it has seen an allocation of this size come and go.
    """
    np.empty(KEPT_BYTES, np.int8)


DIGEST = _digest()
_keep_memory()
