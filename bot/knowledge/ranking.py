"""Scores the passages of an index for a question: words, traders' names, symbols, packages."""

import math
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain, pairwise

from bot.knowledge.wording import Wording, deletions, plain_words, squeezed, stem

# How much a package counts where a question names none; what contracts are made of comes first.
_PRIOR = {"TA-Lib": 1.15, "Stratwright": 1.15, "Freqtrade": 1.0, "CCXT": 0.95, "optuna": 0.8,
          "pytest": 0.7, "vectorbt": 0.6, "pandas-ta": 0.6}  # fmt: skip
_PACKAGES = {"freqtrade": "Freqtrade", "istrategy": "Freqtrade", "hyperopt": "Freqtrade",
             "ccxt": "CCXT", "exchange": "CCXT", "talib": "TA-Lib", "optuna": "optuna",
             "vectorbt": "vectorbt", "pytest": "pytest", "test": "pytest",
             "contract": "Stratwright", "stratwright": "Stratwright"}  # fmt: skip
_NAMED = {stem(word): package for word, package in _PACKAGES.items()}
_PRIOR_OF_KIND = {"section": 0.95, "setting": 0.9, "method of the bot": 0.7, "old callback": 0.5,
                  "class": 0.9, "attribute": 0.95}  # fmt: skip
# "What does exit code 4 mean" asks for no average.
_ASKS_MEANING = re.compile(r"^(\s*what do(?:es)? .+?) means?\W*$", re.IGNORECASE)
_MOST = 60
_ALIAS = 14.0
_RARE = 6.0
# Letters from which on a name may be misspelt and still be meant.
_LONG = 5


def rank(database: sqlite3.Connection, wording: Wording, question: str) -> list[tuple[int, float]]:
    """The best passages and their scores, best first."""
    question = _ASKS_MEANING.sub(r"\1", question)
    spelt = [_known(database, wording, word) for word in plain_words(question[:400])]
    told = wording.asked([word for word in spelt if word])
    asked = list(dict.fromkeys(told))
    # "black list" is "blacklist" too.
    asked += [word for word in map("".join, pairwise(told)) if _count(database, word)]
    asked = list(dict.fromkeys(asked))
    scores: defaultdict[int, float] = defaultdict(float)
    # Names say "last n candles" where questions say "last 20 candles".
    counted = ["n"] if re.search(r"\b\d+\b", question) else []
    weights = {word: _weight_of(database, word) for word in asked}
    for number, score in chain(
        _by_words(database, asked),
        _by_alias(database, asked + counted, weights),
        _by_symbol(database, question, wording.silent),
    ):
        scores[number] += score
    named = {_NAMED[word] for word in asked if word in _NAMED}
    weighed = [
        (number, scores[number] * _weight(kind, source, symbol, named))
        for number, kind, source, symbol in _about(database, scores)
    ]
    return sorted(weighed, key=lambda item: (-item[1], item[0]))


def _weight(kind: str, source: str, symbol: str, named: set[str]) -> float:
    package = source.rpartition(" ")[0]
    weight = _PRIOR.get(package, 1.0) * _PRIOR_OF_KIND.get(kind, 1.0)
    if named and not (package in named and kind == "section"):  # its title names the package
        weight *= 1.7 if package in named else 0.7
    return weight * (0.6 if symbol.endswith("_ws") else 1.0)


def _about(
    database: sqlite3.Connection, scores: dict[int, float]
) -> Iterator[tuple[int, str, str, str]]:
    best = sorted(scores, key=lambda number: -scores[number])[: 2 * _MOST]
    marks = ",".join("?" * len(best))
    yield from database.execute(
        f"SELECT id, kind, source, symbol FROM passages WHERE id IN ({marks})",  # noqa: S608
        best,
    )


def _known(database: sqlite3.Connection, wording: Wording, word: str) -> str:
    """The word itself if it is short or the brain has it, else the nearest, else nothing."""
    if len(word) <= 3 or word in wording.plain or word in wording.silent or _count(database, word):
        return word
    spellings = deletions(word)
    marks = ",".join("?" * len(spellings))
    query = f"SELECT DISTINCT stem FROM near WHERE deleted IN ({marks})"  # noqa: S608
    near = {found: _count(database, found) for (found,) in database.execute(query, [*spellings])}
    return max(near, key=lambda found: (found[0] == word[0], near[found]), default="")


def _weight_of(database: sqlite3.Connection, word: str) -> float:
    row = database.execute("SELECT weight FROM weights WHERE word = ?", (word,)).fetchone()
    return float(row[0]) if row else 0.0


def _count(database: sqlite3.Connection, word: str) -> int:
    row = database.execute("SELECT doc FROM known WHERE term = ?", (word,)).fetchone()
    return int(row[0]) if row else 0


def _by_words(database: sqlite3.Connection, asked: list[str]) -> Iterator[tuple[int, float]]:
    if asked:
        match = " OR ".join(f'"{word}"' for word in asked)
        yield from database.execute(
            "SELECT rowid, -bm25(words, 6.0, 4.0, 1.0) FROM words WHERE words MATCH ? "
            "ORDER BY 2 DESC LIMIT ?",
            (match, _MOST),
        )


def _by_alias(
    database: sqlite3.Connection, asked: list[str], weights: dict[str, float]
) -> Iterator[tuple[int, float]]:
    """A trader's name for something counts by how much of it the question says, and of what;
    words that few passages have say more."""
    marks = ",".join("?" * len(asked))
    query = (
        "SELECT id, weight, count(*), group_concat(word) FROM alias_words "  # noqa: S608
        f"JOIN aliases USING (alias) WHERE word IN ({marks}) "
        "GROUP BY alias HAVING 2 * count(*) >= size"
    )
    every = sum(weights.values())
    best: dict[int, float] = {}
    for number, weight, shared, words in database.execute(query, asked):
        told = sum(weights.get(word, 0.5) for word in words.split(","))
        said = (told / weight) ** 2 * math.sqrt(shared) * (0.2 + 0.8 * told / every)
        best[number] = max(best.get(number, 0.0), _ALIAS * said)
    yield from best.items()


def _by_symbol(
    database: sqlite3.Connection, question: str, silent: frozenset[str]
) -> Iterator[tuple[int, float]]:
    """A symbol that the question names, whatever its case and punctuation, one mistake allowed."""
    given = question.split()
    for length in range(1, 4):
        for place in range(len(given) - length + 1):
            part = given[place : place + length]
            name = squeezed("".join(part))
            if len(name) > 1 and name not in silent:
                exact = length == 1 and (part[0].isupper() or "_" in part[0] or "." in part[0])
                score = (14.0 if exact else 8.0 + 2 * length) * (1 if length == len(given) else 0.7)
                if length == 1 and not exact:  # "change" is more often a word than the function
                    score *= min(1.0, _weight_of(database, stem(name)) / _RARE or 1.0)
                for number, sure in _symbols_like(database, name, exact=exact):
                    yield number, score * sure


def _symbols_like(
    database: sqlite3.Connection, name: str, *, exact: bool
) -> list[tuple[int, float]]:
    found = database.execute("SELECT id, 1.0 FROM symbols WHERE squeezed = ?", (name,)).fetchall()
    if found or len(name) < _LONG or not (exact or len(name) >= 2 * _LONG):
        return found
    spellings = [f"={spelling}" for spelling in deletions(name)]
    marks = ",".join("?" * len(spellings))
    query = (
        "SELECT DISTINCT symbols.id, 0.9 FROM near JOIN symbols ON squeezed = stem "  # noqa: S608
        f"WHERE deleted IN ({marks})"
    )
    return database.execute(query, spellings).fetchall()
