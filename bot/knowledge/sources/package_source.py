"""Turns an importable package into facts by looking at what it makes public."""

import importlib
import inspect
from collections.abc import Iterator
from importlib import metadata
from typing import Any

from bot.knowledge.facts import Fact, Finding, call_of, shown

# The distribution, the modules whose public names count, and the classes whose members count too.
PACKAGES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "optuna": (
        "optuna",
        (
            "optuna",
            "optuna.samplers",
            "optuna.pruners",
            "optuna.distributions",
            "optuna.exceptions",
        ),
        ("optuna.Study", "optuna.Trial"),
    ),
    "vectorbt": ("vectorbt", ("vectorbt",), ("vectorbt.Portfolio",)),
    "pandas-ta": ("pandas-ta", ("pandas_ta",), ()),
    "pytest": ("pytest", ("pytest",), ("pytest.MonkeyPatch", "pytest.CaptureFixture")),
}


def read_package(source: str) -> Finding:
    """Looks at a package of the list; its import may take seconds.

    Raises:
        ModuleNotFoundError: it is not installed.
    """
    distribution, modules, classes = PACKAGES[source]
    facts: dict[str, Fact] = {}
    for path in modules:
        module = importlib.import_module(path)
        for name in _public(module):
            value = getattr(module, name)
            if not inspect.ismodule(value):
                facts.setdefault(f"{path}.{name}", _fact(f"{path}.{name}", name, value))
    for path in classes:
        module_name, _, name = path.rpartition(".")
        owner = getattr(importlib.import_module(module_name), name)
        for fact in _members(path, owner):
            facts[fact.symbol] = fact
    if source == "pytest":
        facts |= {fact.symbol: fact for fact in _fixtures()}
    ordered = sorted(facts.values(), key=lambda fact: (fact.kind, fact.symbol))
    return Finding(source, metadata.version(distribution), tuple(ordered))


def _public(module: Any) -> list[str]:
    """The names that a module offers; without a list of its own, those that are its package's."""
    package = module.__name__.partition(".")[0]
    names = getattr(module, "__all__", None) or [
        name
        for name, value in vars(module).items()
        if str(getattr(value, "__module__", "")).startswith(package)
    ]
    return sorted(name for name in names if not name.startswith("_") and hasattr(module, name))


def _fact(symbol: str, name: str, value: object) -> Fact:
    if inspect.isclass(value):
        if issubclass(value, BaseException):
            above = ", ".join(base.__name__ for base in value.__bases__)
            return Fact(symbol, "error", "", f"a kind of {above}")
        run = getattr(value, "run", None)
        if inspect.ismethod(run):
            return Fact(symbol, "indicator", call_of(f"{name}.run", run))
        return Fact(symbol, "class", call_of(name, value))
    if callable(value):
        return Fact(symbol, "function", call_of(name, value))
    return Fact(symbol, "value", "", shown(value))


def _members(path: str, owner: type) -> Iterator[Fact]:
    for name in dir(owner):
        if name.startswith("_"):
            continue
        value = inspect.getattr_static(owner, name)
        if isinstance(value, (classmethod, staticmethod)):
            yield Fact(f"{path}.{name}", "class method", call_of(name, value.__func__))
        elif inspect.isfunction(value):
            yield Fact(f"{path}.{name}", "method", call_of(name, value))
        else:
            yield Fact(f"{path}.{name}", "attribute")


def _fixtures() -> Iterator[Fact]:
    """The fixtures that pytest itself brings, found where its plugins define them."""
    fixture_type = type(importlib.import_module("_pytest.tmpdir").tmp_path)
    for plugin in ("cacheprovider", "capture", "doctest", "fixtures", "logging", "monkeypatch",
                   "recwarn", "subtests", "tmpdir"):  # fmt: skip
        module = importlib.import_module(f"_pytest.{plugin}")
        for name, value in vars(module).items():
            if isinstance(value, fixture_type):
                yield Fact(name, "fixture", name)
