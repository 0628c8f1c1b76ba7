"""Files of the brain to an index in SQLite, made when first asked and kept until a file changes."""

import contextlib
import hashlib
import json
import math
import os
import sqlite3
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from bot.errors import InputError
from bot.files import cache_folder
from bot.knowledge.pages import Passage, page_files, passages, read_page, read_words
from bot.knowledge.port import Answer
from bot.knowledge.ranking import rank
from bot.knowledge.wording import Wording, deletions, plain_words, squeezed

# What the form of an index depends on, beside the pages.
_CODE = tuple(Path(__file__).with_name(f"{name}.py") for name in
              ("facts", "index", "pages", "wording"))  # fmt: skip
_SCHEMA = """
CREATE TABLE passages(id INTEGER PRIMARY KEY, page, path, symbol, kind, source, text);
CREATE VIRTUAL TABLE words USING fts5(symbol, aliases, body, tokenize="unicode61 tokenchars '%'");
CREATE VIRTUAL TABLE known USING fts5vocab(words, row);
CREATE TABLE symbols(squeezed, id INTEGER);
CREATE TABLE aliases(alias INTEGER PRIMARY KEY, size INTEGER, id INTEGER, weight REAL);
CREATE TABLE weights(word PRIMARY KEY, weight REAL) WITHOUT ROWID;
CREATE TABLE alias_words(word, alias INTEGER);
CREATE TABLE near(deleted, stem);
CREATE TABLE pages(name, path, text);
CREATE TABLE about(key PRIMARY KEY, value);
"""
_INDEXES = """
CREATE INDEX by_symbol ON symbols(squeezed);
CREATE INDEX by_alias_word ON alias_words(word);
CREATE INDEX by_deleted ON near(deleted);
"""


class Index:
    """Answers from one index; see bot/knowledge/port.py."""

    def __init__(self, database: sqlite3.Connection) -> None:
        """Keep the open database."""
        self._database = database

    @cached_property
    def wording(self) -> Wording:
        """What means the same."""
        return Wording(json.loads(self._told("words")))

    def search(self, question: str, limit: int = 5, tokens: int = 2000) -> tuple[Answer, ...]:
        """Find passages, best first, as many as fit; the first is given whatever it costs."""
        found: list[Answer] = []
        left = tokens
        for number, score in rank(self._database, self.wording, question)[:limit]:
            symbol, kind, page, path, source, text = self._database.execute(
                "SELECT symbol, kind, page, path, source, text FROM passages WHERE id = ?",
                (number,),
            ).fetchone()
            answer = Answer(symbol, kind, page, path, source, text, round(score, 3))
            if answer.tokens <= left or not found:
                found.append(answer)
                left -= answer.tokens
        return tuple(found)

    def read(self, name: str) -> str:
        """Give a page's text as it was indexed."""
        row = self._database.execute(
            "SELECT text FROM pages WHERE name = ?1 OR path = ?1", (name.removeprefix("brain/"),)
        ).fetchone()
        if row is None:
            raise InputError(f"the brain has no page {name}", "brain/INDEX-MASTER.md lists them.")
        return str(row[0])

    @cached_property
    def digest(self) -> str:
        """Digest of the bytes of all pages and of the words."""
        return self._told("digest")

    def _told(self, key: str) -> str:
        row = self._database.execute("SELECT value FROM about WHERE key = ?", (key,)).fetchone()
        return str(row[0])


def open_index(brains: tuple[Path, ...]) -> Index:
    """Opens the index of these brains and makes it if it is not there or no longer right."""
    files = page_files(brains)
    stamp = _stamp([*files.values(), brains[0] / "words.toml", *_CODE])
    place = cache_folder() / "brain" / f"{stamp}.db"
    if not place.is_file():
        _make(place, brains, files)
    database = sqlite3.connect(f"file:{place}?mode=ro&immutable=1", uri=True)
    return Index(database)


def _stamp(files: Iterable[Path]) -> str:
    """Names the state of the files without reading them."""
    told = hashlib.sha256()
    for path in files:
        stat = path.stat()
        told.update(f"{path}|{stat.st_mtime_ns}|{stat.st_size}\n".encode())
    return told.hexdigest()[:32]


def _make(place: Path, brains: tuple[Path, ...], files: dict[str, Path]) -> None:
    """Writes the index beside its place and moves it there whole."""
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = place.with_name(f"{place.name}.{os.getpid()}.part")
    draft.unlink(missing_ok=True)
    words = read_words(brains[0])
    with contextlib.closing(sqlite3.connect(draft)) as database:
        database.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + _SCHEMA)
        digest = hashlib.sha256(repr(words).encode())
        wording = Wording(words)
        for inner, path in sorted(files.items()):
            page = read_page(inner, path)
            digest.update(f"{inner}\n{page.about}\n{page.text}".encode())
            database.execute("INSERT INTO pages VALUES (?, ?, ?)", (page.name, inner, page.text))
            for passage in passages(page, words["symbols"]):
                _add(database, wording, passage)
        _add_near(database, wording.plain)
        _weigh(database)
        kept = {"same": words["same"], "silent": words["silent"]}
        told = {"digest": f"sha256:{digest.hexdigest()}", "words": json.dumps(kept)}
        database.executemany("INSERT INTO about VALUES (?, ?)", told.items())
        database.executescript(_INDEXES)
        database.commit()
    draft.replace(place)
    _forget_older(place)


def _add(database: sqlite3.Connection, wording: Wording, passage: Passage) -> None:
    number = database.execute(
        "INSERT INTO passages(page, path, symbol, kind, source, text) VALUES (?, ?, ?, ?, ?, ?)",
        (passage.page, passage.path, passage.symbol, passage.kind, passage.source, passage.text),
    ).lastrowid
    texts = (passage.symbol, passage.aliases, f"{passage.kind} {passage.text}")
    stems = [" ".join(wording.stems(plain_words(text))) for text in texts]
    database.execute("INSERT INTO words(rowid, symbol, aliases, body) VALUES (?, ?, ?, ?)",
                     (number, *stems))  # fmt: skip
    last = passage.symbol.rpartition(".")[2]
    names = {passage.symbol, last, last.removeprefix("CDL")}
    for name in {passage.page} if passage.kind == "section" else names:
        database.execute("INSERT INTO symbols VALUES (?, ?)", (squeezed(name), number))
        near = ((f"={spelling}", squeezed(name)) for spelling in deletions(squeezed(name)))
        database.executemany("INSERT INTO near VALUES (?, ?)", near)
    for alias in passage.aliases.split(","):
        told = sorted(set(wording.asked(plain_words(alias))))
        if told:
            row = "INSERT INTO aliases(size, id) VALUES (?, ?)"
            alias_number = database.execute(row, (len(told), number)).lastrowid
            rows = [(word, alias_number) for word in told]
            database.executemany("INSERT INTO alias_words VALUES (?, ?)", rows)


def _add_near(database: sqlite3.Connection, words: frozenset[str]) -> None:
    """Every known stem under each of its spellings with one letter left out."""
    known = words.union(row[0] for row in database.execute("SELECT term FROM known"))
    rows = ((spelling, word) for word in known if len(word) > 3 for spelling in deletions(word))
    database.executemany("INSERT INTO near VALUES (?, ?)", rows)


def _weigh(database: sqlite3.Connection) -> None:
    """What a word says: much if few passages have it, and a name as much as its words."""
    (every,) = database.execute("SELECT count(*) FROM passages").fetchone()
    rows = [(word, math.log(1 + every / count))
            for word, count in database.execute("SELECT term, doc FROM known")]  # fmt: skip
    database.executemany("INSERT INTO weights VALUES (?, ?)", rows)
    sums = database.execute(
        "SELECT sum(weight), alias FROM alias_words JOIN weights USING (word) GROUP BY alias"
    ).fetchall()
    database.executemany("UPDATE aliases SET weight = ? WHERE alias = ?", sums)


def _forget_older(place: Path) -> None:
    """Keep the few indexes that were made last."""
    made = sorted(place.parent.glob("*.db"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in made[8:]:
        path.unlink(missing_ok=True)
