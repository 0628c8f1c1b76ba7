"""Writes what installed packages say into their pages, and tells what an upgrade changed."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from importlib import import_module
from pathlib import Path

from bot.errors import InputError
from bot.files import write_files
from bot.knowledge.facts import Fact, Finding, read_rows, tables
from bot.knowledge.pages import END_OF_FACTS, FACTS, Page, page_files, read_page, read_words

_FENCE = re.compile(r"^```python[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_MOST_FILES = 500


@dataclass(frozen=True)
class Source:
    """Where facts come from and the page that they go to."""

    page: str
    title: str
    read: Callable[[], Finding]


@dataclass(frozen=True)
class Difference:
    """What became of a page: versions, symbols, and the code that names what changed."""

    page: str
    before: str
    after: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[tuple[str, str, str], ...]
    endangered: tuple[str, ...]

    @property
    def lines(self) -> list[str]:
        """The difference for people, a line each."""
        head = f"{self.page}: {self.after}"
        if self.before and self.before != self.after:
            head += f" (was {self.before})"
        same = not (self.added or self.removed or self.changed)
        told = [head + (", nothing changed" if same else "")]
        told += [f"  + {symbol}" for symbol in self.added if self.before]
        told += [f"  - {symbol}" for symbol in self.removed]
        for symbol, old, new in self.changed:
            told += [f"  ~ {symbol}", f"      was {old}", f"      is  {new}"]
        return told + [f"  ! {path} names what changed" for path in self.endangered]


def _source(page: str, title: str, name: str, *given: str) -> Source:
    """A source whose module, and the package that it asks, are imported when it is asked."""

    def read() -> Finding:
        module = import_module(f"bot.knowledge.sources.{name}_source")
        found: Finding = getattr(module, f"read_{name}")(*given)
        return found

    return Source(f"learnings/{page}.md", title, read)


SOURCES: dict[str, Source] = {
    "freqtrade": _source("LEARN-001-freqtrade-istrategy", "Freqtrade", "freqtrade"),
    "ccxt": _source("LEARN-002-ccxt", "CCXT", "ccxt"),
    "talib": _source("LEARN-003-talib", "TA-Lib", "talib"),
    "vectorbt": _source("LEARN-004-vectorbt", "VectorBT", "package", "vectorbt"),
    "stratwright": _source("LEARN-008-contract-language", "Contracts", "product"),
    "optuna": _source("LEARN-009-optuna", "Optuna", "package", "optuna"),
    "pytest": _source("LEARN-010-pytest", "pytest", "package", "pytest"),
    "pandas-ta": _source("LEARN-011-pandas-ta", "pandas-ta", "package", "pandas-ta"),
}


def ingest(name: str, brain: Path, today: date) -> Difference:
    """Asks a source and writes its page.

    Raises:
        ModuleNotFoundError: the package is not installed.
    """
    source = SOURCES[name]
    finding = in_own_words(source.read())
    place = brain / source.page
    page = read_page(source.page, place) if place.is_file() else _new_page(source)
    difference = compare(page, finding, endangered_by(brain))
    if difference.added or difference.removed or difference.changed or not place.is_file():
        about = {**page.about, "package": finding.package, "version": finding.version,
                 "date": today.isoformat()}  # fmt: skip
        text = with_facts(page.text, name, finding.facts)
        write_files(brain, {source.page: page_text(replace(page, about=about, text=text))})
    return difference


def in_own_words(finding: Finding) -> Finding:
    """Puts our own sentence about a symbol, where there is one, before what was found out."""
    said = read_words().get("says", {})
    facts = tuple(
        replace(fact, says=f"{said[fact.symbol]} {fact.says}".strip())
        if fact.symbol in said
        else fact
        for fact in finding.facts
    )
    return replace(finding, facts=facts)


def compare(
    page: Page, finding: Finding, endangered: Callable[[list[str]], tuple[str, ...]]
) -> Difference:
    """What differs between a page and what is installed."""
    old, new = read_rows(page.text), {fact.symbol: fact for fact in finding.facts}
    changed = tuple(
        (symbol, _short(old[symbol], new[symbol]), _short(new[symbol], old[symbol]))
        for symbol in new
        if symbol in old and old[symbol].row != new[symbol].row
    )
    removed = tuple(symbol for symbol in old if symbol not in new)
    gone = [*removed, *(symbol for symbol, *_ in changed)]
    before, after = page.about.get("version", ""), finding.version
    added = tuple(symbol for symbol in new if symbol not in old)
    return Difference(page.name, before, after, added, removed, changed, endangered(gone))


def _short(fact: Fact, other: Fact) -> str:
    if fact.call != other.call:
        return fact.call or "nothing to call"
    return fact.says if fact.says != other.says else fact.kind


def endangered_by(brain: Path) -> Callable[[list[str]], tuple[str, ...]]:
    """Finds the CODE pages whose snippets name one of some symbols."""
    pages = [read_page(inner, path) for inner, path in page_files((brain,)).items()]
    code = {page.path: "\n".join(_FENCE.findall(page.text)) for page in pages
            if page.path.startswith("code/")}  # fmt: skip

    def named(symbols: list[str]) -> tuple[str, ...]:
        last = [re.escape(symbol.rpartition(".")[2]) for symbol in symbols]
        pattern = re.compile(rf"\b(?:{'|'.join(last)})\b") if last else None
        return tuple(path for path, text in code.items() if pattern and pattern.search(text))

    return named


def with_facts(text: str, name: str, facts: tuple[Fact, ...]) -> str:
    """Replaces the tables of a page, between the two marks."""
    mark = f"{FACTS}written by `stratwright brain ingest {name}`; do not edit -->"
    part = f"{mark}\n\n{tables(facts)}\n{END_OF_FACTS}\n"
    if FACTS not in text:
        return f"{text.rstrip()}\n\n{part}"
    head, rest = text.split(FACTS, 1)
    return head + part + rest.split(END_OF_FACTS, 1)[-1].lstrip("\n")


def _new_page(source: Source) -> Page:
    number = "-".join(Path(source.page).name.split("-")[:2])
    about = {"id": number, "title": source.title, "source": "the installed package"}
    return Page(source.page, about, f"\n# {number}: {source.title}\n")


def page_text(page: Page) -> str:
    """The file of a page."""
    order = ("id", "title", "package", "source", "version", "date", "tags", "names")
    fields = "".join(f"{key}: {page.about[key]}\n" for key in order if key in page.about)
    return f"---\n{fields}---\n{page.text}"


def ingest_folder(folder: Path, brain: Path, today: date) -> list[str]:
    """Copies the Markdown files of a folder into the brain's notes, each with where it is from.

    Raises:
        InputError: there are none, or too many.
    """
    files = [path for path in sorted(folder.rglob("*.md")) if not path.is_symlink()]
    if not 0 < len(files) <= _MOST_FILES:
        message = f"{folder} has {len(files)} Markdown files, 1 to {_MOST_FILES} can be taken"
        raise InputError(message, f"Sources by name: {', '.join(SOURCES)}.")
    written: Mapping[str, str] = {
        f"notes/{folder.resolve().name}/{path.relative_to(folder).as_posix()}": _note(
            read_page(path.relative_to(folder).as_posix(), path), folder.resolve().name, today
        )
        for path in files
    }
    write_files(brain, written)
    return [f"brain/{path}" for path in written]


def _note(page: Page, folder: str, today: date) -> str:
    title = next((line.lstrip("# ") for line in page.text.splitlines() if line[:1] == "#"), "")
    about = {**page.about, "id": f"{folder}/{page.path}", "title": title or page.path,
             "source": f"{folder}/{page.path}", "date": today.isoformat()}  # fmt: skip
    return page_text(replace(page, about=about))
