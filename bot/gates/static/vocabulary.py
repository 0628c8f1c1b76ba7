"""Reads the lists of names of RULE-001 and RULE-004, once for each class of file."""

import fnmatch
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypedDict, get_args

from sandbox_runner.rules import IMPORTS, RULES, SECURITY, read_block

FileClass = Literal["strategy", "freqtrade", "module", "test"]
FILE_CLASSES: tuple[FileClass, ...] = get_args(FileClass)

_GENERATED = ("numpy", "pandas", "python", "talib")
# Lists that are the same for every class of file, and those that a class may add to.
_FOR_EVERY = ("builtins", "dunder_methods", "dunder_names", "dunder_names_of_python", "by_name",
              "refused_bindings", "by_name_words", "type_only", "tuple_methods",
              "class_makers", "caught_only")  # fmt: skip
_WITH_ITS_OWN = ("decorators", "bases", "assigned")
# One module under two addresses.
_ALIASES = {"pandas.offsets": "pandas.tseries.offsets", "numpy.lib.math": "math"}


_Lists = Mapping[str, list[str]]


class _Page(TypedDict, total=False):
    """Holds the generated lists of one library; see tools/make_gate_lists.py."""

    modules: _Lists
    classes: list[str]
    values: list[str]
    refused: list[str]
    private: list[str]
    doors: list[str]
    builtins: list[str]
    stdlib: list[str]


@dataclass(frozen=True)
class Review:
    """Why names were left out of the generated lists."""

    names: tuple[str, ...]
    why: str
    instead: str


@dataclass(frozen=True)
class Vocabulary:
    """Holds what a file of one class may say."""

    file_class: FileClass
    modules: Mapping[str, frozenset[str]]  # listed names by module
    # Names in front of the last dot of a listed module: numpy of numpy.random.
    rooms: frozenset[str]
    values: frozenset[str]  # attributes that any value may be asked for
    refused: frozenset[str]  # attributes that no value may be asked for
    private: frozenset[str]  # names with a leading underscore that the libraries' own values have
    # Modules that other modules hold; refused where the value may be a module.
    doors: frozenset[str]
    stdlib: frozenset[str]
    python_builtins: frozenset[str]
    builtins: frozenset[str]
    call_only_builtins: frozenset[str]
    dunder_methods: frozenset[str]
    dunder_names: frozenset[str]
    dunder_names_of_python: frozenset[str]
    refused_bindings: frozenset[str]
    decorators: frozenset[str]
    bases: frozenset[str]
    by_name: frozenset[str]
    by_name_words: frozenset[str]
    call_only: frozenset[str]
    type_only: frozenset[str]
    assigned: frozenset[str]
    held: frozenset[str]
    host_settings: frozenset[str]
    tuple_methods: frozenset[str]
    class_makers: frozenset[str]
    caught_only: frozenset[str]
    classes: frozenset[str]
    reviews: tuple[Review, ...]

    def module(self, name: str) -> str | None:
        """Give a module's listed name, or nothing if it is neither listed nor on the way to one."""
        name = _ALIASES.get(name, name)
        return name if name in self.modules or name in self.rooms else None

    def offers(self, module: str, name: str) -> bool:
        """Tell whether a module's name is listed."""
        return name in self.modules.get(module, frozenset())

    def review_of(self, name: str) -> Review | None:
        """Find why an attribute was left out."""
        for review in self.reviews:
            if any(fnmatch.fnmatchcase(name, pattern) for pattern in review.names):
                return review
        return None


@cache
def vocabulary(file_class: FileClass) -> Vocabulary:
    """Read the lists for a class of file."""
    generated = [_generated(library) for library in _GENERATED]
    python = generated[_GENERATED.index("python")]
    hand, words = read_block(IMPORTS, "modules"), read_block(SECURITY, "values")
    modules = _modules(file_class, generated, hand)
    own, every = words[file_class], words["every"]
    refused = frozenset().union(
        *(page["refused"] for page in generated), every["refused"], own.get("refused", ())
    )
    values = frozenset().union(
        *(page["values"] for page in generated), every["values"], own["values"]
    )
    rooms = {
        name.rsplit(".", depth)[0] for name in modules for depth in range(1, name.count(".") + 1)
    }
    return Vocabulary(
        file_class=file_class,
        modules=modules,
        rooms=frozenset(rooms) | {"pandas.tseries", "pandas.api"},
        values=values - (refused - frozenset(own["values"])),
        refused=refused - frozenset(own["values"]),
        private=frozenset().union(*(page["private"] for page in generated)),
        doors=frozenset(python["doors"]),
        stdlib=frozenset(python["stdlib"]),
        python_builtins=frozenset(python["builtins"]),
        call_only_builtins=frozenset((*every["call_only_builtins"], *own.get("builtins", ()))),
        call_only=frozenset((*every["call_only"], *every["by_name"])),
        held=frozenset(own.get("held", ())),
        host_settings=frozenset(own.get("host_settings", ())),
        **{name: frozenset(every[name]) for name in _FOR_EVERY},
        **{name: frozenset((*every[name], *own.get(name, ()))) for name in _WITH_ITS_OWN},
        classes=_classes(modules, generated, every),
        reviews=_reviews(),
    )


def _classes(
    modules: dict[str, frozenset[str]], generated: list[_Page], every: _Lists
) -> frozenset[str]:
    """Collect the listed classes that could be patched: those of libraries that are not C."""
    found = {name for page in generated for name in page.get("classes", ())}
    for module, names in modules.items():
        if module.startswith(tuple(every["modules_of_classes"])):
            found |= {
                f"{module}.{name}" for name in names if name[0].isupper() and not name.isupper()
            }
    return frozenset(found)


def _modules(
    file_class: FileClass, generated: list[_Page], hand: Mapping[str, _Lists]
) -> dict[str, frozenset[str]]:
    pages = [page.get("modules", {}) for page in generated]
    pages += [hand["python"], hand["libraries"], hand["indicators"], hand["ours"]]
    if file_class != "strategy":
        pages.append(hand[file_class])
    if file_class == "test":
        pages.append(hand["freqtrade"])
    modules: dict[str, frozenset[str]] = {}
    for page in pages:
        for module, names in page.items():
            modules[module] = modules.get(module, frozenset()) | frozenset(names)
    return modules


def _reviews() -> tuple[Review, ...]:
    page = read_block(SECURITY, "review")
    return tuple(
        Review(tuple(entry["names"]), entry["why"], entry["instead"]) for entry in page["value"]
    )


def _generated(library: str) -> _Page:
    text = (RULES / "lists" / f"{library}.json").read_text(encoding="utf-8")
    page: _Page = json.loads(text)
    return page
