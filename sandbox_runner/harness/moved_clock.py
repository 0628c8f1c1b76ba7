"""Turns the present into another one for this process: below Python, so that every library sees it.

Programs ask the C library for the time through a table of addresses that each loaded object has.
The entries of `clock_gettime`, `time`, `gettimeofday` and `timespec_get` are pointed to functions
of ours, made by llvmlite, which ask the real ones and add a shift. Only the wall clock moves: the
monotonic clock, timeouts and the times of files stay as they are. Where that cannot be done, or a
clock stands where it stood, `ClockNotMoved` is raised and the run has no answer.
"""

import _imp
import ctypes
import datetime
import os
import re
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_PT_DYNAMIC, _PT_RELRO = 2, 0x6474E552
_STRINGS, _SYMBOLS, _RELOCATIONS, _RELOCATIONS_SIZE = 5, 6, 7, 8
_STRINGS_SIZE, _JUMPS, _JUMPS_SIZE = 10, 23, 2
_RELOCATION = np.dtype([("place", "<u8"), ("info", "<u8"), ("addend", "<i8")])
_SYMBOL = np.dtype([("name", "<u4"), ("rest", "V20")])
# The C library asks itself, and the loader comes before everything.
_LEFT_ALONE = re.compile(r"(ld-|libc[.-]|linux-vdso|linux-gate)")
_WITHIN_S = 60.0
# Wall clocks: CLOCK_REALTIME, CLOCK_REALTIME_COARSE, CLOCK_TAI.
_CODE = """
define i32 @clock_gettime(i32 %clock, ptr %at) {{
  %answer = call i32 inttoptr (i64 {clock_gettime} to ptr)(i32 %clock, ptr %at)
  %good = icmp eq i32 %answer, 0
  %wall = icmp eq i32 %clock, 0
  %coarse = icmp eq i32 %clock, 5
  %atomic = icmp eq i32 %clock, 11
  %either = or i1 %wall, %coarse
  %any = or i1 %either, %atomic
  %moves = and i1 %good, %any
{move}
define i32 @gettimeofday(ptr %at, ptr %zone) {{
  %answer = call i32 inttoptr (i64 {gettimeofday} to ptr)(ptr %at, ptr %zone)
  %moves = icmp ne ptr %at, null
{move}
define i32 @timespec_get(ptr %at, i32 %base) {{
  %answer = call i32 inttoptr (i64 {timespec_get} to ptr)(ptr %at, i32 %base)
  %moves = icmp eq i32 %answer, 1
{move}
define i64 @time(ptr %at) {{
  %now = call i64 inttoptr (i64 {time} to ptr)(ptr null)
  %shift = load i64, ptr inttoptr (i64 {shift} to ptr)
  %moved = add i64 %now, %shift
  %told = icmp ne ptr %at, null
  br i1 %told, label %tell, label %done
tell:
  store i64 %moved, ptr %at
  br label %done
done:
  ret i64 %moved
}}
"""
# The end of the three that fill in the time: move it where it is to be moved.
_MOVE = """
  br i1 %moves, label %move, label %done
move:
  %now = load i64, ptr %at
  %shift = load i64, ptr inttoptr (i64 {shift} to ptr)
  %moved = add i64 %now, %shift
  store i64 %moved, ptr %at
  br label %done
done:
  ret i32 %answer
}}
"""
_NAMES = ("clock_gettime", "time", "gettimeofday", "timespec_get")


class ClockNotMoved(RuntimeError):
    """The clock of this process cannot be moved."""


class _Header(ctypes.Structure):
    """Holds a part of a loaded object, as its program header describes it."""

    _fields_ = (
        *(("kind", ctypes.c_uint32), ("flags", ctypes.c_uint32), ("offset", ctypes.c_uint64)),
        *(("address", ctypes.c_uint64), ("physical", ctypes.c_uint64)),
        *(("file_size", ctypes.c_uint64), ("size", ctypes.c_uint64), ("align", ctypes.c_uint64)),
    )


class _Loaded(ctypes.Structure):
    """Holds a loaded object, as `dl_iterate_phdr` describes it."""

    _fields_ = (
        *(("base", ctypes.c_uint64), ("name", ctypes.c_char_p)),
        *(("headers", ctypes.POINTER(_Header)), ("count", ctypes.c_uint16)),
    )


class _Hooks:
    """Holds the functions that move the clock, and the entries that point to them."""

    def __init__(self) -> None:
        if sys.platform != "linux" or ctypes.sizeof(ctypes.c_void_p) != 8:
            raise ClockNotMoved("the clock can be moved on 64-bit Linux only")
        import llvmlite.binding as llvm  # only where a clock is moved

        self._c = ctypes.CDLL(None, use_errno=True)
        self._shift = ctypes.c_int64(0)
        real = {name: _address(getattr(self._c, name)) for name in _NAMES}
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine()
        shift = ctypes.addressof(self._shift)
        code = _CODE.format(shift=shift, move=_MOVE.format(shift=shift), **real)
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(code), machine)
        self._engine.finalize_object()
        self._ours = {name: self._engine.get_function_address(name) for name in _NAMES}
        self._seen: set[int] = set()
        self._load = _imp.create_dynamic

    def place(self) -> None:
        """Point every object that is loaded now to our functions, and those that come later."""
        self._place_now()
        if _imp.create_dynamic is self._load:
            _imp.create_dynamic = self._load_and_place

    def move(self, seconds: int) -> None:
        self._shift.value = seconds

    def _load_and_place(self, *arguments: Any) -> Any:
        module = self._load(*arguments)
        self._place_now()
        return module

    def _place_now(self) -> None:
        for base, headers in self._objects():
            dynamic = next((h for h in headers if h.kind == _PT_DYNAMIC), None)
            if dynamic is None or dynamic.address + base in self._seen:
                continue
            self._seen.add(dynamic.address + base)
            for name, entry in _entries(base, base + dynamic.address):
                self._point(entry, self._ours[name], _read_only(base, headers, entry))

    def _objects(self) -> list[tuple[int, list[_Header]]]:
        found = []

        def look(loaded: Any, size: int, data: int | None) -> int:
            one = loaded.contents
            if not _LEFT_ALONE.match(
                os.path.basename((one.name or b"").decode("utf-8", "replace"))
            ):
                found.append((one.base, [one.headers[i] for i in range(one.count)]))
            return 0

        kind = ctypes.CFUNCTYPE(
            ctypes.c_int, ctypes.POINTER(_Loaded), ctypes.c_size_t, ctypes.c_void_p
        )
        self._c.dl_iterate_phdr(kind(look), None)
        return found

    def _point(self, entry: int, address: int, read_only: bool) -> None:
        if read_only:
            self._protect(entry, 3)
        ctypes.c_uint64.from_address(entry).value = address
        if read_only:
            self._protect(entry, 1)

    def _protect(self, entry: int, rights: int) -> None:
        page = os.sysconf("SC_PAGE_SIZE")
        start = ctypes.c_void_p(entry & ~(page - 1))
        if self._c.mprotect(start, ctypes.c_size_t(page), ctypes.c_int(rights)) != 0:
            raise ClockNotMoved(f"an entry cannot be written: {os.strerror(ctypes.get_errno())}")


def _address(function: Any) -> int:
    found = ctypes.cast(function, ctypes.c_void_p).value
    if found is None:
        raise ClockNotMoved("the C library lacks a function")
    return found


def _read_only(base: int, headers: list[_Header], entry: int) -> bool:
    """Says whether an entry lies where the loader has taken the right to write away."""
    return any(
        h.kind == _PT_RELRO and base + h.address <= entry < base + h.address + h.size
        for h in headers
    )


def _entries(base: int, dynamic: int) -> Iterator[tuple[str, int]]:
    """Gives the entries of an object for our names."""
    tags: dict[int, int] = {}
    while (tag := ctypes.c_int64.from_address(dynamic).value) != 0:
        tags[tag] = ctypes.c_uint64.from_address(dynamic + 8).value
        dynamic += 16
    if not {_STRINGS, _STRINGS_SIZE, _SYMBOLS} <= set(tags):
        return
    # glibc has made addresses of these, other loaders leave them relative.
    place = {tag: at if at >= base else at + base for tag, at in tags.items()}
    strings = ctypes.string_at(place[_STRINGS], tags[_STRINGS_SIZE])
    wanted = {found: name for name in _NAMES for found in _offsets(strings, name.encode())}
    for table, size in ((_RELOCATIONS, _RELOCATIONS_SIZE), (_JUMPS, _JUMPS_SIZE)):
        if not wanted or not tags.get(size) or table not in tags:
            continue
        relocations = _table(place[table], tags[size], _RELOCATION)
        symbols = relocations["info"] >> 32
        last = int(symbols.max())
        if last == 0:
            continue
        names = _table(place[_SYMBOLS], (last + 1) * _SYMBOL.itemsize, _SYMBOL)["name"]
        ours = np.isin(names, list(wanted))
        ours[0] = False
        for found in np.flatnonzero(ours[symbols]):
            name = wanted[int(names[int(symbols[found])])]
            yield name, base + int(relocations["place"][found])


def _table(address: int, size: int, kind: np.dtype[np.void]) -> NDArray[np.void]:
    """Memory as records, without a copy."""
    return np.frombuffer(memoryview((ctypes.c_char * size).from_address(address)), kind)


def _offsets(strings: bytes, name: bytes) -> Iterator[int]:
    """Tells where a name stands in a table of names; it may be the end of a longer one."""
    at = strings.find(name + b"\0")
    while at >= 0:
        yield at
        at = strings.find(name + b"\0", at + 1)


_hooks: _Hooks | None = None


def shift_clock(seconds: int) -> None:
    """Move what every library of this process calls now.

    Raises:
        ClockNotMoved: it cannot be moved here.
    """
    global _hooks
    if seconds == 0 and _hooks is None:
        return
    try:
        _hooks = _hooks or _Hooks()
        _hooks.place()
    except (AttributeError, OSError, RuntimeError, ValueError) as error:
        raise ClockNotMoved(f"the clock could not be moved: {error}") from None
    _hooks.move(seconds)
    wanted = _real_time() + seconds
    for name, shown in _clocks().items():
        if abs(shown - wanted) > _WITHIN_S:
            raise ClockNotMoved(f"the clock could not be moved: {name} stands where it stood")


def prepare_clock() -> None:
    """Do what moving the clock needs once, before this process has children."""
    shift_clock(1)
    shift_clock(0)


def _real_time() -> float:
    """Gives the time that nothing moves: the C library's own, by its address."""
    moment = (ctypes.c_int64 * 2)()
    ctypes.CDLL(None).clock_gettime(0, ctypes.byref(moment))
    return float(moment[0])


def _clocks() -> dict[str, float]:
    """Tells what the clocks that a strategy could read show."""
    return {
        "time": time.time(),
        "datetime": datetime.datetime.now(datetime.UTC).timestamp(),
        "numpy": float(np.datetime64("now", "s").astype(np.int64)),
        "pandas": pd.Timestamp.now("UTC").timestamp(),
    }
