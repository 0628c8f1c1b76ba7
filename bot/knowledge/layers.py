"""Asks in the order of truth: the brain, then Context7, then the source of local clones."""

import hashlib
from pathlib import Path

from bot.errors import InputError
from bot.knowledge.clones import Clone, open_clones
from bot.knowledge.context7 import Context7, open_context7
from bot.knowledge.port import Answer, Knowledge, open_knowledge

# From this score on the brain knows what was asked for, and nobody else is asked: nine in ten
# right first answers are above it.
SURE = 20.0
# What Context7 calls the packages that a question may name.
_LIBRARIES = {"freqtrade": "freqtrade", "istrategy": "freqtrade", "ccxt": "ccxt", "talib": "ta-lib",
              "ta-lib": "ta-lib", "optuna": "optuna", "vectorbt": "vectorbt", "pytest": "pytest",
              "pandas-ta": "pandas-ta", "pandas": "pandas", "numpy": "numpy"}  # fmt: skip


class Layers:
    """The brain with what may be asked after it; see bot/knowledge/port.py."""

    def __init__(
        self, brain: Knowledge, context7: Context7 | None, clones: tuple[Clone, ...]
    ) -> None:
        """Keep who is asked, in order."""
        self._brain, self._context7, self._clones = brain, context7, clones
        self._given = hashlib.sha256()

    def search(self, question: str, limit: int = 5, tokens: int = 2000) -> tuple[Answer, ...]:
        """The brain's passages; where it is not sure, half of the budget is the others'."""
        found = self._brain.search(question, limit, tokens)
        if found and found[0].score >= SURE:
            return found
        others: list[Answer] = []
        half = tokens // 2
        words = question.lower().replace("?", " ").split()
        library = next((_LIBRARIES[word] for word in words if word in _LIBRARIES), "")
        if self._context7 is not None and library:
            others += self._context7.search(question, library, half)
        for clone in self._clones if not others else ():
            for answer in clone.search(question, half - sum(other.tokens for other in others)):
                others += [answer] if answer.text else []
        others = others[:limit]
        if others:
            left = tokens - sum(answer.tokens for answer in others)
            own = self._brain.search(question, limit - len(others), left) if left > 0 else ()
            found = (*(own if limit > len(others) else ()), *others)
            for answer in others:
                self._given.update(repr(answer).encode())
        return found

    def read(self, name: str) -> str:
        """A page of the brain, or `clone:path` of a clone."""
        try:
            return self._brain.read(name)
        except InputError:
            place, _, path = name.partition(":")
            for clone in self._clones:
                if path and clone.path.name == place:
                    return clone.read(path)
            raise

    @property
    def digest(self) -> str:
        """The brain's digest, and that of every passage of others that was given."""
        told = f"{self._brain.digest}{self._given.hexdigest()}"
        return f"sha256:{hashlib.sha256(told.encode()).hexdigest()}"


def open_layers(repository: Path, *, context7: bool) -> Knowledge:
    """Opens the brain alone, or with Context7 and clones where they are wanted."""
    brain, clones = open_knowledge(repository), open_clones()
    live = open_context7() if context7 else None
    return Layers(brain, live, clones) if live or clones else brain
