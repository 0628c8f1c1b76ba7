"""Turns the installed pandas, numpy, TA-Lib and Python into the static gate's lists of names."""

import argparse
import builtins
import collections
import dataclasses
import datetime
import decimal
import enum
import fnmatch
import fractions
import functools
import importlib
import itertools
import json
import logging
import platform
import random
import statistics
import sys
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sandbox_runner.rules import IMPORTS, RULES, SECURITY, read_block

LISTS = RULES / "lists"

# Columns of the frames below, which pandas offers as attributes.
COLUMNS = ("price_", "group_")

# Public submodules that may stand in a chain, beside the library's own top.
SUBMODULES = {
    "numpy": ("numpy.random", "numpy.linalg", "numpy.fft", "numpy.ma", "numpy.polynomial"),
    "pandas": ("pandas.api.types", "pandas.errors", "pandas.tseries.offsets"),
    "talib": ("talib.abstract", "talib.stream"),
}


@dataclass(frozen=True)
class Rule:
    """One paragraph of RULE-004's block `review`."""

    of: str
    names: tuple[str, ...]
    keep: frozenset[str]
    why: str

    def catches(self, name: str) -> bool:
        """Tell whether a name is left out by this rule."""
        if name in self.keep:
            return False
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in self.names)


def read_rules(kind: str) -> list[Rule]:
    """Read the rules for values or for modules."""
    page = read_block(SECURITY, "review")
    return [
        Rule(
            entry.get("of", ""),
            tuple(entry["names"]),
            frozenset(entry.get("keep", ())),
            entry["why"],
        )
        for entry in page[kind]
    ]


def pandas_types() -> Iterator[Any]:
    """Yield what a strategy can hold of pandas."""
    pd: Any = importlib.import_module("pandas")
    hours = pd.date_range("2024-01-01", periods=4, freq="h", tz="UTC")
    frame = pd.DataFrame({"price_": [1.0, 2.0, 3.0, 4.0], "group_": [1, 1, 2, 2]}, index=hours)
    series = frame["price_"]
    text = pd.Series(["a", "b"])
    category = text.astype("category")
    indexes = (
        hours,
        pd.RangeIndex(2),
        pd.Index([1, 2]),
        pd.Index(["a"]),
        category.cat.categories,
        pd.CategoricalIndex(["a"]),
        pd.MultiIndex.from_tuples([(1, 2)]),
        pd.timedelta_range("1h", periods=2),
        pd.period_range("2024-01", periods=2, freq="M"),
        pd.interval_range(0, 2),
    )
    yield from (frame, series, text, category, *indexes)
    yield from (
        series.loc,
        series.iloc,
        series.at,
        series.iat,
        frame.loc,
        frame.iloc,
        frame.at,
        frame.iat,
    )
    yield from (
        text.str,
        hours.to_series().dt,
        indexes[7].to_series().dt,
        indexes[8].to_series().dt,
    )
    yield category.cat
    yield from (
        frame.groupby("group_"),
        frame.groupby("group_")["price_"],
        series.groupby(frame["group_"]),
    )
    for holder in (frame, series, frame.groupby("group_"), frame.groupby("group_")["price_"]):
        yield from (
            holder.rolling(2),
            holder.expanding(),
            holder.ewm(span=2),
            holder.resample("2h"),
        )
    yield from (index.array for index in indexes if not isinstance(index, pd.MultiIndex))
    yield from (series.array, category.array, text.array, series.dtype, category.dtype, hours.dtype)
    yield from (
        hours[0],
        pd.Timedelta("1h"),
        pd.Period("2024-01"),
        pd.Interval(0, 1),
        pd.NaT,
        pd.NA,
    )
    yield from (pd.Grouper(freq="h"), pd.IndexSlice, pd.DateOffset(days=1), hours.freq)
    yield from (getattr(pd.offsets, name) for name in dir(pd.offsets) if name[:1].isupper())


def numpy_types() -> Iterator[Any]:
    """Yield what a strategy can hold of numpy."""
    np: Any = importlib.import_module("numpy")
    yield from (
        np.ones(2),
        np.ma.array([1.0]),
        np.dtype("f8"),
        np.add,
        np.errstate(),
        np.poly1d([1]),
    )
    yield from (
        np.vectorize(abs),
        np.finfo(float),
        np.iinfo(int),
        np.broadcast([1], [2]),
        np.ones(2).flat,
    )
    yield from (np.random.default_rng(0), np.random.RandomState(0), np.polynomial.Polynomial([1]))
    yield from (np.mean, np.linalg.eigh(np.eye(2)), np.unique_all([1]))
    for value in vars(np).values():
        if isinstance(value, type) and issubclass(value, np.generic):
            yield value


def talib_types() -> Iterator[Any]:
    """Yield what a strategy can hold of TA-Lib."""
    yield importlib.import_module("talib.abstract").RSI


def python_types() -> Iterator[Any]:
    """Yield what a strategy can hold of Python itself, and what it must not open."""

    def function() -> Iterator[int]:
        yield 1

    async def coroutine() -> None: ...

    async def stream() -> Any:
        yield 1

    yield from (value for value in vars(builtins).values() if isinstance(value, type))
    yield from (value for value in vars(types).values() if isinstance(value, type))
    waiting = coroutine()
    yield from (function, function(), waiting, stream(), len, "".join, object().__str__)
    waiting.close()
    yield from (datetime, decimal, fractions)
    for module in (datetime, decimal, fractions, collections, itertools, enum, random, statistics):
        yield from (value for value in vars(module).values() if isinstance(value, type))
    yield from (functools.partial(len), functools.lru_cache(len), functools.cached_property(len))
    yield from (decimal.getcontext(), logging.getLogger("stratwright"), enum.IntEnum("Side", "BUY"))
    yield dataclasses.field(default=1)


HOLDERS = {
    "numpy": numpy_types,
    "pandas": pandas_types,
    "python": python_types,
    "talib": talib_types,
}


def value_names(holders: Iterable[Any]) -> dict[str, list[str]]:
    """Sort every attribute of these values into allowed and refused ones."""
    rules = read_rules("value")
    names: set[str] = set()
    for holder in holders:
        if isinstance(holder, types.ModuleType):
            continue
        names.update(dir(holder), dir(type(holder)))
    spoken = {name for name in names if not name.startswith("_") and name not in COLUMNS}
    refused = {name for name in spoken if any(rule.catches(name) for rule in rules)}
    private = {name for name in names if name.startswith("_") and not name.startswith("__")}
    return {
        "values": sorted(spoken - refused),
        "refused": sorted(refused),
        "private": sorted(private),
    }


def module_names(library: str) -> dict[str, list[str]]:
    """List what each public module of a library offers, without what the review leaves out."""
    rules = read_rules("module")
    names = {}
    for module_name in (library, *SUBMODULES[library]):
        module = importlib.import_module(module_name)
        caught = [rule for rule in rules if fnmatch.fnmatchcase(module_name, rule.of)]
        names[module_name] = sorted(
            name
            for name in public_names(module)
            if not isinstance(getattr(module, name), types.ModuleType)
            and not any(rule.catches(name) for rule in caught)
        )
    return names


# Their names are forms of types, not classes to be patched.
FORMS = ("__future__", "collections.abc", "numbers", "typing")
IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE


def patchable(modules: dict[str, list[str]]) -> list[str]:
    """List the classes whose attributes Python lets anybody replace."""
    found = []
    for module_name, names in modules.items():
        module = importlib.import_module(module_name)
        for name in names if module_name not in FORMS else ():
            value = getattr(module, name)
            if not isinstance(value, type) or issubclass(value, BaseException):
                continue
            if not value.__flags__ & IMMUTABLE:
                found.append(f"{module_name}.{name}")
    return sorted(found)


def public_names(module: Any) -> list[str]:
    """Give the names that a module says are its own."""
    names = getattr(module, "__all__", None) or dir(module)
    if module.__name__ == "pandas.api.types":
        names = dir(module)
    return [name for name in names if not name.startswith("_") and hasattr(module, name)]


def submodule_names() -> list[str]:
    """List what allowed modules hold that are modules themselves: the doors to other rooms."""
    hand_kept = read_block(IMPORTS, "modules")
    doors: set[str] = set()
    for module_name in sorted({*SUBMODULES, *hand_kept["python"], "unittest.mock", "logging"}):
        module = importlib.import_module(module_name)
        doors.update(
            name
            for name, value in vars(module).items()
            if isinstance(value, types.ModuleType) and not name.startswith("__")
        )
    return sorted(doors)


def make(library: str) -> str:
    """Write one library's list."""
    if library == "python":
        version = f"Python {'.'.join(platform.python_version_tuple()[:2])}"
        page: dict[str, Any] = {"library": version, **value_names(HOLDERS[library]())}
        page["doors"] = submodule_names()
        hand_kept = read_block(IMPORTS, "modules")
        page["classes"] = patchable(hand_kept["python"])
        page["builtins"] = sorted(name for name in dir(builtins) if not name.startswith("_"))
        page["stdlib"] = sorted(
            name for name in sys.stdlib_module_names if not name.startswith("_")
        )
    else:
        module = importlib.import_module(library)
        page = {"library": f"{library} {module.__version__}", "modules": module_names(library)}
        page["classes"] = patchable(page["modules"])
        page.update(value_names(HOLDERS[library]()))
    if library == "talib":
        page["values"] = sorted({*page["values"], *talib_words()})
    return json.dumps(page, indent=1, ensure_ascii=True) + "\n"


def talib_words() -> set[str]:
    """Give the names of moving averages and of outputs, which become attributes and columns."""
    talib: Any = importlib.import_module("talib")
    abstract: Any = importlib.import_module("talib.abstract")
    words = {name for name in dir(talib.MA_Type) if name.isupper()}
    for name in talib.get_functions():
        words.update(abstract.Function(name).info["output_names"])
    return words | {"SMA", "EMA", "WMA", "DEMA", "TEMA", "TRIMA", "KAMA", "MAMA", "T3"}


def main() -> int:
    """Write the lists, or tell which ones are old."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only compare; exit 1 if one is old")
    args = parser.parse_args()
    old = []
    for library in HOLDERS:
        path = LISTS / f"{library}.json"
        text = make(library)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            old.append(path.name)
            if not args.check:
                path.write_text(text, encoding="utf-8")
    print(f"{'old' if args.check else 'written'}: {', '.join(old) or 'none'}")
    return int(args.check and bool(old))


if __name__ == "__main__":
    sys.exit(main())
