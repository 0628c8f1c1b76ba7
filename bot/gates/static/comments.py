"""Finds comments that speak to a tool instead of a reader: they would silence the other gates.

`# type: ignore` makes mypy look away, `# noqa` flake8, `# nosec` bandit, `# pragma: allowlist
secret` detect-secrets. The gates tell their tools to overlook such comments (mypy has no such
option and is given the files without any), so they change no verdict; in generated code they are
refused all the same, because a reviewer's own tools would obey them.
"""

import re

from bot.gates.static.offence import Offence
from bot.gates.static.syntax_tree import Tree
from bot.gates.static.vocabulary import FileClass

# People write these into their own Freqtrade strategies, with good reasons.
_LEFT_ALONE: frozenset[FileClass] = frozenset({"freqtrade"})
# A directive stands at the start of a comment, or behind another number sign in it.
_DIRECTIVE = re.compile(
    r"#[\s#!]*(?P<name>type|mypy|pyright|pyre(?:-\w+)?|pytype|pylint|flake8|ruff|isort|fmt|yapf"
    r"|black|autopep8|pragma|doctest|nopep8|noqa|nosec|nosemgrep|nosonar|lgtm)"
    r"(?P<mark>\s*[:=\[]|(?=\s|$))",
    re.IGNORECASE,
)
# Without a colon or bracket these are words of a language; the others are nothing else.
_WORDS = frozenset({"type", "black", "ruff", "fmt", "mypy", "pylint", "doctest"})


def check_comments(tree: Tree, file_class: FileClass) -> list[Offence]:
    """Find the comments that a tool would obey."""
    if file_class in _LEFT_ALONE:
        return []
    return [
        _offence(line, column, match["name"])
        for line, column, text in tree.comments
        for match in _DIRECTIVE.finditer(text)
        if match["mark"].strip() or match["name"].lower() not in _WORDS
    ]


def _offence(line: int, column: int, name: str) -> Offence:
    why = f"a comment that tells a tool what to do ({name.lower()}), not a reader"
    instead = "mend what the tool would say, and write comments for people"
    return Offence(line, column, name, why, instead)
