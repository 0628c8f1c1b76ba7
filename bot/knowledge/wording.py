"""Turns a question or a text into stems that are the same for the same thing said otherwise."""

import re
from collections.abc import Iterator, Mapping

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[a-z0-9%]+")
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("shes", "sh"), ("ches", "ch"), ("s", ""))
_SHORT = 3


def stem(word: str) -> str:
    """Takes off plural and verb endings, the same way for question and text."""
    if len(word) <= _SHORT or word.isdigit():
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and not word.endswith(("ss", "us", "is")):
            word = word[: -len(ending)] + instead
            break
    for ending in ("ing", "ed", "ion"):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORT:
            word = word[: -len(ending)]
            if len(word) > _SHORT and word[-1] == word[-2] and word[-1] not in "ls":
                word = word[:-1]
            break
    return word[:-1] if word.endswith("e") and len(word) > _SHORT else word


class Wording:
    """Knows which words and phrases mean the same, and which say nothing."""

    def __init__(self, words: Mapping[str, Mapping[str, str]]) -> None:
        """Prepare the phrases of `[same]` and the words of `[silent]`."""
        self.silent = frozenset(plain_words(words["silent"]["words"]))
        self._canonical: dict[tuple[str, ...], str] = {}
        for word, phrases in words["same"].items():
            for phrase in (word, *phrases.split(",")):
                self._canonical[tuple(plain_words(phrase))] = word
        self.plain = frozenset(word for phrase in self._canonical for word in phrase)
        self._longest = max(map(len, self._canonical), default=1)
        # "exponential moving average" is found too when "moving avg" was replaced before it.
        for known, word in [*self._canonical.items()]:
            shorter = tuple(self._replaced(list(known), len(known) - 1))
            self._canonical.setdefault(shorter, word)

    def stems(self, words: list[str]) -> list[str]:
        """Plain words with phrases replaced by the one word that stands for them."""
        return list(self._replaced(list(self._replaced(words))))

    def asked(self, words: list[str]) -> list[str]:
        """The same without the words that say nothing; all if none is left."""
        stems = self.stems(words)
        return [word for word in stems if word not in self.silent] or stems

    def _replaced(self, words: list[str], longest: int = 9) -> Iterator[str]:
        place, longest = 0, min(self._longest, longest)
        while place < len(words):
            for length in range(min(longest, len(words) - place), 0, -1):
                found = self._canonical.get(tuple(words[place : place + length]))
                if found is not None:
                    yield found
                    place += length
                    break
            else:
                yield words[place]
                place += 1


def plain_words(text: str) -> list[str]:
    """The stems of a text, as it stands; camel case is divided too."""
    return [stem(word) for word in _WORD.findall(_CAMEL.sub(" ", text).lower())]


def squeezed(symbol: str) -> str:
    """A symbol without case and punctuation: custom_stoploss and customStoploss are the same."""
    return re.sub(r"[^a-z0-9]", "", symbol.lower())


def deletions(word: str) -> set[str]:
    """A word, and the word without each of its letters: spellings one mistake apart share one."""
    return {word, *(word[:place] + word[place + 1 :] for place in range(len(word)))}
